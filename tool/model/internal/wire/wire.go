// Package wire is what the clients of all providers share about conversations: names that
// providers take, the text of a reply as it comes, and how a reply ends.
package wire

import (
	"fmt"
	"strings"

	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/model"
)

// Names gives names of any form others that providers take: letters, digits, _ and -. A
// name that they take already is its own; two names are never one.
type Names struct {
	most  int
	wire  map[string]string
	given map[string]string // the other way round
	alike map[string]int    // of a name that several are like, how many are
}

// NewNames returns names of at most so many bytes. These come first, so that the others do not take
// theirs.
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

// Unused returns a name like this one that stands for no other. It is taken then.
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

// Name returns what a name that was sent stands for. One that was not sent stands for itself.
func (n *Names) Name(wire string) string {
	if name, ok := n.given[wire]; ok {
		return name
	}
	return wire
}

// legal returns a name with _ for what is not taken.
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

// Text is the text of a reply as it comes.
type Text struct {
	tell func(piece string) error // nil: nobody is told
	all  strings.Builder
}

// NewText returns no text yet. What is added is told.
func NewText(tell func(piece string) error) *Text { return &Text{tell: tell} }

// Add adds a piece. The error is that of who was told.
func (t *Text) Add(piece string) error {
	t.all.WriteString(piece)
	if piece == "" || t.tell == nil {
		return nil
	}
	return t.tell(piece)
}

// String returns all of it.
func (t *Text) String() string { return t.all.String() }

// Call is a call as it comes.
type Call struct {
	ID, Name string
	Params   strings.Builder
}

// Calls returns those of a reply to a turn, with the names of their functions. Ids that are
// missing, or there twice, are made: the same for the same reply.
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

// Cut returns the failure of a stream that ended before the reply did.
func Cut() error {
	return &tool.Error{Code: "connection-lost", Message: "the answer broke off: the stream ended before the model had finished"}
}
