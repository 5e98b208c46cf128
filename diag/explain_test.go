package diag_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/plc-lang/plc/diag"
)

func TestEveryCodeHasAPage(t *testing.T) {
	codes := diag.Codes()
	if len(codes) == 0 || !slices.IsSorted(codes) {
		t.Fatalf("the codes are not in order: %v", codes)
	}
	for _, c := range codes {
		p, ok := diag.Explain(c)
		if !ok || p.Code != c || p.Name == "" || p.Summary == "" || p.Meaning == "" || p.Cure == "" || (len(p.Files) == 0) != (c == diag.InternalError) {
			t.Errorf("the page of %s is not whole: %+v", c, p)
			continue
		}
		if text := p.Text(); !strings.HasPrefix(text, c.String()+" "+p.Name+" ("+p.Severity.String()+")\n") ||
			len(p.Files) > 0 && !strings.Contains(text, "$ plc "+strings.Join(p.Args, " ")) {
			t.Errorf("the text of %s:\n%s", c, text)
		}
	}
	if _, ok := diag.Explain(999); ok {
		t.Error("PLC999 has a page")
	}
}

// An example must have the one fault that it is about: all but that of PLC101 and
// the answer of a model are JSON.
func TestExamplesAreJSON(t *testing.T) {
	for _, c := range diag.Codes() {
		p, _ := diag.Explain(c)
		for _, f := range p.Files {
			if strings.HasSuffix(f.Name, ".json") && json.Valid([]byte(f.Text)) != (c != diag.NotJSON) {
				t.Errorf("%s: %s:\n%s", c, f.Name, f.Text)
			}
		}
	}
}

func TestPagesAreTheCallers(t *testing.T) {
	p, _ := diag.Explain(diag.Cycle)
	p.Files[0].Text, p.Args[0] = "", ""
	diag.Codes()[0] = 0
	if q, _ := diag.Explain(diag.Cycle); q.Files[0].Text == "" || q.Args[0] == "" || diag.Codes()[0] == 0 {
		t.Error("a change of a page is seen by others")
	}
}

func TestParseCode(t *testing.T) {
	for s, want := range map[string]diag.Code{
		"PLC302": diag.NothingThere, "plc302": diag.NothingThere, "Plc302": diag.NothingThere, "302": diag.NothingThere,
		"": 0, "PLC": 0, "PLC999": 0, "999": 0, "PLC-302": 0, "+302": 0, "302 ": 0, "65838": 0, "NothingThere": 0,
	} {
		if got, ok := diag.ParseCode(s); ok != (want != 0) || ok && got != want {
			t.Errorf("%q is %v (%v), want %v", s, got, ok, want)
		}
	}
}

func TestPageText(t *testing.T) {
	p := diag.Page{
		Code: 302, Name: "NothingThere", Severity: diag.Warning, Summary: "A summary.",
		Meaning: strings.Repeat("word ", 20) + "\n\nSecond.",
		Args:    []string{"check", "plan.json"},
		Files:   []diag.ExampleFile{{Name: "plan.json", Text: "[\n]\n"}},
		Cure:    "Do it.",
	}
	want := "PLC302 NothingThere (warning)\n\nA summary.\n\n" +
		strings.TrimSpace(strings.Repeat("word ", 16)) + "\n" + strings.TrimSpace(strings.Repeat("word ", 4)) + "\n\nSecond.\n\n" +
		"Example:\n\n    plan.json\n        [\n        ]\n\n    $ plc check plan.json\n\nCure: Do it.\n"
	if got := p.Text(); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

// Messages and pages are for people who did nothing against a law.
func TestWording(t *testing.T) {
	text, err := os.ReadFile("codes.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"illegal", "invalid", "bad plan", "failed to"} {
		if strings.Contains(strings.ToLower(string(text)), word) {
			t.Errorf("codes.go says %q", word)
		}
	}
}
