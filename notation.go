package plc

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/exec/undo"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/lang/dialect"
	"github.com/plc-lang/plc/lang/dialect/notations"
	"github.com/plc-lang/plc/lang/yaml"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/math"
)

// answerNotation is the name of the notation of a model's raw answer.
const answerNotation = "llm"

// Notations returns the notations in which plans can be read: plc's own, "plan", the raw answer of
// a model, "llm", and those of other systems.
func Notations() []string { return append([]string{"plan", answerNotation}, notations.Names()...) }

// NotationWords describes a plan in a notation, such as "a ReWOO plan". It returns "" for a name
// that is not one of Notations.
func NotationWords(name string) string {
	switch n, ok := notations.Lookup(name); {
	case ok:
		return n.What
	case name == "plan":
		return "a plan of plc"
	case name == answerNotation:
		return "a model's raw answer, with a plan in it"
	}
	return ""
}

// planReader reads plans in one notation.
type planReader struct {
	name    string
	answer  bool              // a model's raw answer
	undo    bool              // a plan that undoes a run
	foreign *dialect.Notation // nil: our own
	tools   *tool.Catalogue   // for notations whose params have no names
}

// readerOf returns the reader for the notation that --from names.
func readerOf(from string) (*planReader, error) {
	if n, ok := notations.Lookup(from); ok {
		return &planReader{name: from, foreign: n}, nil
	}
	switch from {
	case "plan", "":
		return &planReader{name: "plan"}, nil
	case answerNotation:
		return &planReader{name: from, answer: true}, nil
	}
	return nil, &SpecError{"from", fmt.Sprintf("%q: it is one of %s", from, strings.Join(Notations(), ", "))}
}

// recordedReader returns the reader for a notation that a record names: one of Notations, or the
// one of the plans with which the engine undoes runs.
func recordedReader(notation string) (*planReader, error) {
	if notation == undoNotation {
		return &planReader{name: notation, undo: true}, nil
	}
	return readerOf(notation)
}

// Format writes a plan in canonical form: see lang.Format. A plan in YAML stays in YAML: see
// yaml.Format. Those of its expressions that can be written canonically in place are. Format
// returns lang.ErrNotFormattable for a plan that can't be formatted.
func Format(doc *lang.Document) ([]byte, error) {
	if !doc.YAML() {
		return lang.Format(doc)
	}
	fixes, err := lang.Expressions(doc)
	if err != nil {
		return nil, err
	}
	text, _ := diag.ApplyFixes(doc.File.Origin().Text, fixes) // no two fixes change the same string
	if text, err = yaml.Format(text); err != nil {
		return nil, lang.ErrNotFormattable
	}
	return text, nil
}

// Parse reads the text of a plan in one of Notations, without its tools. It returns an error if
// there is no such notation.
func Parse(f *diag.File, notation string) (*lang.Document, diag.List, error) {
	r, err := readerOf(notation)
	if err != nil {
		return nil, nil, err
	}
	doc, findings := r.parse(f)
	return doc, findings, nil
}

func (r *planReader) parse(src *diag.File) (*lang.Document, diag.List) {
	if r.foreign != nil {
		return r.foreign.Parse(src, &dialect.Options{Params: r.params, Results: r.results, Kinds: r.kinds})
	}
	doc, findings := lang.Parse(src, &lang.Options{Answer: r.answer, YAML: yaml.Read})
	if r.undo {
		undo.Prepare(doc)
	}
	return doc, findings
}

// fields returns the names of the fields that hold plans in data sets in this notation; none if the
// notation is JSON.
func (r *planReader) fields() []string {
	if r.foreign == nil {
		return nil
	}
	return r.foreign.Fields
}

// use returns the catalogue for plans in this notation: the given tools, and those that the
// notation itself has.
func (r *planReader) use(cat *tool.Catalogue) *tool.Catalogue {
	if r.foreign != nil && r.foreign.Tools {
		cat = cat.WithMissing(math.Tools()...)
	}
	r.tools = cat
	return cat
}

// params returns the params of a tool in the order in which they may be given without names:
// the required ones first, then the others, as declared.
func (r *planReader) params(name string) ([]string, bool) {
	t, ok := r.tools.Lookup(name)
	if !ok {
		return nil, false
	}
	return t.Definition.Positional(), true
}

// results returns the members of a tool's result, as its definition declares them.
func (r *planReader) results(name string) ([]string, bool) {
	t, ok := r.tools.Lookup(name)
	if !ok || t.Definition.Output == nil {
		return nil, false
	}
	var names []string
	for member := range t.Definition.Output.Names() {
		names = append(names, member)
	}
	return names, len(names) > 0
}

// kinds returns the kinds that a tool takes and gives, as its definition declares them.
func (r *planReader) kinds(name string) (takes, gives []string) {
	t, ok := r.tools.Lookup(name)
	if !ok {
		return nil, nil
	}
	var def struct {
		Kinds struct{ Takes, Gives []string } `json:"x-kinds"`
	}
	if json.Unmarshal(t.Definition.Raw, &def) != nil {
		return nil, nil
	}
	return def.Kinds.Takes, def.Kinds.Gives
}
