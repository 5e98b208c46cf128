// Package cel checks and evaluates the conditions of the tools choose and repeat
// (plan-language §9), which are written in CEL, the Common Expression Language.
//
//	prog, list := compile.Compile(doc, &compile.Options{Predicates: cel.New()})
//
// A condition is checked when the plan is compiled: over the schemas of its variables, with
// the place of what is wrong. The members of an object are known by their names; what the
// schema leaves open, and a value of several types, is checked when it is evaluated.
//
// A number is an int when it is a whole one that fits into 64 bits, however it is written (3,
// 3.0, 3e0), and a double otherwise, so that digits beyond a double's are lost for the
// condition (not for the plan); where the schema says number, all of them are doubles. Ints
// and doubles can be compared, and are equal when they are the same number, but not added.
// A member that is not there is an error: has(value.x) asks.
//
// A condition gives the same answer wherever and whenever it is evaluated: there is no clock,
// no randomness, no time zone but UTC, and members come in the order of
// the text. Sources are bounded in length, nesting and nodes; an evaluation in what it
// costs, and it ends when its context is done.
//
// There are the functions of the standard library and of the extensions strings, math and
// lists, without replace, join, distinct and format, one call of which may take too long.
//
// The language is that of the CEL specification, as implemented by cel-go, the reference
// implementation; package crosscheck compares the two. Loops through a map go in the order in which
// it is written.
//
// The core packages do not import this one: whoever wants conditions passes it.
package cel
