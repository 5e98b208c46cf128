package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/plc-lang/plc/diag"
)

// TestExamples runs the example of every page as its arguments say: it must give the
// finding of its page, as bad as the page says, and no other as bad or worse.
func TestExamples(t *testing.T) {
	// Nothing finds these yet. The list must shrink.
	missing := []diag.Code{}
	silent := []diag.Code{}
	for _, code := range diag.Codes() {
		page, _ := diag.Explain(code)
		if code == diag.InternalError {
			continue // no plan gives it
		}
		t.Run(code.String(), func(t *testing.T) {
			found := runExample(t, page)
			want := example{code.String(), page.Severity.String()}
			if slices.Contains(missing, code) {
				if !slices.Contains(found, want) {
					silent = append(silent, code)
				}
				return
			}
			if !slices.Contains(found, want) {
				t.Errorf("found %v, want %v", found, want)
			}
			for _, f := range found {
				if f.Code != want.Code && rank(f.Severity) <= rank(want.Severity) {
					t.Errorf("found %v beside %v", f, want)
				}
			}
		})
	}
	if !slices.Equal(silent, missing) {
		t.Errorf("nothing finds %v, want %v", silent, missing)
	}
}

// example is what counts of a finding of an example.
type example struct{ Code, Severity string }

func rank(severity string) int { return slices.Index([]string{"error", "warning", "info"}, severity) }

// runExample runs the command on the files of a page.
func runExample(t *testing.T, page diag.Page) []example {
	dir := t.TempDir()
	for _, f := range page.Files {
		if err := os.WriteFile(filepath.Join(dir, f.Name), []byte(f.Text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	args := append(slices.Clone(page.Args), "--format", "json")
	var stdout, stderr bytes.Buffer
	if code := run(args, strings.NewReader(""), &stdout, &stderr); code != exitDone && code != exitErrors {
		t.Errorf("plc %s: exit %d: %s", strings.Join(args, " "), code, &stderr)
	}
	if page.Args[0] == "run" || page.Args[0] == "convert" {
		var result struct{ Findings []example }
		if err := json.Unmarshal(stdout.Bytes(), &result); err != nil {
			t.Fatalf("%v: %s%s", err, &stdout, &stderr)
		}
		return result.Findings
	}
	var found []example
	for dec := json.NewDecoder(&stdout); dec.More(); {
		var f example
		if err := dec.Decode(&f); err != nil {
			t.Fatalf("%v: %s", err, &stderr)
		}
		found = append(found, f)
	}
	return found
}
