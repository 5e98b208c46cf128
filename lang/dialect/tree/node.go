package tree

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/lazyregexp"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/lang/dialect"
)

// Nodes finds the references <node-0>, <node-0>.field of a plan.
type Nodes struct {
	*dialect.Builder
	Labels Labels // the numbers of the nodes
	// Called returns the name of a node's result on the whiteboard; if nil, that is its number.
	Called func(number string) string
	// Ref is called for each reference before it is judged, and may be nil.
	Ref func(r *LabelRef, path string)
	// Meant returns the reference that a placeholder may mean. If it returns "", or is nil, that is
	// a reference to the node before.
	Meant func(text string, user int) string

	found map[lang.Node][]Found
}

var (
	nodeRef  = lazyregexp.New(`<node-(\d+)>((?:\.[A-Za-z_]\w*|\[-?\d{1,9}\]|\['[^']+'\]|\["[^"]+"\])*)`)
	nodePath = lazyregexp.New(`\.(\w+)|\[(-?\d+)\]|\['([^']+)'\]|\["([^"]+)"\]`)
	// nearNode matches what is almost a reference.
	nearNode = lazyregexp.New(`(?i)<\s*(?:(?:the\s+)?(?:output|result)s?\s+(?:of|from)\s+)?node[\s_-]*(\d+)(?:[\s_.-]*(?:output|result))?\s*>|[{\[$]*\bnode[-_](\d+)\b[}\]$]*`)
	// placeholder matches a text that stands for a value to be filled in.
	placeholder = lazyregexp.New(`^\s*<[A-Za-z]+(?:[ _-][A-Za-z]+)+>\s*$`)
)

// SpellNode returns a reference to the node of this number.
func SpellNode(number string) string { return "<node-" + number + ">" }

// Find finds the references in a value of the node at place user, and warns about text that is
// nearly one.
func (n *Nodes) Find(v Value, user int) {
	if n.found == nil {
		n.found = map[lang.Node][]Found{}
	}
	Strings(v, func(s Value) {
		if strings.ContainsAny(s.Str(), "<-_") {
			n.string(s, user)
		}
	})
}

// Whole returns the number of the node if a string is only a reference to its result.
func (n *Nodes) Whole(v Value) (number string, ok bool) {
	m := nodeRef.FindStringSubmatch(v.Str())
	if m == nil || m[0] != v.Str() || m[2] != "" {
		return "", false
	}
	number = strings.TrimLeft(m[1], "0")
	return cmp.Or(number, "0"), true
}

// In returns the references that Find found in a string.
func (n *Nodes) In(v Value) []Found { return n.found[v.Node] }

func (n *Nodes) string(v Value, user int) {
	text, inside := v.Str(), v.Insides()
	var found []Found
	last := 0
	for _, m := range nodeRef.FindAllStringSubmatchIndex(text, -1) {
		n.near(text[last:m[0]], last, inside, user)
		found = append(found, n.ref(text, m, inside, user))
		last = m[1]
	}
	n.near(text[last:], last, inside, user)
	if placeholder.MatchString(text) && !nearNode.MatchString(text) {
		meant := ""
		if n.Meant != nil {
			meant = n.Meant(text, user)
		}
		Placeholder(n.Builder, v, cmp.Or(meant, n.before(user)))
	}
	if len(found) > 0 {
		n.found[v.Node] = found
	}
}

// before returns a reference to the node before one; "" if there is none.
func (n *Nodes) before(user int) string {
	if user == 0 || user > len(n.Labels.steps) || len(n.Labels.steps[user-1]) == 0 {
		return ""
	}
	return SpellNode(n.Labels.steps[user-1][0])
}

// Placeholder warns about a string that only describes the value that belongs there. meant is the
// reference that was perhaps meant, or "".
func Placeholder(b *dialect.Builder, v Value, meant string) {
	f := b.Warnf(v.All(), diag.NearReference, "%q is just text, a placeholder and no reference", v.Str())
	if meant != "" {
		f.Message += "; did you mean " + meant + "?"
		f.Fix = dialect.Replace(v.All(), meant)
	}
}

// IsPlaceholder reports whether a text only describes the value that belongs in its place.
func IsPlaceholder(text string) bool { return placeholder.MatchString(text) }

func (n *Nodes) ref(text string, m []int, inside func(from, to int) diag.Span, user int) Found {
	digits := text[m[2]:m[3]]
	if i, err := strconv.Atoi(digits); err == nil {
		digits = strconv.Itoa(i)
	}
	path := text[m[4]:m[5]]
	l := &LabelRef{At: inside(m[0], m[3]+1), Name: inside(m[2], m[3]), Label: digits, User: user, Prose: m[0] > 0 || m[1] < len(text)}
	if n.Ref != nil {
		n.Ref(l, path)
	}
	n.Labels.Ref(l)
	label := digits
	if n.Called != nil {
		label = n.Called(digits)
	}
	return Found{From: m[0], To: m[1], Part: func(at diag.Span) dialect.Part {
		if l.Faulty {
			return dialect.Fault(at)
		}
		return dialect.Ref(dialect.StateRef(label, nodeSegments(path)...), at)
	}}
}

// nodeSegments returns the steps of .field[0]['name'].
func nodeSegments(path string) (list []lang.Segment) {
	for _, m := range nodePath.FindAllStringSubmatch(path, -1) {
		switch {
		case m[2] != "":
			i, _ := strconv.Atoi(m[2]) // at most nine digits
			list = append(list, lang.Segment{Kind: lang.Index, Index: i})
		default:
			list = append(list, dialect.Member(m[1]+m[3]+m[4]))
		}
	}
	return list
}

// near warns about text that is nearly a reference, in a part of a string that begins at base.
func (n *Nodes) near(text string, base int, inside func(from, to int) diag.Span, user int) {
	for _, m := range nearNode.FindAllStringSubmatchIndex(text, -1) {
		digits := text[max(m[2], m[4]):max(m[3], m[5])]
		i, err := strconv.Atoi(digits)
		if label := strconv.Itoa(i); err == nil && n.Labels.Reaches(label, user) {
			at, want := inside(base+m[0], base+m[1]), SpellNode(label)
			n.Warnf(at, diag.NearReference, "%q is just text; did you mean %s?", text[m[0]:m[1]], want).Fix = dialect.Replace(at, want)
		}
	}
}
