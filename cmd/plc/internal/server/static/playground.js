// An editor for the plan: findings are underlined as one types, and their fixes are actions. The
// server finds them, and makes the rest of the page.
import {
  bracketMatching, classHighlighter, defaultKeymap, EditorState, EditorView, forceLinting, highlightActiveLine, highlightSpecialChars, history, historyKeymap,
  json, keymap, lineNumbers, linter, lintGutter, lintKeymap, syntaxHighlighting, yaml,
} from "./codemirror.js";
import { load, swap } from "./page.js";

const form = document.getElementById("plan"), area = form.elements.plan, lost = document.getElementById("lost");

// places returns a function from offsets in the bytes of a text to those in its characters.
function places(text) {
  if (/^[\x00-\x7f]*$/.test(text)) return offset => Math.min(offset, text.length);
  const at = [];
  let i = 0;
  for (const char of text) {
    const bytes = char.codePointAt(0) < 0x80 ? 1 : char.codePointAt(0) < 0x800 ? 2 : char.codePointAt(0) < 0x10000 ? 3 : 4;
    for (let b = 0; b < bytes; b++) at.push(i);
    i += char.length;
  }
  return offset => offset < at.length ? at[offset] : text.length;
}

let fixes = []; // of the findings beside the editor
let stale = false; // what the plan is given has changed since it was checked

// mend makes a fix, unless the text is another one by now.
function mend(view, text, fix, place) {
  if (view.state.doc.toString() !== text) return;
  view.dispatch({ changes: fix.edits.map(e => ({ from: place(e.offset), to: place(e.endOffset), insert: e.text })) });
  forceLinting(view);
}

// check has the server check the plan, shows what it says, and returns the findings.
async function check(text) {
  let made;
  try {
    const fields = new FormData(form);
    fields.delete("file"); // it is sent when it can't be shown
    made = await load("/playground", new URLSearchParams(fields));
    lost.hidden = true;
  } catch {
    lost.hidden = false;
    return [];
  }
  if (area.value !== text) return []; // it was typed on
  const findings = JSON.parse(made.getElementById("result").dataset.findings), place = places(text);
  swap(made, ["result"]);
  fixes = findings.map(f => f.fix && (view => mend(view, text, f.fix, place)));
  return findings.filter(f => f.offset !== undefined && f.file !== "<instances>").map(f => ({
    from: place(f.offset), to: place(f.endOffset), severity: f.severity === "info" ? "info" : f.severity === "warning" ? "warning" : "error",
    message: f.message, source: f.code,
    actions: f.fix ? [{ name: f.fix.message, apply: view => mend(view, text, f.fix, place) }] : [],
  }));
}

const theme = EditorView.theme({
  "&": { border: "1px solid #8886", fontSize: ".9rem", backgroundColor: "light-dark(#fff, #1b1b1b)", color: "light-dark(#1f2933, #e6e6e6)" },
  ".cm-scroller": { fontFamily: "ui-monospace, monospace", minHeight: "24rem", maxHeight: "70vh" },
  ".cm-content": { caretColor: "light-dark(#000, #fff)" },
  ".cm-gutters": { backgroundColor: "light-dark(#f3f5f7, #262626)", color: "light-dark(#5b6672, #b0b8c0)", border: "none" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "light-dark(#eef4fb88, #ffffff12)" },
  ".cm-tooltip, .cm-panels": { backgroundColor: "light-dark(#fff, #2b2b2b)", color: "light-dark(#1f2933, #e6e6e6)" },
  ".cm-diagnosticSource": { opacity: 1, color: "inherit" },
  ".cm-diagnosticAction": { backgroundColor: "light-dark(#22405c, #bcd8f5)", color: "light-dark(#fff, #10202e)" },
  ".tok-string, .tok-string2": { color: "light-dark(#166636, #63d68f)" }, ".tok-number, .tok-bool, .tok-null": { color: "light-dark(#7a3e00, #f5b041)" },
  ".tok-propertyName": { color: "light-dark(#0b4fa3, #9cc4ff)" }, ".tok-comment": { color: "light-dark(#5b6672, #b0b8c0)" },
});

// The styles of the editor are in a shadow root, as sheets that no policy of the page refuses.
const host = document.createElement("div"), root = host.attachShadow({ mode: "open" });
area.required = false;
area.hidden = true;
area.after(host);
const view = new EditorView({
  parent: root, root,
  state: EditorState.create({
    doc: area.value,
    extensions: [
      lineNumbers(), lintGutter(), history(), highlightSpecialChars(), highlightActiveLine(), bracketMatching(), syntaxHighlighting(classHighlighter), theme,
      /^\s*[[{]/.test(area.value) || !area.value ? json() : yaml(),
      EditorView.lineWrapping, EditorView.contentAttributes.of({ "aria-label": "Plan", spellcheck: "false" }),
      keymap.of([...defaultKeymap, ...historyKeymap, ...lintKeymap.filter(k => k.key === "F8")]), // its list of findings is not for all readers; ours is beside
      linter(view => check(view.state.doc.toString()), { delay: 300, needsRefresh: () => stale && !(stale = false) }),
      EditorView.updateListener.of(u => { if (u.docChanged) area.value = u.state.doc.toString(); }),
    ],
  }),
});
for (const field of [form.elements.name, form.elements.notation, form.elements.input, form.elements.documents, form.elements.instances]) {
  field.addEventListener("input", () => {
    stale = true;
    view.dispatch({}); // so that the linter looks
  });
}
// The lines of a file are shown, and checked as if they were typed.
form.elements.file.addEventListener("change", async ({ target }) => {
  const { instances } = form.elements, [file] = target.files;
  if (!file) return;
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
    instances.value = text;
    target.value = "";
    instances.dispatchEvent(new Event("input"));
  } catch { /* the server says what is wrong with the file */ }
});
document.querySelector("main").addEventListener("click", e => {
  const fix = e.target.matches("button[name=fix]") && fixes[e.target.value];
  if (!fix) return; // the server makes it
  e.preventDefault();
  fix(view);
  view.focus();
});
