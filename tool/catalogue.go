package tool

import (
	"iter"
	"time"

	"github.com/plc-lang/plc/diag"
)

// Tool is a definition with what runs it.
type Tool struct {
	Definition *Definition
	Activity   Activity // nil: latent
	Source     string   // "go", the name of the tool file, "mcp:docs", "plan"
	Driver     string   // what kind of activity: "go", "process", "http", "stand-in", …; "" for none
	Limits     Limits
	// Timeout is of each attempt; 0 is for the run to say.
	Timeout time.Duration
}

// Limits bound the calls of one tool.
type Limits struct {
	Parallel  int     // at once; 0 is no limit
	PerSecond float64 // started per second; 0 is no limit
}

// Catalogue is the tools that a plan may call. The zero Catalogue is empty.
type Catalogue struct{}

// NewCatalogue makes a catalogue. Of two tools with one name the later one replaces the
// earlier.
func NewCatalogue(tools ...*Tool) *Catalogue { panic("todo") }

// With is a catalogue of c's tools, its activities and more tools, which replace
// c's of the same name.
func (c *Catalogue) With(tools ...*Tool) *Catalogue { panic("todo") }

// WithActivities is a catalogue of c's tools and more activities by name: those
// of tools that have none get theirs; others are there for _activity to name.
func (c *Catalogue) WithActivities(activities map[string]Implementation) *Catalogue { panic("todo") }

// Implementation is an activity with what the tool file says of it.
type Implementation struct {
	Activity Activity
	Driver   string
	Timeout  time.Duration
	Loc      diag.Loc
}

// AddDocument is a catalogue with the definitions of a document as well. They
// may come from a model: they only add tools; where c has the name already, c's
// stands, and what the document says of effects counts only towards more care
// (plan-language §1).
func (c *Catalogue) AddDocument(defs ...*Definition) *Catalogue { panic("todo") }

// Lookup is the tool of this name.
func (c *Catalogue) Lookup(name string) (*Tool, bool) { panic("todo") }

// Implementation is the activity of this name.
func (c *Catalogue) Implementation(name string) (Implementation, bool) { panic("todo") }

// Tools are the tools by name.
func (c *Catalogue) Tools() iter.Seq[*Tool] { panic("todo") }

// Len is the number of tools.
func (c *Catalogue) Len() int { panic("todo") }
