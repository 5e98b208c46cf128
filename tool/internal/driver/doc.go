// Package driver has code that the activities of tool files share: templates with placeholders and
// the params that fill them, outputs that become results, and the errors that all of them report in
// the same way.
package driver
