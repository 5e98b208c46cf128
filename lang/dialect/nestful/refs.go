package nestful

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/lazyregexp"
	"github.com/plc-lang/plc/internal/spell"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/lang/dialect"
	"github.com/plc-lang/plc/lang/dialect/tree"
)

// A reference is a label between dollar signs, with the path to a part of the result after the
// label: $var1$, $var1.path[0].Field With Spaces$, $var1['objects']$. In a text that is not a
// reference as a whole, only an existing label, or one that is numbered like the labels, makes a
// reference: $100-$200 is money.

// name matches a label at the start of a text.
var name = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_-]*`)

// numberedName matches a label in the usual form of the notation.
var numberedName = lazyregexp.New(`^var_?\d+$`)

// string finds the references in a string of the step at place user, and text that is nearly one.
func (r *reader) string(v tree.Value, user int) {
	text, inside := v.Str(), v.Insides()
	if tree.IsPlaceholder(text) {
		tree.Placeholder(r.Builder, v, r.before(user))
	}
	var found []tree.Found
	last := 0
	for at := 0; at < len(text); {
		n := strings.IndexByte(text[at:], '$')
		if n < 0 {
			break
		}
		at += n
		ref, ok := r.ref(text, at)
		if !ok {
			at++
			continue
		}
		r.near(text[last:at], last, inside, user)
		found = append(found, r.found1(ref, inside, user))
		at = ref.to
		last = at
	}
	r.near(text[last:], last, inside, user)
	if len(found) > 0 {
		r.found[v.Node] = found
	}
}

// before returns a reference to the result of the call before one; "" if it has no label.
func (r *reader) before(user int) string {
	if user == 0 || r.steps[user-1].label == "" {
		return ""
	}
	return r.labels.Spell(r.steps[user-1].label)
}

// ref is a reference in a text.
type ref struct {
	from, to int
	label    string
	path     string // after the label, without the dollar sign
}

// ref reads the reference at text[at], which is a dollar sign.
func (r *reader) ref(text string, at int) (ref, bool) {
	label := name.FindString(text[at+1:])
	if label == "" {
		return ref{}, false
	}
	if !r.labels.Has(label) { // the hyphen may be after the label
		if short, _, _ := strings.Cut(label, "-"); r.labels.Has(short) {
			label = short
		}
	}
	rest := text[at+1+len(label):]
	end := strings.IndexByte(rest, '$')
	if end < 0 || end > 0 && rest[0] != '.' && rest[0] != '[' {
		return ref{}, false
	}
	whole := at == 0 && at+1+len(label)+end+1 == len(text)
	if !whole && !r.labels.Has(label) && !r.isNumbered(label) {
		return ref{}, false
	}
	if next := name.FindString(rest[end+1:]); end > 0 && r.labels.Has(next) && !strings.HasPrefix(rest[end+1:], next+"$.") && r.opens(rest[end+1+len(next):]) {
		return ref{}, false // the dollar sign begins the next reference
	}
	if _, ok := segments(rest[:end]); !ok {
		return ref{}, false
	}
	return ref{at, at + 1 + len(label) + end + 1, label, rest[:end]}, true
}

// opens reports whether the text after a label makes it a reference.
func (r *reader) opens(rest string) bool {
	return rest != "" && strings.IndexByte("$.[", rest[0]) >= 0
}

// isNumbered reports whether a label has the form of the notation's labels, or of the plan's.
func (r *reader) isNumbered(label string) bool {
	if numberedName.MatchString(label) {
		return true
	}
	prefix, ok := r.labels.Prefix()
	return ok && prefix != "" && strings.HasPrefix(label, prefix) && dialect.Digits(label[len(prefix):]) == len(label)-len(prefix)
}

// found1 returns a reference that was found.
func (r *reader) found1(f ref, inside func(from, to int) diag.Span, user int) tree.Found {
	l := &tree.LabelRef{
		At:    inside(f.from, f.to),
		Name:  inside(f.from+1, f.from+1+len(f.label)),
		Label: f.label,
		User:  user,
	}
	r.labels.Ref(l)
	return tree.Found{From: f.from, To: f.to, Part: func(at diag.Span) dialect.Part {
		if l.Faulty {
			return dialect.Fault(at)
		}
		path := r.path(f)
		if r.lacks(f, path, at) {
			return dialect.Fault(at)
		}
		return dialect.Ref(dialect.StateRef(f.label, path...), at)
	}}
}

// lacks reports a reference to a member that the function's result does not declare.
func (r *reader) lacks(f ref, path []lang.Segment, at diag.Span) bool {
	tool := r.steps[r.labels.Of(f.label)].name
	fields := r.fields(tool)
	if len(fields) == 0 || len(path) == 0 || path[0].Kind != lang.Named || slices.Contains(fields, path[0].Name) {
		return false
	}
	found := r.Errorf(at, diag.NothingThere, "%q gives no %q", tool, path[0].Name)
	if near, ok := spell.Nearest(path[0].Name, slices.Values(fields)); ok {
		found.Message += fmt.Sprintf("; did you mean %q?", near)
		if f.path == "."+path[0].Name {
			found.Fix = dialect.Replace(at, "$"+f.label+"."+near+"$")
		}
	} else if len(fields) <= 5 {
		found.Message += "; it gives " + strings.Join(fields, ", ")
	}
	return true
}

// fields returns the members of a tool's result; none if they are not known.
func (r *reader) fields(tool string) []string {
	if fields, ok := r.gives[tool]; ok {
		return fields
	}
	if r.Options.Results == nil {
		return nil
	}
	fields, _ := r.Options.Results(tool)
	return fields
}

// path returns the path to the part of the result. A declared member with dots in its name is one
// step of it.
func (r *reader) path(f ref) []lang.Segment {
	field := r.field(f)
	if field == "" {
		list, _ := segments(f.path)
		return list
	}
	below, _ := segments(f.path[1+len(field):])
	return append([]lang.Segment{dialect.Member(field)}, below...)
}

// field returns the longest name of a member of the tool's result that a path begins with; "" if
// there is none, or if the members are not known.
func (r *reader) field(f ref) (longest string) {
	i := r.labels.Of(f.label)
	if i < 0 {
		return ""
	}
	for _, field := range r.fields(r.steps[i].name) {
		after, ok := strings.CutPrefix(f.path, "."+field)
		if ok && len(field) > len(longest) && (after == "" || after[0] == '.' || after[0] == '[') {
			longest = field
		}
	}
	return longest
}

// segments returns the steps of a path: .name, in which a dot in parentheses is part of the name,
// [0], [*] and ['name'].
func segments(path string) (list []lang.Segment, ok bool) {
	for path != "" {
		var s lang.Segment
		var n int
		if path[0] == '[' {
			s, n, ok = bracket(path)
		} else if path[0] == '.' {
			s, n, ok = member(path)
		} else {
			return nil, false
		}
		if !ok {
			return nil, false
		}
		list, path = append(list, s), path[n:]
	}
	return list, true
}

// member reads .name.
func member(path string) (lang.Segment, int, bool) {
	depth, end := 0, len(path)
	for i := 1; i < len(path) && end == len(path); i++ {
		switch path[i] {
		case '(':
			depth++
		case ')':
			depth--
		case '.', '[':
			if depth <= 0 {
				end = i
			}
		case '\n', '{', '}', '"':
			return lang.Segment{}, 0, false
		}
	}
	name := path[1:end]
	return dialect.Member(name), end, name != "" && strings.TrimSpace(name) == name
}

var (
	indexStep = lazyregexp.New(`^\[(-?\d{1,9}|\*)\]`)
	nameStep  = lazyregexp.New(`^\[(?:'([^']+)'|"([^"]+)")\]`)
)

// bracket reads [0], [*] or ['name'].
func bracket(path string) (lang.Segment, int, bool) {
	if m := indexStep.FindStringSubmatch(path); m != nil {
		return index(m[1]), len(m[0]), true
	}
	if m := nameStep.FindStringSubmatch(path); m != nil {
		return lang.Segment{Kind: lang.Named, Name: m[1] + m[2]}, len(m[0]), true
	}
	return lang.Segment{}, 0, false
}

func index(s string) lang.Segment {
	if s == "*" {
		return lang.Segment{Kind: lang.Star}
	}
	n, _ := strconv.Atoi(s) // at most nine digits
	return lang.Segment{Kind: lang.Index, Index: n}
}

// nearly matches a label with a path, and characters around it that may be meant as dollar signs.
var nearly = lazyregexp.New(`(\$?\{{0,2}\$?)([A-Za-z_]\w*)((?:\.[A-Za-z_]\w*|\[\d+\])*)(\}{0,2}\$?)`)

// near warns about text that is nearly a reference, in a part of a string that begins at base.
func (r *reader) near(text string, base int, inside func(from, to int) diag.Span, user int) {
	for _, m := range nearly.FindAllStringSubmatchIndex(text, -1) {
		before, label, path, after := text[m[2]:m[3]], text[m[4]:m[5]], text[m[6]:m[7]], text[m[8]:m[9]]
		marked := before != "" || after != ""
		whole := base == 0 && m[0] == 0 && m[1] == len(text) && path == ""
		switch {
		case !r.labels.Reaches(label, user):
		case !marked && (!r.isNumbered(label) || path == "" && !whole):
		case strings.HasPrefix(before, "{") && after == "" || inWord(text, m[0]):
		default:
			want := "$" + label + path + "$"
			at := inside(base+m[0], base+m[1])
			r.Warnf(at, diag.NearReference, "%q is just text; did you mean %s?", text[m[0]:m[1]], want).Fix = dialect.Replace(at, want)
		}
	}
}

// inWord reports whether text[at:] continues a word.
func inWord(text string, at int) bool {
	return at > 0 && (strings.IndexByte("_.-/@", text[at-1]) >= 0 || dialect.Word(text[at-1:at]) > 0)
}
