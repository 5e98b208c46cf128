// The grammars of the extension, by the library that VS Code uses: what of a line is a reference.
// The grammars of JSON and YAML that VS Code has are stood in for by one of strings.
// Usage: node grammar.cjs MODULES SERVER FOLDER EXTENSION
const [modules, , , extension] = process.argv.slice(2);
const need = require("node:module").createRequire(modules + "/");
const assert = require("node:assert/strict");
const { readFileSync } = require("node:fs");
const { dirname, join } = require("node:path");
const { Registry, parseRawGrammar } = need("vscode-textmate");
const oniguruma = need("vscode-oniguruma");

const folder = join(dirname(dirname(extension)), "syntaxes");
const own = JSON.parse(readFileSync(join(dirname(folder), "package.json"), "utf8")).contributes.grammars;
const strings = (scopeName, patterns) => JSON.stringify({ scopeName, patterns });
const double = (name) => ({ begin: '"', end: '"', name, patterns: [{ match: "\\\\.", name: "constant.character.escape" }] });
const others = {
  "source.json.comments": strings("source.json.comments", [double("string.quoted.double.json")]),
  "source.yaml": strings("source.yaml", [double("string.quoted.double.yaml"), { begin: "(?<=: )(?=\\S)", end: "$", name: "string.unquoted.plain.out.yaml" }]),
};

async function session() {
  await oniguruma.loadWASM(readFileSync(need.resolve("vscode-oniguruma/release/onig.wasm")).buffer);
  const registry = new Registry({
    onigLib: Promise.resolve({ createOnigScanner: (p) => new oniguruma.OnigScanner(p), createOnigString: (s) => new oniguruma.OnigString(s) }),
    loadGrammar: async (scope) => {
      const mine = own.find((g) => g.scopeName === scope);
      return mine ? parseRawGrammar(readFileSync(join(dirname(folder), mine.path), "utf8"), mine.path) : parseRawGrammar(others[scope], "x.json");
    },
    getInjections: (scope) => own.filter((g) => g.injectTo?.includes(scope)).map((g) => g.scopeName),
  });
  // The parts of a line that have a scope of plc, with the end of its name.
  const marked = async (scope, line) => {
    const { tokens } = (await registry.loadGrammar(scope)).tokenizeLine(line, null);
    return tokens.map((t) => [line.slice(t.startIndex, t.endIndex), t.scopes.at(-1)]).filter(([, s]) => s.endsWith(".plc") && s !== "source.json.plc" && s !== "meta.embedded.plc")
      .map(([text, s]) => `${text} ${s.split(".")[1]}`).join(", ");
  };
  for (const [scope, line, want] of [
    ["source.json.plc", '{"_tool": "a", "x": "†state.a.b"}', '"_tool" other, † definition, state language, .a.b other'],
    ["source.json.plc", '{"x": "of †{state.a || input.b} and †† †"}', "†{ definition, state language, .a other, || operator, input language, .b other, } definition, †† character"],
    ["source.json.plc", '{"x": "†state.a[*][0] || †state[\\"b c\\"]"}', '† definition, state language, .a[*][0] other, † definition, state language, [\\"b c\\"] other'],
    ["source.yaml", "x: †state.a", "† definition, state language, .a other"],
    ["source.yaml", "x: of †{state.a}", "†{ definition, state language, .a other, } definition"],
    ["source.json.plc", '{"x": "state.a costs $5"}', ""],
  ]) assert.equal(await marked(scope, line), want, line);
}

session().then(() => console.log("all as it should be"), (e) => { console.error(e); process.exitCode = 1; });
