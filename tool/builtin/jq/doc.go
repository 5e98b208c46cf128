// Package jq has the tool json.query: it runs a query of jq on a value.
//
//	catalogue := tool.NewCatalogue(jq.Tool())
//
// Queries may come from a model, and the library that runs them (itchyny/gojq) bounds neither their
// memory nor the time of a single step: forty times `. + .` is a terabyte. So a query is rewritten
// before it is compiled: the input of each of its parts is measured and paid for from the account
// of the call. Operations whose result can be larger than their input (`*`, join, transpose) are
// measured before they are done. A query has no environment, no modules, no files and no clock: it
// is pure.
package jq
