package compile

import (
	"strconv"
	"strings"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/lang"
)

// callPointer returns the JSON Pointer of a call, or of the output. The tree would walk over all
// calls before it, so the pointers of all calls are computed once, if the calls are one list
// without gaps.
func (c *reporter) callPointer(d *draft) string {
	if d.isOutput() {
		return c.doc.Output.Pointer()
	}
	if !c.listed {
		c.listed = true
		calls := c.doc.Calls
		first, last := calls[0].Node.Pointer(), calls[len(calls)-1].Node.Pointer()
		if list, ok := strings.CutSuffix(first, "/0"); ok && last == list+"/"+strconv.Itoa(len(calls)-1) {
			c.list, c.isList = list, true
		}
	}
	if !c.isList {
		return d.Source.Node.Pointer()
	}
	return c.list + "/" + strconv.Itoa(d.Source.Index)
}

// pointerAt returns the JSON Pointer of the value that contains a span.
func (c *reporter) pointerAt(d *draft, s diag.Span) string {
	n, pointer := c.doc.Output, c.callPointer(d)
	if !d.isOutput() {
		n = d.Source.Node
	}
	for {
		inner, token, ok := childAt(n, s)
		if !ok {
			return pointer
		}
		n, pointer = inner, pointer+"/"+jsonscan.EscapePointer(token)
	}
}

func within(s, outer diag.Span) bool { return s.Start >= outer.Start && s.End <= outer.End }

// childAt returns the member or element that contains a span, and its name.
func childAt(n lang.Node, s diag.Span) (lang.Node, string, bool) {
	for m := range n.Members() {
		if within(s, m.Value.Span()) {
			return m.Value, m.Name, true
		}
	}
	for i, e := range n.Elements() {
		if within(s, e.Span()) {
			return e, strconv.Itoa(i), true
		}
	}
	return lang.Node{}, "", false
}
