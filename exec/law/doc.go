// Package law holds the law of plans as a test (plan-language §5): a run gives the
// same whiteboard, the same statuses and the same declared effects in the same
// order as running the calls one at a time in plan order.
//
// reference_test.go is a second, naive reading of plan-language §3–§6, §9 and execution §2, written
// from those pages alone: one call at a time, every scan over all pairs, every read a fold of the
// log from the start. generate_test.go makes plans of random bytes, and law_test.go runs each plan
// in parallel, with one slot, in sequence and by the reference, and requires that there is no
// difference.
//
//	go test ./exec/law -law.plans=100000 -law.seed=7
package law
