package openapi

import (
	"bytes"
	"fmt"

	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/internal/texttree"
)

// asJSON returns a document as JSON. Numbers in YAML keep their digits; names are always text, even
// if they look like numbers (200), and so are dates.
func asJSON(text []byte) ([]byte, error) {
	if body := text[texttree.BOM(text):]; bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte("{")) {
		return body, nil
	}
	doc, err := texttree.YAML{
		What: "documents", MaxDepth: jsonscan.DefaultMaxDepth, MaxBytes: maxBytes, Aliases: true, Loose: true, Numbers: true,
	}.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("line %d: %s", 1+bytes.Count(text[:err.Offset], []byte("\n")), err.Message)
	}
	return doc.JSON(), nil
}
