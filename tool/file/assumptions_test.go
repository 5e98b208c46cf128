package file_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/tool/file"
)

func TestReadAssumptions(t *testing.T) {
	a, findings := file.ReadAssumptions(diag.NewFile("a.yaml", []byte(`
tools:
  charge: {fails: 0.05, takes: 1s..3s, fail: {code: declined, permanent: true}}
  ship: {takes: [100ms, 2]}
  mail: {fails: 0, takes: 1.5}
calls:
  each/load: {takes: 2s}
answers: {charge: reject}
`)))
	if err := findings.Err(); err != nil {
		t.Fatal(err)
	}
	charge, ship, mail := a.Tools[0], a.Tools[1], a.Tools[2]
	if *charge.Fails != 0.05 || !charge.Ranged || !reflect.DeepEqual(charge.Takes, []time.Duration{time.Second, 3 * time.Second}) || charge.Fail.Code != "declined" || !charge.Fail.Permanent {
		t.Errorf("%+v", charge)
	}
	if ship.Fails != nil || ship.Ranged || !reflect.DeepEqual(ship.Takes, []time.Duration{100 * time.Millisecond, 2 * time.Second}) {
		t.Errorf("%+v", ship)
	}
	if *mail.Fails != 0 || !reflect.DeepEqual(mail.Takes, []time.Duration{1500 * time.Millisecond}) {
		t.Errorf("%+v", mail)
	}
	if a.Calls[0].Name != "each/load" || a.Answers[0].Call != "charge" || a.Answers[0].Answer.Approved {
		t.Errorf("%+v", a)
	}
}

func TestFaultyAssumptions(t *testing.T) {
	for text, want := range map[string]string{
		`tols: {}`:                          `the file of assumptions has no member "tols"; did you mean "tools"?`,
		`tools: {a: {fails: 1.5}}`:          "must be a number from 0 to 1, such as 0.05",
		`tools: {a: {fails: -0.1}}`:         "must be a number from 0 to 1",
		`tools: {a: {fails: often}}`:        "has to be a number, not a string",
		`tools: {a: {takes: soon}}`:         "it is a duration like 1.5s, or a range like 1s..3s",
		`tools: {a: {takes: 3s..1s}}`:       "the range ends before it begins",
		`tools: {a: {takes: 1s..}}`:         "it is a duration like 1.5s, or a range",
		`tools: {a: {takes: -1s..2s}}`:      "it is a duration like 1.5s, or a range",
		`tools: {a: {takes: []}}`:           "is empty; give it one duration or more",
		`tools: {a: {takes: [1s, x]}}`:      "is a duration like",
		`tools: {a: {takes: {from: 1s}}}`:   "is a duration like",
		`answers: {a: maybe}`:               "approve, reject",
		`tools: [a]`:                        "has to be an object, not a list",
		`tools: {a: {fail: {codes: busy}}}`: `did you mean "code"?`,
	} {
		_, findings := file.ReadAssumptions(diag.NewFile("a.yaml", []byte(text)))
		if err := findings.Err(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	if a, findings := file.ReadAssumptions(diag.NewFile("a.yaml", []byte("# nothing yet\n"))); len(findings) > 0 || len(a.Tools) > 0 {
		t.Errorf("%v", findings)
	}
}
