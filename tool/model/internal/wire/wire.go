// Package wire has code that the clients of all providers share: names that providers accept, the
// text of a reply as it is streamed, and the end of a reply.
package wire

import (
	"fmt"
	"strings"

	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/model"
)

// Names maps names of any form to names that providers accept: letters, digits, _ and -. A name
// that they accept stays the same; two names are never mapped to one.
type Names struct {
	most  int
	wire  map[string]string
	given map[string]string // from wire names to names
	alike map[string]int    // the number of names that have the same legal form
}

// NewNames returns a mapping to names of at most so many bytes. The names first are mapped first,
// so that they keep their form.
func NewNames(most int, first ...string) *Names {
	n := &Names{most, map[string]string{}, map[string]string{}, map[string]int{}}
	for _, name := range first {
		if n.legal(name) == name {
			n.Wire(name)
		}
	}
	return n
}

// Functions returns the names of the functions of a turn.
func Functions(t *model.Turn, most int) *Names {
	var first []string
	for _, f := range t.Functions {
		first = append(first, f.Name)
	}
	return NewNames(most, first...)
}

// Wire returns the name that is sent for this one.
func (n *Names) Wire(name string) string {
	if w, ok := n.wire[name]; ok {
		return w
	}
	w := n.Unused(name)
	n.wire[name], n.given[w] = w, name
	return w
}

// Unused returns a similar name that is not used yet, and marks it as used.
func (n *Names) Unused(name string) string {
	legal := n.legal(name)
	for w := legal; ; {
		if _, taken := n.given[w]; !taken {
			n.given[w] = w
			return w
		}
		n.alike[legal]++
		suffix := fmt.Sprintf("_%d", n.alike[legal]+1)
		w = legal[:min(len(legal), n.most-len(suffix))] + suffix
	}
}

// Name returns the original of a name that was sent. A name that was not sent is returned as it is.
func (n *Names) Name(wire string) string {
	if name, ok := n.given[wire]; ok {
		return name
	}
	return wire
}

// legal returns a name with _ for characters that are not accepted.
func (n *Names) legal(name string) string {
	name = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, name)
	if name == "" {
		return "_"
	}
	return name[:min(len(name), n.most)]
}

// Text is the text of a reply as it is streamed.
type Text struct {
	tell func(piece string) error // may be nil
	all  strings.Builder
}

// NewText returns an empty text. tell is called with each piece that is added.
func NewText(tell func(piece string) error) *Text { return &Text{tell: tell} }

// Add adds a piece. It returns the error of tell.
func (t *Text) Add(piece string) error {
	t.all.WriteString(piece)
	if piece == "" || t.tell == nil {
		return nil
	}
	return t.tell(piece)
}

// String returns the whole text so far.
func (t *Text) String() string { return t.all.String() }

// Call is a call as it is streamed.
type Call struct {
	ID, Name string
	Params   strings.Builder
}

// Calls returns the calls of a reply to a turn, with the original names of their functions. It
// replaces missing and duplicate ids; the same reply always gets the same ids.
func Calls(t *model.Turn, names *Names, calls []*Call) []model.FunctionCall {
	n := 0
	for _, m := range t.Messages {
		n += len(m.Calls)
	}
	given := map[string]bool{}
	for _, c := range calls {
		given[c.ID] = true
	}
	known := map[string]bool{"": true}
	var list []model.FunctionCall
	for _, c := range calls {
		n++
		id := c.ID
		for k := n; known[id] || id != c.ID && given[id]; k++ {
			id = fmt.Sprintf("call_%d", k)
		}
		known[id] = true
		list = append(list, model.FunctionCall{ID: id, Name: names.Name(c.Name), Params: c.Params.String()})
	}
	return list
}

// Cut returns the failure of a stream that ended before the reply was complete.
func Cut() error {
	return &tool.Error{Code: "connection-lost", Message: "the answer broke off: the stream ended before the model had finished"}
}
