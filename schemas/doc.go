// Package schemas implements JSON Schema for plc: it compiles schemas once for shared use,
// validates values, finds sub-schemas by path, and decides whether every value of one schema meets
// another.
//
//	s, err := schemas.Compile([]byte(`{"type": "integer"}`), nil)
//	err = s.Validate([]byte(`"one"`))  // *ValidationError: expected integer, but got string
//	a := schemas.Assignable(s, number, nil)  // Yes, No with a witness, or Maybe
//
// Draft 2020-12 is the default; $schema selects 2019-09, 7, 6 or 4. Schemas of different drafts may
// be compared and combined. A $ref is resolved only inside its own document: nothing is ever
// fetched or opened. In all drafts 1.0 is an integer, and format, contentEncoding and
// contentMediaType are annotations.
//
// Schemas and values come from tools, models and services. No schema or value makes this package
// panic, hang, or use more memory than a multiple of its size. Limits: nesting 256; numbers of 64
// digits and exponents up to ±400; 100,000 schemas in a document, of which 5,000 (draft 2020-12) or
// 50,000 are reached.
//
// The package reports JSON Pointers; its callers find their positions in a file.
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
// All but the first are in internal; prover imports the three below it. Everything exported may be
// used by several goroutines at once.
package schemas
