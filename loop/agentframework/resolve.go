package agentframework

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/internal/python"
)

// StepRefResolver replaces the {{ref}}s in the parameters of steps with values. It must be safe for
// concurrent use.
type StepRefResolver interface {
	// Resolve returns value with its references resolved. If it returns an error, the step fails.
	Resolve(value json.RawMessage, known *References) (json.RawMessage, error)
}

// References holds the values that references refer to. Results of steps take precedence over
// parameters with the same name.
type References struct {
	InvocationParameters *Values
	StepResults          *Values
	RunID                string
	AgentID              string
	StepID               string       // the step whose parameters are resolved
	Warn                 func(string) // called for each reference that can't be found; may be nil
}

// Resolver resolves references as agent_framework does: {{name.member.0}}, with optional spaces
// inside the braces. A text that consists of one reference becomes the value, with its type. Inside
// a longer text, a string value is inserted as it is, and any other value as JSON. A reference that
// can't be found becomes "" with a warning, and text that only looks like a reference stays, with a
// warning. If Strict is set, both are errors. References in names of members are not resolved.
type Resolver struct {
	Strict bool
}

// The patterns of references, of text that looks like one, and of the part of a reference that is
// checked before a plan runs.
var (
	tokens    = regexp.MustCompile(`\{\{\s*(` + tokenPath + `)\s*\}\}`)
	wholly    = regexp.MustCompile(`^\{\{\s*(` + tokenPath + `)\s*\}\}$`)
	leftovers = regexp.MustCompile(`\{\{[^}]*\}\}`)
	written   = regexp.MustCompile(`\{\{([^}]+?)\}\}`)
)

const tokenPath = `[a-zA-Z_][a-zA-Z0-9_]*(?:\.(?:[a-zA-Z_][a-zA-Z0-9_]*|[0-9]+))*`

// Resolve implements StepRefResolver.
func (r Resolver) Resolve(value json.RawMessage, known *References) (json.RawMessage, error) {
	x := &resolving{known: known, strict: r.Strict}
	x.value(gjson.ParseBytes(value), nil)
	return x.out, x.err
}

// resolving holds the state while a value is resolved.
type resolving struct {
	known  *References
	strict bool
	out    []byte
	err    error
}

// place is the position of a value within another; nil stands for the whole value.
type place struct {
	in    *place
	name  string // the name of a member
	index int    // the index of an element if name is ""
	list  bool
}

// String formats the place like a.b[0].
func (p *place) String() string {
	switch {
	case p == nil:
		return ""
	case p.list:
		return p.in.String() + "[" + strconv.Itoa(p.index) + "]"
	}
	return strings.TrimPrefix(p.in.String()+"."+p.name, ".")
}

func (x *resolving) value(v gjson.Result, at *place) {
	switch {
	case v.IsObject():
		x.members('{', '}', v, at)
	case v.IsArray():
		x.members('[', ']', v, at)
	case v.Type == gjson.String && strings.Contains(v.Str, "{{"):
		x.text(v.Str, at)
	default:
		x.out = append(x.out, v.Raw...)
	}
}

func (x *resolving) members(open, end byte, v gjson.Result, in *place) {
	x.out = append(x.out, open)
	at := &place{in: in, list: open == '['}
	v.ForEach(func(key, value gjson.Result) bool {
		if at.index > 0 {
			x.out = append(x.out, ',')
		}
		if !at.list {
			at.name = key.Str
			x.out = append(append(x.out, key.Raw...), ':')
		}
		x.value(value, at)
		at.index++
		return true
	})
	x.out = append(x.out, end)
}

// text writes a text with its references resolved.
func (x *resolving) text(s string, at *place) {
	if m := wholly.FindStringSubmatch(strings.TrimSpace(s)); m != nil {
		x.out = append(x.out, x.look(m[1], at)...)
		return
	}
	var b strings.Builder
	rest := 0
	for _, m := range tokens.FindAllStringSubmatchIndex(s, -1) {
		b.WriteString(s[rest:m[0]])
		b.WriteString(jsonscan.Text(x.look(s[m[2]:m[3]], at)))
		rest = m[1]
	}
	b.WriteString(s[rest:])
	s = b.String()
	if strings.Contains(s, "{{") && leftovers.MatchString(s) {
		x.miss("string at path %s still contains unresolved {{…}} after substitution — check token syntax%s: %s", python.Repr(at.String()), x.where(nil), python.Repr(s))
	}
	x.out = append(x.out, jsonscan.Encode(s)...)
}

// where describes, for a message, where a reference is.
func (x *resolving) where(at *place) string {
	path := ""
	if at != nil {
		path = ", path=" + at.String()
	}
	return fmt.Sprintf(" (run_id=%s, agent_id=%s, step_id=%s%s)", x.known.RunID, x.known.AgentID, x.known.StepID, path)
}

// miss reports a reference that can't be found.
func (x *resolving) miss(format string, args ...any) {
	message := "step_reference: " + fmt.Sprintf(format, args...)
	if x.strict && x.err == nil {
		x.err = fmt.Errorf("%s", message)
	}
	if x.known.Warn != nil {
		x.known.Warn(message)
	}
}

// look returns the value of a reference, or "" if it can't be found.
func (x *resolving) look(token string, at *place) json.RawMessage {
	names := strings.Split(token, ".")
	empty := json.RawMessage(`""`)
	missing := func(why string) json.RawMessage {
		if !x.strict {
			why += " — resolving to empty string"
		}
		x.miss("token {{%s}} %s%s", token, why, x.where(at))
		return empty
	}
	root := x.known.StepResults.Get(names[0])
	if root == nil {
		root = x.known.InvocationParameters.Get(names[0])
	}
	if root == nil {
		return missing("not found")
	}
	v := gjson.ParseBytes(root)
	for _, name := range names[1:] {
		var why string
		if v, why = part(v, name); why != "" {
			return missing(why)
		}
	}
	return json.RawMessage(v.Raw)
}

// part returns a member or an element of a value, or the reason why there is none.
func part(v gjson.Result, name string) (gjson.Result, string) {
	switch {
	case v.IsArray() && name[0] >= '0' && name[0] <= '9':
		list := v.Array()
		i, err := strconv.Atoi(name)
		if err != nil || i >= len(list) {
			return v, fmt.Sprintf("— list index %s out of range (length=%d)", strings.TrimLeft(name[:len(name)-1], "0")+name[len(name)-1:], len(list))
		}
		return list[i], ""
	case v.IsObject():
		var found gjson.Result
		v.ForEach(func(key, value gjson.Result) bool {
			if key.Str == name {
				found = value
			}
			return true
		})
		if !found.Exists() {
			return v, fmt.Sprintf("— key %s not found in dict at this traversal level", python.Repr(name))
		}
		return found, ""
	}
	return v, fmt.Sprintf("— cannot traverse segment %s into %s", python.Repr(name), typeName(v))
}

// roots adds the first names of all references in a value to a set.
func roots(v gjson.Result, into map[string]bool) {
	switch {
	case v.IsObject() || v.IsArray():
		v.ForEach(func(_, value gjson.Result) bool {
			roots(value, into)
			return true
		})
	case v.Type == gjson.String:
		for _, m := range written.FindAllStringSubmatch(v.Str, -1) {
			root, _, _ := strings.Cut(strings.TrimSpace(m[1]), ".")
			into[root] = true
		}
	}
}
