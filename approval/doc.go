// Package approval implements approvals of whole plans as files (plan-language §10). A file holds a
// request to run a plan, a person's answer, and proof that the plan run later is the approved one.
//
//	f := approval.Request("plan.json", report.Of(prog, flags), time.Now())
//	err := f.Approve("ada", time.Now()) // when a person has read f.Blueprint
//	os.WriteFile("approval.json", f.JSON(nil), 0o600)
//	…
//	f, err := approval.Read(text, nil)
//	err = f.Allows(report.Of(prog, flags), time.Now()) // nil, or a *Refusal that says why not
//
// A file contains a digest of all its other members, so that an edited file is refused. The digest
// is not a signature: anybody who can write the file can approve the plan. A file is used once: see
// Use. The package doesn't print or read a clock.
package approval
