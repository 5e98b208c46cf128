// The extension starts `plc lsp` and shows what it knows: the rest is the server's.
const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

function settings() {
  const c = vscode.workspace.getConfiguration("plc");
  return { tools: c.get("tools"), mcp: c.get("mcp"), ignore: c.get("ignore"), strict: c.get("strict"), ownCommands: true };
}

async function activate(context) {
  const command = vscode.workspace.getConfiguration("plc").get("path");
  client = new LanguageClient("plc", "plc", { command, args: ["lsp"] }, {
    documentSelector: ["plc", "json", "jsonc", "yaml"].map((language) => ({ language })),
    initializationOptions: settings(),
  });
  context.subscriptions.push(
    client,
    vscode.workspace.onDidChangeConfiguration((e) => {
      if (e.affectsConfiguration("plc")) client.sendNotification("workspace/didChangeConfiguration", { settings: { plc: settings() } });
    }),
    vscode.commands.registerCommand("plc.graph", (uri) => show(context, "plc.graph", "Graph", uri, (svg) => svg)),
    vscode.commands.registerCommand("plc.preview", (uri) => show(context, "plc.preview", "Preview", uri, table)),
    vscode.commands.registerCommand("plc.runFrom", (uri, call) => {
      const file = vscode.Uri.parse(uri).fsPath;
      const terminal = vscode.window.createTerminal({ name: "plc" });
      terminal.show();
      // The line is not sent: a person looks at it, and presses Enter.
      terminal.sendText(`${quote(command)} fork last --at ${quote(call)} --plan ${quote(file)}`, false);
    }),
  );
  await client.start();
}

function quote(s) {
  return process.platform === "win32" ? `"${s.replaceAll('"', '""')}"` : `'${s.replaceAll("'", "'\\''")}'`;
}

// show shows what a command of the server gives for a plan beside it, and again after each edit.
async function show(context, command, title, uri, html) {
  const at = uri ?? vscode.window.activeTextEditor?.document.uri.toString();
  if (!at) return;
  const panel = vscode.window.createWebviewPanel(command, title, vscode.ViewColumn.Beside, { enableScripts: false });
  let wait;
  const draw = async () => {
    let body;
    try {
      body = html(await client.sendRequest("workspace/executeCommand", { command, arguments: [at] }));
    } catch (e) {
      body = `<pre>${escape(e.message)}</pre>`;
    }
    panel.webview.html = `<!DOCTYPE html><meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'"><body>${body}`;
  };
  const edits = vscode.workspace.onDidChangeTextDocument((e) => {
    if (e.document.uri.toString() !== at) return;
    clearTimeout(wait);
    wait = setTimeout(draw, 200);
  });
  panel.onDidDispose(() => { clearTimeout(wait); edits.dispose(); });
  await draw();
}

function escape(s) {
  return s.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}

// table makes HTML of the Markdown of a preview: one table, and lines of text.
function table(markdown) {
  const unescape = (cell) => escape(cell.replaceAll("\\|", "|").replaceAll("&lt;", "<"));
  return markdown.split("\n").filter((l) => !/^\| *---/.test(l)).map((line) =>
    line.startsWith("|")
      ? `<tr>${line.slice(1, -1).split(/(?<!\\)\|/).map((c) => `<td style="padding:0 1em">${unescape(c.trim())}</td>`).join("")}</tr>`
      : line && `<p>${escape(line)}</p>`,
  ).join("").replace(/(<tr>.*<\/tr>)/s, "<table>$1</table>");
}

exports.activate = activate;
exports.deactivate = () => client?.stop();
