package file

import (
	"fmt"
	"strings"
	"testing"

	"github.com/plc-lang/plc/diag"
)

func TestFaultyTestFiles(t *testing.T) {
	for text, want := range map[string]string{
		"tests:\n  a: {expct: {}}":                                     `2:7: "tests.a" has no member "expct"; did you mean "expect"?`,
		"tests:\n  a: {expect: {status: done}}":                        `2:24: "tests.a.expect.status" is one of completed, failed, paused, rejected, cancelled, undoing, undone, undoneInPart and refused, not "done"`,
		"tests:\n  a: {expect: {calls: {pay: done}}}":                  `2:29: "tests.a.expect.calls.pay" is one of completed, failed, skipped, blocked, awaiting, cancelled and pending, not "done"`,
		"tests:\n  a: {expect: {findings: [PLC1]}}":                    `2:27: "PLC1" is not the code of a finding, as in PLC309`,
		"tests:\n  a: {expect: {effects: pay}}":                        `2:25: "tests.a.expect.effects" has to be a list, not a string`,
		"tests:\n  a: {expect: {calls: {pay: {attempts: -1}}}}":        `2:40: "tests.a.expect.calls.pay.attempts" is a whole number from 0, not -1`,
		"standIns: {pay: {return: 1, echo: true}}\ntests: {a: {}}":     `1:17: "standIns.pay": return, echo and sample: only one of them can be the result`,
		"standIns: {pay: {sequence: []}}\ntests: {a: {}}":              `1:28: "standIns.pay.sequence" has no answers; give it one or more`,
		"standIns: {pay: {calls: {x: {after: soon}}}}\ntests: {a: {}}": `1:37: "standIns.pay.calls.x.after" is a duration like "1.5s" or a number of seconds, not "soon"`,
		"answers: {pay: yes}\ntests: {a: {}}":                          `1:16: "answers.pay" is approve, reject and skip, not "yes"`,
		"settings: {onFailure: undo it}\ntests: {a: {}}":               `1:23: "settings.onFailure" is abort, skip, continue, ask, replan and undo, not "undo it"`,
		"plan: x.json":             `1:1: the test file has no tests; give it some by their names, as in tests: {it works: {}}`,
		"[]":                       `1:1: the test file has to be an object, not a list`,
		"tests:\n  a: {}\n  a: {}": `3:3: the name "a" stands twice in one object`,
		"tests: {a: {never: [1]}}": `1:21: "tests.a.never.0" has to be a string, not a number`,
		"tests: {a: {input: [1]}}": `1:20: "tests.a.input" has to be an object, not a list`,
		"tests: {a: " + strings.Repeat("[", 300) + strings.Repeat("]", 300) + "}": `nested more than 256 deep`,
	} {
		src := diag.NewFile("x.test.yaml", []byte(text))
		_, findings := ReadTests(src)
		var all []string
		for _, f := range findings {
			p := src.Position(int(f.Loc.Span.Start))
			all = append(all, fmt.Sprintf("%d:%d: %s", p.Line, p.Column, f.Message))
		}
		if got := strings.Join(all, "\n"); !strings.Contains(got, want) || len(all) != 1 {
			t.Errorf("%.60s:\n%s\nwant\n%s", text, got, want)
		}
	}
}
