package file

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/tool"
)

// servers are tools by the names of their servers.
type servers map[string][]string

func (s servers) Has(name string) bool { return s[name] != nil }

func (s servers) Tools() (all []*tool.Tool) {
	for _, server := range []string{"docs", "web"} {
		for _, name := range s[server] {
			t, _ := s.Tool(server, name)
			all = append(all, t)
		}
	}
	return all
}

func (s servers) Tool(server, name string) (*tool.Tool, error) {
	if !slices.Contains(s[server], name) {
		return nil, fmt.Errorf("no %s.%s", server, name)
	}
	def, _ := tool.ParseDefinition(fmt.Appendf(nil, `{"name":%q,"inputSchema":{"type":"object"},"annotations":{"readOnlyHint":false}}`, name), "", diag.Loc{})
	return &tool.Tool{
		Definition: def, Source: "mcp:" + server, Driver: "mcp", Raw: fmt.Appendf(nil, "%s.%s", server, name),
		Activity: tool.ActivityFunc(func(context.Context, *tool.Request) (tool.Result, error) {
			return tool.Result{Value: fmt.Appendf(nil, "%q", server+"."+name)}, nil
		}),
	}, nil
}

func TestNamesOfServersTools(t *testing.T) {
	given := servers{"docs": {"search", "read"}, "web": {"search"}}
	for _, c := range []struct {
		about, text string
		calls       map[string]string // names, and what is called; "" is nothing
		findings    []string
	}{
		{"no tool file", `{}`, map[string]string{
			"read": "docs.read", "docs.read": "docs.read", "search": "", "docs.search": "docs.search", "web.search": "web.search", "web.read": "",
		}, []string{`the MCP servers docs and web have a tool "search" each; they are called "docs.search" and "web.search"`}},
		{"an activity decides", `activities: {search: {mcp: {server: web}}}`, map[string]string{
			"search": "web.search", "docs.search": "docs.search", "web.search": "web.search",
		}, nil},
		{"a tool of the file", `{tools: {read: {properties: {}}}, activities: {read: {return: "mine"}, search: {mcp: {server: web}}}}`, map[string]string{
			"read": "mine", "docs.read": "docs.read",
		}, []string{`the tool file has a tool "read", and so has the MCP server "docs"; that is called "docs.read"`}},
		{"another name", `activities: {find: {mcp: {server: docs, tool: search}}, search: {mcp: {server: web, tool: search}}}`, map[string]string{
			"find": "docs.search", "search": "web.search",
		}, nil},
		{"no such tool", `activities: {search: {mcp: {server: web, tool: serch}}}`, map[string]string{"search": ""}, []string{
			`"search": no web.serch`, `the MCP servers docs and web have a tool "search" each; they are called "docs.search" and "web.search"`,
		}},
	} {
		t.Run(c.about, func(t *testing.T) {
			f, found := Read(diag.NewFile("tools.yaml", []byte(c.text)))
			cat, _, more := CatalogueWith(given, f)
			var said []string
			for _, f := range append(found, more...) {
				said = append(said, f.Message)
			}
			slices.Sort(said)
			slices.Sort(c.findings)
			if diff := cmp.Diff(c.findings, said); diff != "" {
				t.Error(diff)
			}
			for name, want := range c.calls {
				got := ""
				if t, ok := cat.Lookup(name); ok {
					res, _ := t.Activity.Call(context.Background(), &tool.Request{})
					got = string(res.Value)
				}
				if want != "" {
					want = fmt.Sprintf("%q", want)
				}
				if got != want {
					t.Errorf("%s is %s, want %s", name, got, want)
				}
			}
		})
	}
}

// A definition of the tool file stands; what the server says to be careful of counts.
func TestServersEffects(t *testing.T) {
	f, _ := Read(diag.NewFile("tools.yaml", []byte(
		`{tools: {search: {properties: {}, effects: {readOnly: true, domain: d}}}, activities: {search: {mcp: {server: docs}}}}`)))
	cat, _, found := CatalogueWith(servers{"docs": {"search"}}, f)
	got, ok := cat.Lookup("docs.search")
	if !ok || len(found) > 0 || !got.Definition.Effects.ChangesWorld() || got.Definition.Effects.Domain != "d" {
		t.Errorf("%v %+v", found, got)
	}
}

// A document can't take a name that a server's tool has, not even its longer one.
func TestDocumentsAndAliases(t *testing.T) {
	cat, _, _ := CatalogueWith(servers{"docs": {"read"}})
	def, _ := tool.ParseDefinition([]byte(`{"name":"docs.read","inputSchema":{"type":"object"},"effects":{"pure":true}}`), "", diag.Loc{})
	cat = cat.AddDocument(def)
	got, _ := cat.Lookup("docs.read")
	if got.Source != "mcp:docs" || got.Definition.Effects.Pure == tool.Yes || cat.Len() != 1 {
		t.Errorf("%+v", got)
	}
}
