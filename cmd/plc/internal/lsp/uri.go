package lsp

import (
	"net/url"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/plc-lang/plc/cmd/plc/internal/lsp/protocol"
)

// pathOf returns the name of the file of a document; "" for a document that is no file.
func pathOf(u protocol.URI) string {
	parsed, err := url.Parse(string(u))
	if err != nil || parsed.Scheme != "file" {
		return ""
	}
	p := parsed.Path
	if runtime.GOOS == "windows" {
		if len(p) > 2 && p[0] == '/' && p[2] == ':' {
			p = p[1:]
		}
		if parsed.Host != "" {
			p = "//" + parsed.Host + p
		}
	}
	return filepath.Clean(filepath.FromSlash(p))
}

// uriOf returns the URI of a file.
func uriOf(path string) protocol.URI {
	p := filepath.ToSlash(path)
	if !strings.HasPrefix(p, "/") {
		p = "/" + p
	}
	return protocol.URI((&url.URL{Scheme: "file", Path: p}).String())
}
