package lang

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/spell"
)

// formOf returns the form of a document by its shape (plan-language §1). An object with a plan but
// without a type is a plan message if the plan has calls. An object with calls and a context is a
// request whose solution has these calls.
func formOf(root Node) Form {
	switch root.Kind() {
	case Array:
		if isCallList(root) {
			return CallList
		}
		if isContext(root) {
			return Context
		}
	case Object:
		return formOfObject(root)
	}
	return NoForm
}

func formOfObject(root Node) Form {
	plan := root.get("plan")
	switch {
	case root.get("type").Str() == "plan":
		return PlanMessage
	case root.get("context").is(Array) || root.get("solution").is(Object):
		return Request
	case root.get("_tool").is(String):
		return NoForm // a call
	case !root.get("calls").IsZero():
		return Solution
	case !plan.get("calls").IsZero(), plan.Len() > 0 && isCallList(plan):
		return PlanMessage
	}
	return NoForm
}

// isCallList reports whether an array is empty or has an element with _tool.
func isCallList(list Node) bool {
	if !list.is(Array) {
		return false
	}
	empty := true
	for _, e := range list.Elements() {
		if !e.get("_tool").IsZero() {
			return true
		}
		empty = false
	}
	return empty
}

// isContext reports whether each element of an array has a string type.
func isContext(list Node) bool {
	for _, e := range list.Elements() {
		if !e.get("type").is(String) {
			return false
		}
	}
	return true
}

// document reads the document at the root.
func (p *parser) document(root Node) {
	d := p.doc
	switch d.Form = formOf(root); d.Form {
	case CallList:
		p.calls(root)
	case PlanMessage:
		p.plan(root)
	case Solution:
		p.solution(root)
	case Context:
		if plan := p.context(root); plan.IsZero() {
			p.noPlan(root, "no message of the context has the type \"plan\"")
		} else {
			p.plan(plan)
		}
	case Request:
		p.request(root)
	default:
		p.notAPlan(root)
	}
}

// noPlan reports a document without a plan, unless its text has errors.
func (p *parser) noPlan(n Node, format string, args ...any) *finding {
	if p.has(diag.NotJSON, diag.OverLimit) {
		return &finding{}
	}
	return p.fault(n, diag.NotAPlan, format, args...)
}

// notAPlan reports what a document is instead of a plan.
func (p *parser) notAPlan(root Node) {
	if n := notationOfTree(root); n != nil {
		p.noPlan(root, "this looks like %s; %s", n.what, n.cure)
		return
	}
	const shapes = `a plan is a list of calls [{"_tool": …}], a message {"type": "plan", "plan": […]}, ` +
		`a solution {"calls": […]}, a list of messages, or a request {"context": […]}`
	span := root.Span()
	switch {
	case root.get("_tool").is(String):
		p.noPlan(root, "this is one call, and a plan is a list of calls").fix("make it a list",
			diag.Edit{Span: diag.Span{Start: span.Start, End: span.Start}, Text: "["},
			diag.Edit{Span: diag.Span{Start: span.End, End: span.End}, Text: "]"})
	case root.get("type").is(String) && !root.has(bad):
		p.noPlan(root, "this is one message of the type %q, and no plan; %s", root.get("type").Str(), shapes)
	default:
		list := root
		if plan := root.get("plan"); plan.is(Array) {
			list = plan
		}
		if name, edits := misnamedTools(list); len(edits) > 0 {
			p.noPlan(root, `a call names its tool in "_tool"; here %q stands instead`, name).fix(`name the tools by "_tool"`, edits...)
			return
		}
		p.noPlan(root, "found %s; %s", found(root), shapes)
	}
}

// misnamedTools returns the edits that rename the member that names the tool to "_tool" in each
// element of a list, and the first such member; none if an element has no such member.
func misnamedTools(list Node) (first string, edits []diag.Edit) {
	if !list.is(Array) {
		return "", nil
	}
	for _, e := range list.Elements() {
		had := len(edits)
		for m := range e.Members() {
			if isToolName(m) && had == len(edits) {
				edits = append(edits, diag.Edit{Span: m.Key, Text: `"_tool"`})
				first = cmp.Or(first, m.Name)
			}
		}
		if had == len(edits) {
			return "", nil
		}
	}
	return first, edits
}

// found describes the contents of a document that is not a plan.
func found(root Node) string {
	var names []string
	for m := range root.Members() {
		if names = append(names, fmt.Sprintf("%q", clipTo(m.Name, 40))); len(names) == 5 {
			break
		}
	}
	switch {
	case len(names) > 0:
		return "an object with " + strings.Join(names, ", ")
	case root.is(Object):
		return "an empty object"
	case root.is(Array):
		return foundList(root)
	}
	return describe(root)
}

func foundList(root Node) string {
	typed := 0
	for i, e := range root.Elements() {
		if !e.get("type").is(String) {
			if typed > 0 {
				return fmt.Sprintf("a list of messages, but its element %d has no \"type\"", i)
			}
			if e.is(Object) {
				return "a list that begins with an object without \"_tool\""
			}
			return "a list that begins with " + describe(e)
		}
		typed++
	}
	return "a list"
}

// plan reads a plan message, which may contain a solution.
func (p *parser) plan(message Node) {
	p.mode(message)
	p.onFailure(message)
	m, ok := message.Member("plan")
	if !ok {
		m, ok = message.Member("calls")
	}
	p.unread(message, "the plan message", slices.DeleteFunc(names(planMembers()), func(name string) bool {
		return (name == "plan" || name == "calls") && name != cmp.Or(m.Name, "plan")
	})...)
	switch v := m.Value; {
	case !ok:
		p.noPlan(message, "the plan message has no \"plan\"; it wants a list of calls")
	case v.is(Object) && !v.get("calls").IsZero():
		p.solution(v)
	case v.is(Array):
		p.calls(v)
	default:
		p.noPlan(v, "%q wants a list of calls, not %s", m.Name, describe(v))
	}
}

// mode reads the mode of a plan message.
func (p *parser) mode(message Node) {
	m, ok := message.Member("mode")
	switch word := m.Value.Str(); {
	case !ok || word == modes()[Eager]:
	case word == modes()[Lazy]:
		p.doc.Mode = Lazy
	default:
		p.wantsOne(m, modes())
	}
}

// onFailure reads the onFailure of a plan message or a solution; that of the solution takes
// precedence.
func (p *parser) onFailure(n Node) {
	if m, ok := n.Member("onFailure"); ok {
		p.doc.OnFailure, p.doc.OnFailureNode = p.word(m, failures()), m.Value
	}
}

// wantsOne reports a member that is not one of a few words.
func (p *parser) wantsOne(m Member, words []string) {
	f := p.wants(m, "one of "+strings.Join(words, ", "))
	if near, ok := spell.Nearest(m.Value.Str(), slices.Values(words)); ok && m.Value.is(String) && f.Loc.File != nil {
		f.Message += fmt.Sprintf("; did you mean %q?", near)
		f.fix(fmt.Sprintf("replace it by %q", near), diag.Edit{Span: m.Value.Span(), Text: `"` + near + `"`})
	}
}

// words returns all members that documents have, at any place.
func words() []string {
	return []string{"type", "mode", "onFailure", "plan", "calls", "output", "context", "schema", "solution"}
}

// unread reports the members of an object that nothing reads. A member that is a word of the
// language, or nearly one that the object can have, is probably a mistake; any other may be for
// another program. It does not check translated plans, whose members plc wrote.
func (p *parser) unread(n Node, what string, known ...string) {
	for m := range n.Members() {
		if p.doc.foreign || slices.Contains(known, m.Name) {
			continue
		}
		f := p.add(diag.Info, m.Key, diag.PassedOver, "%s has no member %q, so nothing reads it; it has %s", what, m.Name, strings.Join(known, ", "))
		if f.Loc.File == nil {
			continue
		}
		p.place(f, m.Value)
		near, ok := spell.Nearest(m.Name, slices.Values(known))
		switch {
		case slices.Contains(words(), m.Name):
			f.Severity = diag.Warning
		case ok && !strings.HasPrefix(near, "_"):
			f.Severity = diag.Warning
			f.suggestMember(n, m, known)
		}
	}
}

// solution reads a solution that is a separate object.
func (p *parser) solution(s Node) {
	p.unread(s, "the solution", names(solutionMembers())...)
	p.solve(s)
}

// solve reads the calls and the output of a solution.
func (p *parser) solve(s Node) {
	p.onFailure(s)
	if output := s.get("output"); !output.is(Null) {
		p.doc.Output = output
		p.texts(output)
	}
	switch calls := s.get("calls"); {
	case calls.is(Array):
		p.calls(calls)
	case calls.IsZero():
		p.noPlan(s, "the solution has no \"calls\"; it wants a list of calls")
	default:
		p.noPlan(calls, "\"calls\" wants a list of calls, not %s", describe(calls))
	}
}

// request reads a request. Its plan is the solution's, or else that of its context.
// The mode of the context's plan message applies to a solution too, which has no mode of its own,
// so that a plan that somebody wants to see first does not run just because a solution has arrived.
func (p *parser) request(root Node) {
	if schema := root.get("schema"); !schema.is(Null) {
		p.doc.Schema = schema
	}
	plan := p.requestContext(root)
	solution := root.get("solution")
	if !root.get("calls").IsZero() && solution.IsZero() {
		solution = root
	}
	known := names(requestMembers())
	if solution.i == root.i && !solution.IsZero() {
		known = append(slices.DeleteFunc(known, func(name string) bool { return name == "solution" }), names(solutionMembers())...)
	}
	p.unread(root, "the request", known...)
	switch {
	case solution.is(Object):
		if !plan.IsZero() {
			p.mode(plan)
			p.onFailure(plan)
		}
		if solution.i == root.i {
			p.solve(solution)
		} else {
			p.solution(solution)
		}
	case solution.Kind() != Null:
		p.noPlan(solution, "\"solution\" wants an object {\"calls\": […]}, not %s", describe(solution))
	case !plan.IsZero():
		p.plan(plan)
	default:
		p.noPlan(root, "the request has no \"solution\", and its context no message of the type \"plan\"")
	}
}

func (p *parser) requestContext(root Node) (plan Node) {
	context := root.get("context")
	if context.is(Array) {
		return p.context(context)
	}
	if context.Kind() != Null {
		p.noPlan(context, "\"context\" wants a list of messages, not %s", describe(context))
	}
	return Node{}
}

// context reads the messages of a context and returns its last plan message.
func (p *parser) context(list Node) (plan Node) {
	p.doc.context = list
	p.doc.Messages = make([]Message, 0, list.Len())
	for _, n := range list.Elements() {
		typ := n.get("type")
		if !typ.is(String) {
			p.noPlan(n, "a message wants to be an object with a string \"type\", such as {\"type\": \"input\", …}")
			continue
		}
		m := p.message(n, typ)
		p.doc.Messages = append(p.doc.Messages, m)
		if m.Type == "plan" {
			plan = n
		}
	}
	return plan
}

// message reads one message.
func (p *parser) message(n, typ Node) Message {
	m := Message{Node: n, Type: p.tree.shared(typ.i)}
	p.scratch = p.scratch[:0]
	for member := range n.Members() {
		switch member.Name {
		case "type", "description", "_call", "_date", "_outputMethod":
		case "kind":
			p.kind(&m, member)
		case "schema":
			m.Schema = member.Value
		case "_instance":
			m.Instance, _ = p.name(member)
		default:
			p.scratch = append(p.scratch, member)
		}
	}
	m.Members = p.keep(p.scratch)
	if len(m.Members) == 1 && (m.Members[0].Name == m.Type || m.Members[0].Name == "data") {
		m.Payload = m.Members[0].Value
	}
	p.kindOf(&m, typ)
	return m
}

// kind reads the kind of a data message.
func (p *parser) kind(m *Message, member Member) {
	if m.Type == "data" {
		m.Kind, _ = p.name(member)
	}
}

// kindOf gives a message the kind that its type has. A data message without a
// kind is of the kind data, which always exists.
func (p *parser) kindOf(m *Message, typ Node) {
	switch m.Type {
	case "input", "state":
		m.Kind = m.Type
	case "data":
		if m.Kind == "" {
			m.Kind = "data"
		}
	case "tool", "plan", "text", "system", "error", "meta":
	default:
		p.unknownType(m, typ)
	}
}

// unknownType warns about a type that looks misspelled; any other may be for another program.
func (p *parser) unknownType(m *Message, typ Node) {
	near, ok := spell.Nearest(m.Type, slices.Values(messageTypes()))
	if !ok {
		return
	}
	f := p.add(diag.Warning, typ.Span(), diag.BadMember, "there is no message of the type %q; did you mean %q?", m.Type, near)
	f.fix(fmt.Sprintf("replace it by %q", near), diag.Edit{Span: typ.Span(), Text: `"` + near + `"`})
	if f.Loc.File != nil {
		p.place(f, typ)
	}
}

// name reads a member that is a string and not empty.
func (p *parser) name(m Member) (string, bool) {
	if !m.Value.is(String) || m.Value.has(bad) || m.Value.tree.inside(m.Value.i).Len() == 0 {
		p.wants(m, "a string that is not empty")
		return "", false
	}
	return p.tree.shared(m.Value.i), true
}

// texts checks the expressions in the strings at or below a value. It does not keep the parsed
// expressions, which take several times the memory of the text; callers parse them again.
func (p *parser) texts(n Node) {
	if n.IsZero() {
		return
	}
	for i := n.i; i < p.tree.nodes[n.i].next; i++ {
		node := &p.tree.nodes[i]
		if node.flags&hasDagger == 0 || node.flags&(isName|bad) != 0 {
			continue
		}
		s := p.tree.inside(i)
		if node.flags&escaped == 0 && isReference(p.file.Text[s.Start:s.End]) {
			p.tree.addText(i, isRef|hasExprs)
			continue
		}
		p.forgotten.forget()
		text, faults := readText(p.file.Text, p.tree.token(i), &p.forgotten)
		switch {
		case text == nil:
		case slices.ContainsFunc(text.Parts, func(p Part) bool { return p.Expr != nil }):
			p.tree.addText(i, hasExprs)
		default:
			p.tree.addText(i, 0)
		}
		p.report(Node{p.tree, i}, faults)
	}
}

// report reports the errors in an expression.
func (p *parser) report(n Node, faults []fault) {
	for _, x := range faults {
		if x.Code == diag.BareDagger && p.doc.model {
			x.Severity = diag.Error
		}
		f := p.add(x.Severity, x.Span, x.Code, "%s", x.Message)
		if f.Fix = x.Fix; f.Loc.File != nil {
			p.place(f, n)
		}
	}
}
