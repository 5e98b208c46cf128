// Package label has the data model of policies on the flow of information: how much values may be
// trusted, how secret they are, the labels of results and bounds of params of tools, and what a run
// may do as a whole.
//
// A Label has a level of trust, a level of secrecy and a set of categories. The levels of each kind
// are an Order, a finite lattice. A value that is made from others has the Join of their labels:
// the least trust, the most secrecy, and all categories.
//
//	flow:
//	  trust: untrusted < partner < user
//	  tools:
//	    readMail: {gives: {trust: untrusted, secrecy: secret}}
//	    pay:      {takes: {iban: {trust: user}}}
//	  rules:
//	    - sum(pay.amount) <= 1000
//
// Package tool/file reads policies, and package compile/flow checks plans against them: see
// docs/flow.md.
package label
