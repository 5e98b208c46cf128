// Package schemas is JSON Schema as plc needs it: schemas compiled once and
// shared, values validated against them, sub-schemas by path, and the question
// whether every value of one schema meets another.
//
//	s, err := schemas.Compile([]byte(`{"type": "integer"}`), nil)
//	err = s.Validate([]byte(`"one"`))  // *ValidationError: /: expected integer, but got string
//
// Draft 2020-12 is the default; 2019-09, 7, 6 and 4 go by $schema. A $ref is
// resolved inside its own document only: nothing is ever fetched or opened.
// Schemas and values come from tools, models and services: no schema and no value
// makes this package panic, hang or use memory beyond its size.
//
// The package reports JSON Pointers; where they stand in a file is for its user to say.
package schemas
