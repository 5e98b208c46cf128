package lsp

import (
	"flag"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/plc-lang/plc/cmd/plc/internal/lsp/protocol"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/effort"
)

var edits = flag.Int("lsp.edits", effort.Of(400, 3000), "how many random edits are made")

// words are what random edits put in: characters of all widths, and line ends of all kinds, also
// such as meet.
func words() []string {
	return []string{"", "a", "é", "†", "𝛼", "\n", "\r", "\r\n", "\n\r", "\"", "{", "long enough to cross a checkpoint " + strings.Repeat("x𝛼", 600), "\xff", "\u2028"}
}

// A text after any number of edits is the text that it would be as a whole, and its positions are
// those of the whole text, in all encodings.
func TestEditsAreTheWholeText(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for i, e := range []encoding{utf8Units, utf16Units, utf32Units} {
		got := newText([]byte("[\r\n  {\"_tool\": \"†𝛼\"}\n]"), e)
		for n := range *edits / 3 {
			from, to := r.IntN(len(got.bytes)+1), r.IntN(len(got.bytes)+1)
			if from > to {
				from, to = to, from
			}
			if len(got.bytes) < 4000 && r.IntN(4) > 0 {
				to = min(to, from+r.IntN(4))
			}
			s := got.rangeOf(diag.Span{Start: int32(from), End: int32(to)})
			word := words()[r.IntN(len(words()))]
			span := got.spanOf(s)
			whole := string(got.bytes[:span.Start]) + word + string(got.bytes[span.End:])
			next, err := got.apply(protocol.ContentChange{Range: &s, Text: word})
			if err != nil {
				t.Fatal(err)
			}
			want := newText([]byte(whole), e)
			if string(next.bytes) != whole || !slices.Equal(next.lines, want.lines) {
				t.Fatalf("encoding %d, edit %d: %q at %+v of %q\nlines %v\nwant  %v", i, n, word, s, got.bytes, next.lines, want.lines)
			}
			at := r.IntN(len(next.bytes) + 1)
			p := next.position(at)
			if back := next.offset(p); back > at || next.position(back) != p {
				t.Fatalf("offset %d is at %+v, which is offset %d, at %+v", at, p, back, next.position(back))
			}
			if p != slowPosition(next, at) {
				t.Fatalf("offset %d is at %+v, and plainly at %+v", at, p, slowPosition(next, at))
			}
			got = next
		}
	}
}

// slowPosition finds a position in the plainest way: from the start of its line.
func slowPosition(t *text, offset int) protocol.Position {
	line := 0
	for line+1 < len(t.lines) && int(t.lines[line+1]) <= offset {
		line++
	}
	p := protocol.Position{Line: line}
	end := t.lineEnd(line)
	for i, r := range string(t.bytes[t.lines[line]:end]) {
		size := len(string(r))
		if r == '\uFFFD' && (end-int(t.lines[line])-i < 3 || t.bytes[int(t.lines[line])+i] != 0xEF) {
			size = 1
		}
		if int(t.lines[line])+i+size > offset {
			break
		}
		p.Character += t.encoding.width(r, size)
	}
	return p
}

// The memory of a server does not grow with the edits that it sees.
func TestMemoryIsBounded(t *testing.T) {
	s := newServer(Config{})
	uri := protocol.URI("untitled:plan.json")
	plan := `[` + strings.Repeat(`{"_tool": "x", "_output": 1}, // plc:ignore PLC310`+"\n", 100) + `]`
	s.opened(&protocol.DidOpenParams{TextDocument: protocol.TextDocumentItem{URI: uri, LanguageID: "plc", Text: plan}})
	used := func() uint64 {
		s.snapshot(uri).analysis()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	edit := func(n int) {
		for i := range n {
			word, r := "\n", protocol.Range{}
			if i%2 == 1 {
				word, r.End = "", protocol.Position{Line: 1}
			}
			s.edited(&protocol.DidChangeParams{TextDocument: protocol.VersionedTextDocumentIdentifier{URI: uri, Version: i}, ContentChanges: []protocol.ContentChange{{Range: &r, Text: word}}})
			if i%100 == 0 {
				s.snapshot(uri).analysis()
			}
		}
	}
	edit(1000)
	before := used()
	edit(10_000)
	if after := used(); after > before+4<<20 {
		t.Errorf("%d bytes were in use, and after 10,000 edits %d", before, after)
	}
}

// What is broken in one place is mended there, and its places stay what they are.
func TestMend(t *testing.T) {
	for _, text := range []string{
		"[\n {\"_tool\": \"a\", \"x\": \"†sta\n {\"_tool\": \"nobody\"}\n]", "[{\"_tool\": \"a\", \"x\": \n {\"_tool\": \"nobody\"}\n]", `[{"`, `[{"a\`, "[{\"_tool\": \"†\u2028", "\"", `[{"_tool": "x", "y": [{"_z": {"_`,
	} {
		m := mend(diag.NewFile("x", []byte(text)))
		if m == nil {
			continue
		}
		for at := range int32(len(m.file.Text)) {
			s := m.origin(diag.Span{Start: at, End: at + 1})
			if s.Len() == 1 && m.file.Text[at] != text[s.Start] {
				t.Errorf("%q: byte %d of %q is not byte %d", text, at, m.file.Text, s.Start)
			}
		}
	}
}

// Hostile texts are answered, whatever the place.
func FuzzComplete(f *testing.F) {
	names := []string{"plan.json", "tools.json", "plan.yaml", "tools.yaml"}
	for _, text := range []string{
		`[{"_tool": "x", "y": "†{state.`, "tools:\n  - a: {b: [", "\xff\xfe{\"", "]]}}{{", "a: &x\n b: *x", `{"calls": [{"_retry": {"`,
		"- _tool: a\n  b: |\n    †{state.x\n  c: [{d: 'e''", "- {_tool: \"a\\", "calls:\n- _tool: a\n  _dependsOn:\n  -", "- - - a: {", "-\n -\n\t- x:y: z",
	} {
		for kind := range uint8(len(names)) {
			f.Add(text, uint(len(text)), kind)
			f.Add(text, uint(3), kind)
		}
	}
	f.Fuzz(func(t *testing.T, text string, at uint, kind uint8) {
		s := newServer(Config{})
		s.work = new(sync.WaitGroup)
		name := names[int(kind)%len(names)]
		uri := protocol.URI("file:///nowhere/" + name)
		s.opened(&protocol.DidOpenParams{TextDocument: protocol.TextDocumentItem{URI: uri, Text: text}})
		snap := s.snapshot(uri)
		here := &protocol.TextDocumentPositionParams{Position: snap.text.position(int(at % uint(len(text)+1)))}
		for _, ask := range []func() (any, error){
			func() (any, error) { return complete(t.Context(), snap, here) },
			func() (any, error) { return hover(t.Context(), snap, here) },
			func() (any, error) { return definition(t.Context(), snap, here) },
			func() (any, error) { return highlights(t.Context(), snap, here) },
			func() (any, error) {
				return rename(t.Context(), snap, &protocol.RenameParams{TextDocumentPositionParams: *here, NewName: "x y"})
			},
			func() (any, error) { return format(t.Context(), snap, nil) },
			func() (any, error) { return symbols(t.Context(), snap, nil) },
			func() (any, error) { return foldings(t.Context(), snap, nil) },
			func() (any, error) { return lenses(t.Context(), snap, nil) },
			func() (any, error) { return links(t.Context(), snap, nil) },
			func() (any, error) {
				return hints(t.Context(), snap, &protocol.InlayHintParams{Range: protocol.Range{End: protocol.Position{Line: 1 << 30}}})
			},
			func() (any, error) {
				return codeActions(t.Context(), snap, &protocol.CodeActionParams{Range: protocol.Range{End: protocol.Position{Line: 1 << 30}}})
			},
		} {
			_, _ = ask() // an error is an answer; a panic is not
		}
	})
}
