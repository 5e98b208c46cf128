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

// The plan is run against the site: a page that is busy is asked again, and one that is
// gone is a result like others.
func TestPages(t *testing.T) {
	server := httptest.NewServer(site())
	defer server.Close()
	tools, findings := file.Read(source(t, "tools.yaml", "localhost:8485", server.Listener.Addr().String()))
	catalogue, _, more := file.Catalogue(tools)
	findings = append(findings, more...)
	doc, more := lang.Parse(source(t, "plan.json", "", ""), nil)
	findings = append(findings, more...)
	prog, more := compile.Compile(doc, &compile.Options{Catalogue: catalogue, Run: true, Delegates: os.DirFS(".")})
	if err := append(findings, more...).Err(); err != nil {
		t.Fatal(err)
	}
	result, err := exec.Run(t.Context(), prog, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := string(result.Output)
	for _, want := range []string{
		`[{"page":"home","title":"Home","words":5},{"page":"lamps","title":"Lamps","words":8},{"error":`,
		`"code":"http-404"`, `,{"page":"desks","title":"Desks","words":2}]`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s\nhas no %s", got, want)
		}
	}
	if result.Status != exec.Completed {
		t.Error(result.Status, result.Reason)
	}
	each, _ := prog.Call("forEach")
	runs := result.Calls[each.Place-1].Runs
	if len(runs) != 4 || runs[1].Calls[0].Attempts != 2 || runs[2].Status != exec.Failed {
		t.Errorf("%+v", runs)
	}
}
