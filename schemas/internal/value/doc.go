// Package value has the JSON values that are validated against schemas, and exact decimals.
//
// Parse limits nesting and numbers, so that work on values neither recurses too deeply nor
// calculates for too long. Values that are built from others share parts, so their text may be far
// larger than their memory: check Bytes before you write one.
package value
