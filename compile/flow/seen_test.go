package flow_test

import (
	"testing"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/compile/flow"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/tool/file"
)

// The messages of a document that somebody wrote who had seen the whiteboard are the whiteboard: they
// are no part of what was written then, and have the labels of what is given.
func TestMessagesThatTheAuthorHasSeen(t *testing.T) {
	tools, found := file.Read(diag.NewFile("tools.yaml", []byte(`
tools:
  pay: {properties: {iban: {type: string}, amount: {type: number}}, effects: {openWorld: false}}
flow:
  given: {input: {trust: user}}
  tools: {pay: {gives: {trust: untrusted}, takes: {iban: {trust: user}}}}
  rules: [sum(pay.amount) <= input.cap]
`)))
	catalogue, _, more := file.Catalogue(tools)
	policies, faults := policiesOf(catalogue, []*file.File{tools})
	if err := append(append(found, more...), faults...).Err(); err != nil {
		t.Fatal(err)
	}
	text := `{"context": [{"type": "input", "input": {"iban": "DE1", "cap": 9}}], "solution": {"calls": [{"_tool": "pay", "iban": "†input.iban", "amount": 10}]}}`
	doc, _ := lang.Parse(diag.NewFile("plan.json", []byte(text)), nil)
	prog, found := compile.Compile(doc, &compile.Options{Catalogue: catalogue, Seen: compile.SeenResults})
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	r, _ := flow.Check(prog, policies[0], nil)
	if got := r.Sinks()[0].Verdict(); got != flow.Allowed {
		t.Errorf("the input: %s", got)
	}
	if got := r.Duties[0].Verdict; got != flow.Forbidden {
		t.Errorf("the limit in the input: %s", got)
	}
}

// The literals of a plan are no more trusted than the values that its author had seen.
func TestWhatThePlanSays(t *testing.T) {
	tools, found := file.Read(diag.NewFile("tools.yaml", []byte(`
tools:
  mail: {properties: {}, effects: {openWorld: false}}
  pay: {properties: {iban: {type: string}}, effects: {openWorld: false}}
flow:
  given: {input: {trust: user}}
  tools:
    mail: {gives: {trust: untrusted}}
    pay: {takes: {iban: {trust: user}}}
`)))
	catalogue, _, more := file.Catalogue(tools)
	policies, faults := policiesOf(catalogue, []*file.File{tools})
	if err := append(append(found, more...), faults...).Err(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, values string
		seen         compile.Seen
		want         flow.Verdict
	}{
		{"nothing was seen", `{}`, compile.SeenNothing, flow.Allowed},
		{"a person wrote it", `{"bill": "pay DE2"}`, compile.SeenNothing, flow.Allowed},
		{"only the input was seen", `{}`, compile.SeenBoard, flow.Allowed},
		{"the state was seen", `{"bill": "pay DE2"}`, compile.SeenBoard, flow.Forbidden},
		{"results were seen, if only as errors", `{}`, compile.SeenResults, flow.Forbidden},
	} {
		t.Run(c.name, func(t *testing.T) {
			doc, _ := lang.Parse(diag.NewFile("plan.json", []byte(`[{"_tool": "pay", "iban": "DE1"}]`)), nil)
			prog, found := compile.Compile(doc, &compile.Options{Catalogue: catalogue, Seen: c.seen, Values: map[string]compile.Given{
				"input": {JSON: []byte(`{"request": "pay my bill"}`)}, "state": {JSON: []byte(c.values)},
			}})
			if err := found.Err(); err != nil {
				t.Fatal(err)
			}
			r, _ := flow.Check(prog, policies[0], nil)
			if got := r.Sinks()[0].Verdict(); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}
