package protocol

import "encoding/json"

// The kinds of completions that the server offers.
const (
	KindFunction = 3
	KindField    = 5
	KindVariable = 6
	KindModule   = 9
	KindProperty = 10
	KindValue    = 12
	KindEnum     = 13
	KindKeyword  = 14
	KindFile     = 17
	KindConstant = 21
)

// CompletionList answers textDocument/completion.
type CompletionList struct {
	IsIncomplete bool             `json:"isIncomplete"`
	Items        []CompletionItem `json:"items"`
}

// CompletionItem is a text that may be inserted.
type CompletionItem struct {
	Label            string         `json:"label"`
	Kind             int            `json:"kind,omitempty"`
	Detail           string         `json:"detail,omitempty"`
	Documentation    *MarkupContent `json:"documentation,omitempty"`
	Preselect        bool           `json:"preselect,omitempty"`
	SortText         string         `json:"sortText,omitempty"`
	FilterText       string         `json:"filterText,omitempty"`
	InsertTextFormat int            `json:"insertTextFormat,omitempty"`
	InsertTextMode   int            `json:"insertTextMode,omitempty"`
	TextEdit         *TextEdit      `json:"textEdit,omitempty"`
}

const (
	// Snippet is the InsertTextFormat of a text with placeholders.
	Snippet = 2

	// AsIs is the InsertTextMode of a text whose lines are indented as they should be.
	AsIs = 1
)

// Hover answers textDocument/hover.
type Hover struct {
	Contents *MarkupContent `json:"contents"`
	Range    *Range         `json:"range,omitempty"`
}

// ReferenceParams are the params of textDocument/references.
type ReferenceParams struct {
	TextDocumentPositionParams
	Context struct {
		IncludeDeclaration bool `json:"includeDeclaration"`
	} `json:"context"`
}

// The kinds of highlights.
const (
	HighlightRead  = 2
	HighlightWrite = 3
)

// DocumentHighlight is a place that is related to the one at the cursor.
type DocumentHighlight struct {
	Range Range `json:"range"`
	Kind  int   `json:"kind"`
}

// RenameParams are the params of textDocument/rename.
type RenameParams struct {
	TextDocumentPositionParams
	NewName string `json:"newName"`
}

// PrepareRename answers textDocument/prepareRename.
type PrepareRename struct {
	Range       Range  `json:"range"`
	Placeholder string `json:"placeholder"`
}

// The kinds of symbols that the server has.
const (
	SymbolProperty = 7
	SymbolFunction = 12
	SymbolObject   = 19
)

// DocumentSymbol is a part of a document that has a name.
type DocumentSymbol struct {
	Name           string           `json:"name"`
	Detail         string           `json:"detail,omitempty"`
	Kind           int              `json:"kind"`
	Range          Range            `json:"range"`
	SelectionRange Range            `json:"selectionRange"`
	Children       []DocumentSymbol `json:"children,omitempty"`
}

// SymbolInformation is a DocumentSymbol for clients that don't support hierarchies.
type SymbolInformation struct {
	Name     string   `json:"name"`
	Kind     int      `json:"kind"`
	Location Location `json:"location"`
}

// FoldingRange is a range of lines that can be folded.
type FoldingRange struct {
	StartLine int    `json:"startLine"`
	EndLine   int    `json:"endLine"`
	Kind      string `json:"kind,omitempty"`
}

// DocumentLink is a text that leads to a document.
type DocumentLink struct {
	Range   Range  `json:"range"`
	Target  URI    `json:"target"`
	Tooltip string `json:"tooltip,omitempty"`
}

// The kinds of code actions that the server offers.
const (
	QuickFix = "quickfix"
	FixAll   = "source.fixAll"
)

// CodeActionParams are the params of textDocument/codeAction.
type CodeActionParams struct {
	TextDocument TextDocumentIdentifier `json:"textDocument"`
	Range        Range                  `json:"range"`
	Context      struct {
		Only []string `json:"only"`
	} `json:"context"`
}

// CodeAction is a change that the server proposes.
type CodeAction struct {
	Title       string         `json:"title"`
	Kind        string         `json:"kind"`
	Diagnostics []Diagnostic   `json:"diagnostics,omitempty"`
	IsPreferred bool           `json:"isPreferred,omitempty"`
	Edit        *WorkspaceEdit `json:"edit,omitempty"`
}

// CodeLens is a line above a place.
type CodeLens struct {
	Range   Range    `json:"range"`
	Command *Command `json:"command,omitempty"`
}

// ExecuteCommandParams are the params of workspace/executeCommand.
type ExecuteCommandParams struct {
	Command   string            `json:"command"`
	Arguments []json.RawMessage `json:"arguments"`
}

// InlayHintParams are the params of textDocument/inlayHint.
type InlayHintParams struct {
	TextDocument TextDocumentIdentifier `json:"textDocument"`
	Range        Range                  `json:"range"`
}

// TypeHint is the kind of an InlayHint that shows a type.
const TypeHint = 1

// InlayHint is a text that is shown in a line without being part of it.
type InlayHint struct {
	Position    Position       `json:"position"`
	Label       string         `json:"label"`
	Kind        int            `json:"kind,omitempty"`
	Tooltip     *MarkupContent `json:"tooltip,omitempty"`
	PaddingLeft bool           `json:"paddingLeft,omitempty"`
}
