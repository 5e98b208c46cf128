// Package pattern has the regular expressions of schemas. They are those of ECMA-262 and run by
// RE2: ecma.go translates the one into the other.
//
// Patterns come from documents and servers. RE2 takes time linear in the text, but also in the
// program of the pattern, and a few bytes make a large one: x{1000}. So programs are bounded when a
// schema is compiled, and a long text is matched by an automaton whose states are counted. The same
// automaton has the prover look for strings that match some patterns and do not match others.
package pattern
