package plc

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plc-lang/plc/compile/report"
)

// A plan makes the definitions of the operations that it uses and of no others, and only their
// faults are faults of the plan. The digest of a plan changes with the document.
func TestOperationsArePreparedWhenUsed(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	service := func(about string) string {
		var paths []string
		for i := range 20 {
			minimum := "0"
			if i == 7 {
				minimum = `"many"`
			}
			paths = append(paths, fmt.Sprintf(`"/a%d":{"get":{"operationId":"get%d","description":%q,"parameters":[{"name":"n","in":"query","schema":{"type":"integer","minimum":%s}}]}}`, i, i, about, minimum))
		}
		return `{"openapi":"3.1.0","info":{"title":"t","version":"1"},"servers":[{"url":"https://a.example"}],"paths":{` + strings.Join(paths, ",") + `}}`
	}
	check := func(tool string) *Plan {
		t.Helper()
		p, err := New(Config{}).Check(t.Context(), Spec{
			Plan:    Source{Name: "plan", Text: `[{"_tool":"` + tool + `","n":3,"_outputPath":"†state.x"}]`},
			Toolset: Toolset{Files: []Source{File(filepath.Join(dir, "tools.json"))}},
		})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	write("tools.json", `{"openapi":[{"spec":`+fmt.Sprintf("%q", write("service.json", service("one")))+`}]}`)
	var digests []string
	for _, tool := range []string{"get3", "GET /a3"} {
		p := check(tool)
		if err := p.Err(); err != nil {
			t.Fatal(err)
		}
		made := 0
		for o := range p.Checker().Catalogue.Listed() {
			if o.Later != nil && o.Later.Done() {
				made++
			}
		}
		if made != 1 {
			t.Errorf("%s: %d definitions are made", tool, made)
		}
		digests = append(digests, report.Digest(p.Program, nil))
	}
	if err := check("get7").Err(); err == nil || !strings.Contains(err.Error(), "minimum is a number") {
		t.Errorf("the fault of an operation that is used: %v", err)
	}
	write("service.json", service("other"))
	if report.Digest(check("get3").Program, nil) == digests[0] {
		t.Error("the digest is the same for another document")
	}
}

// A tool has to be in each list of Only and in what policies allow, under whatever name it is
// called, and what may not be used is not suggested.
func TestOnlyTools(t *testing.T) {
	const tools = `{"tools": {"read": {}, "reads": {}, "write": {}},
		"activities": {"read": {"return": 1}, "reads": {"return": 1}, "write": {"return": 1}}, "policy": {"allow": ["read*", "write"]}}`
	for _, c := range []struct {
		plan string
		only [][]string
		want string
	}{
		{`[{"_tool":"read"}]`, nil, ""},
		{`[{"_tool":"read"}]`, [][]string{{"read*"}}, ""},
		{`[{"_tool":"read"}]`, [][]string{{"read*"}, {"write"}}, `the policy does not permit the tool "read"`},
		{`[{"_tool":"write"}]`, [][]string{{"read*"}}, `the policy does not permit the tool "write"`},
		{`[{"_tool":"read","_activity":"write"}]`, [][]string{{"read*"}}, `the activity "write", which belongs to the tool`},
		{`[{"_tool":"read","_fallback":"write"}]`, [][]string{{"read"}}, `the policy does not permit the tool "write"`},
		{`[{"_tool":"read"}]`, [][]string{{}}, `the policy does not permit the tool "read"`},
		{`[{"_tool":"wrte"}]`, [][]string{{"read*"}}, `unknown tool "wrte" [`},
		{`[{"_tool":"wrte"}]`, nil, `did you mean "write"?`},
		{`[{"_tool":"read","_activity":"wrte"}]`, [][]string{{"read*"}}, `the policy does not permit the activity "wrte" [`},
	} {
		p, err := New(Config{}).Check(t.Context(), Spec{
			Plan: Text(c.plan), Toolset: Toolset{Files: []Source{Text(tools)}, Only: c.only},
		})
		if err != nil {
			t.Fatal(err)
		}
		var said strings.Builder
		for _, f := range p.AllFindings() {
			fmt.Fprintln(&said, &f)
		}
		if p.Err() == nil && c.want != "" || p.Err() != nil && c.want == "" || !strings.Contains(said.String(), c.want) {
			t.Errorf("%s, only %v: %s", c.plan, c.only, &said)
		}
		for tl := range p.Checker().Catalogue.Listed() {
			name, may := tl.Definition.Name, p.Checker().Permits(tl)
			if fmt.Sprint(c.only) == "[[read*]]" && may != strings.HasPrefix(name, "read") {
				t.Errorf("only %v: %s: %v", c.only, name, may)
			}
		}
	}
}

// Where servers may be left out, those that can't be used are warnings, and a plan that needs none
// of their tools is sound. What is no configuration stays an error.
func TestServersAreLeftOut(t *testing.T) {
	config := filepath.Join(t.TempDir(), "servers.json")
	check := func(text, plan string, partial bool) *Plan {
		t.Helper()
		if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		p, err := New(Config{}).Prepare(t.Context(), Spec{
			Plan:    Text(plan),
			Toolset: Toolset{Files: []Source{Text(`{"activities": {"one": {"return": 1}}, "tools": {"one": {}}}`)}, MCP: []string{config}, Partial: partial},
		})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	const (
		servers = `{"mcpServers": {"gone": {"command": "/no/such/program"}, "old": {"type": "sse", "url": "http://127.0.0.1:1/"}, "poor": {"url": "http://127.0.0.1:1/", "headers": {"A": "${PLC_NO_SUCH}"}}}}`
		one     = `[{"_tool": "one", "_outputPath": "†state.x"}]`
	)
	if p := check(servers, one, true); p.Err() != nil || len(p.Checker().LeftOut) != 3 || len(p.Findings) != 0 {
		t.Errorf("%v; left out: %v; %v", p.Err(), p.Checker().LeftOut, p.Findings)
	}
	if p := check(servers, one, false); p.Err() == nil || len(p.Checker().LeftOut) != 0 {
		t.Errorf("servers that can't be used are left out unasked: %v", p.Checker().LeftOut)
	}
	if p := check(servers, `[{"_tool": "gone.tool"}]`, true); p.Err() == nil || !strings.Contains(p.Err().Error(), `unknown tool "gone.tool"`) || !strings.Contains(p.Err().Error(), "/no/such/program") {
		t.Errorf("a tool of a server that is left out: %v", p.Err())
	}
	if p := check(`{"mcpServers": []}`, one, true); p.Err() == nil {
		t.Error("what is no configuration is left out")
	}
}
