package lsp

import (
	"encoding/json"
	"slices"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/plc-lang/plc/cmd/plc/internal/lsp/protocol"
)

// settings has the settings of the client. They replace those of the project file, like flags of
// the command.
type settings struct {
	Tools  []string `json:"tools"`  // tool files, relative to the project or the folder
	MCP    []string `json:"mcp"`    // configurations of MCP clients
	Lock   string   `json:"lock"`   // of the tools of MCP servers
	Ignore []string `json:"ignore"` // codes of findings, besides those of the project
	Strict bool     `json:"strict"`
	// NoProject uses no project file.
	NoProject bool `json:"noProject"`
	// OwnCommands says that the client implements the commands of lenses itself, and plc.runFrom,
	// which opens a terminal.
	OwnCommands bool `json:"ownCommands"`
}

// readSettings reads settings, which clients send directly or in a member plc.
func readSettings(raw json.RawMessage) (s settings) {
	var named struct {
		PLC json.RawMessage `json:"plc"`
	}
	if json.Unmarshal(raw, &named) == nil && named.PLC != nil {
		raw = named.PLC
	}
	if json.Unmarshal(raw, &s) != nil { // settings with other types count as not set
		return settings{}
	}
	return s
}

// initialize stores the capabilities of the client, and returns those of the server.
func (s *server) initialize(req *jsonrpc2.Request) *protocol.InitializeResult {
	var p protocol.InitializeParams
	_ = params(req, &p) // params that can't be read count as not given
	s.mu.Lock()
	defer s.mu.Unlock()
	s.phase = running
	s.client = p.Capabilities
	for _, e := range []encoding{utf8Units, utf32Units} { // the encodings that cost nothing, or little
		if slices.Contains(p.Capabilities.General.PositionEncodings, string(e)) {
			s.encoding = e
			break
		}
	}
	s.settings = readSettings(p.InitializationOptions)
	for _, f := range p.WorkspaceFolders {
		s.folders = append(s.folders, pathOf(f.URI))
	}
	switch {
	case len(s.folders) > 0:
	case p.RootURI != "":
		s.folders = []string{pathOf(p.RootURI)}
	case p.RootPath != "":
		s.folders = []string{p.RootPath}
	}
	return &protocol.InitializeResult{
		Capabilities: capabilities(s.encoding, s.settings.OwnCommands),
		ServerInfo:   protocol.ServerInfo{Name: "plc", Version: s.config.Version},
	}
}

// capabilities returns what the server can do.
func capabilities(e encoding, ownCommands bool) protocol.ServerCapabilities {
	c := protocol.ServerCapabilities{
		PositionEncoding: string(e),
		TextDocumentSync: protocol.TextDocumentSync{OpenClose: true, Change: protocol.Incremental},
	}
	c.CompletionProvider.TriggerCharacters = []string{"\"", "†", "$", "+", ".", "{", "[", ":", " "}
	c.CodeActionProvider.CodeActionKinds = []string{protocol.QuickFix, fixAll}
	c.DocumentFormattingProvider = true
	c.HoverProvider = true
	c.DefinitionProvider = true
	c.ReferencesProvider = true
	c.DocumentHighlightProvider = true
	c.RenameProvider.PrepareProvider = true
	c.InlayHintProvider = true
	if c.ExecuteCommandProvider.Commands = []string{}; !ownCommands {
		c.ExecuteCommandProvider.Commands = []string{previewCommand, graphCommand}
	}
	c.DocumentSymbolProvider = true
	c.FoldingRangeProvider = true
	c.Workspace.WorkspaceFolders.Supported = true
	c.Workspace.WorkspaceFolders.ChangeNotifications = true
	return c
}

// notified processes a notification. It ignores one that is invalid or unknown, as the protocol
// requires.
func (s *server) notified(req *jsonrpc2.Request) {
	if req.Method == "exit" {
		s.exit.Do(func() { close(s.exited) })
		return
	}
	s.mu.Lock()
	p := s.phase
	s.mu.Unlock()
	if p != running {
		return
	}
	switch req.Method {
	case "textDocument/didOpen":
		notify(req, s.opened)
	case "textDocument/didChange":
		notify(req, s.edited)
	case "textDocument/didClose":
		notify(req, s.closed)
	case "textDocument/didSave", "workspace/didChangeWatchedFiles":
		s.look()
	case "workspace/didChangeConfiguration":
		notify(req, s.configured)
	case "workspace/didChangeWorkspaceFolders":
		notify(req, s.foldersChanged)
	case "$/cancelRequest":
		notify(req, s.cancel)
	}
}

// notify calls f with the params of a notification.
func notify[P any](req *jsonrpc2.Request, f func(*P)) {
	var p P
	if params(req, &p) == nil {
		f(&p)
	}
}

// configured processes new settings.
func (s *server) configured(p *protocol.DidChangeConfigurationParams) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settings = readSettings(p.Settings)
	s.forgetProjects()
}

// foldersChanged processes a change of the open folders.
func (s *server) foldersChanged(p *protocol.DidChangeFoldersParams) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range p.Event.Removed {
		s.folders = slices.DeleteFunc(s.folders, func(have string) bool { return have == pathOf(f.URI) })
	}
	for _, f := range p.Event.Added {
		s.folders = append(s.folders, pathOf(f.URI))
	}
	s.forgetProjects()
}
