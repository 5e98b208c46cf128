package plc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/compile/cel"
	"github.com/plc-lang/plc/compile/flow"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/lang/dialect/notations"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/file"
	"github.com/plc-lang/plc/tool/math"
	"github.com/plc-lang/plc/tool/mcp"
)

// A Toolset names what plans may call.
type Toolset struct {
	// Files are tool files in JSON or YAML, or in the notation of another system. The name math
	// stands for the tools for calculations that come with plc. If two tools have the same name,
	// the later one counts.
	Files []Source `json:"files,omitempty"`
	// MCP lists the names of configuration files of MCP clients: {"mcpServers": …}.
	MCP []string `json:"mcp,omitempty"`
	// Lock is the name of a file that locks the tools of MCP servers. If it is "", the file
	// plc.lock.json next to a file that has servers is used, if there is one.
	Lock string `json:"lock,omitempty"`
	// Deny lists tools that may not be used, besides those that policies deny.
	Deny []string `json:"deny,omitempty"`
	// Only holds lists of tools, by name or pattern. A tool may only be used if it is in each of
	// the lists, whatever policies allow.
	Only [][]string `json:"only,omitempty"`
	// Policies lists the names of files with policies on the flow of information, besides the flow
	// sections of tool files. A plan must be allowed by each of them.
	Policies []string `json:"policies,omitempty"`
	// Partial leaves out MCP servers that can't be used: errors about them become warnings, and
	// their tools are unknown. A difference from a lock is still an error.
	Partial bool `json:"partial,omitempty"`
	// Unlocked ignores all locks.
	Unlocked bool `json:"-"`
}

// IsEmpty reports whether the toolset names nothing.
func (t *Toolset) IsEmpty() bool { return len(t.Files) == 0 && len(t.MCP) == 0 }

// join returns a toolset with the entries of both. Those of more come later.
func (t *Toolset) join(more Toolset) Toolset {
	joined := Toolset{
		Files: slices.Concat(t.Files, more.Files), MCP: slices.Concat(t.MCP, more.MCP),
		Lock: more.Lock, Deny: slices.Concat(t.Deny, more.Deny), Only: slices.Concat(t.Only, more.Only), Policies: slices.Concat(t.Policies, more.Policies), Partial: t.Partial || more.Partial, Unlocked: t.Unlocked || more.Unlocked,
	}
	if joined.Lock == "" {
		joined.Lock = t.Lock
	}
	return joined
}

// LockName is the name of the lock file that is used without being named.
const LockName = "plc.lock.json"

// Purpose says what tools are needed for. It decides which MCP servers are started, and whether
// secrets must be set.
type Purpose uint8

// The purposes.
const (
	// ToCheck calls no tool: it starts no server that a lock has, and secrets may be unset.
	ToCheck Purpose = iota
	// ToPreview calls no tool either, but starts all servers, so that changed tools are found.
	ToPreview
	// ToRun calls tools.
	ToRun
)

// Tools holds the tools of a toolset.
type Tools struct {
	Catalogue *tool.Catalogue
	Policy    file.Policy
	Only      [][]string     // of the toolset
	Flow      []*flow.Policy // policies on the flow of information: one of all tool files, and one of each policy file
	Files     []*file.File
	Servers   *mcp.Pool // nil if there are no servers; the engine closes it
	Findings  diag.List // about the files and servers
	LeftOut   diag.List // the Findings about servers that are left out (Toolset.Partial)

	unstarted bool // there are servers whose tools are unknown, since none is started
}

// Err returns nil if plans may run with the tools, and otherwise a *PlanError with the findings.
func (t *Tools) Err() error {
	if !t.Findings.HasErrors() {
		return nil
	}
	return &PlanError{Findings: t.Findings}
}

// Permits reports whether plans may use a tool of the catalogue.
func (t *Tools) Permits(of *tool.Tool) bool {
	o := compile.Options{Catalogue: t.Catalogue, Allow: t.Policy.Allow, Deny: t.Policy.Deny, Only: t.Only}
	return o.Permits(of)
}

// Tools reads the files of a toolset and of the engine, and starts the MCP servers that they name.
// It returns an error if a file can't be read; what is wrong in the files is in Findings.
func (e *Engine) Tools(ctx context.Context, t Toolset, purpose Purpose) (*Tools, error) {
	return (&session{engine: e, noMemory: true}).tools(ctx, t, purpose)
}

func (s *session) tools(ctx context.Context, more Toolset, purpose Purpose) (*Tools, error) {
	named := s.engine.config.Toolset.join(more)
	t := &Tools{}
	missing, err := s.readToolFiles(named, purpose, t)
	if err != nil {
		return nil, err
	}
	if err := s.readServers(named, purpose, t); err != nil {
		return nil, err
	}
	var servers file.MCP
	if t.Servers, err = s.startServers(ctx, named, purpose, t); err != nil {
		return nil, err
	}
	if t.Servers != nil {
		servers = t.Servers
	}
	cat, policy, found := file.CatalogueWith(servers, t.Files...)
	t.Catalogue, t.Policy = cat.WithMissing(missing...).With(s.engine.config.Tools...), policy
	if s.sealed {
		recorded, err := s.programTools()
		if err != nil {
			return nil, err
		}
		t.Catalogue = t.Catalogue.With(recorded...)
	}
	t.Policy.Deny, t.Only = append(t.Policy.Deny, named.Deny...), named.Only
	t.Findings = append(t.Findings, found...)
	unknown := t.Servers == nil && slices.ContainsFunc(t.Files, func(f *file.File) bool { return len(f.MCPServers) > 0 })
	all := !unknown && !slices.ContainsFunc(t.Findings, mayLoseTools)
	if all {
		t.Findings = append(t.Findings, file.UnmatchedPolicy(t.Catalogue, t.Files...)...)
		t.Findings = append(t.Findings, file.UnmatchedDeny(t.Catalogue, named.Deny)...)
	}
	return t, s.readPolicies(named, t, all)
}

// readPolicies reads the policies on the flow of information. If all tools are known, it checks the
// policies against them.
func (s *session) readPolicies(named Toolset, t *Tools, known bool) error {
	var own []*file.PolicyFile
	for _, name := range named.Policies {
		src := File(name)
		text, err := s.read(journal.Tools, src)
		if err != nil {
			return err
		}
		f, found := file.ReadPolicy(diag.NewFile(src.shown(), text))
		own, t.Findings = append(own, f), append(t.Findings, found...)
	}
	said, found := file.Flow(t.Files, own...)
	t.Findings = append(t.Findings, found...)
	if len(said) == 0 {
		return nil
	}
	var cat *tool.Catalogue
	if known {
		cat = t.Catalogue
	}
	conditions := cel.New()
	for _, p := range said {
		ready, found := flow.Prepare(p, cat, conditions)
		t.Flow, t.Findings = append(t.Flow, ready), append(t.Findings, found...)
	}
	return nil
}

// readToolFiles reads the tool files. It returns the tools that come with plc, which the tools of
// files take precedence over.
func (s *session) readToolFiles(named Toolset, purpose Purpose, t *Tools) (more []*tool.Tool, err error) {
	for _, src := range named.Files {
		if src.Name == math.Name && src.Notation == "" && !src.inline() {
			more = append(more, math.Tools()...)
			continue
		}
		text, err := s.read(journal.Tools, src)
		if err != nil {
			return nil, err
		}
		f := diag.NewFile(src.shown(), text)
		if src.Notation != "" {
			n, ok := notations.Lookup(src.Notation)
			if !ok || n.Catalogue == nil {
				return nil, &SpecError{"tools-from", fmt.Sprintf("%q is no notation of tools", src.Notation)}
			}
			var found diag.List
			f, found = n.ToolFile(f, nil)
			t.Findings = append(t.Findings, found...)
		}
		tf, found := file.Read(f)
		if src.Notation == "" && !src.inline() {
			s.texts.replace(journal.Tools, src.Name, tf.Recorded())
		}
		tf.Secrets, tf.Memory = s.secrets(purpose), s.memory()
		tf.Secrets.Literals = s.writtenOut(src, file.Read)
		tf.ReadFile = func(name string) ([]byte, error) { return s.read(journal.Tools, File(src.beside(name))) }
		t.Files = append(t.Files, tf)
		t.Findings = append(t.Findings, found...)
	}
	return more, nil
}

// writtenOut returns the secrets that are written literally in a file now. The text of the file in
// a record does not have them.
func (s *session) writtenOut(src Source, read func(*diag.File) (*file.File, diag.List)) []string {
	if _, recorded, _ := s.texts.recorded(journal.Tools, src.Name); !recorded || s.sealed && !s.looksUp || src.inline() {
		return nil
	}
	text, err := s.engine.readSource(src)
	if err != nil { // the file is gone; the secrets must be in variables
		return nil
	}
	f, _ := read(diag.NewFile(src.shown(), text))
	return f.Literals()
}

// readServers reads the configurations of MCP clients.
func (s *session) readServers(named Toolset, purpose Purpose, t *Tools) error {
	for _, name := range named.MCP {
		src := File(name)
		text, err := s.read(journal.Tools, src)
		if err != nil {
			return err
		}
		f, found := file.ReadServers(diag.NewFile(src.shown(), text))
		if named.Partial {
			t.leaveOut(found, func(f *diag.Finding) bool { return strings.Count(f.Pointer, "/") > 1 }) // a finding about one server
		}
		s.texts.replace(journal.Tools, src.Name, f.Recorded())
		f.Secrets, f.Memory = s.secrets(purpose), s.memory()
		f.Secrets.Literals = s.writtenOut(src, file.ReadServers)
		t.Files, t.Findings = append(t.Files, f), append(t.Findings, found...)
	}
	return nil
}

// startServers starts the MCP servers of files; the engine ends them. It returns nil if there are
// none.
func (s *session) startServers(ctx context.Context, named Toolset, purpose Purpose, t *Tools) (*mcp.Pool, error) {
	declared, findings := file.Servers(t.Files...)
	defer func() { t.Findings = append(t.Findings, findings...) }()
	if len(declared) == 0 && len(findings) == 0 {
		return nil, nil
	}
	c := &s.engine.config
	opts := &mcp.Options{Environ: c.Environ, Version: c.Version, Offline: purpose == ToCheck || s.sealed, Ask: c.AskServer, OnChanged: c.OnToolsChanged}
	if named.Partial {
		opts.TryAgain = tryAgainAfter
	}
	lock, recorded, err := s.lock(named, t.Files)
	if err != nil {
		return nil, err
	}
	opts.Lock = lock
	pin := slices.ContainsFunc(t.Files, func(f *file.File) bool { return f.Policy.PinPrograms })
	var servers []mcp.Server
	for _, d := range declared {
		if opts.Lock != nil && !opts.Lock.Has(d.Name) {
			findings = append(findings, diag.Finding{
				Code: diag.BadServer, Loc: d.Loc,
				Message: fmt.Sprintf("MCP server %q is not in the lock; look at its tools, then plc tools lock", d.Name),
			})
			continue
		}
		if d.Lacking != nil {
			lacking, unstarted := *d.Lacking, opts.Offline && opts.Lock != nil
			if unstarted {
				lacking.Severity = diag.Warning
			}
			if findings = append(findings, lacking); !unstarted {
				continue
			}
		}
		if c.Unstarted && purpose == ToCheck && opts.Lock == nil {
			findings = append(findings, unstarted(d))
			t.unstarted = true
			continue
		}
		place, usePinned := d.Place(pin)
		servers = append(servers, mcp.Server{
			Name: d.Name, Command: d.Command, Args: d.Args, Dir: d.Dir, Env: d.Env, URL: d.URL, Headers: d.Headers,
			Trust: d.Trust, Redact: d.Redact, RedactValue: d.RedactValue, Loc: d.Loc,
			Place: place, UsePinned: usePinned,
		})
	}
	done := func() {}
	if c.OnServers != nil {
		var names []string
		for _, server := range servers {
			names = append(names, server.Name)
		}
		opts.OnStarted, done = c.OnServers(names)
	}
	pool := s.engine.servers.Open(ctx, servers, opts)
	done()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	given := pool
	if named.Partial {
		given = pool.Working()
	}
	if known, err := given.Lock(); err == nil && !recorded { // so that a resumed run has these tools
		text, err := json.Marshal(known)
		if err != nil {
			return nil, err
		}
		s.texts.keep(journal.Tools, serverToolsText, "", text)
	}
	told := pool.Findings()
	if named.Partial {
		t.leaveOut(findings, func(*diag.Finding) bool { return true })
		failed := map[diag.Loc]bool{}
		for _, c := range pool.Servers() {
			failed[c.Server().Loc] = c.Err() != nil
		}
		t.leaveOut(told, func(f *diag.Finding) bool { return failed[f.Loc] })
	}
	findings = append(findings, told...)
	return pool, nil
}

// leaveOut turns the errors that are about one server into warnings.
func (t *Tools) leaveOut(found diag.List, aboutOne func(*diag.Finding) bool) {
	for i := range found {
		if found[i].Severity == diag.Error && aboutOne(&found[i]) {
			found[i].Severity = diag.Warning
			t.LeftOut = append(t.LeftOut, found[i])
		}
	}
}

// tryAgainAfter is the time after which a server that failed, and may be left out, is started
// again.
const tryAgainAfter = 30 * time.Second

// unstarted returns the finding for an MCP server whose tools are not known.
func unstarted(d file.Server) diag.Finding {
	return diag.Finding{
		Code: diag.BadServer, Severity: diag.Info, Loc: d.Loc,
		Message: fmt.Sprintf("the tools of MCP server %q are not known here, where no server is started; plc tools lock writes them down", d.Name),
	}
}

// serverToolsText is the name under which a record keeps the definitions of the tools of MCP
// servers, as a lock.
const serverToolsText = "(tools of MCP servers)"

// lock reads the lock of the servers: the one in the record of the run, or the one that is named,
// or the one next to a file with servers; nil if there is none.
func (s *session) lock(named Toolset, files []*file.File) (lock *mcp.Lock, recorded bool, err error) {
	text, recorded, err := s.texts.recorded(journal.Tools, serverToolsText)
	name := serverToolsText
	if !recorded {
		if name = s.lockFile(named, files); name == "" {
			return nil, false, nil
		}
		text, err = s.engine.readFile(name, maxLock)
	}
	if err == nil {
		lock, err = mcp.ReadLock(text)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return lock, recorded, err
}

// maxLock is the maximum size of a lock file, in bytes.
const maxLock = 1 << 28

// lockFile returns the name of the lock file; "" if there is none.
func (s *session) lockFile(named Toolset, files []*file.File) string {
	if named.Lock != "" || named.Unlocked {
		return named.Lock
	}
	for _, f := range files {
		if len(f.Servers) == 0 {
			continue
		}
		beside := filepath.Join(filepath.Dir(f.Source.Name), LockName)
		opened, err := s.engine.open(beside)
		if err == nil {
			_ = opened.Close() // nothing was read
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return beside
		}
	}
	return ""
}

// secrets returns the source of the secrets of tool files.
func (s *session) secrets(purpose Purpose) *file.Secrets {
	if s.sealed && !s.looksUp { // nothing is called, so placeholders are enough
		return &file.Secrets{
			LookupEnv: func(string) (string, bool) { return "-", true },
			ReadFile:  func(string) ([]byte, error) { return []byte("-"), nil },
		}
	}
	return &file.Secrets{LookupEnv: s.engine.lookupEnv, ReadFile: readSecret, Optional: purpose != ToRun || s.sealed}
}

// maxSecret is the maximum size of a secret, in bytes.
const maxSecret = 64 << 10

// readSecret reads the file of a secret. It may be a pipe.
func readSecret(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // nothing was written
	text, err := io.ReadAll(io.LimitReader(f, maxSecret+1))
	if err == nil && len(text) > maxSecret {
		err = fmt.Errorf("%s has more than %d bytes, which is no secret; name the file that holds the secret alone", path, maxSecret)
	}
	return text, err
}
