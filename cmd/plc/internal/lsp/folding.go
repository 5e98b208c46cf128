package lsp

import (
	"bytes"
	"context"

	"github.com/plc-lang/plc/cmd/plc/internal/lsp/protocol"
)

// foldings returns the lines of a document that can be folded: in JSON objects and lists, in YAML
// the indented lines below a line.
func foldings(_ context.Context, snap *snapshot, _ *protocol.TextDocumentParams) (any, error) {
	if snap.isYAML() {
		return yamlFoldings(snap.text), nil
	}
	all := []protocol.FoldingRange{}
	var open []int
	b := snap.text.bytes
	for i := 0; i < len(b); {
		switch c := b[i]; {
		case c == '"':
			i, _ = stringEnd(b, i)
			continue
		case c == '/' && i+1 < len(b) && (b[i+1] == '/' || b[i+1] == '*'):
			end := commentEnd(b, i)
			if from, to := snap.text.position(i).Line, snap.text.position(end).Line; to > from && b[i+1] == '*' {
				all = append(all, protocol.FoldingRange{StartLine: from, EndLine: to, Kind: "comment"})
			}
			i = end
			continue
		case c == '{' || c == '[':
			open = append(open, snap.text.position(i).Line)
		case (c == '}' || c == ']') && len(open) > 0:
			from := open[len(open)-1]
			open = open[:len(open)-1]
			if to := snap.text.position(i).Line - 1; to > from {
				all = append(all, protocol.FoldingRange{StartLine: from, EndLine: to})
			}
		}
		i++
	}
	return all, nil
}

// yamlFoldings returns, for each line, the lines below it that are indented further.
func yamlFoldings(t *text) []protocol.FoldingRange {
	all := []protocol.FoldingRange{}
	type block struct{ line, indent int }
	var open []block
	last := -1 // the last line that is not blank
	end := func(indent int) {
		for len(open) > 0 && open[len(open)-1].indent >= indent {
			if b := open[len(open)-1]; last > b.line {
				all = append(all, protocol.FoldingRange{StartLine: b.line, EndLine: last})
			}
			open = open[:len(open)-1]
		}
	}
	for line := range t.lines {
		content := t.bytes[t.lines[line]:t.lineEnd(line)]
		if len(bytes.TrimSpace(content)) == 0 {
			continue
		}
		indent := len(content) - len(bytes.TrimLeft(content, " "))
		end(indent)
		open, last = append(open, block{line, indent}), line
	}
	end(-1)
	return all
}
