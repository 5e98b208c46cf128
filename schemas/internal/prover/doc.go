// Package prover answers whether a value exists that meets some schemas and does not meet others.
//
// The question whether every value of one schema meets another is the question whether
// a value exists that meets the one and not the other. The prover answers that more
// general question: does a value exist that meets these schemas and does not meet
// those? Such a list of signed schemas is a goal. The answer is a witness, or that
// there is none, or that it cannot be told. So a schema is assignable to another if
// the goal {from, not to} is empty, and its witness shows why not; emptiness of a
// schema, and a sample of it, are goals too.
//
// # Six types
//
// JSON values are of six types, and no schema relates two of them. So a goal is
// answered type by type. What the types of the schemas decide is decided without
// looking further: Node.May is a superset of the types that a schema admits values of,
// Node.Full a subset of those that it admits all values of.
//
// # Branches
//
// For one type a goal is taken apart into literals about values of that type: "at
// least 3", "matches ^a", "each element from the 2nd on meets n", "some member whose
// name is none of these does not meet n". Negation is pushed inward until it stands
// before a literal, where it is one of another kind: not each element meets n, so some
// element does not. Equal and different from an array or object are of the same
// stuff: an object differs from {"a": 1} if it lacks a, has another member, or has an
// a that differs from 1. What keywords say is mostly a conjunction; anyOf, oneOf, if and
// the negation of a conjunction are choices. A branch (branch.go) is a conjunction of
// literals with the choices that are left. It is searched as a satisfiability solver
// does: alternatives that the literals exclude are dropped, choices that they have made
// are too, what has one alternative left is taken, and only then something is tried.
// Looking at one member at a time goes a long way: it settles which form of a
// discriminated union is meant before anything is tried.
//
// When a schema in the branch lists its values (enum, const) they are tried by the
// evaluator, which whoever asks gives (Try), and nothing else is needed. null and the
// booleans are always tried.
//
// unevaluatedProperties and unevaluatedItems depend on which other schemas hold; they
// become a choice between the cases (unevaluated.go).
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
//   - arrays (arrays.go): a bounded search, since beyond the elements that
//     literals speak of one by one, each further element must be there for a reason.
//   - objects (objects.go): names fall into finitely many cells that the literals
//     do not tell apart; the search chooses names for what must be there.
//
// The elements and members of a witness are goals again, of the schemas that apply to
// them; that is the set-theoretic containment of products in unions of products of
// semantic subtyping (Frisch, Castagna, Benzaken), found lazily.
//
// # Recursion
//
// Goals nest, and with recursive schemas a goal can come up while it is being answered.
// Then it counts as empty. That is sound: if a goal has a witness, it has one of least
// size, and no part of that one is a witness of the same goal. Answers that relied on
// an open goal being empty hold if it turns out empty, all together; until then they
// are provisional, and they are dropped if it does not (settle). There are finitely
// many goals: sets of signed schemas of the two documents, and of values that they
// mention.
//
// # What is not decided
//
// Patterns that RE2 cannot read, references to meta-schemas, and dynamic references
// with more than one possible target are atoms: the same one cannot be true and false,
// and nothing else is known of it. A witness that relies on one is shaky. Work is
// counted in steps, and without any left everything is unknown. Unknown and shaky
// never become a Yes, and a No has a witness that Validate confirmed: by the
// evaluator and the library, which know nothing of all this; unless the witness would be too large
// to be made, and nothing about it was in doubt.
package prover
