// Package flow checks where information goes in a plan: whether what a tool read can decide what
// another one does, and whether what is secret can leave.
//
//	policy, findings := flow.Prepare(said, catalogue, cel.New())
//	report, more := flow.Check(prog, policy, nil)
//
// Check follows the labels of a policy (package tool/label) from where values come from, through
// the whiteboard, to the params of tools. It runs nothing: a plan without findings has no forbidden
// flow, whatever its tools give. What a value decides, such as whether a call is made, carries the
// label of that value too: these flows are warnings, unless the policy is strict. It also decides
// rules about the calls of a run, as far as that is possible before the run; a Guard checks the
// rest.
//
// Some things are not followed: how long a run takes, that it fails as a whole, what tools know of
// each other, and what docs/flow.md lists besides.
package flow
