package lang

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/spell"
)

// calls reads the list of calls (plan-language §2). An element that is not a call becomes a call
// without a tool, so that each call's index is its place in the list.
func (p *parser) calls(list Node) {
	p.doc.list = list
	n := list.Len()
	if n > p.maxCalls {
		p.fault(list, diag.OverLimit, "the plan has %d calls, more than %d", n, p.maxCalls)
		return
	}
	p.prefix = []byte(list.Pointer())
	p.doc.Calls = make([]Call, 0, n)
	for i, element := range list.Elements() {
		p.doc.Calls = append(p.doc.Calls, Call{Index: i, Node: element})
		p.readCall(&p.doc.Calls[i])
	}
	p.call = nil
	p.explicitIDs()
}

func (p *parser) readCall(c *Call) {
	p.call, p.misses = c, false
	if !c.Node.is(Object) {
		p.fault(c.Node, diag.BadMember, "a call wants to be an object {\"_tool\": …}, not %s", describe(c.Node))
		return
	}
	p.scratch = p.scratch[:0]
	for m := range c.Node.Members() {
		if strings.HasPrefix(m.Name, "_") {
			p.member(c, m)
		} else {
			p.scratch = append(p.scratch, m)
			p.texts(m.Value)
		}
	}
	c.Params = p.keep(p.scratch)
	if c.ToolNode.IsZero() && !p.misses && !c.Node.has(cut) {
		p.noTool(c)
	}
}

// noTool reports a call without a tool, and suggests a param that may have been meant as _tool.
func (p *parser) noTool(c *Call) {
	f := p.fault(c.Node, diag.NoTool, "the call has no \"_tool\"")
	for _, m := range c.Params {
		if c.Rest != nil && !c.Rest.DelegateNode.IsZero() && m.Name == "name" {
			continue // may be the name of a document
		}
		if isToolName(m) {
			f.Message += fmt.Sprintf("; is %q a misspelling of it?", m.Name)
			f.fix("replace the name by \"_tool\"", diag.Edit{Span: m.Key, Text: `"_tool"`})
			return
		}
	}
}

// isToolName reports whether a member of a call without _tool may be the name of its tool.
func isToolName(m Member) bool {
	name := m.Name == "tool" || m.Name == "name"
	if strings.HasPrefix(m.Name, "_") {
		_, name = spell.Nearest(m.Name, slices.Values([]string{"_tool"}))
	}
	return name && m.Value.is(String)
}

// member reads an underscore member.
func (p *parser) member(c *Call, m Member) {
	switch m.Name {
	case "_tool":
		c.Tool, _ = p.name(m)
		c.ToolNode = m.Value
	case "_id":
		var ok bool
		if c.ID, ok = p.name(m); ok {
			c.IDNode = m.Value
		}
	case "_outputPath":
		p.outputPath(m)
		c.OutputNode = m.Value
	case "_outputMethod":
		c.Method = p.word(m, methods())
		c.MethodNode = m.Value
	default:
		p.restMember(c, m)
	}
}

func methods() []string { return []string{"set", "merge", "assign", "push", "concat"} }

func failures() []string { return []string{"abort", "skip", "continue", "replan", "ask", "undo"} }

// restMember reads an underscore member that is rarely used.
func (p *parser) restMember(c *Call, m Member) {
	if !slices.Contains(known(), m.Name) {
		p.unknownMember(c.Node, m, known())
		return
	}
	if c.Rest == nil {
		c.Rest = &Rest{}
	}
	switch r := c.Rest; m.Name {
	case "_errorPath":
		r.ErrorPath, r.ErrorPathNode = p.onePath(m), m.Value
	case "_output":
		if r.HasOutput = m.Value.Kind() != Null; r.HasOutput {
			r.Output = m.Value
		}
	case "_instance":
		r.Instance, _ = p.name(m)
		r.InstanceNode = m.Value
	case "_scopes":
		r.Scopes, r.ScopesNode = p.scopes(m), m.Value
	case "_delegate":
		r.Delegate, _ = p.name(m)
		r.DelegateNode = m.Value
	case "_activity":
		r.Activity, r.ActivityNode = p.activity(m)
	case "_dependsOn":
		r.DependsOn = p.dependsOn(m)
	case "_when":
		r.When, r.WhenNode = p.when(m), m.Value
	case "_retry":
		r.Retry, r.RetryNode = p.retry(m), m.Value
	case "_timeout":
		r.Timeout, r.TimeoutNode = p.timeout(m), m.Value
	case "_fallback":
		r.Fallback, r.FallbackNode = p.fallback(m), m.Value
	case "_onFailure":
		r.OnFailure, r.OnFailureNode = p.word(m, failures()), m.Value
	case "_undo":
		r.Undo, r.UndoNode = p.undo(m), m.Value
	case "_approve":
		r.Approve, r.ApproveNode = p.approve(m), m.Value
	case "_description":
		r.Description = p.prose(m)
	case "_reasoningForCall":
		r.Reasoning = p.prose(m)
	case "_expect":
		r.Expect = m.Value
	case "_estimatedTokens":
		r.EstTokens, r.EstTokensNode = p.estimate(m), m.Value
	case "_estimatedCost":
		r.EstCost, r.EstCostNode = p.estimate(m), m.Value
	case "_estimatedTime":
		r.EstTime = p.delay(m)
	}
}

// unknownMember reports an unknown underscore member of an object, which may have the members in
// known.
func (p *parser) unknownMember(in Node, m Member, known []string) {
	f := p.faultAt(m.Value, m.Key, diag.UnknownMember, "there is no member %q", m.Name)
	near, _ := spell.Nearest(m.Name, slices.Values(known))
	p.misses = p.misses || near == "_tool"
	if other := ownMember(m.Name); slices.Contains(known, other) && f.suggestName(in, m, other) {
		return
	}
	if !f.suggestMember(in, m, known) && f.Loc.File != nil {
		f.Message += "; the name of a param has no leading underscore"
	}
}

// ownMember returns our name for a member that other systems call name; "" if there is none.
func ownMember(name string) string {
	switch name {
	case "_after", "_needs", "_requires", "_waitFor":
		return "_dependsOn"
	case "_if", "_condition":
		return "_when"
	case "_onError":
		return "_onFailure"
	}
	return ""
}

// explicitIDs reports duplicate ids, and then gives ids to the calls that have none.
func (p *parser) explicitIDs() {
	taken := map[string]int32{}
	var tried map[string]bool // all names in use; made when a free name is first needed
	for i := range p.doc.Calls {
		c := &p.doc.Calls[i]
		if c.IDNode.IsZero() {
			continue
		}
		first, twice := taken[c.ID]
		if !twice {
			taken[c.ID] = int32(i)
			continue
		}
		p.call = c
		f := p.fault(c.IDNode, diag.DuplicateID, "two calls have the \"_id\" %q", c.ID).
			related(p.doc.Calls[first].IDNode.Span(), "first written here")
		if f.Loc.File == nil {
			continue // it will not be shown
		}
		free := p.freeID(c.ID, &tried)
		taken[free] = int32(i)
		f.fix(fmt.Sprintf("call this one %q", free), diag.Edit{Span: c.IDNode.Span(), Text: string(appendQuoted(nil, free, '"'))})
	}
	p.call = nil
	p.defaultIDs(taken)
}

// freeID returns a similar name that no call has or depends on.
func (p *parser) freeID(id string, tried *map[string]bool) string {
	if *tried == nil {
		*tried = map[string]bool{}
		for i := range p.doc.Calls {
			c := &p.doc.Calls[i]
			(*tried)[c.ID] = true
			if c.Rest != nil {
				for _, d := range c.Rest.DependsOn {
					(*tried)[d.Name] = true
				}
			}
		}
	}
	for n := 2; ; n++ {
		free := fmt.Sprintf("%s-%d", id, n)
		if !(*tried)[free] {
			(*tried)[free] = true
			return free
		}
	}
}

// defaultIDs gives ids to the calls without an _id: the name of their tool, with a number from its
// 2nd call on. Calls with an _id count too, and names that are in use are skipped. A call without a
// tool gets no id.
func (p *parser) defaultIDs(taken map[string]int32) {
	next := map[string]*int{} // by tool, the number to try for its next call, from 1
	last := ""                // the tool of the call before, which nearly always has another
	for i := range p.doc.Calls {
		if tool := p.doc.Calls[i].Tool; i == 0 || tool != last {
			if last = tool; next[tool] == nil {
				next[tool] = new(1)
			}
		}
	}
	var n *int
	for i := range p.doc.Calls {
		c := &p.doc.Calls[i]
		if i == 0 || c.Tool != last {
			n, last = next[c.Tool], c.Tool
		}
		if c.IDNode.IsZero() && c.Tool != "" {
			c.ID = p.free(c.Tool, n, taken)
			if _, tool := next[c.ID]; tool {
				taken[c.ID] = int32(i) // another tool may have this name
			}
		}
		*n++
	}
}

// free returns the first unused name of tool, tool-2, tool-3 …, starting with the nth. It sets n to
// the number of that name.
func (p *parser) free(tool string, n *int, taken map[string]int32) string {
	for ; ; *n++ {
		if *n > 1 {
			p.id = strconv.AppendInt(append(append(p.id[:0], tool...), '-'), int64(*n), 10)
			if _, ok := taken[string(p.id)]; !ok {
				return p.memory.string(p.id)
			}
		} else if _, ok := taken[tool]; !ok {
			return tool
		}
	}
}
