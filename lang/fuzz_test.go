package lang

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"
	"unicode/utf8"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/jsonscan"
)

func addSeeds(f *testing.F) {
	for _, c := range findingTable {
		f.Add([]byte(c.text))
	}
	for _, c := range answers {
		f.Add([]byte(c.text))
	}
	for _, c := range formats {
		f.Add([]byte(c.text))
	}
	f.Add([]byte(nodeText))
}

// FuzzParse: no panic, every span is inside the file, the tree holds together,
// and what encoding/json reads is read as that.
func FuzzParse(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, answer := range []bool{false, true} {
			doc, list := Parse(diag.NewFile("plan.json", text), &Options{Answer: answer, MaxDepth: 50})
			checkFindings(t, list, len(doc.File.Text))
			checkTree(t, doc, len(doc.File.Text))
			checkReader(t, doc)
			if !doc.broken && !json.Valid(doc.Root.AppendJSON(nil)) {
				t.Fatalf("the root is no JSON: %s", doc.Root.AppendJSON(nil))
			}
		}
		checkAgainstJSON(t, text)
	})
}

// checkReader reads all texts and output paths of a document in one memory: that must be what the
// grammar reads.
func checkReader(t *testing.T, doc *Document) {
	var reader TextReader
	for n := range doc.Root.TextNodes() {
		want, _ := readText(doc.File.Text, n.tree.token(n.i), nil)
		if got := reader.Text(n); !reflect.DeepEqual(got, want) {
			t.Fatalf("%s is read as %s", n.AppendJSON(nil), dumpText(got))
		}
	}
	for i := range doc.Calls {
		n := doc.Calls[i].OutputNode
		if !n.is(String) || n.has(bad) {
			continue
		}
		want, _ := readWrite(doc.File.Text, n.tree.token(n.i), nil)
		if got := reader.OutputPath(&doc.Calls[i]); !reflect.DeepEqual(got, want) {
			t.Fatalf("%s is read as %s", n.AppendJSON(nil), got)
		}
	}
}

func checkFindings(t *testing.T, list diag.List, size int) {
	inside := func(s diag.Span) {
		if s.Start < 0 || s.Start > s.End || int(s.End) > size {
			t.Fatalf("span %v is outside of %d bytes", s, size)
		}
	}
	for i := range list {
		f := &list[i]
		if inside(f.Loc.Span); f.Message == "" || f.Loc.File == nil || f.Code == 0 || f.Code == diag.InternalError {
			t.Fatalf("an empty finding %+v", f)
		}
		for _, r := range f.Related {
			inside(r.Loc.Span)
		}
		if f.Fix == nil {
			continue
		}
		last := int32(0)
		for _, e := range f.Fix.Edits {
			if inside(e.Span); e.Span.Start < last {
				t.Fatalf("edits out of order: %+v", f.Fix)
			}
			last = e.Span.End
		}
	}
}

func checkTree(t *testing.T, doc *Document, size int) {
	if doc.Root.IsZero() {
		return
	}
	nodes := doc.tree.nodes
	for i := range nodes {
		n := &nodes[i]
		if n.start < 0 || n.end < n.start || int(n.end) > size || n.flags&isName == 0 && (n.next <= int32(i) || int(n.next) > len(nodes)) {
			t.Fatalf("node %d of %d: %+v", i, len(nodes), n)
		}
		if n.kind == Object && n.flags&isName == 0 {
			for m := range (Node{doc.tree, int32(i)}).Members() {
				_ = m.Value.Str()
			}
		}
	}
	for n, text := range doc.Root.Texts() {
		if !reflect.DeepEqual(n.Text(), text) {
			t.Fatal("a text is not found by its node")
		}
		if at, ok := doc.Root.At(n.Pointer()); at != n && ok && doc.File != nil && !hasDuplicates(doc) {
			t.Fatalf("%s is the pointer of another node", n.Pointer())
		}
	}
}

func hasDuplicates(doc *Document) bool {
	_, list := Parse(doc.File, &Options{Answer: doc.answer, MaxDepth: 50})
	for i := range list {
		if list[i].Code == diag.DuplicateMember {
			return true
		}
	}
	return false
}

// checkAgainstJSON compares with what the JSON packages say.
func checkAgainstJSON(t *testing.T, text []byte) {
	doc, list := Parse(diag.NewFile("plan.json", text), nil)
	faulty := doc.Root.IsZero()
	for i := range list {
		faulty = faulty || list[i].Code <= diag.OverLimit
	}
	if err := jsonscan.Check(text, jsonscan.Limits{}); err == nil && faulty {
		t.Fatalf("valid JSON: %q", showAll(list))
	}
	if faulty {
		return
	}
	compact := doc.Root.AppendJSON(nil)
	if err := jsonscan.Check(compact, jsonscan.Limits{}); err != nil || !utf8.Valid(compact) {
		t.Fatalf("read without a fault, but %v: %s", err, compact)
	}
	if json.Valid(text) && !bytes.Equal(jsonscan.Compact(nil, text), compact) {
		t.Fatalf("read as %s", compact)
	}
	if again, list := parse(string(compact), nil); !bytes.Equal(again.Root.AppendJSON(nil), compact) || doc.Form != again.Form {
		t.Fatalf("the same without comments and white space is another document: %q", showAll(list))
	}
}

// FuzzFormat: formatting twice changes nothing, and formatting once nothing but
// comments' places, white space and how expressions are spelled.
func FuzzFormat(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, answer := range []bool{false, true} {
			doc, _ := Parse(diag.NewFile("plan.json", text), &Options{Answer: answer})
			once, err := Format(doc)
			if err != nil {
				continue
			}
			doc2, list := Parse(diag.NewFile("plan.json", once), nil)
			twice, err := Format(doc2)
			if err != nil {
				t.Fatalf("%q in\n%s", showAll(list), once)
			}
			if !bytes.Equal(once, twice) {
				t.Fatalf("formatted once:\n%s\ntwice:\n%s", once, twice)
			}
			sameTree(t, doc, doc2)
		}
	})
}

func sameTree(t *testing.T, a, b *Document) {
	if len(a.tree.nodes) != len(b.tree.nodes) || a.Form != b.Form || len(a.Calls) != len(b.Calls) {
		t.Fatalf("%d nodes, then %d", len(a.tree.nodes), len(b.tree.nodes))
	}
	for i := range a.tree.nodes {
		m, n := &a.tree.nodes[i], &b.tree.nodes[i]
		if m.kind != n.kind || m.flags&isName != n.flags&isName {
			t.Fatalf("node %d: %+v, then %+v", i, m, n)
		}
		if m.flags&hasDagger == 0 && string(a.tree.scalar(int32(i))) != string(b.tree.scalar(int32(i))) {
			t.Fatalf("%s, then %s", a.tree.scalar(int32(i)), b.tree.scalar(int32(i)))
		}
	}
	for i := range a.Calls {
		if a.Calls[i].ID != b.Calls[i].ID || a.Calls[i].Tool != b.Calls[i].Tool {
			t.Fatalf("call %+v, then %+v", a.Calls[i], b.Calls[i])
		}
	}
}

// scalar is the JSON of a node that is no container.
func (t *tree) scalar(i int32) []byte {
	if k := t.nodes[i].kind; k == Array || k == Object {
		return nil
	}
	return t.appendJSON(nil, i)
}

// FuzzComments: comments and trailing commas change nothing.
func FuzzComments(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, text []byte) {
		if jsonscan.Check(text, jsonscan.Limits{}) != nil {
			return
		}
		plain, want := parse(string(text), nil)
		var b []byte
		l := jsonscan.Lexer{Text: text}
		for tok := l.Next(); tok != jsonscan.EOF; tok = l.Next() {
			last := len(b) > 0 && b[len(b)-1] != '[' && b[len(b)-1] != '{'
			if (tok == jsonscan.EndArray || tok == jsonscan.EndObject) && last && !bytes.HasSuffix(b, []byte("/**/")) {
				b = append(b, ',')
			}
			b = append(b, text[l.Start:l.Pos]...)
			if tok != jsonscan.BeginArray && tok != jsonscan.BeginObject {
				b = append(b, " // [{\"\n"...)
			} else {
				b = append(b, "/**/"...)
			}
		}
		commented, got := parse(string(b), nil)
		if !bytes.Equal(plain.Root.AppendJSON(nil), commented.Root.AppendJSON(nil)) || len(want) != len(got) {
			t.Fatalf("%s\n%q, with comments %q", b, showAll(want), showAll(got))
		}
	})
}
