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
// Where to look:
//
//	schemas            what may be asked of schemas: eval.go decides nearly all values, explain.go
//	 │                 words violations, assign.go asks whether schemas go together
//	 ├─ prover         does a value exist that meets these schemas and not those? with an essay on how
//	 └─ tree           what the keywords mean, draft by draft, and the library that has the last word
//	     └─ pattern    regular expressions, and their automata
//	         └─ value  JSON values and numbers
//
// All but the first are in internal; prover imports the three below it. Everything that is exported
// may be used by goroutines at once.
package schemas
