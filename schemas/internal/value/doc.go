// Package value has JSON values, as they are read to be held against schemas, and exact decimals.
//
// What is read is bounded (Parse), so that nothing that is done with it recurses without end or
// calculates for long. Whoever makes values of others makes them share their parts, and asks for
// Bytes: the text of such a value may be far larger than the memory that it takes.
package value
