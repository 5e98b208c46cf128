package openapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tidwall/gjson"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/spell"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/http"
)

// Driver is the Driver of the tools.
const Driver = "openapi"

// Config says how to use a service. The zero Config uses all of its operations, without
// credentials.
type Config struct {
	Server       string                     // the URL that paths are added to; "" is the first one of the document
	Only         []string                   // the operations to make tools of, by operationId or METHOD /path; nil is all
	Prefix       string                     // before the names of tools
	Effects      map[string]json.RawMessage // by operation; they take precedence over the document and the method
	Auth         map[string]Credential      // by security scheme
	AllowHosts   []string                   // see http.Config; nil is the host of the server
	AllowPrivate bool
	MaxBytes     int64         // of an answer; 0 is http.DefaultMaxBytes
	Timeout      time.Duration // of an attempt; with 0 only the context bounds it
}

// Credential holds the values that a security scheme requires.
type Credential struct {
	Token              string // of an API key, a bearer token, OAuth 2
	Username, Password string // of HTTP's basic scheme
}

// Tools returns the tools of the operations, in the order of the document. Their definitions are
// made when they are used: see tool.Later. Faults of an operation are Findings of its tool, without
// a place: a warning if its credentials are missing, an error for an invalid schema. Tools returns
// an error if the Config names an operation or a scheme that does not exist.
func (d *Document) Tools(cfg Config) ([]*tool.Tool, error) {
	if err := d.check(cfg); err != nil {
		return nil, err
	}
	var wanted []*operation
	for _, op := range d.operations {
		if cfg.Only == nil || slices.Contains(cfg.Only, op.name) || slices.Contains(cfg.Only, op.line()) {
			wanted = append(wanted, op)
		}
	}
	var tools []*tool.Tool
	servers := map[string]*http.Activity{}
	room := sync.OnceValue(func() int { return roomFor(wanted, maxWritten) })
	for _, op := range wanted {
		t, err := op.tool(cfg, servers, room)
		if err != nil {
			return nil, err
		}
		tools = append(tools, t)
	}
	return tools, nil
}

// check returns an error if the Config names something that does not exist.
func (d *Document) check(cfg Config) error {
	names := d.Operations()
	for _, op := range d.operations {
		names = append(names, op.line())
	}
	for _, name := range cfg.Only {
		if err := known("operation", name, names); err != nil {
			return err
		}
	}
	for name := range cfg.Effects {
		if err := known("operation", name, names); err != nil {
			return err
		}
	}
	var schemes []string
	d.schemes.ForEach(func(name, _ gjson.Result) bool {
		schemes = append(schemes, name.Str)
		return true
	})
	for name := range cfg.Auth {
		if err := known("security scheme", name, schemes); err != nil {
			return err
		}
	}
	return nil
}

func known(what, name string, names []string) error {
	if slices.Contains(names, name) {
		return nil
	}
	if best, ok := spell.Nearest(name, slices.Values(names)); ok {
		return fmt.Errorf("the document has no %s %q; did you mean %q?", what, name, best)
	}
	return fmt.Errorf("the document has no %s %q", what, name)
}

// tool returns the tool of an operation. Operations of one server share its connections.
func (op *operation) tool(cfg Config, servers map[string]*http.Activity, room func() int) (*tool.Tool, error) {
	said := cfg.Effects[op.name]
	if said == nil {
		said = cfg.Effects[op.line()]
	}
	effects, err := op.effects(said)
	if err != nil {
		return nil, err
	}
	name := cfg.Prefix + op.name
	listed, findings := tool.ParseDefinition(json.RawMessage("{"+op.head(name, effects)+`,"inputSchema":true}`), name, diag.Loc{})
	if listed == nil {
		return nil, fmt.Errorf("the operation %q: %s", op.name, findings[0].Message)
	}
	a := &activity{op: op}
	server, err := op.server(cfg.Server)
	if err != nil {
		return nil, err
	}
	if a.web = servers[server]; a.web == nil {
		a.web, err = http.New(http.Config{URL: strings.NewReplacer("{", "{{", "}", "}}").Replace(server),
			AllowHosts: cfg.AllowHosts, AllowPrivate: cfg.AllowPrivate, MaxBytes: cfg.MaxBytes, Timeout: cfg.Timeout})
		if err != nil {
			return nil, fmt.Errorf("server: %w", err)
		}
		servers[server] = a.web
	}
	var missing string
	if a.auth, missing = op.credentials(cfg.Auth); missing != "" {
		findings = append(findings, diag.Finding{Code: diag.NotAllowed, Severity: diag.Warning,
			Message: fmt.Sprintf("the operation %q wants the security scheme %s; give it in auth", op.name, missing)})
	}
	raw, err := json.Marshal(map[string]any{Driver: op.names(), "document": op.doc.sum, "http": map[string]string{"method": op.method, "url": server + op.path}})
	later := tool.NewLater(op.doc.sum, func() (*tool.Definition, diag.List) {
		if ref := op.lost(); ref != "" {
			return nil, diag.List{{Code: diag.BadSchema, Message: fmt.Sprintf("tool %q: the reference %q leads to nothing in the document", name, ref)}}
		}
		def, found := tool.ParseDefinition(op.definition(name, effects, room()), name, diag.Loc{})
		for i := range found {
			found[i].Pointer = "" // into a text that nobody sees
		}
		return def, found
	})
	return &tool.Tool{
		Definition: listed, Activity: a, Source: Driver, Driver: Driver, Raw: raw, Later: later, Findings: findings,
	}, err
}

// server returns the URL of the service.
func (op *operation) server(given string) (string, error) {
	if given != "" {
		return strings.TrimSuffix(given, "/"), nil
	}
	for _, all := range []gjson.Result{op.raw.Get("servers"), op.item.Get("servers"), op.doc.top["servers"]} {
		s := all.Get("0")
		if !s.Exists() {
			continue
		}
		text := s.Get("url").Str
		s.Get("variables").ForEach(func(name, v gjson.Result) bool {
			text = strings.ReplaceAll(text, "{"+name.Str+"}", v.Get("default").Str)
			return true
		})
		if !strings.Contains(text, "://") {
			return "", fmt.Errorf("the server %q of the document is no whole URL; say which it is in \"server\"", text)
		}
		return strings.TrimSuffix(text, "/"), nil
	}
	return "", errors.New("the document names no server; say which it is in \"server\"")
}
