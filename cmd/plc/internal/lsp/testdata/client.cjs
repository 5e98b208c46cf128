// A session with the language server by the libraries that VS Code's own client is made of.
// Usage: node client.cjs MODULES SERVER FOLDER; the folder has the plans of examples/history.
const [modules, server, folder] = process.argv.slice(2);
const need = require("node:module").createRequire(modules + "/");
const assert = require("node:assert/strict");
const { spawn } = require("node:child_process");
const { readFileSync } = require("node:fs");
const { join } = require("node:path");
const { pathToFileURL } = require("node:url");
const lsp = need("vscode-languageserver-protocol/node");
const { TextDocument } = need("vscode-languageserver-textdocument");

const child = spawn(server, [], { stdio: ["pipe", "pipe", "inherit"] });
const exited = new Promise((done) => child.on("exit", done));
const to = lsp.createProtocolConnection(new lsp.StreamMessageReader(child.stdout), new lsp.StreamMessageWriter(child.stdin));
let waiting = [];
const published = new Map();
to.onNotification(lsp.PublishDiagnosticsNotification.type, (p) => {
  for (const d of p.diagnostics) assert(lsp.Diagnostic.is(d), JSON.stringify(d));
  published.set(p.uri, p);
  waiting.splice(0).forEach((again) => again());
});
to.onError((e) => { throw e; });
to.listen();

async function diagnostics(doc) {
  while (published.get(doc.uri)?.version !== doc.version) await new Promise((again) => waiting.push(again));
  return published.get(doc.uri).diagnostics;
}

// open opens a document; edit makes edits of it, each told by its range.
async function open(name, text) {
  const uri = pathToFileURL(join(folder, name)).href;
  const doc = TextDocument.create(uri, "json", 1, text ?? readFileSync(join(folder, name), "utf8"));
  await to.sendNotification(lsp.DidOpenTextDocumentNotification.type, { textDocument: { uri, languageId: "json", version: 1, text: doc.getText() } });
  return doc;
}

async function edit(doc, edits) {
  // From the end to the start, so that each is of the text that the ones before it left.
  const changes = edits.map((e) => ({ range: e.range, text: e.newText })).sort((a, b) => doc.offsetAt(b.range.start) - doc.offsetAt(a.range.start));
  const next = TextDocument.update(doc, changes, doc.version + 1);
  await to.sendNotification(lsp.DidChangeTextDocumentNotification.type, { textDocument: { uri: next.uri, version: next.version }, contentChanges: changes });
  return next;
}

const about = (doc) => ({ textDocument: { uri: doc.uri } });
const at = (doc, before) => {
  const i = doc.getText().indexOf(before);
  assert(i >= 0, before);
  return { ...about(doc), position: doc.positionAt(i + before.length) };
};

// fix makes code actions of a kind, one after the other, until there are none.
async function fix(doc, kind) {
  for (let n = 0; n < 10; n++) {
    const range = { start: doc.positionAt(0), end: doc.positionAt(doc.getText().length) };
    const actions = await to.sendRequest(lsp.CodeActionRequest.type, { ...about(doc), range, context: { diagnostics: await diagnostics(doc), only: [kind] } });
    for (const a of actions) assert(lsp.CodeAction.is(a), JSON.stringify(a));
    if (actions.length === 0) return doc;
    doc = await edit(doc, actions[0].edit.changes[doc.uri]);
  }
  throw new Error(`${kind}: the fixes do not end`);
}

async function session() {
  const init = await to.sendRequest(lsp.InitializeRequest.type, {
    processId: process.pid, rootUri: pathToFileURL(folder).href, workspaceFolders: null,
    capabilities: { general: { positionEncodings: ["utf-16"] }, textDocument: { documentSymbol: { hierarchicalDocumentSymbolSupport: true } } },
  });
  assert.equal(init.capabilities.positionEncoding, "utf-16");
  await to.sendNotification(lsp.InitializedNotification.type, {});

  const sound = await open("plan.json");
  assert.deepEqual(await diagnostics(sound), []);
  const every = async (type, params, is) => {
    const found = await to.sendRequest(type, params);
    const list = found?.items ?? found;
    assert(list.length > 0, type.method);
    for (const v of list) assert(is(v), `${type.method}: ${JSON.stringify(v)}`);
    return list;
  };
  const commit = at(sound, '"commit": "†state.com');
  await every(lsp.CompletionRequest.type, commit, (i) => typeof i.label === "string");
  await every(lsp.DefinitionRequest.type, commit, lsp.Location.is);
  await every(lsp.ReferencesRequest.type, { ...commit, context: { includeDeclaration: true } }, lsp.Location.is);
  await every(lsp.DocumentHighlightRequest.type, commit, (h) => lsp.Range.is(h.range));
  await every(lsp.DocumentSymbolRequest.type, about(sound), lsp.DocumentSymbol.is);
  await every(lsp.FoldingRangeRequest.type, about(sound), lsp.FoldingRange.is);
  await every(lsp.CodeLensRequest.type, about(sound), lsp.CodeLens.is);
  await every(lsp.InlayHintRequest.type, { ...about(sound), range: { start: { line: 0, character: 0 }, end: { line: 99, character: 0 } } }, lsp.InlayHint.is);
  assert(lsp.Hover.is(await to.sendRequest(lsp.HoverRequest.type, commit)));
  assert(lsp.Range.is((await to.sendRequest(lsp.PrepareRenameRequest.type, commit)).range));
  const renamed = await to.sendRequest(lsp.RenameRequest.type, { ...commit, newName: "hash" });
  assert(lsp.WorkspaceEdit.is(renamed));
  const after = await edit(sound, renamed.changes[sound.uri]);
  assert.equal(after.getText(), sound.getText().replaceAll("state.commit", "state.hash").replaceAll("state.hashs", "state.commits"));
  assert.deepEqual(await diagnostics(after), []);
  const svg = await to.sendRequest(lsp.ExecuteCommandRequest.type, { command: "plc.graph", arguments: [sound.uri] });
  assert.match(svg, /^<svg|<\?xml/);

  // What was faulty is repaired by quick fixes one by one, and by all at once.
  for (const kind of [lsp.CodeActionKind.QuickFix, lsp.CodeActionKind.SourceFixAll]) {
    const faulty = await open(`${kind}.json`, readFileSync(join(folder, "faulty.json"), "utf8"));
    assert.deepEqual((await diagnostics(faulty)).map((d) => d.code), ["PLC201", "PLC302", "PLC502"]);
    const fixed = await fix(faulty, kind);
    assert.deepEqual((await diagnostics(fixed)).map((d) => d.code), []);
  }

  // Behind characters of two units places are what they are to the client.
  let odd = await open("odd.plan.json", '[{"_tool": "𝛼𝛼"}]');
  odd = await edit(odd, [{ range: { start: { line: 0, character: 14 }, end: { line: 0, character: 14 } }, newText: "†𝛽" }]);
  const [unknown] = await diagnostics(odd);
  assert.equal(odd.getText(), '[{"_tool": "𝛼†𝛽𝛼"}]');
  assert.equal(odd.getText(unknown.range), '"𝛼†𝛽𝛼"');
  const layout = await to.sendRequest(lsp.DocumentFormattingRequest.type, { ...about(odd), options: { tabSize: 2, insertSpaces: true } });
  for (const e of layout) assert(lsp.TextEdit.is(e));

  const source = new lsp.CancellationTokenSource();
  const cancelled = to.sendRequest(lsp.HoverRequest.type, at(after, '"_tool": "res'), source.token);
  source.cancel();
  await cancelled.catch((e) => assert.equal(e.code, lsp.LSPErrorCodes.RequestCancelled));

  await to.sendRequest(lsp.ShutdownRequest.type);
  await to.sendNotification(lsp.ExitNotification.type);
  assert.equal(await exited, 0);
}

session().then(() => console.log("all as it should be"), (e) => {
  console.error(e);
  child.kill();
  process.exitCode = 1;
});
