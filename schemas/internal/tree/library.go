package tree

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/schemas/internal/pattern"
	"github.com/plc-lang/plc/schemas/internal/value"
)

// library is the validator that finally decides, with safeguards: it opens no files, its panics
// become errors, and the parts of the document that it can't read or should not enforce are removed
// beforehand. It compiles on first use, because compiling takes long (quadratic time in the number
// of schemas for draft 2020-12) and most schemas never need it.
type library struct {
	doc  []byte
	size int // schemas in it

	mu       sync.Mutex
	compiler *jsonschema.Compiler
	compiled map[string]*jsonschema.Schema // by pointer
}

func unusable(pointer string, reason any) *Fault {
	return &Fault{pointer, fmt.Sprintf("the schema cannot be used: %v", reason)}
}

// schema compiles the schema at a pointer.
func (l *library) schema(pointer string) (s *jsonschema.Schema, fault *Fault) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s := l.compiled[pointer]; s != nil {
		return s, nil
	}
	defer func() {
		if r := recover(); r != nil {
			s, fault = nil, unusable(pointer, r)
		}
	}()
	var err error
	if l.compiler == nil {
		if l.compiler, err = newCompiler(l.doc); err != nil {
			return nil, compileError(pointer, err)
		}
		l.compiled = make(map[string]*jsonschema.Schema)
	}
	if s, err = l.compiler.Compile(baseURL + "#" + urlPointer(rewritten(pointer))); err != nil {
		return nil, compileError(pointer, err)
	}
	l.compiled[pointer] = s
	return s, nil
}

// rewritten returns a pointer into the document that the library gets, in which patterns of members
// are RE2's.
func rewritten(pointer string) string {
	if !strings.Contains(pointer, "/patternProperties/") {
		return pointer
	}
	tokens := strings.Split(pointer, "/")
	for i := range tokens {
		if i > 0 && tokens[i-1] == "patternProperties" {
			tokens[i] = jsonscan.EscapePointer(pattern.FromECMA(jsonscan.UnescapePointer(tokens[i])))
		}
	}
	return strings.Join(tokens, "/")
}

// urlPointer returns a pointer in the form that the library needs in a URL.
func urlPointer(pointer string) string {
	tokens := strings.Split(pointer, "/")
	for i := range tokens {
		tokens[i] = url.PathEscape(tokens[i])
	}
	return strings.Join(tokens, "/")
}

// plainPointer undoes urlPointer: the library escapes the tokens of its pointers.
func plainPointer(s string) string {
	if p, err := url.PathUnescape(s); err == nil {
		return p
	}
	return s
}

// compileError returns the fault for an error of compiling. If the document breaks its meta-schema,
// it returns the deepest fault.
func compileError(pointer string, err error) *Fault {
	var broken *jsonschema.ValidationError
	if errors.As(err, &broken) {
		v := deepest(broken)
		return &Fault{plainPointer(v.InstanceLocation), v.Message}
	}
	var fault *jsonschema.SchemaError
	if errors.As(err, &fault) {
		err = fault.Err
	}
	message := strings.TrimPrefix(err.Error(), "jsonschema: ")
	return &Fault{pointer, strings.ReplaceAll(message, baseURL, "")}
}

func deepest(e *jsonschema.ValidationError) *jsonschema.ValidationError {
	best := e
	for _, c := range e.Causes {
		d := deepest(c)
		if best == e || strings.Count(d.InstanceLocation, "/") > strings.Count(best.InstanceLocation, "/") {
			best = d
		}
	}
	return best
}

// validate asks the library, and returns its error.
func (l *library) validate(pointer string, v *value.Value) (err error) {
	s, fault := l.schema(pointer)
	if fault != nil {
		return fault
	}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the schema cannot be used: %v", r)
		}
	}()
	return s.Validate(asAny(v))
}

// Ask asks the library whether v meets n, which must be in a document. It returns the library's
// error: see Leaves.
func (n *Node) Ask(v *value.Value) error { return n.Doc.library.validate(n.Pointer, v) }

// Size returns how many schemas the library would have to compile.
func (d *Document) Size() int { return d.library.size }

// Leaves returns the faults in an error of Ask: for each the pointer in the value, the keyword and
// the message.
func Leaves(err error) iter.Seq2[string, Fault] {
	return func(yield func(string, Fault) bool) {
		var broken *jsonschema.ValidationError
		if !errors.As(err, &broken) {
			yield("", Fault{Message: strings.ReplaceAll(err.Error(), baseURL, "")})
			return
		}
		var each func(e *jsonschema.ValidationError) bool
		each = func(e *jsonschema.ValidationError) bool {
			if len(e.Causes) == 0 {
				_, keyword, _ := strings.Cut(e.AbsoluteKeywordLocation, "#")
				return yield(plainPointer(e.InstanceLocation), Fault{plainPointer(keyword), e.Message})
			}
			return !slices.ContainsFunc(e.Causes, func(c *jsonschema.ValidationError) bool { return !each(c) })
		}
		each(broken)
	}
}

// asAny returns the value in the form that the library and encoding/json use.
func asAny(v *value.Value) any {
	switch v.Kind {
	case value.Boolean:
		return v.Truth
	case value.Number:
		return json.Number(v.Text)
	case value.String:
		return v.Text
	case value.Array:
		list := make([]any, len(v.Kids))
		for i := range v.Kids {
			list[i] = asAny(&v.Kids[i])
		}
		return list
	case value.Object:
		m := make(map[string]any, len(v.Kids))
		for i := range v.Kids {
			m[v.Kids[i].Name] = asAny(&v.Kids[i])
		}
		return m
	}
	return nil
}

// forLibrary returns the document for the library. It has no keywords that are never enforced
// (format, content, patterns that RE2 can't read); other patterns are RE2's, nullable is expanded,
// and counts fit an int. If a pointer selects a schema, or if there are very many schemas, the
// document has only the reached ones.
func (b *builder) forLibrary(whole bool) (*library, *Fault) {
	limit := maxReached
	if b.draft == 2020 {
		limit = maxReached2020
	}
	w, size := &rewriter{builder: b}, len(b.places)
	if !whole || size > limit {
		if w.keep, size = b.reached(); size > limit {
			return nil, &Fault{Message: fmt.Sprintf("%d schemas in one, more than %d", size, limit)}
		}
	}
	w.write(&b.Root)
	return &library{doc: w.out, size: size}, nil
}

type rewriter struct {
	*builder
	keep map[*value.Value]bool // reached schemas and all values above them; nil: everything
	out  []byte
}

// reached returns the set of the schemas that have a node and all values above them, and the number
// of these schemas.
func (b *builder) reached() (keep map[*value.Value]bool, schemas int) {
	keep = map[*value.Value]bool{&b.Root: true}
	for _, p := range b.places {
		if p.node == nil {
			continue
		}
		schemas++
		v := &b.Root
		for token := range strings.SplitSeq(strings.TrimPrefix(p.pointer, "/"), "/") {
			if v = v.Child(jsonscan.UnescapePointer(token)); v == nil {
				break
			}
			keep[v] = true
		}
	}
	return keep, schemas
}

func (w *rewriter) write(v *value.Value) {
	p := w.places[v]
	switch {
	case p != nil:
		w.schema(v, p)
	case v.Kind == value.Array:
		w.list(v)
	case v.Kind == value.Object:
		w.object(v, func(m *value.Value) { w.write(m) }, nil)
	default:
		w.out = v.AppendJSON(w.out)
	}
}

func (w *rewriter) list(v *value.Value) {
	w.out = append(w.out, '[')
	for i := range v.Kids {
		if i > 0 {
			w.out = append(w.out, ',')
		}
		w.write(&v.Kids[i])
	}
	w.out = append(w.out, ']')
}

// object writes the members for which drop does not report true.
func (w *rewriter) object(v *value.Value, write func(m *value.Value), drop func(m *value.Value) bool) {
	w.named(v, func(m *value.Value) string { return m.Name }, write, drop)
}

// named does what object does, with other names.
func (w *rewriter) named(v *value.Value, name func(m *value.Value) string, write func(m *value.Value), drop func(m *value.Value) bool) {
	w.out = append(w.out, '{')
	first := true
	for i := range v.Kids {
		m := &v.Kids[i]
		if drop != nil && drop(m) {
			continue
		}
		if !first {
			w.out = append(w.out, ',')
		}
		first = false
		w.out = append(jsonscan.AppendQuoted(w.out, name(m)), ':')
		write(m)
	}
	w.out = append(w.out, '}')
}

func (w *rewriter) schema(v *value.Value, p *place) {
	dead := w.keep != nil && p.node == nil
	enum := v.Member("enum")
	never := !dead && w.draft >= 2019 && enum != nil && enum.Kind == value.Array && len(enum.Kids) == 0
	w.object(v, func(m *value.Value) { w.keyword(v, m) }, func(m *value.Value) bool {
		switch m.Name {
		case "enum", "not":
			if never {
				return true
			}
		case "$schema", "$id", "id", "$anchor", "$dynamicAnchor", "$recursiveAnchor":
			return false
		case "format", "contentEncoding", "contentMediaType":
			return dead || m.Kind == value.String
		case "contentSchema":
			return true
		case "pattern":
			return dead || m.Kind == value.String && w.patterns[m.Text] != nil && w.patterns[m.Text].Unread()
		case "definitions", "$defs":
			return w.keep != nil && !w.keep[m]
		case "additionalProperties":
			return dead && !w.keep[m] || p.node != nil && p.node.UnreadPatterns()
		}
		return dead && !w.keep[m]
	})
	if never { // no value meets an empty enum, but the library ignores one
		w.out = w.out[:len(w.out)-1]
		if w.out[len(w.out)-1] != '{' {
			w.out = append(w.out, ',')
		}
		w.out = append(w.out, `"not":{}}`...)
	}
}

func (w *rewriter) keyword(schema, m *value.Value) {
	switch m.Name {
	case "$schema":
		if schema == &w.Root {
			w.out = jsonscan.AppendQuoted(w.out, draftURL(w.draft))
			return
		}
	case "type":
		if null := schema.Member("nullable"); null != nil && null.Truth {
			w.nullable(m)
			return
		}
	case "definitions", "$defs":
		if w.keep != nil && m.Kind == value.Object {
			w.object(m, w.write, func(d *value.Value) bool { return !w.keep[d] })
			return
		}
	case "pattern":
		if m.Kind == value.String {
			w.out = jsonscan.AppendQuoted(w.out, pattern.FromECMA(m.Text))
			return
		}
	case "patternProperties":
		if m.Kind == value.Object {
			w.named(m, func(d *value.Value) string { return pattern.FromECMA(d.Name) }, w.write, func(d *value.Value) bool {
				p := w.patterns[d.Name]
				return p != nil && p.Unread()
			})
			return
		}
	case "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minContains", "maxContains":
		if m.Kind == value.Number {
			w.count(m)
			return
		}
	}
	w.write(m)
}

// nullable writes a type with null added.
func (w *rewriter) nullable(t *value.Value) {
	words := []value.Value{*t}
	if t.Kind == value.Array {
		words = append([]value.Value(nil), t.Kids...)
	}
	for i := range words {
		if words[i].Text == "null" {
			w.out = t.AppendJSON(w.out)
			return
		}
	}
	all := value.Value{Kind: value.Array, Kids: append(words, value.Value{Kind: value.String, Text: "null"})}
	w.out = all.AppendJSON(w.out)
}

func (w *rewriter) count(m *value.Value) {
	if n := value.DecimalOf(m.Text); n.IsInt() && n.Cmp(value.Int(maxCount)) > 0 {
		w.out = strconv.AppendInt(w.out, maxCount, 10)
		return
	}
	w.out = m.AppendJSON(w.out)
}

// costOf returns the cost for the library of comparing the value with another one. It converts
// numbers to fractions first.
func costOf(v *value.Value) int {
	work := 1
	if v.Kind == value.Number {
		work = 32
	}
	for i := range v.Kids {
		work += costOf(&v.Kids[i])
	}
	return work
}
