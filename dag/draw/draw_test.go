package draw_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/plc-lang/plc/dag/draw"
)

var update = flag.Bool("update", false, "write the golden files")

type writer struct {
	format string
	write  func(io.Writer, *draw.Graph) error
}

func writers() []writer {
	return []writer{{"txt", draw.Text}, {"mmd", draw.Mermaid}, {"dot", draw.DOT}, {"json", draw.JSON}, {"svg", draw.SVG}}
}

func TestGolden(t *testing.T) {
	for name, g := range graphs() {
		for _, w := range writers() {
			t.Run(name+"."+w.format, func(t *testing.T) {
				var got bytes.Buffer
				if err := w.write(&got, g); err != nil {
					t.Fatal(err)
				}
				file := filepath.Join("testdata", name+"."+w.format)
				if *update {
					if err := os.WriteFile(file, got.Bytes(), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				want, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(got.Bytes(), want) {
					t.Errorf("differs from %s; look at it after -update:\n%s", file, got.Bytes())
				}
			})
		}
	}
}

func TestSameBytesEachTime(t *testing.T) {
	g := ladder(300)
	for _, w := range writers() {
		var first, again bytes.Buffer
		w.write(&first, g)
		for range 3 {
			again.Reset()
			w.write(&again, g)
			if !bytes.Equal(first.Bytes(), again.Bytes()) {
				t.Errorf("%s: other bytes the second time", w.format)
			}
		}
	}
}

func TestBadGraphs(t *testing.T) {
	node := []draw.Node{{ID: "a"}}
	tests := []struct {
		name  string
		graph *draw.Graph
		want  string
	}{
		{"from nowhere", &draw.Graph{Nodes: node, Edges: []draw.Edge{{From: -1, To: 0}}}, "edge 0 goes from node -1 to node 0; the graph has 1 nodes, counted from 0"},
		{"to nowhere", &draw.Graph{Nodes: node, Edges: []draw.Edge{{}, {From: 0, To: 1}}}, "edge 1 goes from node 0 to node 1; the graph has 1 nodes, counted from 0"},
		{"of no kind", &draw.Graph{Nodes: node, Edges: []draw.Edge{{Kind: 9}}}, "edge 0 is of no known kind: 9"},
	}
	for _, test := range tests {
		for _, w := range writers() {
			var out bytes.Buffer
			err := w.write(&out, test.graph)
			if err == nil || err.Error() != test.want || out.Len() > 0 {
				t.Errorf("%s as %s: %v, want %q", test.name, w.format, err, test.want)
			}
		}
	}
}

// failing is a writer that takes so many bytes.
type failing int

var errFull = errors.New("full")

func (f *failing) Write(p []byte) (int, error) {
	if len(p) > int(*f) {
		return 0, errFull
	}
	*f -= failing(len(p))
	return len(p), nil
}

func TestWriteErrors(t *testing.T) {
	for _, w := range writers() {
		full := failing(100)
		if err := w.write(&full, ladder(300)); !errors.Is(err, errFull) {
			t.Errorf("%s: %v, want the writer's error", w.format, err)
		}
	}
}

func TestTooLarge(t *testing.T) {
	deep := &draw.Graph{Nodes: make([]draw.Node, 1500)}
	for i := 1; i < 1500; i++ {
		deep.Edges = append(deep.Edges, draw.Edge{From: i - 1, To: i}, draw.Edge{From: i / 2, To: i})
	}
	for name, g := range map[string]*draw.Graph{
		"nodes": {Nodes: make([]draw.Node, draw.MaxNodes+1)},
		"edges": {Nodes: make([]draw.Node, 1), Edges: make([]draw.Edge, draw.MaxEdges+1)},
		"bends": deep,
	} {
		var out bytes.Buffer
		var large *draw.TooLargeError
		if err := draw.SVG(&out, g); !errors.As(err, &large) || large.Nodes != len(g.Nodes) || large.Edges != len(g.Edges) || out.Len() > 0 {
			t.Errorf("%s: %v", name, err)
		}
		for _, w := range writers()[:4] {
			if err := w.write(io.Discard, g); err != nil {
				t.Errorf("%s as %s: %v", name, w.format, err)
			}
		}
	}
}

// An arrow to five hundred calls names some and counts the rest, on lines that fit.
func TestTextStaysReadable(t *testing.T) {
	var out bytes.Buffer
	draw.Text(&out, fan(500))
	if !strings.Contains(out.String(), "and 476 more") {
		t.Error("the targets that are not named are not counted")
	}
	for line := range strings.Lines(out.String()) {
		if n := utf8.RuneCountInString(line); n > 101 {
			t.Errorf("%d characters: %s", n, line)
		}
	}
}

func FuzzWriters(f *testing.F) {
	for _, l := range hostile {
		f.Add(l, "x", "a/b", []byte{0, 1, 1, 2, 0, 2})
		f.Add("x", l, l, []byte{0, 1, 1, 0, 2, 2})
	}
	f.Fuzz(func(t *testing.T, label, other, group string, edges []byte) {
		checkWriters(t, fuzzGraph(label, other, group, edges))
	})
}

// fuzzGraph returns a graph of six nodes, some in groups, with edges by pairs of bytes.
func fuzzGraph(label, other, group string, edges []byte) *draw.Graph {
	g := &draw.Graph{Title: label + other}
	for i := range 6 {
		n := draw.Node{ID: fmt.Sprint(i, label), Label: label, Detail: other, Kind: other, Status: label}
		switch i {
		case 1, 2:
			n.Group, n.Label, n.Kind = group, other, draw.Changes
		case 3:
			n.Group, n.Kind = group+"/"+other, draw.Delegate
		case 4:
			n.Label, n.Kind = "", draw.Latent
		}
		g.Nodes = append(g.Nodes, n)
	}
	for ; len(edges) > 1; edges = edges[2:] {
		e := draw.Edge{From: int(edges[0] % 6), To: int(edges[1] % 6), Kind: draw.Kind(edges[0] / 6 % 3), Critical: edges[1] > 127}
		if edges[1]%4 > 0 {
			e.Label = []string{label, other}[edges[0]%2]
		}
		g.Edges = append(g.Edges, e)
	}
	return g
}

func TestHostileLabels(t *testing.T) { checkWriters(t, ofLabels(hostile)) }

func checkWriters(t *testing.T, g *draw.Graph) {
	for _, w := range writers() {
		var out bytes.Buffer
		if err := w.write(&out, g); err != nil {
			t.Fatalf("%s: %v", w.format, err)
		}
		if !utf8.Valid(out.Bytes()) {
			t.Errorf("%s: not UTF-8", w.format)
		}
		switch w.format {
		case "svg":
			checkXML(t, out.Bytes())
		case "json":
			checkJSON(t, g, out.Bytes())
		case "txt":
			checkVisible(t, out.String())
		case "mmd":
			checkLines(t, out.String(), mermaidLine)
		case "dot":
			checkLines(t, out.String(), dotLine)
		}
	}
}

func checkXML(t *testing.T, text []byte) {
	d := xml.NewDecoder(bytes.NewReader(text))
	for {
		token, err := d.Token()
		if err == io.EOF {
			return
		}
		if err != nil {
			t.Fatalf("not XML: %v\n%s", err, text)
		}
		if e, ok := token.(xml.StartElement); ok && !strings.Contains(" svg title rect g text path circle ", " "+e.Name.Local+" ") {
			t.Errorf("a label made an element: %v", e)
		}
	}
}

func checkJSON(t *testing.T, g *draw.Graph, text []byte) {
	var got struct {
		Nodes, Edges []any
		Critical     []string
		Levels       [][]string
	}
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	placed := 0
	for _, level := range got.Levels {
		placed += len(level)
	}
	if len(got.Nodes) != len(g.Nodes) || len(got.Edges) != len(g.Edges) || placed != len(g.Nodes) {
		t.Errorf("%d nodes, %d edges, %d nodes in levels, of a graph of %d and %d", len(got.Nodes), len(got.Edges), placed, len(g.Nodes), len(g.Edges))
	}
}

func checkVisible(t *testing.T, text string) {
	for _, r := range text {
		if r != '\n' && unicode.IsControl(r) || r == '\u202E' {
			t.Errorf("%U reaches the terminal", r)
		}
	}
}

// What a line of Mermaid and of DOT may be. Labels show as what a quoted string may hold.
var (
	mermaidLine = regexp.MustCompile(`^(---|title: "([^"\\]|\\["\\])*"|flowchart TD|` +
		` *n\d+(\(\[|\[\[|\{\{|\(|\[)"([^"#]|#\d+;|<br/>)*"(\]\)|\]\]|\}\}|\)|\]):::\w+|` +
		` *subgraph g\d+\["([^"#]|#\d+;|<br/>)*"\]| *end|` +
		`  n\d+ (-->|-\.->|==>)(\|"([^"#]|#\d+;|<br/>)*"\|)? n\d+|` +
		`  classDef [\w #:,-]+|  linkStyle [\w #:,-]+|  class n\d+ critical)$`)
	dotLine = regexp.MustCompile(`^ *(digraph plan \{|subgraph cluster_\d+ \{|\}|` +
		`(graph|node|edge|n\d+|n\d+ -> n\d+) \[\w+=(\w+|"([^"\\]|\\.)*")(,\w+=(\w+|"([^"\\]|\\.)*"))*\];)$`)
)

func checkLines(t *testing.T, text string, statement *regexp.Regexp) {
	for line := range strings.Lines(text) {
		if !statement.MatchString(strings.TrimSuffix(line, "\n")) {
			t.Errorf("not one statement: %q", line)
		}
	}
}

// BenchmarkDense draws as many edges as SVG takes.
func BenchmarkDense(b *testing.B) {
	g := &draw.Graph{Nodes: make([]draw.Node, draw.MaxNodes)}
	for i := range draw.MaxEdges {
		from := i % (draw.MaxNodes - 50)
		g.Edges = append(g.Edges, draw.Edge{From: from, To: from/50*50 + 50 + (i*7+i/1950*13)%50, Label: fmt.Sprint(from)})
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := draw.SVG(io.Discard, g); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkWriters(b *testing.B) {
	for n := 10; n <= 100_000; n *= 10 {
		g := ladder(n)
		for _, w := range writers() {
			if w.format == "svg" && n > draw.MaxNodes {
				continue
			}
			b.Run(fmt.Sprintf("%s/%d", w.format, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if err := w.write(io.Discard, g); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
