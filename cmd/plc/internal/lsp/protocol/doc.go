// Package protocol has the messages of the Language Server Protocol 3.17 that plc uses, and
// nothing else of it. Names are those of the specification, where each is explained:
// https://microsoft.github.io/language-server-protocol/specifications/lsp/3.17/specification/
package protocol
