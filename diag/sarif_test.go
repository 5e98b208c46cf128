package diag_test

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/plc-lang/plc/diag"
)

// sarifSchema returns the official schema of SARIF 2.1.0; see testdata/README.md.
func sarifSchema(t testing.TB) *jsonschema.Schema {
	t.Helper()
	text, err := os.ReadFile("testdata/sarif-schema-2.1.0.json")
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat = true
	if err := c.AddResource("mem:///sarif", bytes.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("mem:///sarif")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// sarifLog is what the tests look at.
type sarifLog struct {
	Schema string `json:"$schema"`
	Runs   []struct {
		ColumnKind string
		Tool       struct {
			Driver struct {
				Name, Version string
				Rules         []struct{ ID, Name, HelpURI string }
			}
		}
		Results []struct {
			RuleID, Level string
			RuleIndex     int
			Message       struct{ Text string }
			Locations     []struct {
				PhysicalLocation struct {
					ArtifactLocation struct{ URI string }
				}
			}
		}
	}
}

// checkSARIF wants a log to meet the schema, and what the schema can't say: that
// each result leads to its rule.
func checkSARIF(t testing.TB, schema *jsonschema.Schema, text []byte) sarifLog {
	t.Helper()
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if err := schema.Validate(value); err != nil {
		t.Errorf("%#v\n%s", err, text)
	}
	var log sarifLog
	if err := json.Unmarshal(text, &log); err != nil {
		t.Fatal(err)
	}
	rules := log.Runs[0].Tool.Driver.Rules
	for _, r := range log.Runs[0].Results {
		if rules[r.RuleIndex].ID != r.RuleID {
			t.Errorf("a result of %s has the rule %s", r.RuleID, rules[r.RuleIndex].ID)
		}
	}
	return log
}

func writeSARIF(t testing.TB, l diag.List, opts *diag.SARIFOptions) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := diag.WriteSARIF(&b, l, opts); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestSARIFOfEveryCode(t *testing.T) {
	var list diag.List
	for _, c := range diag.Codes() {
		list = append(list, diag.Finding{Code: c, Message: "m"})
	}
	// Twice, and backwards: a rule stands once, whatever the order.
	for i := len(list) - 1; i >= 0; i-- {
		list = append(list, list[i])
	}
	log := checkSARIF(t, sarifSchema(t), writeSARIF(t, list, &diag.SARIFOptions{Version: "1.2.3"}))
	driver := log.Runs[0].Tool.Driver
	if driver.Name != "plc" || driver.Version != "1.2.3" || log.Runs[0].ColumnKind != "unicodeCodePoints" {
		t.Errorf("the run says %+v", log.Runs[0])
	}
	if len(driver.Rules) != len(diag.Codes()) {
		t.Errorf("%d rules for %d codes", len(driver.Rules), len(diag.Codes()))
	}
	for _, r := range driver.Rules {
		if want := "https://github.com/plc-lang/plc/blob/main/docs/codes/" + r.ID + ".md"; r.HelpURI != want || r.Name == "" {
			t.Errorf("rule %+v", r)
		}
	}
}

func TestSARIFOfNothing(t *testing.T) {
	text := writeSARIF(t, nil, nil)
	if log := checkSARIF(t, sarifSchema(t), text); log.Runs[0].Results == nil || log.Runs[0].Tool.Driver.Rules == nil {
		t.Errorf("no results and no rules are empty lists, got %s", text)
	}
}

func TestSARIFCodeWithoutPage(t *testing.T) {
	log := checkSARIF(t, sarifSchema(t), writeSARIF(t, diag.List{{Code: 999, Message: "m"}}, nil))
	if got := log.Runs[0].Tool.Driver.Rules[0].ID; got != "PLC999" {
		t.Errorf("rule %s", got)
	}
}

func TestSARIFLevelsAndMessages(t *testing.T) {
	log := checkSARIF(t, sarifSchema(t), writeSARIF(t, diag.List{
		{Code: diag.Cycle, Severity: diag.Error, Message: "†{input.a} is {0}"},
		{Code: diag.DeadWrite, Severity: diag.Warning, Message: "w"},
		{Code: diag.UndeclaredEffects, Severity: diag.Info, Message: "i"},
	}, nil))
	var got [][2]string
	for _, r := range log.Runs[0].Results {
		got = append(got, [2]string{r.Level, r.Message.Text})
	}
	want := [][2]string{{"error", "†{{input.a}} is {{0}}"}, {"warning", "w"}, {"note", "i"}}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

func TestSARIFNamesOfFiles(t *testing.T) {
	schema := sarifSchema(t)
	for name, want := range map[string]string{
		"plan.json":                   "plan.json",
		"./a/../plan.json":            "./a/../plan.json",
		"my plans/größe 50%.json":     "my%20plans/gr%C3%B6%C3%9Fe%2050%25.json",
		"a?b#c.json":                  "a%3Fb%23c.json",
		"c:plan.json":                 "./c:plan.json",
		"-":                           "-",
		"<stdin>":                     "%3Cstdin%3E",
		"/tmp/a b.json":               "file:///tmp/a%20b.json",
		"//host/a.json":               "file:///host/a.json",
		"bad\xff\x1b.json":            "bad%FF%1B.json",
		"https://h.example/p.json?q=": "https://h.example/p.json?q=",
	} {
		f := diag.Finding{Code: diag.Cycle, Message: "m", Loc: diag.Loc{File: diag.NewFile(name, []byte("[]"))}}
		log := checkSARIF(t, schema, writeSARIF(t, diag.List{f}, nil))
		if got := log.Runs[0].Results[0].Locations[0].PhysicalLocation.ArtifactLocation.URI; got != want {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
}
