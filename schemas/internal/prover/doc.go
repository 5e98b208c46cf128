// Package prover answers whether a value exists that meets some schemas and does not meet others.
//
// Every value of one schema meets another exactly if no value meets the first and not the second.
// The prover answers a more general question: does a value exist that meets these schemas and does
// not meet those? Such a list of signed schemas is a goal. The answer is a witness, or that there
// is none, or that it is not known. So a schema is assignable to another if the goal {from, not to}
// is empty; a witness shows why it is not. Whether a schema is empty, and a sample of it, are goals
// too.
//
// # Six types
//
// JSON values have six types, and no schema relates two of them. So a goal is answered type by
// type. If the types of the schemas decide the answer, nothing else is looked at: Node.May contains
// at least all types of which a schema admits values, and Node.Full only types of which it admits
// all values.
//
// # Branches
//
// For one type, a goal is split into literals about values of that type: "at least 3", "matches
// ^a", "each element from the 2nd on meets n", "some member whose name is none of these does not
// meet n". Negation is pushed inward until it applies to a literal, where it becomes another
// literal: if not each element meets n, some element doesn't. Being equal to or different from an
// array or object is split in the same way: an object differs from {"a": 1} if it lacks a, has
// another member, or has an a that differs from 1. Most keywords together form a conjunction;
// anyOf, oneOf, if and the negation of a conjunction are choices. A branch (branch.go) is a
// conjunction of literals and open choices. It is searched in the way of a satisfiability solver:
// drop alternatives that the literals exclude, drop choices that they decide, take the last
// alternative of a choice, and only then try something. Looking at one member at a time is very
// effective: it determines the form of a discriminated union before anything is tried.
//
// If a schema in the branch lists its values (enum, const), the evaluator tries them, and nothing
// else is needed. The caller provides the evaluator (Try). null and the booleans are always tried.
//
// The meaning of unevaluatedProperties and unevaluatedItems depends on which other schemas hold, so
// they become a choice between cases (unevaluated.go).
//
// # One solver for each type
//
// A branch without choices goes to the solver for its type, each complete:
//
//   - numbers (numbers.go): a range, multiples of the least common multiple, and
//     holes. The universe is the finite decimals, of any length.
//   - strings (strings.go): a breadth-first search through the product of the
//     automata of all patterns, wanted and not wanted (package pattern), of a tree of
//     excluded strings, and of the length. Patterns are RE2's, unanchored as JSON Schema
//     has it, and lengths are in characters: both by the same alphabet, all characters.
//   - arrays (arrays.go): a bounded search. Beyond the elements that literals treat individually,
//     each further element must be there for a reason.
//   - objects (objects.go): names are divided into finitely many cells whose names the literals
//     treat alike; the search chooses names for the required members.
//
// The elements and members of a witness are goals again, made of the schemas that apply to them.
// This corresponds to semantic subtyping (Frisch, Castagna, Benzaken), with its set-theoretic
// containment of products in unions of products, evaluated lazily.
//
// # Recursion
//
// Goals nest, and with recursive schemas a goal can appear again while it is being answered. Then
// it is treated as empty. That is sound: if a goal has a witness, it has one of minimum size, and
// no part of that one is a witness of the same goal. Answers that relied on an open goal being
// empty are provisional. If the goal turns out to be empty, they all hold; if not, they are dropped
// (settle). There are finitely many goals: sets of signed schemas from the two documents, and of
// values in them.
//
// # What is not decided
//
// Patterns that RE2 can't read, references to meta-schemas, and dynamic references with more than
// one possible target are atoms: an atom can't be both true and false, and nothing else is known
// about it. A witness that relies on an atom is shaky. Work is counted in steps, and when none are
// left, everything is unknown. Unknown and shaky never become a Yes. A No has a witness that
// Validate confirmed, with the evaluator and the library, which are independent of the prover. The
// only exception is a witness that is too large to be made, if nothing about it was in doubt.
package prover
