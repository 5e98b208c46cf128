// What the playground uses of CodeMirror.
export { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
export { json } from "@codemirror/lang-json";
export { yaml } from "@codemirror/lang-yaml";
export { bracketMatching, syntaxHighlighting } from "@codemirror/language";
export { forceLinting, lintGutter, linter, lintKeymap } from "@codemirror/lint";
export { EditorState } from "@codemirror/state";
export { EditorView, highlightActiveLine, highlightSpecialChars, keymap, lineNumbers } from "@codemirror/view";
export { classHighlighter } from "@lezer/highlight";
