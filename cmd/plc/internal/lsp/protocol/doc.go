// Package protocol has the messages of the Language Server Protocol 3.17 that plc uses. Their names
// are those of the specification, which explains them:
// https://microsoft.github.io/language-server-protocol/specifications/lsp/3.17/specification/
package protocol
