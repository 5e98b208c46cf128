package flow_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/tool/file"
)

// A policy that does not fit the tools, contradicts itself, or has a condition that can't be decided,
// has a finding with its place.
func TestFaultyPolicies(t *testing.T) {
	tools, found := file.Read(diag.NewFile("tools.yaml", []byte(`
tools:
  read: {properties: {file: {type: string}}, outputSchema: {type: object, properties: {names: {type: array}}, additionalProperties: false}, effects: {openWorld: false, readOnly: true}}
  pay: {properties: {iban: {type: string}, amount: {type: number}}, effects: {openWorld: false, readOnly: false}}
`)))
	catalogue, _, more := file.Catalogue(tools)
	if err := append(found, more...).Err(); err != nil {
		t.Fatal(err)
	}
	for policy, want := range map[string]string{
		`tools: {pya: {leaves: false}}`:                                              `1:9 error PLC201 tools has "pya", which is no tool and no activity; did you mean "pay"?`,
		`tools: {pay: {takes: {ibn: {trust: user}}}}`:                                `1:23 error PLC206 the policy names the param "ibn", which the tool "pay" does not have; did you mean "iban"?`,
		`tools: {read: {gives: {trust: user}, parts: {name: {trust: user}}}}`:        `1:46 error PLC806 the result of the tool "read" has no "name"; did you mean "names"?`,
		`rules: [count(zz*) <= 1]`:                                                   `1:9 warning PLC201 a rule has "zz*", which matches no tool and no activity`,
		`rules: [sum(pay.amount) <= -1]`:                                             `1:9 error PLC806 the limit is below 0, so no call could comply: sum(pay.amount) <= -1`,
		`rules: [pay never after read, read before pay]`:                             `1:9 error PLC806 "pay" must come after "read" and also never after it, so it could never be called: pay never after read`,
		`rules: [pay before pay]`:                                                    `1:9 error PLC806 "pay" would have to come before itself, so it could never be called: pay before pay`,
		`rules: [pay only if 1 > 2]`:                                                 `1:9 error PLC806 the condition "1 > 2" never holds`,
		`rules: [pay only if 1 < 2]`:                                                 `1:9 warning PLC807 the condition "1 < 2" always holds, so it protects nothing`,
		`rules: [pay only if params.amount < "x"]`:                                   `1:9 error PLC806 the condition "params.amount < \"x\"" does not fit the params that are declared: "<" does not take (double, string)`,
		`rules: [pay only if params.amout < 3]`:                                      `1:9 error PLC806 the condition "params.amout < 3" does not fit the params that are declared: {amount?: number, iban?: string} has no member "amout"; did you mean "amount"?`,
		`rules: [pay never after read where now.ibn == before.file]`:                 `1:9 error PLC806 the condition "now.ibn == before.file" does not fit the params that are declared:`,
		`tools: {pay: {takes: {iban: {trust: user, or: params.ibn == input.iban}}}}`: `1:47 error PLC806 the condition "params.ibn == input.iban" does not fit the params that are declared:`,
		`tools: {pay: {takes: {iban: {trust: user, in: raed.names}}}}`:               `1:47 error PLC201 "raed.names" begins with no tool, and is no path of the input; did you mean "read"?`,
		`rules: [pay only if params.amount < input.cap && has(params.iban)]`:         "",
	} {
		own, found := file.ReadPolicy(diag.NewFile("policy.yaml", []byte(policy)))
		if err := found.Err(); err != nil {
			t.Fatal(err)
		}
		_, found = policiesOf(catalogue, []*file.File{tools}, own)
		var got []string
		for _, f := range found {
			at := f.Loc.File.Position(int(f.Loc.Span.Start))
			got = append(got, fmt.Sprintf("%d:%d %s %s %s", at.Line, at.Column, f.Severity, f.Code, f.Message))
		}
		all := strings.Join(got, "\n")
		if !strings.HasPrefix(all, want) || want == "" && all != "" || len(got) > 1 {
			t.Errorf("%s\n got %s\nwant %s", policy, all, want)
		}
	}
}
