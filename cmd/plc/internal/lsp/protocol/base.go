package protocol

import "encoding/json"

// Codes of errors in responses.
const (
	ServerNotInitialized = -32002
	InvalidRequest       = -32600
	MethodNotFound       = -32601
	InvalidParams        = -32602
	InternalError        = -32603
	RequestCancelled     = -32800
	RequestFailed        = -32803
)

// URI is a URI of a document, as the client spells it.
type URI string

// Position is a place between two characters: Line counts from 0, Character in code units of the
// encoding that was agreed on.
type Position struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

// Range is the text between two positions.
type Range struct {
	Start Position `json:"start"`
	End   Position `json:"end"`
}

// Location is a range in a document.
type Location struct {
	URI   URI   `json:"uri"`
	Range Range `json:"range"`
}

// TextDocumentIdentifier names a document.
type TextDocumentIdentifier struct {
	URI URI `json:"uri"`
}

// VersionedTextDocumentIdentifier names a version of a document.
type VersionedTextDocumentIdentifier struct {
	URI     URI `json:"uri"`
	Version int `json:"version"`
}

// TextDocumentItem is a document that was opened.
type TextDocumentItem struct {
	URI        URI    `json:"uri"`
	LanguageID string `json:"languageId"`
	Version    int    `json:"version"`
	Text       string `json:"text"`
}

// TextDocumentParams are the params of requests about a document.
type TextDocumentParams struct {
	TextDocument TextDocumentIdentifier `json:"textDocument"`
}

// TextDocumentPositionParams are the params of requests about a place.
type TextDocumentPositionParams struct {
	TextDocument TextDocumentIdentifier `json:"textDocument"`
	Position     Position               `json:"position"`
}

// TextEdit replaces a range by a text.
type TextEdit struct {
	Range   Range  `json:"range"`
	NewText string `json:"newText"`
}

// WorkspaceEdit has edits of several documents.
type WorkspaceEdit struct {
	Changes map[URI][]TextEdit `json:"changes"`
}

// Command is a command of the client or the server.
type Command struct {
	Title     string            `json:"title"`
	Command   string            `json:"command"`
	Arguments []json.RawMessage `json:"arguments,omitempty"`
}

// MarkupContent is a text for people.
type MarkupContent struct {
	Kind  string `json:"kind"`
	Value string `json:"value"`
}

// Markdown returns a text in Markdown.
func Markdown(text string) *MarkupContent { return &MarkupContent{"markdown", text} }

// CancelParams are the params of $/cancelRequest.
type CancelParams struct {
	ID json.RawMessage `json:"id"`
}
