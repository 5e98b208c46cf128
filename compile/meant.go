package compile

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
)

// Text that is almost a reference: a path of the whiteboard without its dagger, or in the syntax of
// another notation, as in "state.user", "${state.user}" and "{{state.user}}".

// marked finds what may be a reference in the syntax of another notation. The groups are the texts
// inside.
var marked = regexp.MustCompile(`\$\{\s*([^{}]+?)\s*\}|\{\{\s*([^{}]+?)\s*\}\}|\{\s*([^{}]+?)\s*\}|\$(\pL[\w-]*(?:\.[\w-]+|\[-?\d+\])*)`)

// dollars finds the dollar signs that stand for daggers.
var dollars = regexp.MustCompile(`\$(\pL[\w-]*[.\[])`)

// nearReferences reports literal text that is almost a reference to a path that is written or held.
// For a document in another notation, its own reader does that.
func (c *unbound) nearReferences() {
	if c.doc.Translated() || !c.mayNearlyRefer() {
		return
	}
	for i := range c.calls {
		d := &c.calls[i]
		for _, m := range d.Source.Params {
			c.nearIn(d, m.Value)
		}
		if rest := d.Source.Rest; rest != nil && rest.Fallback != nil {
			for _, m := range rest.Fallback.Params {
				c.nearIn(d, m.Value)
			}
		}
	}
	c.nearIn(&c.end, c.doc.Output)
}

// mayNearlyRefer reports whether the name of a kind occurs somewhere without a dagger before it and
// with a path after it. If there are many kinds it does not look.
func (c *unbound) mayNearlyRefer() bool {
	const few = 16
	if len(c.kinds) > few {
		return true
	}
	for kind := range c.kinds {
		if standsBare(c.doc.File.Text, kind) {
			return true
		}
	}
	return false
}

// standsBare reports whether a name occurs in a text with neither † nor †{ nor a letter before it.
func standsBare(text []byte, name string) bool {
	for at := 0; ; {
		n := bytes.Index(text[at:], []byte(name))
		if n < 0 {
			return false
		}
		before, behind := text[:at+n], text[at+n+len(name):]
		at += n + len(name)
		if len(behind) == 0 || bytes.IndexByte([]byte(".[} \t"), behind[0]) < 0 && behind[0] != '"' {
			continue
		}
		if bytes.HasSuffix(before, []byte("†")) || bytes.HasSuffix(before, []byte("†{")) {
			continue
		}
		if behind[0] != '"' || bytes.HasSuffix(before, []byte("$")) { // otherwise it is the name of a member, or a plain word
			return true
		}
	}
}

// nearIn reports the near references in the strings at or below a value.
func (c *unbound) nearIn(d *draft, n lang.Node) {
	switch n.Kind() {
	case lang.Object:
		for m := range n.Members() {
			c.nearIn(d, m.Value)
		}
	case lang.Array:
		for _, e := range n.Elements() {
			c.nearIn(d, e)
		}
	case lang.String:
		text := n.Text()
		if text == nil || !text.Whole {
			c.nearText(d, n, text, n.Str())
		}
	}
}

func (c *unbound) nearText(d *draft, n lang.Node, text *lang.Text, s string) {
	trimmed := strings.TrimSpace(s)
	if c.barePath(trimmed) {
		if path, ok := c.refersTo(d, trimmed, true); ok {
			c.nearReference(d, n, s, 0, len(s), path)
		}
		return
	}
	if !strings.ContainsAny(s, "${") {
		return
	}
	if as := dollars.ReplaceAllString(trimmed, "†$1"); as != trimmed {
		if e, err := lang.ParseRead(as); err == nil && e.Op != lang.OpRef {
			if path, ok := c.leadsSomewhere(d, e, true); ok {
				c.nearReference(d, n, s, 0, len(s), path)
				return
			}
		}
	}
	for _, m := range marked.FindAllStringSubmatchIndex(s, -1) {
		inside, dollar := "", m[8] >= 0
		for g := 2; g < len(m); g += 2 {
			if m[g] >= 0 {
				inside = s[m[g]:m[g+1]]
			}
		}
		if strings.HasSuffix(s[:m[0]], "†") || inTemplate(text, n.Inside(m[0], m[1])) {
			continue // a template, or an escaped dagger
		}
		from, to := m[0], m[1]
		if s[from:to] == trimmed {
			from, to = 0, len(s)
		}
		if path, ok := c.refersTo(d, strings.TrimLeft(inside, "$"), dollar); ok {
			c.nearReference(d, n, s, from, to, path)
		}
	}
}

// inTemplate reports whether a place is inside an expression of a text.
func inTemplate(text *lang.Text, at diag.Span) bool {
	return text != nil && slices.ContainsFunc(text.Parts, func(p lang.Part) bool {
		return p.Expr != nil && p.Expr.Span.Start <= at.Start && at.End <= p.Expr.Span.End
	})
}

// barePath reports whether a text begins with a kind and continues as a path.
func (c *unbound) barePath(s string) bool {
	i := strings.IndexAny(s, ".[")
	return i > 0 && c.kind(s[:i]) != nil
}

// refersTo reads a text as a reference without its dagger, and reports whether the path is written
// or held. If strict is true, the path must be known to be there, and not be a whole kind.
func (c *unbound) refersTo(d *draft, s string, strict bool) (path string, ok bool) {
	e, err := lang.ParseBare(s)
	if err != nil {
		return "", false
	}
	if e.Op != lang.OpRef {
		return c.leadsSomewhere(d, e, strict)
	}
	return c.reaches(d, e, strict)
}

// leadsSomewhere reports whether a reference in an expression is to a path that is written or held,
// and returns its text.
func (c *unbound) leadsSomewhere(d *draft, e *lang.Expr, strict bool) (text string, ok bool) {
	for _, arg := range e.Args {
		switch arg.Op {
		case lang.OpRef:
			_, there := c.reaches(d, arg, strict)
			ok = ok || there
		case lang.OpOr, lang.OpAnd:
			_, there := c.leadsSomewhere(d, arg, strict)
			ok = ok || there
		}
	}
	return e.String(), ok
}

// reaches does what refersTo does, for a reference that was parsed.
func (c *unbound) reaches(d *draft, e *lang.Expr, strict bool) (path string, ok bool) {
	if c.kind(e.Kind) == nil || strict && len(e.Path) == 0 {
		return "", false
	}
	var own chunks
	r := Read{Path: own.path(e)}
	if strict && c.openInput(r.Path) {
		return "", false
	}
	path = written(r.Path)
	c.ofInstance(d, &r)
	there := c.heldRead(&r)
	for l := range r.layers() {
		c.index.place(l)
		there = there || c.index.written(l, maxPlace)
	}
	return path, there
}

// nearReference reports that s[from:to] is almost a reference to a path. The fix replaces a whole
// string by the reference itself, and a part of a string by a reference in braces.
func (c *unbound) nearReference(d *draft, n lang.Node, s string, from, to int, path string) {
	meant := path
	if to-from < len(s) {
		meant = "†{" + strings.TrimPrefix(path, "†") + "}"
	}
	sev := diag.Warning
	if c.doc.Model() {
		sev = diag.Error
	}
	f := c.report(sev, diag.NearReference, diag.Loc{File: n.Loc().File, Span: n.Inside(from, to)}, "%q is just text; did you mean %s?", strings.TrimSpace(s[from:to]), meant)
	if !f.kept() {
		return
	}
	if sev == diag.Error {
		f.Message += fmt.Sprintf(" (text that is meant as it is: †{'%s'})", strings.TrimSpace(s[from:to]))
	}
	f = f.inside(d, n.Span())
	quoted := quote(meant)
	f.replace(quoted[1 : len(quoted)-1]) // it stands inside a JSON string
}
