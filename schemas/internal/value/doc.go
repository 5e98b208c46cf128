// Package value has the JSON values that are validated against schemas, and exact decimals.
//
// Parse bounds the nesting and the numbers of what it reads, so that work on values neither
// recurses too deeply nor calculates for long. Values that are made of others share their parts, so
// their text may be far larger than the memory that they take: ask Bytes before you write one.
package value
