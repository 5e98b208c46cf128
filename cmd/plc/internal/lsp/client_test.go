package lsp_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/plc-lang/plc/cmd/plc/internal/lsp"
	"github.com/plc-lang/plc/cmd/plc/internal/lsp/protocol"
)

// A client is an editor for tests.
type client struct {
	t     testing.TB
	conn  *jsonrpc2.Conn
	ended chan error // what Serve returned

	mu        sync.Mutex
	more      chan struct{} // closed when something was published
	published map[protocol.URI]*protocol.PublishDiagnosticsParams
	versions  map[protocol.URI]int
	texts     map[protocol.URI]string
}

// Handle implements jsonrpc2.Handler.
func (c *client) Handle(ctx context.Context, conn *jsonrpc2.Conn, req *jsonrpc2.Request) {
	if req.Method != "textDocument/publishDiagnostics" {
		if !req.Notif {
			_ = conn.Reply(ctx, req.ID, nil)
		}
		return
	}
	var p protocol.PublishDiagnosticsParams
	if err := json.Unmarshal(*req.Params, &p); err != nil {
		c.t.Error(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.published[p.URI] = &p
	close(c.more)
	c.more = make(chan struct{})
}

// start starts a server for a folder. Options are merged into the params of initialize.
func start(t testing.TB, folder string, options ...string) *client {
	t.Helper()
	c := created(t)
	params := map[string]any{"processId": nil, "rootUri": "file://" + folder, "capabilities": map[string]any{}}
	for _, o := range options {
		if err := json.Unmarshal([]byte(o), &params); err != nil {
			t.Fatal(err)
		}
	}
	var result protocol.InitializeResult
	c.call("initialize", params, &result)
	c.notify("initialized", map[string]any{})
	return c
}

// created starts a server that is not initialized.
func created(t testing.TB) *client {
	here, there := net.Pipe()
	c := &client{
		t: t, ended: make(chan error, 1), more: make(chan struct{}),
		published: map[protocol.URI]*protocol.PublishDiagnosticsParams{}, versions: map[protocol.URI]int{}, texts: map[protocol.URI]string{},
	}
	go func() {
		c.ended <- lsp.Serve(context.Background(), there, lsp.Config{Environ: os.Environ(), Version: "test"})
	}()
	stream := jsonrpc2.NewBufferedStream(here, jsonrpc2.VSCodeObjectCodec{})
	c.conn = jsonrpc2.NewConn(context.Background(), stream, c, jsonrpc2.SetLogger(log.New(io.Discard, "", 0)))
	t.Cleanup(func() {
		_ = c.conn.Close()
		select {
		case <-c.ended:
		case <-time.After(time.Minute):
			t.Error("the server does not end")
		}
	})
	return c
}

// limited is a context for one answer: long, since the machine may be busy.
func limited() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), time.Minute)
}

// try makes a request.
func (c *client) try(method string, params, result any) error {
	ctx, cancel := limited()
	defer cancel()
	return c.conn.Call(ctx, method, params, result)
}

// call makes a request that has to succeed.
func (c *client) call(method string, params, result any) {
	c.t.Helper()
	if err := c.try(method, params, result); err != nil {
		c.t.Fatalf("%s: %v", method, err)
	}
}

func (c *client) notify(method string, params any) {
	c.t.Helper()
	if err := c.conn.Notify(context.Background(), method, params); err != nil {
		c.t.Fatal(err)
	}
}

// open opens a document.
func (c *client) open(uri protocol.URI, language, text string) {
	c.t.Helper()
	c.texts[uri], c.versions[uri] = text, 1
	c.notify("textDocument/didOpen", &protocol.DidOpenParams{TextDocument: protocol.TextDocumentItem{URI: uri, LanguageID: language, Version: 1, Text: text}})
}

// openFile opens a file.
func (c *client) openFile(name string) protocol.URI {
	c.t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		c.t.Fatal(err)
	}
	language := "json"
	if ext := filepath.Ext(name); ext == ".yaml" || ext == ".yml" {
		language = "yaml"
	}
	uri := fileURI(name)
	c.open(uri, language, string(text))
	return uri
}

func fileURI(name string) protocol.URI { return protocol.URI("file://" + filepath.ToSlash(name)) }

// change replaces a document.
func (c *client) change(uri protocol.URI, text string) {
	c.t.Helper()
	c.versions[uri]++
	c.texts[uri] = text
	c.notify("textDocument/didChange", &protocol.DidChangeParams{
		TextDocument: protocol.VersionedTextDocumentIdentifier{URI: uri, Version: c.versions[uri]}, ContentChanges: []protocol.ContentChange{{Text: text}},
	})
}

// diagnostics waits for the diagnostics of the version of a document that the client has.
func (c *client) diagnostics(uri protocol.URI) []protocol.Diagnostic {
	c.t.Helper()
	return c.until(uri, func(p *protocol.PublishDiagnosticsParams) bool {
		return p.Version != nil && *p.Version == c.versions[uri]
	})
}

// until waits for diagnostics of a document that are right.
func (c *client) until(uri protocol.URI, right func(*protocol.PublishDiagnosticsParams) bool) []protocol.Diagnostic {
	c.t.Helper()
	ctx, cancel := limited()
	defer cancel()
	for {
		c.mu.Lock()
		p, more := c.published[uri], c.more
		c.mu.Unlock()
		if p != nil && right(p) {
			return p.Diagnostics
		}
		select {
		case <-more:
		case <-ctx.Done():
			c.t.Fatalf("no such diagnostics of %s; the last are %+v", uri, p)
		}
	}
}

// codes returns the codes of diagnostics, with spaces between.
func codes(list []protocol.Diagnostic) string {
	var all []string
	for _, d := range list {
		all = append(all, d.Code)
	}
	return strings.Join(all, " ")
}

// folder makes a folder of files, given by name and text.
func folder(t testing.TB, files ...string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(files); i += 2 {
		write(t, filepath.Join(dir, files[i]), files[i+1])
	}
	return dir
}

func write(t testing.TB, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// read returns the text of a file of this repository, by its name from the root.
func read(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../../..", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// code returns the code of an error that answers a request.
func code(err error) int64 {
	var e *jsonrpc2.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return 0
}
