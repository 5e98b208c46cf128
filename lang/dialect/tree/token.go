package tree

import (
	"strings"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/lazyregexp"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/lang/dialect"
)

// Tokens finds the references {{step}} and {{step.path}} of a plan. A token whose root is not a
// step is a param of the run, in its input.
type Tokens struct {
	*dialect.Builder
	Labels Labels // the ids of the steps
	// AnyOrder says that a step may refer to a later one.
	AnyOrder bool
	// Below has, by step, the ids of the steps around it, the outermost first, for steps whose
	// results are below those of others; it may be nil.
	Below map[string][]string

	found map[lang.Node][]Found
}

var (
	token     = lazyregexp.New(`\{\{([^{}]*)\}\}`)
	tokenRoot = lazyregexp.New(`^[A-Za-z_]\w*`)
	tokenPath = lazyregexp.New(`^(?:\.\w+)*$`)
	brackets  = lazyregexp.New(`\[['"]?(\w+)['"]?\]`)
	nearToken = lazyregexp.New(`\$?\{\s*([A-Za-z_]\w*)((?:\.\w+)*)\s*\}|<([A-Za-z_]\w*)((?:\.\w+)*)>`)
)

// SpellToken returns a reference to the step with this id.
func SpellToken(id string) string { return "{{" + id + "}}" }

// Find finds the references in a value of the step at place user, and warns about text that is
// nearly one.
func (t *Tokens) Find(v Value, user int) {
	if t.found == nil {
		t.found = map[lang.Node][]Found{}
	}
	Strings(v, func(s Value) {
		if strings.ContainsAny(s.Str(), "{<") {
			t.string(s, user)
		}
	})
}

// In returns the references that Find found in a string.
func (t *Tokens) In(v Value) []Found { return t.found[v.Node] }

func (t *Tokens) string(v Value, user int) {
	text, inside := v.Str(), v.Insides()
	matches := token.FindAllStringSubmatchIndex(text, -1)
	space := len(text) - len(strings.TrimLeft(text, " \t\r\n"))
	var found []Found
	last := 0
	for _, m := range matches {
		t.near(text[last:m[0]], last, inside, user)
		last = m[1]
		if f, ok := t.token(text, m, inside, user); ok {
			if len(matches) == 1 && m[0] == space && strings.TrimSpace(text[m[1]:]) == "" {
				f.From, f.To = 0, len(text) // white space around it is not part of the value
			}
			found = append(found, f)
		}
	}
	t.near(text[last:], last, inside, user)
	if len(found) > 0 {
		t.found[v.Node] = found
	}
}

// token reads {{…}}. If that is not a reference, it warns and returns false.
func (t *Tokens) token(text string, m []int, inside func(from, to int) diag.Span, user int) (Found, bool) {
	inner := strings.TrimSpace(text[m[2]:m[3]])
	start := m[2] + strings.Index(text[m[2]:m[3]], inner)
	root := t.root(inner)
	if root == "" || !tokenPath.MatchString(inner[len(root):]) {
		f := t.Warnf(inside(m[0], m[1]), diag.NearReference, "%q is just text; a reference is written {{step.member.0}}", text[m[0]:m[1]])
		if want := brackets.ReplaceAllString(inner, ".$1"); want != inner && t.root(want) != "" {
			f.Fix = dialect.Replace(inside(m[0], m[1]), SpellToken(want))
		}
		return Found{}, false
	}
	below := pathSegments(inner[len(root):])
	if !t.Labels.Has(root) {
		if near, ok := t.Labels.Nearest(root); ok {
			at := inside(start, start+len(root))
			t.Warnf(at, diag.NearReference, "%q is no step, and is taken for a member of the input; did you mean %s?", root, near).Fix = dialect.Replace(at, near)
		}
		to := &lang.Expr{Kind: "input", Path: append([]lang.Segment{dialect.Member(root)}, below...)}
		return Found{From: m[0], To: m[1], Part: func(at diag.Span) dialect.Part { return dialect.Ref(to, at) }}, true
	}
	l := &LabelRef{At: inside(m[0], m[1]), Name: inside(start, start+len(root)), Label: root, User: user, Anywhere: t.AnyOrder}
	t.Labels.Ref(l)
	return Found{From: m[0], To: m[1], Part: func(at diag.Span) dialect.Part {
		if l.Faulty {
			return dialect.Fault(at)
		}
		return dialect.Ref(t.Result(root, below...), at)
	}}, true
}

// Result returns a reference to the result of the step with this id, or to what is below it.
func (t *Tokens) Result(id string, below ...lang.Segment) *lang.Expr {
	around := t.Below[id]
	if len(around) == 0 {
		return dialect.StateRef(id, below...)
	}
	var path []lang.Segment
	for _, name := range around[1:] {
		path = append(path, dialect.Member(name))
	}
	return dialect.StateRef(around[0], append(append(path, dialect.Member(id)), below...)...)
}

// root returns the step, or else the param, that a token begins with; "" if it begins with neither.
// The id of a step may contain any characters.
func (t *Tokens) root(inner string) string {
	for end := len(inner); end > 0; end = strings.LastIndexByte(inner[:end], '.') {
		if t.Labels.Has(inner[:end]) {
			return inner[:end]
		}
	}
	return tokenRoot.FindString(inner)
}

// pathSegments returns the steps of .name.0.
func pathSegments(path string) (list []lang.Segment) {
	for _, name := range strings.Split(path, ".")[1:] {
		list = append(list, dialect.Member(name))
	}
	return list
}

// near warns about text that is nearly a reference, in a part of a string that begins at base.
func (t *Tokens) near(text string, base int, inside func(from, to int) diag.Span, user int) {
	for _, m := range nearToken.FindAllStringSubmatchIndex(text, -1) {
		i := 2
		if m[2] < 0 {
			i = 6
		}
		id, path := text[m[i]:m[i+1]], text[m[i+2]:m[i+3]]
		if t.Labels.Reaches(id, user) || t.AnyOrder && t.Labels.Has(id) {
			at, want := inside(base+m[0], base+m[1]), SpellToken(id+path)
			t.Warnf(at, diag.NearReference, "%q is just text; did you mean %s?", text[m[0]:m[1]], want).Fix = dialect.Replace(at, want)
		}
	}
}
