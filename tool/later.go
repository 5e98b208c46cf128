package tool

import (
	"iter"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/schemas"
)

// Later reads the definition of a tool of a large document when the tool is first looked up. It
// reads it only once, however many catalogues and copies of the tool share it.
type Later struct {
	// Identity stands for the definition in digests: it changes whenever the definition does.
	Identity string

	read func() (*Definition, diag.List)
	done atomic.Bool
}

// NewLater makes a Later. Like ParseDefinition, read returns nil only together with an error
// finding.
func NewLater(identity string, read func() (*Definition, diag.List)) *Later {
	l := &Later{Identity: identity}
	l.read = sync.OnceValues(func() (*Definition, diag.List) {
		defer l.done.Store(true)
		return read()
	})
	return l
}

// Done reports whether the definition was read.
func (l *Later) Done() bool { return l.done.Load() }

// Whole returns the tool with its whole definition, which is t itself if it has no Later. If the
// definition can't be read, the tool accepts any params, and its Findings say what is wrong.
func (t *Tool) Whole() *Tool {
	if t.Later == nil {
		return t
	}
	read, found := t.Later.read()
	u := *t
	def := *t.Definition
	if read != nil {
		def = *read
		def.Name, def.Loc, def.Effects = t.Definition.Name, t.Definition.Loc, t.Definition.Effects
	} else if def.Params == nil {
		def.Params = schemas.Any()
	}
	u.Definition, u.Later = &def, nil
	u.Findings = slices.Clone(t.Findings)
	for _, f := range found {
		if f.Loc.File == nil {
			f.Loc = def.Loc
		}
		u.Findings = append(u.Findings, f)
	}
	return &u
}

// complete returns a tool of c with its whole definition. It returns the same pointer each time.
func (c *Catalogue) complete(t *Tool) *Tool {
	if made := c.later[t.Definition.Name]; t.Later != nil && made != nil {
		return made()
	}
	return t
}

// Listed returns the tools by name, like Tools, but does not read definitions that have a Later:
// these have only the name, the description and the effects.
func (c *Catalogue) Listed() iter.Seq[*Tool] {
	return func(yield func(*Tool) bool) {
		if c == nil {
			return
		}
		for _, name := range c.names {
			if !yield(c.bound[name]) {
				return
			}
		}
	}
}
