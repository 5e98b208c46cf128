package undo

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/tool"
)

// A Plan says how a run is undone.
type Plan struct {
	Calls  []Call // calls that are undone, in reverse plan order
	Stands []Call // calls that are not undone, in plan order

	// Text is a document with the calls that undo the others, and Input is the input that they
	// read.
	Text  []byte
	Input json.RawMessage
}

// A Call is something that a run did, or may have done, with the call that undoes it.
type Call struct {
	Instance  string          `json:"instance,omitempty"`
	Path      string          `json:"call"` // see exec.Event
	Tool      string          `json:"tool"`
	Params    json.RawMessage `json:"params,omitempty"`
	Uncertain bool            `json:"uncertain,omitempty"` // nobody knows whether it did its work
	Undo      string          `json:"undo,omitempty"`      // the tool that undoes it; "" if it stands
	ID        string          `json:"id,omitempty"`        // id of the call in the plan that undoes it
	Asks      bool            `json:"asks,omitempty"`      // a person has to approve the undoing
	Why       string          `json:"why,omitempty"`       // why it stands, or why a person is asked

	// Replaced reports that the plan that made the call has been replaced since. The call at this
	// path in the current plan may be another one.
	Replaced bool `json:"-"`
}

// Name returns the path of the call, with its instance.
func (c *Call) Name() string { return nameOf(c.Instance, c.Path) }

func nameOf(instance, path string) string {
	if instance == "" {
		return path
	}
	return path + " of " + instance
}

// Options controls what is undone. The zero value is the default.
type Options struct {
	// All includes what instances did that completed.
	All bool
	// End says how the run ended, if the ledger does not.
	End exec.Failure
}

// Of returns the plan that undoes a run of a program. An undo that the plan gave for a call
// replaces that of its tool's definition. Definitions are those of the given tools, which may be
// newer than the run. A call stands if its undo reads a value that the call did not give, or gets
// one that does not fit.
func Of(prog *compile.Program, tools *compile.Options, l *Ledger, o Options) *Plan {
	p := &planner{prog: prog, tools: tools, taken: map[string]bool{}, input: map[string]any{}}
	end := l.end
	if end.Code == "" {
		end = o.End
	}
	p.input[failureKind] = end
	var undone []*undoing
	for _, en := range l.done(o.All) {
		u := p.undo(en)
		u.Replaced = en.revision < l.revision
		if u.call == nil {
			p.Stands = append(p.Stands, u.Call)
			continue
		}
		undone = append(undone, u)
	}
	calls := []json.RawMessage{}
	for _, u := range inOrder(prog, undone) {
		p.Calls = append(p.Calls, u.Call)
		calls = append(calls, u.json(tools.Catalogue))
	}
	p.Text = encoded(map[string]any{"calls": calls, "output": nil, "meta": meta{p.Calls, p.Stands}})
	p.Input = encoded(p.input)
	return &p.Plan
}

// meta is kept in the text of a plan in addition to its calls.
type meta struct {
	Undoes []Call `json:"undoes"`
	Stands []Call `json:"stands"`
}

// Read returns the calls that a plan with this text undoes, and those that it leaves, as they were
// in Plan.
func Read(text []byte) (calls, stands []Call, err error) {
	var doc struct{ Meta meta }
	if err := json.Unmarshal(text, &doc); err != nil {
		return nil, nil, fmt.Errorf("undo: the plan can't be read: %w", err)
	}
	return doc.Meta.Undoes, doc.Meta.Stands, nil
}

// planner makes a plan.
type planner struct {
	Plan
	prog  *compile.Program
	tools *compile.Options
	taken map[string]bool // ids in use
	input map[string]any
}

// undoing is a call that is undone, or stands.
type undoing struct {
	Call
	*entry
	call   *call    // the call that undoes it; nil if it stands
	number int      // number in the order of the plan
	after  []string // the ids of the calls that it waits for
}

// Reasons why a call stands, or a person is asked.
const (
	noUndo      = "its tool has no undo"
	planForbids = "the plan says that nothing takes it back"
	notKnown    = "nobody knows whether it did its work: approve if it did, skip if it did not"
	noAnswer    = "nobody knows whether it did its work, and its undo reads the result"
	noResult    = "it did its work, and its undo reads the result, which was not accepted"
	noParams    = "the record does not have its params, which its undo reads: when it was called, nothing said how it is undone"
)

// undo decides how something that was done is undone, or why it stands.
func (p *planner) undo(en *entry) *undoing {
	u := &undoing{entry: en, Call: Call{
		Instance: en.instance, Path: en.path, Tool: en.tool, Params: en.params, Uncertain: !en.did,
	}}
	how := p.undoOf(en)
	switch {
	case how == nil:
		u.Why = noUndo
		return u
	case how.Tool == "":
		u.Why = planForbids
		return u
	}
	name := "c" + strconv.Itoa(len(p.input))
	text, err := textOf(how, name)
	switch {
	case err != nil: // Check reports it
		u.Why = err.Error()
		return u
	case en.params == nil && slices.Contains(text.reads, paramsKind):
		u.Why = noParams
		return u
	case en.result == nil && slices.Contains(text.reads, resultKind):
		if u.Why = noResult; !en.did {
			u.Why = noAnswer
		}
		return u
	case !en.did && !how.WhenUncertain:
		u.Asks, u.Why = true, notKnown
	}
	given := map[string]any{keyKind: en.key}
	if en.params != nil {
		given[paramsKind] = en.params
	}
	if en.result != nil {
		given[resultKind] = en.result
	}
	if why := p.misfit(text, name, given); why != "" {
		u.Asks, u.Why = false, why
		return u
	}
	u.call, u.Undo = text, how.Tool
	u.ID = p.free(nameOf(en.instance, en.path))
	p.input[name] = given
	return u
}

// misfit returns what is wrong with the values that the call of an undo reads, or "". It leaves
// faults of the definition itself to Compile, since they can be corrected.
func (p *planner) misfit(text *call, name string, given map[string]any) string {
	doc, found := lang.Parse(diag.NewFile("undo", slices.Concat([]byte("[{"), text.text, []byte("}]"))), nil)
	o := apart(p.tools)
	input := encoded(map[string]any{name: given, failureKind: p.input[failureKind]})
	o.Values = map[string]compile.Given{"input": {JSON: input, Loc: diag.Loc{File: doc.File}}}
	_, more := compile.Compile(doc, o)
	for _, f := range append(found, more...) {
		switch f.Code {
		case diag.NothingThere, diag.NeverRuns, diag.BadLiteral, diag.NotAssignable:
			if f.Severity == diag.Error {
				short := strings.NewReplacer("†input."+name+".", "†", "†input."+failureKind, "†"+failureKind, "the input does not hold", "there is no")
				return "its undo can't be made: " + short.Replace(f.Message)
			}
		}
	}
	return ""
}

// undoOf returns the undo of an entry; nil if there is none.
func (p *planner) undoOf(en *entry) *tool.Undo {
	if en.own != nil {
		return en.own
	}
	names := []string{en.tool}
	if c, _ := callAt(p.prog, en.path); c != nil && c.Target != nil {
		t := c.Target
		if en.fallback && c.Rare != nil && c.Fallback != nil {
			t = c.Fallback.Target
		}
		if others, does := doesWorkOf(t); does {
			names = others
		}
	}
	return defined(p.tools.Catalogue, names)
}

// doesWorkOf returns the names of the tools whose work a target does, if it does not do the work of
// its own tool.
func doesWorkOf(t *compile.Target) (names []string, does bool) {
	if !t.Picked && t.Tool.Source != tool.Document {
		return nil, false
	}
	for _, o := range t.Owners {
		names = append(names, o.Definition.Name)
	}
	return names, true
}

// defined returns the undo of the first of these tools that has one; nil if none has.
func defined(tools *tool.Catalogue, names []string) *tool.Undo {
	for _, name := range names {
		if t, ok := tools.Lookup(name); ok {
			if u := t.Undoes(); u != nil {
				return u
			}
		}
	}
	return nil
}

// With returns the undo of the calls of a target, and nil if there is none. It looks it up in
// tools, which may be newer than the program. own is the undo that the plan gives.
func With(tools *tool.Catalogue, t *compile.Target, own *tool.Undo) *compile.Undoing {
	u := own
	if u == nil {
		names, does := doesWorkOf(t)
		if !does {
			names = []string{t.Tool.Definition.Name}
		}
		u = defined(tools, names)
	}
	if u == nil || u.Tool == "" || t.Effects.ReadOnly == tool.Yes || t.Effects.Pure == tool.Yes {
		return nil
	}
	return compile.NewUndoing(tools, u)
}

// free returns an id that no call of the plan has.
func (p *planner) free(name string) string {
	id := name
	for n := 2; p.taken[id]; n++ {
		id = fmt.Sprintf("%s (%d)", name, n)
	}
	p.taken[id] = true
	return id
}

// Retries is the number of retries of a call that undoes another, if its tool allows them.
const Retries = 3

// members maps the members that plc sets in calls that undo others to sample values.
var members = map[string]string{"_id": `"a"`, "_description": `"a"`, "_dependsOn": `["a"]`, "_approve": `"a"`, "_retry": strconv.Itoa(Retries)}

// allows reports whether the definition of a tool lets its calls have one of the members.
func allows(t *tool.Tool, name string) bool {
	f := t.Definition.Fixed[name]
	return f == nil || f.Schema == nil || f.Schema.Validate(json.RawMessage(members[name])) == nil
}

// json returns the call that undoes another, as JSON.
func (u *undoing) json(tools *tool.Catalogue) json.RawMessage {
	head := map[string]any{"_id": u.ID, "_description": fmt.Sprintf("undoes %q, a call of %q", u.Name(), u.Call.Tool)}
	if t, ok := tools.Lookup(u.Undo); !ok || allows(t, "_retry") {
		head["_retry"] = Retries
	}
	if len(u.after) > 0 {
		head["_dependsOn"] = u.after
	}
	if u.Asks {
		head["_approve"] = u.Why
	}
	text := encoded(head)
	return slices.Concat(text[:len(text)-1], []byte(","), u.call.text, []byte("}"))
}

// Compile compiles the plan with the tools and the policy of these options. It does not use their
// values, schemas, documents and budgets, which belong to other plans.
func (p *Plan) Compile(o *compile.Options) (*compile.Program, diag.List) {
	doc, findings := lang.Parse(diag.NewFile("undo", p.Text), nil)
	Prepare(doc)
	own := apart(o)
	own.Values = map[string]compile.Given{"input": {JSON: p.Input, Loc: diag.Loc{File: doc.File}}}
	prog, more := compile.Compile(doc, own)
	return prog, append(findings, more...)
}

// Prepare sets the one property of an undo plan that its text can't express: calls that wait for a
// failed call go on after somebody has skipped that call.
func Prepare(doc *lang.Document) { doc.Profile.SkippedSatisfies = true }

// apart returns options for another plan with the same tools and policy.
func apart(o *compile.Options) *compile.Options {
	own := *o
	own.Values, own.Schemas = map[string]compile.Given{}, map[string]compile.Given{}
	own.Instances, own.Lazy, own.Strict, own.Delegates, own.Budget, own.Check = false, false, false, nil, compile.Budget{}, nil
	return &own
}

// callAt returns the call at a path, and the steps that lead to it, with their attempts and items.
// It returns nil if the program has no such call.
func callAt(prog *compile.Program, path string) (c *compile.Call, steps []step) {
	for name := range strings.SplitSeq(path, "/") {
		if prog == nil {
			return nil, nil
		}
		name, item, _ := strings.Cut(name, "[")
		name, attempt, _ := strings.Cut(name, "#")
		var ok bool
		if c, ok = prog.Call(exec.CallID(name)); !ok {
			return nil, nil
		}
		s := step{prog: prog, call: int32(c.Place - 1)}
		s.attempt, _ = strconv.Atoi(attempt) // none is the first
		s.item, _ = strconv.Atoi(strings.TrimSuffix(item, "]"))
		steps = append(steps, s)
		prog = nil
		if c.Rare != nil && c.Delegate != nil {
			prog = c.Delegate.Program
		}
	}
	return c, steps
}

// encoded returns the JSON of a value that can always be encoded.
func encoded(v any) json.RawMessage {
	text, err := jsonscan.Marshal(v)
	if err != nil {
		panic(err)
	}
	return text
}
