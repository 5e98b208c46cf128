package file

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/tool"
)

// servers are tools by the names of their servers.
type servers map[string][]string

func (s servers) Has(name string) bool { return s[name] != nil }

func (s servers) Tools() (all []*tool.Tool) {
	for _, server := range slices.Sorted(maps.Keys(s)) {
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
			"mcp__docs__read": "docs.read", "mcp__web__search": "web.search", "mcp__web__read": "",
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

// A server does not choose what names mean that are, or look like, those of something else: it is
// called by its own name before that of its tool.
func TestNamesThatServersTake(t *testing.T) {
	names := []string{"lookup", "docs.read", "docs.search", "mcp__docs__search", "GET /pets"}
	f, _ := Read(diag.NewFile("tools.yaml", []byte(`{tools: {find: {properties: {_activity: {const: lookup}}}}, activities: {lookup: {return: "mine"}}}`)))
	cat, _, found := CatalogueWith(servers{"docs": {"search"}, "evil": names}, f)
	calls := map[string]string{"find": "mine", "docs.search": "docs.search", "mcp__docs__search": "docs.search"}
	for _, name := range names {
		calls["evil."+name] = "evil." + name
		if i := slices.IndexFunc(found, func(f diag.Finding) bool { return strings.Contains(f.Message, fmt.Sprintf("%q", "evil."+name)) }); i < 0 || found[i].Code != diag.AmbiguousTool {
			t.Errorf("nothing is said of %q: %v", name, found)
		}
		if calls[name] == "" {
			if _, ok := cat.Lookup(name); ok {
				t.Errorf("%q is a tool", name)
			}
		}
	}
	for name, want := range calls {
		found, ok := cat.Lookup(name)
		if !ok {
			t.Errorf("there is no %q", name)
			continue
		}
		res, _ := found.Activity.Call(t.Context(), &tool.Request{})
		if got := string(res.Value); got != fmt.Sprintf("%q", want) {
			t.Errorf("%q is %s, want %q", name, got, want)
		}
	}
	for _, two := range []string{"bank, bank.eu", "bank, bank__eu"} {
		a, b, _ := strings.Cut(two, ", ")
		f, _ := Read(diag.NewFile("tools.yaml", fmt.Appendf(nil, `{mcpServers: {%s: {command: a}, %s: {command: b}}}`, a, b)))
		if all, found := Servers(f); len(all) != 1 || len(found) != 1 || !strings.Contains(found[0].Message, "begins with that of the MCP server") {
			t.Errorf("%s: %v, %v", two, all, found)
		}
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

// What an entry says of its server's tools counts, whatever they are called.
func TestServedTools(t *testing.T) {
	for _, c := range []struct {
		about, text string
		tool        string
		timeout     time.Duration
		limits      tool.Limits
		effects     tool.Effects
		findings    []string
	}{
		{
			"of all", `mcpServers: {docs: {command: x, timeout: 5s}}`,
			"search", 5 * time.Second, tool.Limits{}, tool.Effects{ReadOnly: tool.No}, nil,
		},
		{
			"of one", `mcpServers: {docs: {command: x, timeout: 5s, tools: {search: {timeout: 1, parallel: 2, perSecond: 3.5, effects: {readOnly: true, domain: d}}}}}`,
			"docs.search", time.Second, tool.Limits{Parallel: 2, PerSecond: 3.5}, tool.Effects{ReadOnly: tool.Yes, Domain: "d"}, nil,
		},
		{
			"not of others", `mcpServers: {docs: {command: x, tools: {search: {timeout: 1}}}}`,
			"read", 0, tool.Limits{}, tool.Effects{ReadOnly: tool.No}, nil,
		},
		{
			"by another name", `{mcpServers: {docs: {command: x, tools: {search: {timeout: 1, parallel: 2}}}}, activities: {find: {mcp: {server: docs, tool: search}}}}`,
			"find", time.Second, tool.Limits{Parallel: 2}, tool.Effects{ReadOnly: tool.No}, nil,
		},
		{
			"an activity says more", `{mcpServers: {docs: {command: x, tools: {search: {timeout: 1, parallel: 2}}}}, activities: {find: {mcp: {server: docs, tool: search}, timeout: 3}}, limits: {find: {parallel: 4}}}`,
			"find", 3 * time.Second, tool.Limits{Parallel: 4}, tool.Effects{ReadOnly: tool.No}, nil,
		},
		{
			"no such tool", `mcpServers: {docs: {command: x, timeout: 1, tools: {serch: {timeout: 2}}}}`,
			"search", time.Second, tool.Limits{}, tool.Effects{ReadOnly: tool.No}, []string{`no docs.serch`},
		},
		{
			"no such effect", `mcpServers: {docs: {command: x, tools: {read: {effects: {readonly: true}}}}}`,
			"search", 0, tool.Limits{}, tool.Effects{ReadOnly: tool.No},
			[]string{`tool "read": there is no effect "readonly"; did you mean "readOnly"?`},
		},
		{
			"nothing to remember", `mcpServers: {docs: {command: x, cache: 1m, tools: {search: {cache: 1m}}}}`,
			"search", 0, tool.Limits{}, tool.Effects{ReadOnly: tool.No},
			[]string{`nothing is remembered of "search", which is declared neither pure nor read-only; leave cache out, or declare its effects`},
		},
	} {
		t.Run(c.about, func(t *testing.T) {
			f, found := Read(diag.NewFile("tools.yaml", []byte(c.text)))
			cat, _, more := CatalogueWith(servers{"docs": {"search", "read"}}, f)
			var said []string
			for _, f := range append(found, more...) {
				said = append(said, f.Message)
			}
			slices.Sort(said)
			slices.Sort(c.findings)
			if diff := cmp.Diff(c.findings, said); diff != "" {
				t.Error(diff)
			}
			got, ok := cat.Lookup(c.tool)
			if !ok || got.Timeout != c.timeout || got.Limits != c.limits || got.Definition.Effects != c.effects {
				t.Errorf("%+v %+v", got, got.Definition.Effects)
			}
		})
	}
}

// What is around a server's tool is around it by each of its names.
func TestServedAround(t *testing.T) {
	f, found := Read(diag.NewFile("tools.yaml", []byte(`{
		mcpServers: {docs: {command: x, cache: 1h, breaker: {failures: 1}, tools: {search: {effects: {readOnly: true}}, read: {maxOutput: 5}}}},
		activities: {find: {mcp: {server: docs, tool: search}}}}`)))
	given := &counted{servers: servers{"docs": {"search", "read"}}}
	cat, _, more := CatalogueWith(given, f)
	if len(found)+len(more) > 0 {
		t.Fatal(found, more)
	}
	call := func(name string) error {
		tl, _ := cat.Lookup(name)
		_, err := tl.Activity.Call(t.Context(), &tool.Request{Tool: "search", Definition: tl.Definition})
		return err
	}
	if err := errors.Join(call("find"), call("docs.search"), call("search")); err != nil || given.calls != 1 {
		t.Errorf("%d calls, %v", given.calls, err)
	}
	var failure *tool.Error
	if err := call("read"); !errors.As(err, &failure) || failure.Code != "output-too-large" {
		t.Errorf("%v", err)
	}
}

// counted counts the calls of servers.
type counted struct {
	servers
	calls int
}

func (c *counted) Tools() (all []*tool.Tool) {
	for _, t := range c.servers.Tools() {
		next := t.Activity
		t.Activity = tool.ActivityFunc(func(ctx context.Context, req *tool.Request) (tool.Result, error) {
			c.calls++
			return next.Call(ctx, req)
		})
		all = append(all, t)
	}
	return all
}

// In the config of another client, what is not ours is passed over.
func TestToolsOfOtherClients(t *testing.T) {
	const text = `{"mcpServers": {"docs": {"command": "x", "tools": ["*"], "timeout": 60}}}`
	if f, found := ReadServers(diag.NewFile("servers.json", []byte(text))); len(found) > 0 || len(f.Servers) != 1 {
		t.Errorf("%v", found)
	}
	if _, found := Read(diag.NewFile("tools.json", []byte(text))); len(found) != 1 {
		t.Errorf("%v", found)
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

func TestConfigsOfClients(t *testing.T) {
	src := diag.NewFile("mcp.json", []byte(`{
		"inputs": [{"id": "key", "type": "promptString"}],
		"servers": {
			"off": {"command": "nothing", "disabled": true},
			"on": {"command": "${BIN}/docs", "args": ["${ROOT:-/data}", "$1"], "disabled": false,
				"env": {"A": "Bearer ${TOKEN}", "B": "${env:TOKEN}", "C": "${NONE:-c}", "D": {"env": "TOKEN"}, "E": "${input:key}"}},
			"web": {"url": "https://${HOST:-web.example}/mcp", "headers": {"X": "${NONE}"}}
		}
	}`))
	f, found := ReadServers(src)
	f.Secrets = &Secrets{LookupEnv: func(name string) (string, bool) {
		value, ok := map[string]string{"BIN": "/bin", "TOKEN": "secret-token"}[name]
		return value, ok
	}}
	if _, ok := f.MCPServers["off"]; ok {
		t.Error("a disabled server is there")
	}
	for range 2 { // it is read each time as it is written
		all, more := Servers(f)
		if len(all) != 1 || len(more) != 1 {
			t.Fatalf("%d servers, %v", len(all), more)
		}
		s := all[0]
		want := map[string]string{"A": "Bearer secret-token", "B": "secret-token", "C": "c", "D": "secret-token", "E": "${input:key}"}
		if diff := cmp.Diff(want, s.Env); diff != "" || s.Command != "/bin/docs" || !slices.Equal(s.Args, []string{"/data", "$1"}) {
			t.Errorf("%s %s %q", diff, s.Command, s.Args)
		}
		if s.Redact == nil || s.Redact("it is secret-token") == "it is secret-token" {
			t.Error("the secret is not redacted")
		}
		if got, want := more[0].Message, `MCP server "web": the environment variable NONE is not set`; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if len(found) != 2 || found.HasErrors() {
		t.Errorf("%v, want warnings of inputs and ${input:key}", found)
	}
}

// A secret that is written out is a warning, is redacted, and goes into no record. The record has what
// the warning says to write.
func TestLiteralSecrets(t *testing.T) {
	for _, c := range []struct {
		name, text string
		secrets    []string
		set        []string // the variables of the secrets
		args       []string // with these
	}{
		{"mcp.json", `{"mcpServers": {"a": {"command": "x", "env": {"GITHUB_TOKEN": "ghp_0123456789", "MODE": "quiet-mode"}}}}`,
			[]string{"ghp_0123456789"}, []string{"GITHUB_TOKEN"}, nil},
		{"t.yaml", "mcpServers:\n  a: {url: 'https://x.example', headers: {X-Api-Key: plain-0123456789, Y: 'Bearer 0123456789'}}\n",
			[]string{"plain-0123456789", "Bearer 0123456789"}, []string{"X_API_KEY", "Y"}, nil},
		{"mcp.json", `{"mcpServers": {"a": {"command": "x", "args": ["--token", "one-0123456789", "--api-key=two-0123456789", "sk-0123456789", "--mode", "quiet-mode"]}}}`,
			[]string{"one-0123456789", "--api-key=two-0123456789", "sk-0123456789"}, []string{"TOKEN", "API_KEY", "A_TOKEN"},
			[]string{"--token", "one-0123456789", "--api-key=two-0123456789", "sk-0123456789", "--mode", "quiet-mode"}},
		{"mcp.json", `{"mcpServers": {"a": {"command": "docker", "args": ["-e", "API_TOKEN=one-0123456789", "-H", "Authorization: Bearer 0123456789", "-e", "MODE=quiet-mode"]}}}`,
			[]string{"API_TOKEN=one-0123456789", "Authorization: Bearer 0123456789"}, []string{"API_TOKEN", "AUTHORIZATION"},
			[]string{"-e", "API_TOKEN=one-0123456789", "-H", "Authorization: Bearer 0123456789", "-e", "MODE=quiet-mode"}},
		{"mcp.json", `{"mcpServers": {"a": {"url": "https://x.example/mcp?api_key=url-0123456789&mode=quiet-mode&token=tok-0123456789"}}}`,
			[]string{"url-0123456789", "tok-0123456789"}, []string{"API_KEY", "TOKEN"}, nil},
		{"mcp.json", `{"mcpServers": {"a": {"command": "npx", "args": ["-y", "server", "pg://user:pw-0123456789@h.example/db", "--dsn=https://h.example/x?sig=0123456789&mode=quiet-mode", "-e", "DB=redis://:re%3D0123456789@h", "--repo=https://ghp_0123456789@h.example", "pg://user@h.example:5432/@db?sslmode=disable"]}}}`,
			[]string{"pg://user:pw-0123456789@h.example/db", "--dsn=https://h.example/x?sig=0123456789&mode=quiet-mode", "DB=redis://:re%3D0123456789@h", "--repo=https://ghp_0123456789@h.example"}, []string{"A_URL", "DSN", "DB", "REPO"}, nil},
		{"mcp.json", `{"mcpServers": {"a": {"command": "x", "env": {"DATABASE_URL": "pg://user:0123456789@h.example/db", "HOME_PAGE": "https://h.example/?page=long-enough"}}}}`,
			[]string{"pg://user:0123456789@h.example/db"}, []string{"DATABASE_URL"}, nil},
		{"mcp.json", `{"mcpServers": {"a": {"url": "https://user:pw-0123456789@x.example/mcp?mode=quiet-mode&X-Amz-Signature=sig-0123456789&key=key-0123456789"}}}`,
			[]string{"pw-0123456789", "sig-0123456789", "key-0123456789"}, []string{"PASSWORD", "X_AMZ_SIGNATURE", "KEY"}, nil},
		{"t.yaml", "mcpServers:\n  a: {command: x, args: [--password, one-0123456789, --secret=two-0123456789, --token, /run/token, --token]}\n",
			[]string{"one-0123456789", "--secret=two-0123456789"}, []string{"PASSWORD", "SECRET"},
			[]string{"--password", "one-0123456789", "--secret=two-0123456789", "--token", "/run/token", "--token"}},
	} {
		read := Read
		if c.name == "mcp.json" {
			read = ReadServers
		}
		secrets := &Secrets{LookupEnv: func(name string) (string, bool) {
			i := slices.Index(c.set, name)
			if i < 0 {
				return "", false
			}
			return c.secrets[i], true
		}}
		f, found := read(diag.NewFile(c.name, []byte(c.text)))
		f.Secrets = secrets
		all, _ := Servers(f)
		if len(found) == 0 || found.HasErrors() || len(all) != 1 || all[0].Redact == nil {
			t.Fatalf("%s: %v, %d servers", c.text, found, len(all))
		}
		recorded := f.Recorded()
		for _, said := range []string{string(recorded), string(f.MCPServers["a"]), string(all[0].Raw), all[0].Redact("it is " + strings.Join(c.secrets, " "))} {
			if strings.Contains(said, "0123456789") {
				t.Errorf("%s: %s", c.text, said)
			}
		}
		again, found := read(diag.NewFile(c.name, recorded))
		if len(found) > 0 || string(again.MCPServers["a"]) != string(f.MCPServers["a"]) {
			t.Errorf("%s: %v; %s, want %s", c.text, found, again.MCPServers["a"], f.MCPServers["a"])
		}
		again.Secrets = secrets
		all, _ = Servers(again)
		if len(all) != 1 || c.args != nil && !slices.Equal(all[0].Args, c.args) || all[0].Redact == nil || strings.Contains(all[0].Redact(c.secrets[0]), "0123456789") {
			t.Errorf("%s: read from the record as %+v", recorded, all)
		}
		if !strings.Contains(c.text, "x.example/mcp?") { // another secret is another server
			again.Secrets = &Secrets{LookupEnv: func(string) (string, bool) { return "another-secret", true }}
			if all, found := Servers(again); len(all) > 0 || !found.HasErrors() {
				t.Errorf("%s: another secret is taken: %v", recorded, found)
			}
		}
	}
}

// Secrets that are written out in activities are a warning, and go neither into a record nor into what
// is shown of them.
func TestLiteralSecretsOfActivities(t *testing.T) {
	text := `{"activities": {
		"a": {"http": {"url": "https://x.example", "headers": {"Authorization": "Bearer 0123456789", "X-Token": "{token}", "X-Token-Url": "https://x.example"}}},
		"b": {"process": {"command": ["x"], "env": {"API_KEY": "key-0123456789", "MODE": "quiet-mode"}}}}}`
	f, found := Read(diag.NewFile("t.json", []byte(text)))
	if len(found) != 2 || found.HasErrors() || len(f.Activities) != 2 {
		t.Fatalf("%v, %d activities", found, len(f.Activities))
	}
	for _, said := range []string{string(f.Recorded()), string(f.Activities[0].Raw), string(f.Activities[1].Raw)} {
		if strings.Contains(said, "0123456789") {
			t.Error(said)
		}
	}
	if again, found := Read(diag.NewFile("t.json", f.Recorded())); len(found) != 0 || string(again.Activities[0].Raw) != string(f.Activities[0].Raw) {
		t.Errorf("%v; %s, want %s", found, again.Activities[0].Raw, f.Activities[0].Raw)
	}
}

// Where no secret can stand, the warning says that records have it.
func TestExposedSecrets(t *testing.T) {
	for text, want := range map[string]string{
		`{"activities": {"a": {"http": {"url": "https://x.example/a?api_key=key-0123456789"}}}}`:                    "give it in headers",
		`{"activities": {"a": {"process": {"command": ["x", "--token", "key-0123456789"]}}}}`:                       "give it in env",
		`{"activities": {"a": {"process": ["x", "--token=key-0123456789", "{token}"]}}}`:                            "give it in env",
		`{"activities": {"a": {"process": ["x", "pg://user:0123456789@h.example/{db}"]}}}`:                          "give it in env",
		`{"mcpServers": {"a": {"url": "https://user:0123456789@x.example/mcp"}}}`:                                   "give it in headers",
		`{"activities": {"a": {"process": ["x", "pg://u:{pw}@h/d", "sh", "pg://u:$PW@h/d", "pg://${U}:${PW}@h"]}}}`: "",
		`{"mcpServers": {"a": {"url": "https://x.example/mcp?api_key=key-0123456789"}}}`:                            "give it in headers",
		`{"activities": {"a": {"process": ["x", "--token-file", "/run/t", "--token", "{token}", "--mode=aaa"]}}}`:   "",
	} {
		f, found := Read(diag.NewFile("t.json", []byte(text)))
		switch {
		case want == "" && len(found) > 0, want != "" && (len(found) != 1 || found.HasErrors() || !strings.Contains(found[0].Message, want)):
			t.Errorf("%s: %v", text, found)
		case !strings.Contains(string(f.Recorded()), "0123456789") && want != "":
			t.Errorf("%s is not recorded as it is", text)
		}
	}
}

// A server that is disabled has no findings, and its secrets go into no record.
func TestLiteralSecretsOfDisabledServers(t *testing.T) {
	f, found := ReadServers(diag.NewFile("mcp.json", []byte(`{"mcpServers": {"a": {"disabled": true, "command": "x", "env": {"API_KEY": "key-0123456789"}}}}`)))
	if len(found) > 0 || len(f.Servers) > 0 || strings.Contains(string(f.Recorded()), "0123456789") {
		t.Errorf("%v %v %s", found, f.Servers, f.Recorded())
	}
}

// A secret that YAML has over several lines can't be taken out of a record, and the warning says so.
func TestLiteralSecretsInBlocks(t *testing.T) {
	for _, text := range []string{"|-\n        key-0123456789\n", ">-\n        key-0123456789\n", "key-0123\n        456789-x\n"} {
		f, found := Read(diag.NewFile("t.yaml", []byte("mcpServers:\n  a:\n    command: x\n    env:\n      API_KEY: "+text)))
		if len(found) != 1 || !strings.Contains(found[0].Message, "records of runs have it") || string(f.Recorded()) != string(f.Source.Text) {
			t.Errorf("%s: %v %s", text, found, f.Recorded())
		}
	}
}

// What variables and files make of the command, its arguments and the URL is bound by its SHA-256,
// and what is in variables of the server's environment and in headers is not.
func TestBoundServers(t *testing.T) {
	for _, c := range []struct {
		text   string
		client bool // the text is the config of a client
		bound  bool
	}{
		{`{"mcpServers": {"a": {"command": "x", "args": ["${IT}"]}}}`, true, true},
		{`{"mcpServers": {"a": {"command": "x", "args": ["--to=${NONE:-y}${IT:-z}"]}}}`, true, true},
		{`{"mcpServers": {"a": {"command": "/bin/${IT}"}}}`, true, true},
		{`{"mcpServers": {"a": {"command": "x", "cwd": "${env:IT}"}}}`, true, true},
		{`{"mcpServers": {"a": {"url": "https://${IT}.example/mcp"}}}`, true, true},
		{`{"mcpServers": {"a": {"url": "https://x.example/mcp?token=IT-0123456789"}}}`, true, true},
		{`{"mcpServers": {"a": {"command": "x", "env": {"A": "${IT}"}}}}`, true, false},
		{`{"mcpServers": {"a": {"url": "https://x.example", "headers": {"A": "${IT}"}}}}`, true, false},
		{"mcpServers: {a: {command: x, args: [{env: IT}]}}", false, true},
		{"mcpServers: {a: {command: x, args: [{file: IT}]}}", false, true},
		{"mcpServers: {a: {command: x, args: [y], env: {A: {env: IT}}}}", false, false},
	} {
		bind := func(is string) (bound string, place tool.Place) {
			src := diag.NewFile("f", []byte(strings.ReplaceAll(c.text, "IT-", is+"-")))
			f, _ := Read(src)
			if c.client {
				f, _ = ReadServers(src)
			}
			f.Secrets = &Secrets{
				LookupEnv: func(name string) (string, bool) { return is, name == "IT" },
				ReadFile:  func(string) ([]byte, error) { return []byte(is), nil },
			}
			for range 2 { // it is the same each time
				all, findings := Servers(f)
				if len(all) != 1 {
					t.Fatalf("%s: %v", c.text, findings)
				}
				place, _ = all[0].Place(true)
				bound = string(f.BoundServers()["a"])
			}
			return bound, place
		}
		first, place := bind("one-value")
		second, other := bind("another-value")
		if (first != second) != c.bound || strings.Contains(first, "one-value") || strings.Contains(first, "expanded") != c.bound || !json.Valid([]byte(first)) {
			t.Errorf("%s: %s and %s", c.text, first, second)
		}
		if slices.Equal(place.Pins, other.Pins) == c.bound || strings.Contains(strings.Join(place.Program, " ")+place.URL, "one-value") {
			t.Errorf("%s: %+v and %+v", c.text, place, other)
		}
	}
}

// The program of any server can be pinned, also of one that takes commands on its standard input.
func TestServersArePinned(t *testing.T) {
	for _, command := range [][]string{{"sh"}, {"ssh", "host"}, {"python3", "-"}, {"sh", "{x}", "-c"}} {
		s := Server{Command: command[0], Args: command[1:], Raw: []byte(`{"command": "x"}`)}
		place, usePinned := s.Place(true)
		if len(place.Pins) == 0 || usePinned == nil {
			t.Errorf("%q: %+v, %t", command, place, usePinned != nil)
		}
	}
}
