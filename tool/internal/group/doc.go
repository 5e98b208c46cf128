// Package group starts programs as heads of process groups, so that the processes that they start
// end with them (docs/decisions/010). Where there are no such groups, only the program itself is
// ended.
package group
