// Package approval is the approval of a whole plan as a file (plan-language §10): a request
// to run it, what a person said to it, and proof that what is run later is what was approved.
//
//	f := approval.Request("plan.json", report.Of(prog, flags), time.Now())
//	err := f.Approve("ada", time.Now()) // when a person has read f.Blueprint
//	os.WriteFile("approval.json", f.JSON(nil), 0o600)
//	…
//	f, err := approval.Read(text, nil)
//	err = f.Allows(report.Of(prog, flags), time.Now()) // nil, or a *Refusal that says why not
//
// A file binds itself: it has a digest of all its other members, so that one that was
// edited is refused. That is no signature: who can write the file can approve the plan. A
// file is used once: see Use. Nothing here prints or reads a clock.
package approval
