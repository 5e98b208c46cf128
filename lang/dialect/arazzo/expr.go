package arazzo

import (
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/internal/lazyregexp"
	"github.com/plc-lang/plc/internal/spell"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/lang/dialect"
	"github.com/plc-lang/plc/lang/dialect/tree"
)

// Runtime expressions: a string that is one is its value; in a text they stand in braces.
// Behind them stands #/ and a JSON Pointer, or, as documents in the wild have it, .name and
// [0].

var (
	head     = lazyregexp.New(`^\$(?:(inputs|outputs|steps|workflows|response|request|message|components|sourceDescriptions)[.#\[]|(url|method|statusCode|self)$)`)
	embedded = lazyregexp.New(`\{(\$[^{}]*)\}`)
	// nearHead matches the beginning of what is almost an expression.
	nearHead = lazyregexp.New(`^\$?\{{0,2}\$?([A-Za-z]+)\.([\w.-]+(?:#[^\s{}]*)?)\}{0,2}$`)
	// noPath matches a comparison, which a path does not contain.
	noPath = lazyregexp.New(`[<>]|[=!]=|&&|\|\|`)
	// undeclared is a name that nothing declares: up to a dot, a pointer or an index. Brackets
	// round a word belong to it, as in page[size].
	undeclared = lazyregexp.New(`^[^.#\[]+(?:\[[A-Za-z_][\w-]*\][^.#\[]*)*`)
	// bare is an expression in a text, without braces.
	bare = lazyregexp.New(`\$(?:steps\.[\w-]+\.outputs|inputs)\.[\w-]+(?:#/[\w/~-]*)?`)
)

// heads returns the words that expressions begin with.
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
	if head.MatchString(text) && (!strings.ContainsAny(text, " \n") || r.isWhole(text)) {
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

// isWhole reports whether a text with spaces is one expression: it begins with a declared
// name, or nearly is one, and after the name only a path or a JSON Pointer follows.
func (r *reader) isWhole(text string) bool {
	var names iter.Seq[string]
	rest, isInput := strings.CutPrefix(text, "$inputs.")
	if isInput {
		names = r.inputNames()
	} else {
		s, out := r.stepOf(strings.TrimPrefix(text, "$steps."))
		if s == nil || !strings.HasPrefix(text, "$steps.") {
			return false
		}
		rest, names = out, r.outputNames(s)
	}
	name := declared(rest, names)
	if name == "" {
		_, near := spell.Nearest(rest, names)
		return near
	}
	more := rest[len(name):]
	return more == "" || more[0] == '#' || !strings.ContainsAny(more, " \n")
}

// declared returns the longest of the names that a text begins with; "" if none is there.
func declared(text string, names iter.Seq[string]) (longest string) {
	for name := range names {
		after, ok := strings.CutPrefix(text, name)
		if ok && len(name) > len(longest) && (after == "" || strings.ContainsRune(".[#", rune(after[0]))) {
			longest = name
		}
	}
	return longest
}

// cutName cuts the name off a text and reads the path after it; false when that is none.
func cutName(text string, names iter.Seq[string]) (name string, more []lang.Segment, ok bool) {
	if name = declared(text, names); name == "" {
		name = undeclared.FindString(text)
	}
	more, ok = readPath(text[len(name):])
	return name, more, ok
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

// expression returns what an expression is translated to. What can't be is reported. Path is
// what a selector adds.
func (r *reader) expression(text string, at diag.Span, user int, path []lang.Segment) part {
	if rest, ok := strings.CutPrefix(text, "$workflows."+r.flow.id+"."); ok && strings.HasPrefix(rest, "inputs.") {
		text = "$" + rest
	}
	switch root, rest, _ := strings.Cut(text[1:], "."); root {
	case "inputs":
		if to, ok := r.input(rest); ok {
			return reference(&lang.Expr{Kind: "input", Path: append(to, path...)})
		}
	case "steps":
		return r.stepOutput(text, at, user, path)
	default:
		r.Errorf(at, diag.BadNotation, "%s is not read here: a plan has its input and the results of its steps", text)
		return fault
	}
	return r.unread(text, at)
}

// unread reports an expression that is no path.
func (r *reader) unread(text string, at diag.Span) part {
	r.Errorf(at, diag.BadNotation, "%s is not read; members, indexes and JSON Pointers are", text)
	return fault
}

// input returns the way to a member of the input; false when what follows its name is no path.
func (r *reader) input(rest string) ([]lang.Segment, bool) {
	name, more, ok := cutName(rest, r.inputNames())
	r.used[name] = true
	return append([]lang.Segment{dialect.Member(name)}, more...), ok && name != ""
}

// inputNames returns the inputs that the workflow declares.
func (r *reader) inputNames() iter.Seq[string] { return names(r.inputs(r.flow).Get("properties")) }

// names returns the names of the members of an object.
func names(v tree.Value) iter.Seq[string] {
	return func(yield func(string) bool) {
		for m := range v.Members() {
			if !yield(m.Name) {
				return
			}
		}
	}
}

// stepOf returns the step that ID.outputs.NAME names, and NAME; nil if no step has the ID.
func (r *reader) stepOf(rest string) (s *step, out string) {
	for i := 0; ; {
		n := strings.Index(rest[i:], ".outputs.")
		if n < 0 {
			return nil, ""
		}
		if i += n; r.flow.byID[rest[:i]] != nil {
			return r.flow.byID[rest[:i]], rest[i+len(".outputs."):]
		}
		i++
	}
}

// stepOutput returns what $steps.ID.outputs.NAME stands for: what the step says of that
// output.
func (r *reader) stepOutput(text string, at diag.Span, user int, path []lang.Segment) part {
	rest := text[len("$steps."):]
	id, out, ok := strings.Cut(rest, ".")
	out, isOutput := strings.CutPrefix(out, "outputs.")
	s, found := r.stepOf(rest)
	if s != nil {
		id, out, isOutput = s.id, found, true
	}
	if !ok || !isOutput {
		r.Errorf(at, diag.BadNotation, "an output of a step is written $steps.%s.outputs.NAME", id)
		return fault
	}
	l := &tree.LabelRef{At: at, Name: at, Label: id, User: user}
	if at.Len() > len("$steps.")+len(id) {
		l.Name = diag.Span{Start: at.Start + 7, End: at.Start + 7 + int32(len(id))}
	}
	r.labels.Ref(l)
	if s == nil {
		return fault
	}
	name, more, ok := cutName(out, r.outputNames(s))
	if !ok {
		return r.unread(text, at)
	}
	to, why := r.resolve(s, name, 0)
	if why != "" {
		f := r.Errorf(at, diag.NothingThere, "%s", why)
		if near, found := spell.Nearest(out, r.outputNames(s)); found && !r.hasOutput(s, name) {
			f.Message += "; did you mean " + near + "?"
		}
		return fault
	}
	to = &lang.Expr{Kind: to.Kind, Path: slices.Concat(to.Path, more, path)}
	return func(at diag.Span) dialect.Part {
		if l.Faulty {
			return dialect.Fault(at)
		}
		return dialect.Ref(to, at)
	}
}

// outputNames returns the outputs of a step: those that it declares, and those of the workflow that
// it calls.
func (r *reader) outputNames(s *step) iter.Seq[string] {
	return func(yield func(string) bool) {
		for name := range names(s.Get("outputs")) {
			if !yield(name) {
				return
			}
		}
		if w := r.byID[s.calls]; w != nil {
			names(w.Get("outputs"))(yield)
		}
	}
}

func (r *reader) hasOutput(s *step, name string) bool {
	for n := range r.outputNames(s) {
		if n == name {
			return true
		}
	}
	return false
}

// resolve returns what an output of a step stands for; why says what is wrong with it.
func (r *reader) resolve(s *step, name string, depth int) (to *lang.Expr, why string) {
	out := s.Get("outputs").Get(name)
	what := "the output " + strconv.Quote(name) + " of the step " + strconv.Quote(s.id)
	if out.IsZero() {
		if r.hasOutput(s, name) {
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
	for _, root := range []string{"$response.body", "$message.payload", "$outputs"} {
		if rest, ok := strings.CutPrefix(text, root); ok {
			if path, ok := readPath(rest); ok {
				return dialect.StateRef(s.id, append(path, below...)...), ""
			}
		}
	}
	if rest, ok := strings.CutPrefix(text, "$inputs."); ok {
		if path, ok := r.input(rest); ok {
			return &lang.Expr{Kind: "input", Path: append(path, below...)}, ""
		}
	}
	if rest, ok := strings.CutPrefix(text, "$steps."); ok && depth < 100 {
		if other, rest := r.stepOf(rest); other != nil {
			if inner, more, ok := cutName(rest, r.outputNames(other)); ok {
				if to, why = r.resolve(other, inner, depth+1); why == "" {
					to = &lang.Expr{Kind: to.Kind, Path: slices.Concat(to.Path, more, below)}
				}
				return to, why
			}
		}
	}
	if is := notInBody(text); is != "" {
		return nil, what + " is " + is + ", " + text + ", and a result holds only the body of the response"
	}
	return nil, what + " is no expression that is read"
}

// notInBody says what an expression is that stands for no part of the body of a response; "" for
// any other.
func notInBody(text string) string {
	switch {
	case strings.HasPrefix(text, "$response.header"):
		return "a header of the response"
	case text == "$statusCode", strings.HasPrefix(text, "$response.status"):
		return "the status of the response"
	case strings.HasPrefix(text, "$request"), text == "$url", text == "$method":
		return "a part of the request"
	case strings.HasPrefix(text, "$message.header"):
		return "a header of the message"
	}
	return ""
}

// readPath reads what stands behind a name: .name and [0], then # and a JSON Pointer. It is
// false for anything else, such as a filter or a comparison.
func readPath(text string) ([]lang.Segment, bool) {
	names, pointer, _ := strings.Cut(text, "#")
	list, ok := dotted(names)
	ok = ok && !noPath.MatchString(names) && (pointer == "" || pointer[0] == '/')
	return append(list, segments(pointer)...), ok
}

// segments returns the steps of a JSON Pointer.
func segments(pointer string) (list []lang.Segment) {
	for _, token := range strings.Split(pointer, "/")[1:] {
		list = append(list, dialect.Member(jsonscan.UnescapePointer(token)))
	}
	return list
}

var dottedStep = lazyregexp.New(`\.([^.\[\]]+)|\[(\d{1,9})\]|\[(\*)\]|\['([^']+)'\]|\["([^"]+)"\]|\[([A-Za-z_][\w-]*)\]`)

// dotted returns the steps of .name[0]; false when the text is not only that.
func dotted(path string) (list []lang.Segment, ok bool) {
	length := 0
	for _, m := range dottedStep.FindAllStringSubmatch(path, -1) {
		length += len(m[0])
		switch {
		case m[2] != "":
			n, _ := strconv.Atoi(m[2]) // at most nine digits
			list = append(list, lang.Segment{Kind: lang.Index, Index: n})
		case m[3] != "":
			list = append(list, lang.Segment{Kind: lang.Star})
		default:
			list = append(list, dialect.Member(m[1]+m[4]+m[5]+m[6]))
		}
	}
	return list, length == len(path)
}

// selector reports whether a value is a selector object.
func (r *reader) selector(v tree.Value) bool {
	return v.Is(lang.Object) && v.Has("context", "selector", "type") && strings.HasPrefix(v.Get("context").Str(), "$")
}

var plainPath = lazyregexp.New(`^\$(?:\.[\w-]+|\[\d{1,9}\]|\[\*\]|\['[^']+'\])*$`)

// selected returns the way that a selector goes; false when a plan can't say it.
func selected(v tree.Value) ([]lang.Segment, bool) {
	text := v.Get("selector").Str()
	switch v.Get("type").Str() {
	case "jsonpath":
		if plainPath.MatchString(text) {
			return dotted(text[1:])
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
	if rest, ok := strings.CutPrefix(text, "$steps."); ok && strings.Contains(rest, ".outputs.") {
		id, _, _ := strings.Cut(rest, ".outputs.")
		if other, _ := r.stepOf(rest); other != nil {
			id = other.id
		}
		r.labels.Ref(&tree.LabelRef{At: m.Value.All(), Name: m.Value.All(), Label: id, User: s.place + 1})
		return
	}
	var isRead bool
	if rest, ok := strings.CutPrefix(text, "$inputs."); ok {
		_, _, isRead = cutName(rest, r.inputNames())
	} else {
		_, why := r.resolve(s, m.Name, 0)
		isRead = why == "" || notInBody(text) != ""
	}
	if !isRead {
		r.Warnf(m.Value.All(), diag.NearReference, "the output %q is no expression that is read", m.Name)
	}
}
