package arazzo

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/spell"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/lang/dialect"
	"github.com/plc-lang/plc/lang/dialect/tree"
)

// Runtime expressions: a string that is one is its value; in a text they stand in braces.
// Behind them stands #/ and a JSON Pointer, or, as documents in the wild have it, .name and
// [0].

var (
	head     = regexp.MustCompile(`^\$(?:(inputs|outputs|steps|workflows|response|request|message|components|sourceDescriptions)[.#\[]|(url|method|statusCode|self)$)`)
	embedded = regexp.MustCompile(`\{(\$[^{}]*)\}`)
	// nearHead is what nearly begins an expression.
	nearHead = regexp.MustCompile(`^\$?\{{0,2}\$?([A-Za-z]+)\.([\w.-]+(?:#[^\s{}]*)?)\}{0,2}$`)
	// noPath is what a path does not have: a filter, or a comparison.
	noPath = regexp.MustCompile(`\[[^\d*'"]|[<>]|[=!]=|&&|\|\|`)
	// bare is an expression in a text, without braces.
	bare = regexp.MustCompile(`\$(?:steps\.[\w-]+\.outputs|inputs)\.[\w-]+(?:#/[\w/~-]*)?`)
)

// heads are the words that expressions begin with.
func heads() []string {
	return []string{"inputs", "outputs", "steps", "workflows", "response", "request", "message", "components", "sourceDescriptions"}
}

// refs finds the references in a value of the step at place user.
func (r *reader) refs(v tree.Value, user int) {
	if r.selector(v) {
		r.findSelector(v, user)
		return
	}
	switch v.Kind() {
	case lang.Object:
		for m := range v.Members() {
			r.refs(m.Value, user)
		}
	case lang.Array:
		for _, e := range v.Elements() {
			r.refs(e, user)
		}
	case lang.String:
		if strings.ContainsAny(v.Str(), "${.") {
			r.string(v, user)
		}
	}
}

func (r *reader) string(v tree.Value, user int) {
	text, inside := v.Str(), v.Insides()
	if head.MatchString(text) && !strings.ContainsAny(text, " \n") {
		to := r.expression(text, inside(0, len(text)), user, nil)
		r.found[v.Node] = []tree.Found{{From: 0, To: len(text), Part: to}}
		return
	}
	var found []tree.Found
	for _, m := range embedded.FindAllStringSubmatchIndex(text, -1) {
		if inner := text[m[2]:m[3]]; head.MatchString(inner) {
			found = append(found, tree.Found{From: m[0], To: m[1], Part: r.expression(inner, inside(m[2], m[3]), user, nil)})
		}
	}
	if len(found) > 0 {
		r.found[v.Node] = found
		return
	}
	r.near(text, inside)
}

// near warns of what nearly is an expression.
func (r *reader) near(text string, inside func(from, to int) diag.Span) {
	warn := func(at diag.Span, is, want string) {
		r.Warnf(at, diag.NearReference, "%q is just text; did you mean %s?", is, want).Fix = dialect.Replace(at, want)
	}
	if m := nearHead.FindStringSubmatch(text); m != nil {
		first, _, _ := strings.Cut(m[2], ".")
		switch near, ok := spell.Nearest(m[1], func(yield func(string) bool) {
			for _, h := range heads() {
				if !yield(h) {
					return
				}
			}
		}); {
		case m[1] == "steps" && r.flow.byID[first] != nil, m[1] == "inputs" && text[0] != 'i':
			warn(inside(0, len(text)), text, "$"+m[1]+"."+m[2])
		case ok && text[0] == '$' && near != m[1]:
			warn(inside(0, len(text)), text, "$"+near+"."+m[2])
		}
		return
	}
	for _, m := range bare.FindAllStringIndex(text, -1) {
		warn(inside(m[0], m[1]), text[m[0]:m[1]], "{"+text[m[0]:m[1]]+"}")
	}
}

type part = func(at diag.Span) dialect.Part

func fault(at diag.Span) dialect.Part { return dialect.Fault(at) }

func reference(to *lang.Expr) part {
	return func(at diag.Span) dialect.Part { return dialect.Ref(to, at) }
}

// expression is what an expression is translated to. What can't be is reported. Path is
// what a selector adds.
func (r *reader) expression(text string, at diag.Span, user int, path []lang.Segment) part {
	name, rest, _ := strings.Cut(text[1:], ".")
	if !isPath(rest) {
		r.Errorf(at, diag.BadNotation, "%s is not read; members, indexes and JSON Pointers are", text)
		return fault
	}
	switch name {
	case "inputs":
		return reference(&lang.Expr{Kind: "input", Path: append(r.input(rest), path...)})
	case "steps":
		return r.stepOutput(rest, at, user, path)
	case "workflows":
		if w, out, ok := strings.Cut(rest, ".inputs."); ok && w == r.flow.id {
			return reference(&lang.Expr{Kind: "input", Path: append(r.input(out), path...)})
		}
	}
	r.Errorf(at, diag.BadNotation, "%s is not read here: a plan has its input and the results of its steps", text)
	return fault
}

// isPath reports whether what stands behind an expression is a path and no more.
func isPath(text string) bool {
	before, _, _ := strings.Cut(text, "#")
	return !noPath.MatchString(before)
}

// input is the way to a member of the input, whose name may have dots in it.
func (r *reader) input(rest string) []lang.Segment {
	name, pointer, _ := strings.Cut(rest, "#")
	longest := ""
	for m := range r.inputs(r.flow).Get("properties").Members() {
		if after, ok := strings.CutPrefix(name, m.Name); ok && len(m.Name) > len(longest) && (after == "" || after[0] == '.' || after[0] == '[') {
			longest = m.Name
		}
	}
	if longest != "" {
		r.used[longest] = true
		return append([]lang.Segment{dialect.Member(longest)}, append(dotted(name[len(longest):]), segments(pointer)...)...)
	}
	return append(dotted("."+name), segments(pointer)...)
}

// stepOutput is what $steps.ID.outputs.NAME stands for: what the step says of that
// output.
func (r *reader) stepOutput(rest string, at diag.Span, user int, path []lang.Segment) part {
	id, out, ok := strings.Cut(rest, ".")
	out, isOutput := strings.CutPrefix(out, "outputs.")
	if !ok || !isOutput {
		r.Errorf(at, diag.BadNotation, "an output of a step is written $steps.%s.outputs.NAME", id)
		return fault
	}
	l := &tree.LabelRef{At: at, Name: at, Label: id, User: user}
	if at.Len() > len("$steps.")+len(id) {
		l.Name = diag.Span{Start: at.Start + 7, End: at.Start + 7 + int32(len(id))}
	}
	r.labels.Ref(l)
	s := r.flow.byID[id]
	if s == nil {
		return fault
	}
	name, more := r.outputName(s, out)
	to, why := r.resolve(s, name, 0)
	if why != "" {
		f := r.Errorf(at, diag.NothingThere, "%s", why)
		if near, found := spell.Nearest(name, r.outputNames(s)); found && s.Get("outputs").Get(name).IsZero() {
			f.Message += "; did you mean " + near + "?"
		}
		return fault
	}
	to = &lang.Expr{Kind: to.Kind, Path: append(append(append([]lang.Segment{}, to.Path...), more...), path...)}
	return func(at diag.Span) dialect.Part {
		if l.Faulty {
			return dialect.Fault(at)
		}
		return dialect.Ref(to, at)
	}
}

func (r *reader) outputNames(s *step) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for m := range s.Get("outputs").Members() {
			if !yield(m.Name) {
				return
			}
		}
	}
}

// outputName parts what is behind outputs. into the name, which may have dots in it, and
// the way on.
func (r *reader) outputName(s *step, out string) (name string, more []lang.Segment) {
	name, pointer, _ := strings.Cut(out, "#")
	if !s.Get("outputs").Has(name) {
		if i := strings.IndexAny(name, ".["); i > 0 && s.Get("outputs").Has(name[:i]) {
			return name[:i], append(dotted(name[i:]), segments(pointer)...)
		}
	}
	return name, segments(pointer)
}

// resolve is what an output of a step stands for; why says what is wrong with it.
func (r *reader) resolve(s *step, name string, depth int) (to *lang.Expr, why string) {
	out := s.Get("outputs").Get(name)
	if out.IsZero() {
		if w := r.byID[s.calls]; w != nil && w.Get("outputs").Has(name) {
			return dialect.StateRef(s.id, dialect.Member(name)), ""
		}
		return nil, "the step " + strconv.Quote(s.id) + " has no output " + strconv.Quote(name)
	}
	var below []lang.Segment
	text := out.Str()
	if r.selector(out) {
		text = out.Get("context").Str()
		below, _ = selected(out)
	}
	switch {
	case !isPath(text):
	case strings.HasPrefix(text, "$response.body"):
		return dialect.StateRef(s.id, append(r.path(text[len("$response.body"):]), below...)...), ""
	case strings.HasPrefix(text, "$message.payload"):
		return dialect.StateRef(s.id, append(r.path(text[len("$message.payload"):]), below...)...), ""
	case strings.HasPrefix(text, "$outputs."):
		return dialect.StateRef(s.id, append(r.path(text[len("$outputs"):]), below...)...), ""
	case strings.HasPrefix(text, "$inputs."):
		return &lang.Expr{Kind: "input", Path: append(r.input(text[len("$inputs."):]), below...)}, ""
	case strings.HasPrefix(text, "$steps.") && depth < 100:
		id, rest, _ := strings.Cut(text[len("$steps."):], ".outputs.")
		if other := r.flow.byID[id]; other != nil {
			inner, more := r.outputName(other, rest)
			if to, why = r.resolve(other, inner, depth+1); why == "" {
				to = &lang.Expr{Kind: to.Kind, Path: append(append(append([]lang.Segment{}, to.Path...), more...), below...)}
			}
			return to, why
		}
	case strings.HasPrefix(text, "$response.header"), text == "$statusCode", strings.HasPrefix(text, "$request"), text == "$url", text == "$method":
		return nil, "the output " + strconv.Quote(name) + " of the step " + strconv.Quote(s.id) + " is " + text + ", and a result holds only the body of the response"
	}
	return nil, "the output " + strconv.Quote(name) + " of the step " + strconv.Quote(s.id) + " is no expression that is read"
}

// path is what stands behind an expression: #/pointer, or .name and [0].
func (r *reader) path(rest string) []lang.Segment {
	names, pointer, _ := strings.Cut(rest, "#")
	return append(dotted(names), segments(pointer)...)
}

// segments are the steps of a JSON Pointer.
func segments(pointer string) (list []lang.Segment) {
	for _, token := range strings.Split(pointer, "/")[1:] {
		list = append(list, dialect.Member(strings.NewReplacer("~1", "/", "~0", "~").Replace(token)))
	}
	return list
}

var dottedStep = regexp.MustCompile(`\.([^.\[\]]+)|\[(\d{1,9})\]|\[(\*)\]|\['([^']+)'\]|\["([^"]+)"\]`)

// dotted are the steps of .name[0].
func dotted(path string) (list []lang.Segment) {
	for _, m := range dottedStep.FindAllStringSubmatch(path, -1) {
		switch {
		case m[2] != "":
			n, _ := strconv.Atoi(m[2]) // at most nine digits
			list = append(list, lang.Segment{Kind: lang.Index, Index: n})
		case m[3] != "":
			list = append(list, lang.Segment{Kind: lang.Star})
		default:
			list = append(list, dialect.Member(m[1]+m[4]+m[5]))
		}
	}
	return list
}

// selector reports whether a value is a selector object.
func (r *reader) selector(v tree.Value) bool {
	return v.Is(lang.Object) && v.Has("context", "selector", "type") && strings.HasPrefix(v.Get("context").Str(), "$")
}

var plainPath = regexp.MustCompile(`^\$(?:\.[\w-]+|\[\d{1,9}\]|\[\*\]|\['[^']+'\])*$`)

// selected is the way that a selector goes; false when a plan can't say it.
func selected(v tree.Value) ([]lang.Segment, bool) {
	text := v.Get("selector").Str()
	switch v.Get("type").Str() {
	case "jsonpath":
		if plainPath.MatchString(text) {
			return dotted(text[1:]), true
		}
	case "jsonpointer":
		return segments(text), true
	}
	return nil, false
}

func (r *reader) findSelector(v tree.Value, user int) {
	path, ok := selected(v)
	context := v.Get("context")
	if !ok || !head.MatchString(context.Str()) {
		r.Errorf(v.At(), diag.BadNotation, "the selector %q is not read; members, indexes and JSON Pointers are", v.Get("selector").Str())
		r.found[v.Node] = []tree.Found{{Part: fault}}
		return
	}
	r.found[v.Node] = []tree.Found{{Part: r.expression(context.Str(), context.All(), user, path)}}
}

// values writes a value with its references.
func (r *reader) values(v tree.Value) {
	if r.selector(v) {
		r.Parts(v.At(), r.found[v.Node][0].Part(v.At()))
		return
	}
	switch v.Kind() {
	case lang.Object:
		r.Object(v.At())
		for m := range v.Members() {
			r.Member(m.Name, m.Key)
			r.values(m.Value)
		}
		r.Close()
	case lang.Array:
		r.List(v.At())
		for _, e := range v.Elements() {
			r.values(e)
		}
		r.Close()
	default:
		tree.Write(r.Builder, v, func(s tree.Value) []tree.Found { return r.found[s.Node] })
	}
}

// output checks what a step says of an output of its own.
func (r *reader) output(s *step, m tree.Member) {
	text := m.Value.Str()
	if r.selector(m.Value) {
		text = m.Value.Get("context").Str()
	}
	if !head.MatchString(text) || !isPath(text) {
		r.Warnf(m.Value.All(), diag.NearReference, "the output %q is no expression that is read", m.Name)
		return
	}
	if id, _, ok := strings.Cut(strings.TrimPrefix(text, "$steps."), ".outputs."); ok && strings.HasPrefix(text, "$steps.") {
		r.labels.Ref(&tree.LabelRef{At: m.Value.All(), Name: m.Value.All(), Label: id, User: s.place + 1})
	}
}
