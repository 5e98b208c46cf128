// Package pattern compiles the regular expressions of schemas. They are written in the syntax of
// ECMA-262 and translated for RE2 (ecma.go).
//
// Patterns come from documents and servers. RE2 takes time linear in the text, but also in the
// program of the pattern, and a few bytes make a large one: x{1000}. So the size of programs is
// limited when a schema is compiled, and long texts are matched by an automaton with a limit on its
// states. The prover searches the same automaton for strings that match some patterns and not
// others.
package pattern
