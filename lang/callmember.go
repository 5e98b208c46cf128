package lang

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/plc-lang/plc/diag"
)

// The values of the underscore members of a call.

// maxDuration is the longest duration that is accepted.
const maxDuration = 365 * 24 * time.Hour

// word reads a member that is one of a few words.
func (p *parser) word(m Member, words []string) string {
	got := m.Value.Str()
	for _, w := range words {
		if w == got && m.Value.is(String) {
			return w
		}
	}
	p.wantsOne(m, words)
	return ""
}

func (p *parser) prose(m Member) string {
	if !m.Value.is(String) {
		p.wants(m, "a string")
	}
	return m.Value.Str()
}

// expression returns the span of a string for the reader of expressions. If the value is not a
// string, it reports that, and ok is false.
func (p *parser) expression(m Member, want string) (token diag.Span, ok bool) {
	if !m.Value.is(String) || m.Value.has(bad) {
		p.wants(m, want)
		return diag.Span{}, false
	}
	return p.tree.token(m.Value.i), true
}

func (p *parser) write(m Member) *Write {
	token, ok := p.expression(m, "a path such as \"†state.result\"")
	if !ok {
		return nil
	}
	w, faults := readWrite(p.file.Text, token, &p.memory)
	p.report(m.Value, faults)
	return w
}

// outputPath reads a string as a write expression. It does not keep a plain reference, which is the
// usual case.
func (p *parser) outputPath(m Member) {
	if m.Value.isReference() {
		p.tree.nodes[m.Value.i].flags |= isWrite | isRef
		return
	}
	token, ok := p.expression(m, "a path such as \"†state.result\"")
	if !ok {
		return
	}
	w, faults := readWrite(p.file.Text, token, &p.memory)
	if w != nil {
		p.tree.nodes[m.Value.i].flags |= isWrite
		if p.tree.writes == nil {
			p.tree.writes = map[int32]*Write{}
		}
		p.tree.writes[m.Value.i] = w
	}
	p.report(m.Value, faults)
}

func (p *parser) onePath(m Member) *Write {
	w := p.write(m)
	if w != nil && (len(w.Alternatives) != 1 || len(w.Alternatives[0].Paths) != 1) {
		p.wants(m, "one path")
		return nil
	}
	return w
}

func (p *parser) when(m Member) *Expr {
	token, ok := p.expression(m, "an expression such as \"†state.ok\"")
	if !ok {
		return nil
	}
	e, faults := readExpr(p.file.Text, token, &p.memory)
	p.report(m.Value, faults)
	return e
}

func (p *parser) scopes(m Member) (list []Scope) {
	const want = "a list of kinds or paths such as [\"state\", \"†input.user\"]"
	if !m.Value.is(Array) {
		p.wants(m, want)
		return nil
	}
	for _, n := range m.Value.Elements() {
		token, ok := p.expression(Member{Name: m.Name, Value: n}, want)
		if !ok {
			continue
		}
		ref, faults := readRef(p.file.Text, token, &p.memory)
		p.report(n, faults)
		if ref != nil {
			list = append(list, Scope{n, ref})
		}
	}
	return list
}

func (p *parser) activity(m Member) (string, Node) {
	if !m.Value.is(String) || m.Value.has(bad) {
		p.wants(m, "a string")
		return "", Node{}
	}
	return m.Value.Str(), m.Value
}

func (p *parser) dependsOn(m Member) (list []Name) {
	const want = "a list of ids of calls"
	if !m.Value.is(Array) {
		f := p.wants(m, want)
		if s := m.Value.Span(); m.Value.is(String) && f.Loc.File != nil {
			f.fix("make it a list", diag.Edit{Span: diag.Span{Start: s.Start, End: s.Start}, Text: "["},
				diag.Edit{Span: diag.Span{Start: s.End, End: s.End}, Text: "]"})
		}
		return nil
	}
	for _, n := range m.Value.Elements() {
		if !n.is(String) || n.has(bad) {
			p.wants(Member{Name: m.Name, Value: n}, want)
			continue
		}
		list = append(list, Name{p.tree.shared(n.i), n})
	}
	return list
}

// retry reads a number of retries, or an object with more. A delay of 0 becomes a nanosecond, since
// 0 means that no delay is given.
func (p *parser) retry(m Member) *Retry {
	r := &Retry{}
	if !m.Value.is(Object) {
		p.count(m, &r.Max, "a number of retries, or an object {\"max\": …, \"delay\": …}")
		return r
	}
	if m.Value.get("max").IsZero() && !m.Value.has(cut) {
		p.fault(m.Value, diag.BadMember, "\"_retry\" wants a \"max\", the number of retries")
	}
	for x := range m.Value.Members() {
		if !slices.Contains(inRetry(), x.Name) {
			p.faultAt(x.Value, x.Key, diag.BadMember, "\"_retry\" has no member %q; it has %s", x.Name, strings.Join(inRetry(), ", ")).
				suggestMember(m.Value, x, inRetry())
			continue
		}
		switch x.Name {
		case "max":
			p.count(x, &r.Max, "a number of retries")
		case "delay":
			r.Delay = p.delay(x)
		case "maxDelay":
			r.MaxDelay = p.delay(x)
		case "factor":
			r.Factor = p.factor(x)
		case "jitter":
			r.Jitter = p.boolean(x)
		case "on":
			r.On = p.codes(x)
		}
	}
	return r
}

// maxRetries is the largest number of retries that is accepted.
const maxRetries = 1_000_000

func (p *parser) count(m Member, n *int, want string) {
	if v, ok := p.number(m.Value); ok && v == math.Trunc(v) && v >= 0 && v <= maxRetries {
		*n = int(v)
		return
	}
	p.wants(m, want)
}

func (p *parser) factor(m Member) float64 {
	v, ok := p.number(m.Value)
	if !ok || v < 1 {
		p.wants(m, "a number that is 1 or more")
		return 0
	}
	return v
}

func (p *parser) boolean(m Member) *bool {
	value := m.Value.is(True)
	if !value && !m.Value.is(False) {
		p.wants(m, "true or false")
		return nil
	}
	return &value
}

func (p *parser) codes(m Member) (list []string) {
	const want = "a list of error codes"
	if !m.Value.is(Array) {
		p.wants(m, want)
	}
	for _, n := range m.Value.Elements() {
		if s, ok := p.name(Member{Name: m.Name, Value: n}); ok {
			list = append(list, s)
		}
	}
	return list
}

func (p *parser) timeout(m Member) Duration {
	d, ok := p.duration(m.Value)
	if !ok || d <= 0 {
		p.wants(m, "a duration above 0 and up to a year, such as \"1.5s\", or seconds")
		return 0
	}
	return d
}

func (p *parser) delay(m Member) Duration {
	d, ok := p.duration(m.Value)
	if !ok {
		p.wants(m, "a duration of up to a year, such as \"1.5s\", or seconds")
		return 0
	}
	return max(d, time.Nanosecond)
}

// duration reads a duration that is not negative.
func (p *parser) duration(n Node) (Duration, bool) {
	if n.is(String) {
		d, err := time.ParseDuration(strings.TrimSpace(n.Str()))
		return d, err == nil && d >= 0 && d <= maxDuration
	}
	seconds, ok := p.number(n)
	if !ok || seconds < 0 || seconds > maxDuration.Seconds() {
		return 0, false
	}
	return max(Duration(math.Round(seconds*float64(time.Second))), Duration(b2i(seconds > 0))), true
}

// number reads a number that fits into a float64.
func (p *parser) number(n Node) (float64, bool) {
	if !n.is(NumberValue) {
		return 0, false
	}
	s := n.Span()
	v, err := strconv.ParseFloat(string(p.file.Text[s.Start:s.End]), 64)
	return v, err == nil
}

func (p *parser) estimate(m Member) float64 {
	v, ok := p.number(m.Value)
	if !ok || v < 0 {
		p.wants(m, "a number that is not negative")
		return 0
	}
	return v
}

func (p *parser) approve(m Member) Approve {
	switch m.Value.Kind() {
	case True, False:
		return Approve{Set: true, Needed: m.Value.is(True)}
	case String:
		return Approve{Set: true, Needed: true, Reason: m.Value.Str()}
	}
	p.wants(m, "true, false or a reason")
	return Approve{}
}

// fallback reads the name of a tool, or a call. Its underscore members may be _tool, _activity,
// _timeout, _undo and those for people; the others are those of the call that it replaces.
func (p *parser) fallback(m Member) *Fallback {
	f := &Fallback{}
	if !m.Value.is(Object) {
		if tool, ok := p.name(m); ok {
			f.Tool, f.ToolNode = tool, m.Value
		}
		return f
	}
	f.Own = true
	var params []Member
	for x := range m.Value.Members() {
		if strings.HasPrefix(x.Name, "_") && !slices.Contains(inFallback(), x.Name) {
			p.notInFallback(m.Value, x)
			continue
		}
		switch x.Name {
		case "_tool":
			f.Tool, _ = p.name(x)
			f.ToolNode = x.Value
		case "_activity":
			f.Activity, f.ActivityNode = p.activity(x)
		case "_timeout":
			f.Timeout, f.TimeoutNode = p.timeout(x), x.Value
		case "_undo":
			f.Undo = p.undo(x)
		default:
			if strings.HasPrefix(x.Name, "_") {
				continue // for people
			}
			params = append(params, x)
			p.texts(x.Value)
		}
	}
	f.Params = p.keep(params)
	if f.ToolNode.IsZero() && !p.misses && !m.Value.has(cut) {
		p.fault(m.Value, diag.NoTool, "the fallback has no \"_tool\"")
	}
	return f
}

func (p *parser) notInFallback(in Node, m Member) {
	if slices.Contains(known(), m.Name) {
		p.faultAt(m.Value, m.Key, diag.BadMember, "a \"_fallback\" has no %q; it has that of its call", m.Name)
		return
	}
	p.unknownMember(in, m, inFallback())
}

// undo reads an _undo: null or an object. Its references are to the call itself, so they are not
// among the references of the plan.
func (p *parser) undo(m Member) *Undo {
	u := &Undo{}
	switch {
	case m.Value.Kind() == Null:
		return u
	case !m.Value.is(Object):
		p.wants(m, "null, or an object such as {\"tool\": \"refund\", \"params\": {…}}")
		return nil
	}
	for x := range m.Value.Members() {
		p.undoMember(u, m.Value, x)
	}
	if u.Tool == "" {
		if u.ToolNode.IsZero() && !m.Value.has(cut) {
			p.fault(m.Value, diag.NoTool, "the \"_undo\" names no tool; null says that nothing takes the call back")
		}
		return nil
	}
	return u
}

// undoMember reads a member of an _undo.
func (p *parser) undoMember(u *Undo, in Node, m Member) {
	if !slices.Contains(inUndo(), m.Name) {
		p.faultAt(m.Value, m.Key, diag.UnknownMember, "\"_undo\" has no member %q; it has %s", m.Name, strings.Join(inUndo(), ", ")).
			suggestMember(in, m, inUndo())
		return
	}
	switch m.Name {
	case "tool":
		u.Tool, _ = p.name(m)
		u.ToolNode = m.Value
	case "params":
		if !m.Value.is(Object) {
			p.wants(m, "an object")
			return
		}
		u.Params = m.Value
		p.texts(m.Value)
	case "whenUncertain":
		if !m.Value.is(True) && !m.Value.is(False) {
			p.wants(m, "true or false")
		}
		u.WhenUncertain = m.Value.is(True)
	}
}
