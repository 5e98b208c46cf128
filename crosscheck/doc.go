// Package crosscheck asks CUE for a second opinion on schemas.Assignable. It has
// nothing but tests, and a module of its own, so that no user of plc inherits what
// it needs.
//
// Neither side is taken for right: a No has to come with a value that a third party,
// the JSON Schema library itself, finds valid against the one schema and invalid
// against the other, and a Yes has to stand up to values that try to refute it.
package crosscheck
