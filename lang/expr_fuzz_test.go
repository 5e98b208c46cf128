package lang

import (
	"encoding/json"
	"reflect"
	"testing"
	"unicode/utf8"

	"github.com/plc-lang/plc/diag"
)

// seedExprs adds the texts of every table.
func seedExprs(add func(text string)) {
	for _, test := range reads {
		add(test.text)
	}
	for _, test := range mistakes {
		text, _ := unmark(test.text)
		add(text)
	}
}

// bareOf is an expression without its spans.
func bareOf(e *Expr) *Expr {
	c := *e
	c.Span, c.KindSpan = diag.Span{}, diag.Span{}
	c.Path = nil
	for _, s := range e.Path {
		s.Span = diag.Span{}
		c.Path = append(c.Path, s)
	}
	c.Args = nil
	for _, a := range e.Args {
		c.Args = append(c.Args, bareOf(a))
	}
	return &c
}

func equalExprs(a, b *Expr) bool { return reflect.DeepEqual(bareOf(a), bareOf(b)) }

// checkExpr checks what holds for every expression that was read from src:
// its spans are nested and in order, and the text at the span of each of its
// nodes, decoded by decode, reads as that node again.
func checkExpr(t *testing.T, src string, e *Expr, within diag.Span, bare bool, decode func(string) string) {
	t.Helper()
	if e.Span.Start < within.Start || e.Span.End > within.End || e.Span.Len() <= 0 {
		t.Fatalf("%s: %s at %v, outside %v", src, e, e.Span, within)
	}
	text := decode(src[e.Span.Start:e.Span.End])
	again, f := (source{text: text}).read(0, len(text), bare)
	if f != nil {
		t.Fatalf("%s: %q at %v: %s", src, text, e.Span, f.Message)
	}
	if !equalExprs(e, again) {
		t.Fatalf("%s: %q at %v is %s, not %s", src, text, e.Span, dump(again), dump(e))
	}
	rest := e.Span
	for _, part := range parts(e) {
		if part.Start < rest.Start || part.End > rest.End || part.Len() <= 0 {
			t.Fatalf("%s: a part at %v, outside %v", src, part, rest)
		}
		rest.Start = part.End
	}
	if e.Op == OpRef && decode(src[e.KindSpan.Start:e.KindSpan.End]) != e.Kind {
		t.Fatalf("%s: the kind %s is not at %v", src, e.Kind, e.KindSpan)
	}
	for _, a := range e.Args {
		checkExpr(t, src, a, e.Span, bare, decode)
	}
}

// parts are the spans right below that of e.
func parts(e *Expr) []diag.Span {
	var p []diag.Span
	if e.Op == OpRef {
		p = append(p, e.KindSpan)
	}
	for _, s := range e.Path {
		p = append(p, s.Span)
	}
	for _, a := range e.Args {
		p = append(p, a.Span)
	}
	return p
}

func FuzzParseRead(f *testing.F) {
	seedExprs(func(text string) { f.Add(text) })
	f.Fuzz(func(t *testing.T, text string) {
		all := diag.Span{End: int32(len(text))}
		e, err := ParseRead(text)
		if err != nil {
			if s := err.(*ExprError).Span; s.Start < 0 || s.Start > s.End || s.End > all.End {
				t.Fatalf("%q: %v at %v", text, err, s)
			}
			return
		}
		checkExpr(t, text, e, all, false, func(s string) string { return s })
		for _, a := range e.Args {
			if a.Op == e.Op {
				t.Fatalf("%q: %s in %s", text, dump(a), dump(e))
			}
		}
		again, err := ParseRead(e.String())
		if err != nil {
			t.Fatalf("%q: printed as %q: %v", text, e, err)
		}
		if !equalExprs(e, again) || again.String() != e.String() {
			t.Fatalf("%q: %s, but printed %s", text, dump(e), dump(again))
		}
	})
}

func FuzzParseWrite(f *testing.F) {
	seedExprs(func(text string) { f.Add(text) })
	f.Fuzz(func(t *testing.T, text string) {
		w, err := ParseWrite(text)
		if err != nil {
			return
		}
		if _, err := ParseRead(text); err != nil {
			t.Fatalf("%q can be written but not read: %v", text, err)
		}
		again, err := ParseWrite(w.String())
		if err != nil {
			t.Fatalf("%q: printed as %q: %v", text, w, err)
		}
		if again.Angle != w.Angle || len(again.Alternatives) != len(w.Alternatives) {
			t.Fatalf("%q: printed as %q: %v, %v", text, w, w, again)
		}
		for i, a := range w.Alternatives {
			b := again.Alternatives[i]
			if a.Span.Start < w.Span.Start || a.Span.End > w.Span.End || len(a.Paths) != len(b.Paths) {
				t.Fatalf("%q: %v, %v", text, a, b)
			}
			for j := range a.Paths {
				if !equalExprs(a.Paths[j], b.Paths[j]) {
					t.Fatalf("%q: %s, %s", text, a.Paths[j], b.Paths[j])
				}
			}
		}
	})
}

func FuzzFastPathEqualsGrammar(f *testing.F) {
	seedExprs(func(text string) {
		f.Add(text, false)
		f.Add(text, true)
	})
	f.Fuzz(func(t *testing.T, text string, bare bool) {
		if !utf8.ValidString(text) {
			t.Skip()
		}
		s := source{text: text}
		from, to := s.trim(0, len(text))
		fast := s.simple(from, to, bare)
		slow, fault := s.parse(from, to, bare)
		switch {
		case fast != nil && fault != nil:
			t.Fatalf("%q: %s, but the grammar says %s", text, dump(fast), fault.Message)
		case fast != nil && !reflect.DeepEqual(fast, slow):
			t.Fatalf("%q:\n got %+v\nwant %+v", text, fast, slow)
		}
	})
}

func FuzzReadText(f *testing.F) {
	for _, test := range texts {
		token, _ := unmark(test.token)
		f.Add(token[1 : len(token)-1])
	}
	seedExprs(func(text string) {
		f.Add(text)
		f.Add("x †{" + text + "}")
	})
	f.Fuzz(func(t *testing.T, inside string) {
		token := `"` + inside + `"`
		if !json.Valid([]byte(token)) {
			quoted, err := json.Marshal(inside)
			if err != nil {
				t.Skip()
			}
			token = string(quoted)
		}
		checkText(t, token)
	})
}

// checkText checks what holds for every JSON string.
func checkText(t *testing.T, token string) {
	src, span := place(token)
	text, faults := readText(src, span, nil)
	bad := false
	for _, f := range faults {
		if f.Span.Start <= span.Start || f.Span.End >= span.End || f.Span.Len() < 0 {
			t.Fatalf("%s: %s at %v", token, f.Message, f.Span)
		}
		bad = bad || f.Severity == diag.Error
	}
	if isReference(src[span.Start+1:span.End-1]) && (len(faults) > 0 || !text.Whole || text.Parts[0].Expr.Op != OpRef) {
		t.Fatalf("%s is taken for a reference, and is %s", token, dumpText(text))
	}
	if isReference(src[span.Start+1 : span.End-1]) {
		w, faults := readWrite(src, span, nil)
		if len(faults) > 0 || len(w.Alternatives) != 1 || !reflect.DeepEqual(w.Alternatives[0].Paths, []*Expr{text.Parts[0].Expr}) {
			t.Fatalf("%s is taken for a reference, and can't be written", token)
		}
	}
	if again, _ := readText(src, span, new(memory)); !reflect.DeepEqual(again, text) {
		t.Fatalf("%s: in a memory that many share it is %s", token, dumpText(again))
	}
	if text == nil {
		if bad {
			t.Fatalf("%s: a fault but no text", token)
		}
		return
	}
	decode := func(s string) string {
		s, _ = unescape(s, func(int, int) {})
		return s
	}
	rest := diag.Span{Start: span.Start + 1, End: span.End - 1}
	for i, p := range text.Parts {
		if p.Expr == nil {
			if p.Literal == "" || i > 0 && text.Parts[i-1].Expr == nil {
				t.Fatalf("%s: %s", token, dumpText(text))
			}
			continue
		}
		checkExpr(t, string(src), p.Expr, rest, !text.Whole, decode)
		rest.Start = p.Expr.Span.End
	}
	if !bad {
		checkFormat(t, token, text)
	}
}

// checkFormat checks that the canonical form of a JSON string is one, and says
// the same.
func checkFormat(t *testing.T, token string, text *Text) {
	src, span := place(token)
	once := formatText(src, span, text)
	if !json.Valid(once) {
		t.Fatalf("%s: formatted as %s", token, once)
	}
	src, span = place(string(once))
	again, faults := readText(src, span, nil)
	for _, f := range faults {
		if f.Severity == diag.Error {
			t.Fatalf("%s: formatted as %s: %s", token, once, f.Message)
		}
	}
	if dumpText(again) != dumpText(text) {
		t.Fatalf("%s: formatted as %s: %s, not %s", token, once, dumpText(again), dumpText(text))
	}
	if twice := formatText(src, span, again); string(twice) != string(once) {
		t.Fatalf("%s: formatted as %s, and then as %s", token, once, twice)
	}
}

func FuzzUnescape(f *testing.F) {
	for _, s := range []string{`a\n`, `\ud83d\ude42`, `\ud83d\u0041`, `\u2020{x}`, `é`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, inside string) {
		var want string
		if json.Unmarshal([]byte(`"`+inside+`"`), &want) != nil {
			t.Skip()
		}
		got, wrong := unescape(inside, func(int, int) {})
		if string([]rune(got)) != want || wrong >= 0 {
			t.Fatalf("%q: got %q, want %q, wrong at %d", inside, got, want, wrong)
		}
	})
}
