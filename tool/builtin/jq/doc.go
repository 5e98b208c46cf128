// Package jq has the tool json.query: it runs a query of jq on a value.
//
//	catalogue := tool.NewCatalogue(jq.Tool())
//
// Queries may come from a model, and the library that runs them (itchyny/gojq) bounds neither their
// memory nor the time of a single step: forty times `. + .` is a terabyte. So a query is changed
// before it is compiled: what goes into each of its parts is measured on the way, and paid from an
// account that every call has. What grows by more than it was given (`*`, join, transpose) is
// measured before it is done. A query sees no environment, no modules, no files and no clock: it is
// pure.
package jq
