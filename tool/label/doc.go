// Package label holds what a policy says about the flow of information: how much values may be
// trusted, how secret they are, and what tools give and take.
//
// A Label has a level of trust, a level of secrecy and a set of categories. Values that are made of
// others have the Join of their labels: the least trust, the most secrecy, and all categories.
//
//	policy:
//
//	flow:
//	  tools:
//	    read_mail: {gives: {trust: untrusted, secrecy: secret}}
//	    pay:       {takes: {iban: {trust: user}}}
//
// Package compile/flow checks plans against a Policy. Tool files hold them: see docs/flow.md.
package label
