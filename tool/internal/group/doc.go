// Package group starts programs as heads of process groups, so that what they start ends
// with them (docs/decisions/010). Where there are no such groups, only the program
// itself is ended.
package group
