// Package pattern compiles the regular expressions of schemas. They are written as ECMA-262 has
// them, and translated for RE2 (ecma.go).
//
// Patterns come from documents and servers. RE2 takes time linear in the text, but also in the
// program of the pattern, and a few bytes make a large one: x{1000}. So programs are bounded when a
// schema is compiled, and a long text is matched by an automaton whose states are counted. The
// prover searches the same automaton for strings that match some patterns and not others.
package pattern
