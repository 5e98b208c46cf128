// Package label holds what policies on the flow of information say: how much values may be trusted,
// how secret they are, what tools give and take, and what a run may do as a whole.
//
// A Label has a level of trust, a level of secrecy and a set of categories. The levels of each kind
// are an Order, a finite lattice. Values that are made of others have the Join of their labels:
// what is trusted no more than any of them, what is as secret as all of them, and all categories.
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
