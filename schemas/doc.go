// Package schemas is JSON Schema as plc needs it: schemas compiled once and
// shared, values validated against them, sub-schemas by path, and the question
// whether every value of one schema meets another.
//
//	s, err := schemas.Compile([]byte(`{"type": "integer"}`), nil)
//	err = s.Validate([]byte(`"one"`))  // *ValidationError: expected integer, but got string
//	a := schemas.Assignable(s, number, nil)  // Yes, No with a witness, or Maybe
//
// Draft 2020-12 is the default; 2019-09, 7, 6 and 4 go by $schema, and two schemas of
// different drafts may be compared and combined. A $ref is resolved inside its own
// document only: nothing is ever fetched or opened. In all drafts 1.0 is an integer,
// and format, contentEncoding and contentMediaType are annotations.
//
// Schemas and values come from tools, models and services: no schema and no value
// makes this package panic, hang or use memory beyond a multiple of its size. Limits:
// nesting 256; numbers of 64 digits and exponents up to ±400; 100,000 schemas in a
// document, of which 5,000 (draft 2020-12) or 50,000 are reached.
//
// The package reports JSON Pointers; where they stand in a file is for its user to say.
//
// Where to look: node.go is what keywords mean, draft by draft read in build.go;
// eval.go decides nearly all values, library.go keeps the library that has the last
// word, explain.go words violations. assign.go asks and prover.go answers, with an
// essay on how. Everything that is exported may be used by goroutines at once.
package schemas
