// A session with the extension of editors/vscode and the client that it is made of,
// vscode-languageclient, in a stand-in for VS Code.
// Usage: node extension.cjs MODULES SERVER FOLDER EXTENSION; the folder has the plans of
// examples/history.
const [modules, server, folder, extension] = process.argv.slice(2);
const Module = require("node:module");
const need = Module.createRequire(modules + "/");
const assert = require("node:assert/strict");
const { readFileSync } = require("node:fs");
const { join } = require("node:path");
const { vscode, settings, folders, providers, commands, panels, terminals, messages, open, fire } = require("./vscode.cjs")(need);

const load = Module._load;
Module._load = (name, ...rest) => (name === "vscode" ? vscode : name.startsWith("vscode-languageclient") ? load(need.resolve(name), ...rest) : load(name, ...rest));
settings["plc.path"] = server;
folders.push({ uri: vscode.Uri.file(folder), name: "plans", index: 0 });

const { activate, deactivate } = require(extension);
const never = { isCancellationRequested: false, onCancellationRequested: () => new vscode.Disposable(() => {}) };
const ask = async (provider, method, ...args) => {
  assert(providers[provider], `${provider}: there are ${Object.keys(providers)}`);
  return providers[provider][method](...args);
};
const codes = (list) => list.map((d) => d.code?.value ?? d.code).join(" ");
const until = async (is) => { while (!is()) await new Promise((again) => setTimeout(again, 20)); };

async function session() {
  const context = { subscriptions: [] };
  await activate(context);
  const sound = open(join(folder, "plan.json"), "json", readFileSync(join(folder, "plan.json"), "utf8"));
  assert.equal(codes(await sound.diagnostics(() => true)), "");

  // What the server says becomes what VS Code shows.
  const commit = sound.behind('"commit": "†state.com');
  const [to] = await ask("registerDefinitionProvider", "provideDefinition", sound, commit, never);
  assert.equal(sound.getText(to.range), "†state.commit");
  const hover = await ask("registerHoverProvider", "provideHover", sound, commit, never);
  assert.match(hover.contents[0].value, /written by `resolve`/);
  assert.equal((await ask("registerReferenceProvider", "provideReferences", sound, commit, { includeDeclaration: true }, never)).length, 7);
  assert.equal((await ask("registerDocumentSymbolProvider", "provideDocumentSymbols", sound, never)).length, 7);
  assert((await ask("registerFoldingRangeProvider", "provideFoldingRanges", sound, {}, never)).length > 2);
  const whole = new vscode.Range(0, 0, sound.lineCount, 0);
  assert((await ask("registerInlayHintsProvider", "provideInlayHints", sound, whole, never)).some((h) => h.label === ": string"));
  assert.deepEqual(await ask("registerDocumentFormattingEditProvider", "provideDocumentFormattingEdits", sound, { tabSize: 2, insertSpaces: true }, never), []);
  const lenses = await ask("registerCodeLensProvider", "provideCodeLenses", sound, never);
  assert.deepEqual([...new Set(lenses.map((l) => l.command.command))].sort(), ["", "plc.graph", "plc.preview", "plc.runFrom"]);

  // The views follow edits, and a renamed path is another one everywhere.
  await commands["plc.graph"](lenses.find((l) => l.command.command === "plc.graph").command.arguments[0]);
  await commands["plc.preview"](sound.uri.toString());
  assert.match(panels[0].webview.html, /<svg[^]*countCommits/);
  assert.match(panels[1].webview.html, /<table><tr><td[^]*countCommits/);
  assert.match(panels[1].webview.html, /default-src 'none'/);
  const renamed = await ask("registerRenameProvider", "provideRenameEdits", sound, commit, "hash", never);
  const was = sound.getText();
  sound.edit(renamed.get(sound.uri));
  assert.equal(sound.getText(), was.replaceAll("state.commit", "state.hash").replaceAll("state.hashs", "state.commits"));
  sound.replace(sound.getText().replace('"_id": "news"', '"_id": "gossip"'));
  await until(() => /gossip/.test(panels[0].webview.html) && /gossip/.test(panels[1].webview.html));
  const run = lenses.find((l) => l.command.command === "plc.runFrom").command;
  await commands[run.command](...run.arguments);
  assert.deepEqual(terminals[0].lines, [{ text: `'${server}' fork last --at 'resolve' --plan '${sound.uri.fsPath}'`, enter: false }]);

  // Findings have their places, pages and related places, and fixes mend them.
  const text = readFileSync(join(folder, "faulty.json"), "utf8");
  const faulty = open(join(folder, "faulty.json"), "json", text);
  const list = await faulty.diagnostics((l) => codes(l) === "PLC201 PLC302 PLC502");
  assert.equal(faulty.getText(list[0].range), '"countCommit"');
  assert.match(list[0].code.target.toString(), /docs\/codes\/PLC201\.md$/);
  assert.equal(list[2].relatedInformation.length, 3);
  for (const finding of list.slice(0, 2)) {
    const now = await faulty.diagnostics((l) => l.some((d) => d.message === finding.message));
    const mine = now.find((d) => d.message === finding.message);
    const actions = await ask("registerCodeActionsProvider", "provideCodeActions", faulty, mine.range, { diagnostics: [mine], only: vscode.CodeActionKind.QuickFix, triggerKind: 1 }, never);
    assert.equal(actions.length, 1);
    faulty.edit(actions[0].edit.get(faulty.uri));
  }
  await faulty.diagnostics((l) => codes(l) === "PLC502");

  // A plan is written with what completion offers, in JSON and in YAML, also behind a $.
  const offered = async (doc, position, label) => {
    const got = await ask("registerCompletionItemProvider", "provideCompletionItems", doc, position, never, { triggerKind: 0 });
    const item = (got.items ?? got).find((i) => i.label === label);
    assert(item, `${label} is not among ${(got.items ?? got).map((i) => i.label)}`);
    const range = item.range?.replacing ?? item.range;
    assert(range.contains(position));
    return [{ range, newText: item.insertText?.value ?? item.insertText ?? item.textEdit?.newText }];
  };
  const fresh = open(join(folder, "new.plan.yaml"), "yaml", "- _tool: resolve\n  revision: HEAD\n  _outputPath: †state.𝛼\n- _tool: au");
  fresh.edit(await offered(fresh, fresh.behind("_tool: au"), "author"));
  assert.match(fresh.getText(), /- _tool: author\n  commit: \$1$/);
  fresh.replace(fresh.getText().replace("$1", "$st"));
  fresh.edit(await offered(fresh, fresh.behind("$st"), "†state.𝛼"));
  assert.match(fresh.getText(), /  commit: †state\.𝛼$/);

  // Settings take effect when they are changed.
  settings["plc.ignore"] = ["PLC310"];
  settings["plc.tools"] = ["missing.yaml"];
  fire("onDidChangeConfiguration", { affectsConfiguration: (section) => section === "plc" });
  await faulty.diagnostics((l) => codes(l) !== "PLC502");

  assert.deepEqual(messages, []);
  await deactivate();
}

session().then(() => { console.log("all as it should be"); process.exit(0); }, (e) => {
  console.error(e);
  process.exit(1);
});
