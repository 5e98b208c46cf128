package lsp_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plc-lang/plc/cmd/plc/internal/lsp/protocol"
)

// longPlan is a plan of n calls, each of which reads what the one before it writes.
func longPlan(n int) string {
	var b strings.Builder
	b.WriteString("[\n  {\"_tool\": \"resolve\", \"revision\": \"HEAD\", \"_outputPath\": \"†state.c0\"}")
	for i := 1; i < n; i++ {
		fmt.Fprintf(&b, ",\n  {\"_tool\": \"author\", \"commit\": \"†state.c%d\", \"_outputPath\": \"†state.c%d\"}", i-1, i)
	}
	b.WriteString("\n]\n")
	return b.String()
}

// The time from a keystroke to the diagnostics that follow it: its median and 99th percentile.
func BenchmarkKeystroke(b *testing.B) {
	for _, calls := range []int{1_000, 100_000} {
		b.Run(fmt.Sprint(calls), func(b *testing.B) {
			dir := project(b)
			c := start(b, dir)
			uri := fileURI(filepath.Join(dir, "long.plan.json"))
			c.open(uri, "json", longPlan(calls))
			c.diagnostics(uri)
			line := calls / 2
			var took []time.Duration
			i := 0
			for b.Loop() {
				r := protocol.Range{Start: protocol.Position{Line: line, Character: 3}, End: protocol.Position{Line: line, Character: 3}}
				text := " "
				if i%2 == 1 {
					r.End.Character, text = 4, ""
				}
				i++
				c.versions[uri]++
				began := time.Now()
				c.notify("textDocument/didChange", &protocol.DidChangeParams{
					TextDocument:   protocol.VersionedTextDocumentIdentifier{URI: uri, Version: c.versions[uri]},
					ContentChanges: []protocol.ContentChange{{Range: &r, Text: text}},
				})
				c.diagnostics(uri)
				took = append(took, time.Since(began))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "ms/median")
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "ms/p99")
		})
	}
}
