package main

import (
	"bytes"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/tool/file"
)

// compiled is plan.json with the tools of a shop at this address.
func compiled(t *testing.T, address, input string) *compile.Program {
	t.Helper()
	tools, findings := file.Read(source(t, "tools.yaml", "localhost:8484", address))
	catalogue, _, more := file.Catalogue(tools)
	findings = append(findings, more...)
	doc, more := lang.Parse(source(t, "plan.json", "", ""), nil)
	findings = append(findings, more...)
	prog, more := compile.Compile(doc, &compile.Options{
		Catalogue: catalogue, Run: true,
		Values: map[string]compile.Given{"input": {JSON: []byte(input)}},
	})
	if err := append(findings, more...).Err(); err != nil {
		t.Fatal(err)
	}
	return prog
}

func source(t *testing.T, name, old, new string) *diag.File {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if old != "" {
		text = bytes.ReplaceAll(text, []byte(old), []byte(new))
	}
	return diag.NewFile(name, text)
}

func TestShop(t *testing.T) {
	for _, c := range []struct {
		name, input string
		status      exec.Status
		state       string // a part of it
		attempts    []int  // by call, in plan order
	}{
		{"customer", `{}`, exec.Completed, `"text":"Dear Ada, you ordered [\"lamp\",\"desk\"]; of the first we have 3."`, []int{1, 1, 2, 1}},
		{"nobody", `{"customer": "bob"}`, exec.Failed, "", []int{1, -1, -1, 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := httptest.NewServer(shop())
			defer server.Close()
			prog := compiled(t, server.Listener.Addr().String(), c.input)
			result, err := exec.Run(t.Context(), prog, nil)
			if err != nil {
				t.Fatal(err)
			}
			if result.Status != c.status || !strings.Contains(string(result.State), c.state) {
				t.Errorf("%s %s, want %s with %s", result.Status, result.State, c.status, c.state)
			}
			for i, want := range c.attempts {
				if got := result.Calls[i].Attempts; want >= 0 && got != want { // -1: it depends on who was first
					t.Errorf("%s: %d attempts, want %d", result.Calls[i].ID, got, want)
				}
			}
		})
	}
}
