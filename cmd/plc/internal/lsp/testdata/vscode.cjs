// A stand-in for the part of VS Code that an extension with a language client needs: documents,
// providers, commands, views and terminals. The types are those of VS Code as the package
// jest-mock-vscode has them. Nothing is drawn, and a person is played by the test.
module.exports = (need) => {
  const types = need("jest-mock-vscode").createVSCodeMock({ fn: (f) => f ?? (() => {}) });
  const { TextDocument } = need("vscode-languageserver-textdocument");
  const { EventEmitter, Disposable, Uri, Range, Position } = types;

  const emitters = {};
  const event = (name) => (emitters[name] ??= new EventEmitter()).event;
  const fire = (name, what) => emitters[name]?.fire(what);
  const events = (names) => Object.fromEntries(names.map((n) => [n, event(n)]));
  const nothing = () => new Disposable(() => {});

  const providers = {};
  const languages = new Proxy({
    match: (selector, doc) => ([selector].flat().some((s) => (s.language ?? s) === doc.languageId) ? 10 : 0),
    createDiagnosticCollection: () => ({
      set: (uri, list) => { shown.set(uri.toString(), list ?? []); waiting.splice(0).forEach((again) => again()); },
      delete: (uri) => shown.delete(uri.toString()), clear: () => shown.clear(), dispose: () => {},
    }),
  }, {
    get: (own, name) => own[name] ?? ((selector, provider) => { providers[name] = provider; return new Disposable(() => delete providers[name]); }),
  });
  const shown = new Map();
  const waiting = [];

  const settings = {};
  const documents = [];
  const folders = [];
  const workspace = {
    ...events(["onDidOpenTextDocument", "onDidChangeTextDocument", "onDidCloseTextDocument", "onDidSaveTextDocument", "onWillSaveTextDocument", "onWillSaveNotebookDocument",
      "onDidChangeConfiguration", "onDidChangeWorkspaceFolders", "onDidOpenNotebookDocument", "onDidChangeNotebookDocument", "onDidCloseNotebookDocument", "onDidSaveNotebookDocument",
      "onDidCreateFiles", "onDidDeleteFiles", "onDidRenameFiles", "onWillCreateFiles", "onWillDeleteFiles", "onWillRenameFiles"]),
    textDocuments: documents, notebookDocuments: [], workspaceFolders: folders, isTrusted: true,
    getConfiguration: (section) => ({ get: (name, otherwise) => settings[`${section}.${name}`] ?? otherwise, has: () => false, inspect: () => undefined }),
    getWorkspaceFolder: () => folders[0],
    createFileSystemWatcher: () => ({ ...events(["onDidCreate", "onDidChange", "onDidDelete"]), dispose: () => {} }),
  };

  const commands = {};
  const panels = [];
  const terminals = [];
  const messages = [];
  const say = (text) => { messages.push(text); return Promise.resolve(undefined); };
  const log = () => new Proxy({}, { get: (own, name) => (name === "logLevel" ? 0 : name === "onDidChangeLogLevel" ? event("logLevel") : () => {}) });
  const window = {
    ...events(["onDidChangeActiveTextEditor", "onDidChangeVisibleTextEditors", "onDidChangeWindowState"]),
    visibleTextEditors: [], activeTextEditor: undefined, tabGroups: { ...events(["onDidChangeTabs", "onDidChangeTabGroups"]), all: [] },
    createOutputChannel: log, showErrorMessage: say, showWarningMessage: say, showInformationMessage: say,
    withProgress: (_, task) => task({ report: () => {} }, { isCancellationRequested: false, onCancellationRequested: nothing }),
    createWebviewPanel: (type, title) => {
      const panel = { type, title, webview: { html: "" }, onDidDispose: event("panel" + panels.length) };
      panels.push(panel);
      return panel;
    },
    createTerminal: (options) => {
      const terminal = { ...options, lines: [], show: () => {}, sendText: (text, enter) => terminal.lines.push({ text, enter }) };
      terminals.push(terminal);
      return terminal;
    },
  };

  class Hover { constructor(contents, range) { Object.assign(this, { contents: [contents].flat(), range }); } }
  class InlayHint { constructor(position, label, kind) { Object.assign(this, { position, label, kind }); } }
  class CancellationError extends Error {}
  class CancellationTokenSource {
    constructor() {
      const cancelled = new EventEmitter();
      this.token = { isCancellationRequested: false, onCancellationRequested: cancelled.event };
      this.cancel = () => { this.token.isCancellationRequested = true; cancelled.fire(); };
      this.dispose = () => {};
    }
  }
  class Tab {}

  const vscode = {
    ...types, Hover, InlayHint, InlayHintKind: { Type: 1, Parameter: 2 }, CodeActionTriggerKind: { Invoke: 1, Automatic: 2 }, CancellationError, CancellationTokenSource, languages, workspace, window,
    TabInputText: Tab, TabInputTextDiff: Tab, TabInputCustom: Tab, TabInputNotebook: Tab,
    env: { language: "en", appName: "a stand-in for VS Code", openExternal: () => Promise.resolve(true) },
    commands: { registerCommand: (name, run) => { commands[name] = run; return new Disposable(() => delete commands[name]); }, executeCommand: (name, ...args) => commands[name](...args) },
  };

  // A document of the editor. Edits are told to the extension with their ranges.
  class Document {
    constructor(uri, languageId, text) {
      Object.assign(this, { uri, languageId, fileName: uri.fsPath, isUntitled: false, isDirty: false, isClosed: false, eol: 1 });
      this.content = TextDocument.create(uri.toString(), languageId, 1, text);
    }
    get version() { return this.content.version; }
    get lineCount() { return this.content.lineCount; }
    getText(range) { return this.content.getText(range); }
    positionAt(offset) { const p = this.content.positionAt(offset); return new Position(p.line, p.character); }
    offsetAt(position) { return this.content.offsetAt(position); }
    lineAt(line) { return { text: this.getText(new Range(line, 0, line + 1, 0)).replace(/\r?\n$/, "") }; }
    getWordRangeAtPosition() { return undefined; }
    behind(text) { return this.positionAt(this.getText().indexOf(text) + text.length); }
    edit(edits) {
      const plain = (p) => ({ line: p.line, character: p.character });
      const changes = edits.map((e) => ({ range: e.range, text: e.newText ?? e.text })).sort((a, b) => this.offsetAt(b.range.start) - this.offsetAt(a.range.start));
      TextDocument.update(this.content, changes.map((c) => ({ range: { start: plain(c.range.start), end: plain(c.range.end) }, text: c.text })), this.version + 1);
      fire("onDidChangeTextDocument", { document: this, contentChanges: changes, reason: undefined });
    }
    replace(text) { this.edit([{ range: new Range(new Position(0, 0), this.positionAt(this.getText().length)), newText: text }]); }
    // The diagnostics that the extension shows, when they are right.
    async diagnostics(right) {
      for (;;) {
        const list = shown.get(this.uri.toString());
        if (list && right(list)) return list;
        await new Promise((again) => waiting.push(again));
      }
    }
  }
  const open = (name, languageId, text) => {
    const doc = new Document(Uri.file(name), languageId, text);
    documents.push(doc);
    fire("onDidOpenTextDocument", doc);
    return doc;
  };
  return { vscode, settings, folders, providers, commands, panels, terminals, messages, open, fire };
};
