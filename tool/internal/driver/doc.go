// Package driver is what the activities of tool files share: templates with
// placeholders and the params that fill them, outputs that become results, and the
// errors that each of them must tell alike.
package driver
