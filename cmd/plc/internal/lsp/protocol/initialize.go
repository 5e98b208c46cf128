package protocol

import "encoding/json"

// InitializeParams are the params of initialize.
type InitializeParams struct {
	ProcessID             *int               `json:"processId"`
	RootPath              string             `json:"rootPath"`
	RootURI               URI                `json:"rootUri"`
	Capabilities          ClientCapabilities `json:"capabilities"`
	InitializationOptions json.RawMessage    `json:"initializationOptions"`
	WorkspaceFolders      []WorkspaceFolder  `json:"workspaceFolders"`
}

// ClientCapabilities has the capabilities of the client that the server uses.
type ClientCapabilities struct {
	General struct {
		PositionEncodings []string `json:"positionEncodings"`
	} `json:"general"`
	TextDocument struct {
		Completion struct {
			CompletionItem struct {
				SnippetSupport        bool `json:"snippetSupport"`
				InsertTextModeSupport struct {
					ValueSet []int `json:"valueSet"`
				} `json:"insertTextModeSupport"`
			} `json:"completionItem"`
		} `json:"completion"`
		CodeAction struct {
			CodeActionLiteralSupport *struct{} `json:"codeActionLiteralSupport"`
		} `json:"codeAction"`
		DocumentSymbol struct {
			HierarchicalDocumentSymbolSupport bool `json:"hierarchicalDocumentSymbolSupport"`
		} `json:"documentSymbol"`
	} `json:"textDocument"`
	Workspace struct {
		CodeLens struct {
			RefreshSupport bool `json:"refreshSupport"`
		} `json:"codeLens"`
		InlayHint struct {
			RefreshSupport bool `json:"refreshSupport"`
		} `json:"inlayHint"`
	} `json:"workspace"`
}

// WorkspaceFolder is a folder that is open in the editor.
type WorkspaceFolder struct {
	URI  URI    `json:"uri"`
	Name string `json:"name"`
}

// InitializeResult answers initialize.
type InitializeResult struct {
	Capabilities ServerCapabilities `json:"capabilities"`
	ServerInfo   ServerInfo         `json:"serverInfo"`
}

// ServerInfo names the server.
type ServerInfo struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
}

// ServerCapabilities tells the client what the server can do.
type ServerCapabilities struct {
	PositionEncoding           string                `json:"positionEncoding"`
	TextDocumentSync           TextDocumentSync      `json:"textDocumentSync"`
	CompletionProvider         CompletionOptions     `json:"completionProvider"`
	HoverProvider              bool                  `json:"hoverProvider"`
	DefinitionProvider         bool                  `json:"definitionProvider"`
	ReferencesProvider         bool                  `json:"referencesProvider"`
	DocumentHighlightProvider  bool                  `json:"documentHighlightProvider"`
	DocumentSymbolProvider     bool                  `json:"documentSymbolProvider"`
	CodeActionProvider         CodeActionOptions     `json:"codeActionProvider"`
	CodeLensProvider           struct{}              `json:"codeLensProvider"`
	DocumentLinkProvider       struct{}              `json:"documentLinkProvider"`
	DocumentFormattingProvider bool                  `json:"documentFormattingProvider"`
	RenameProvider             RenameOptions         `json:"renameProvider"`
	FoldingRangeProvider       bool                  `json:"foldingRangeProvider"`
	InlayHintProvider          bool                  `json:"inlayHintProvider"`
	ExecuteCommandProvider     ExecuteCommandOptions `json:"executeCommandProvider"`
	Workspace                  WorkspaceCapabilities `json:"workspace"`
}

// TextDocumentSync says how the client sends documents to the server.
type TextDocumentSync struct {
	OpenClose bool        `json:"openClose"`
	Change    int         `json:"change"`
	Save      SaveOptions `json:"save"`
}

// Incremental is the TextDocumentSync.Change of edits of parts of a document.
const Incremental = 2

// SaveOptions are the options of didSave notifications.
type SaveOptions struct {
	IncludeText bool `json:"includeText"`
}

// CompletionOptions says when the client requests completion.
type CompletionOptions struct {
	TriggerCharacters []string `json:"triggerCharacters"`
}

// CodeActionOptions name the kinds of code actions.
type CodeActionOptions struct {
	CodeActionKinds []string `json:"codeActionKinds"`
}

// RenameOptions says that a rename can be prepared.
type RenameOptions struct {
	PrepareProvider bool `json:"prepareProvider"`
}

// ExecuteCommandOptions names the server's commands.
type ExecuteCommandOptions struct {
	Commands []string `json:"commands"`
}

// WorkspaceCapabilities says that several folders may be open.
type WorkspaceCapabilities struct {
	WorkspaceFolders struct {
		Supported           bool `json:"supported"`
		ChangeNotifications bool `json:"changeNotifications"`
	} `json:"workspaceFolders"`
}
