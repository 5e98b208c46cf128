package plc

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/schemas"
	"github.com/plc-lang/plc/tool"
)

// An Undoing is how a run is undone: another run, whose calls take back what calls of the first
// one did.
type Undoing struct {
	Run string // that is undone
	ID  string // of the run that undoes it
	// Calls are those that are taken back, in the order in which they are.
	Calls []UndoneCall
	// Stands are those that can't be taken back, in plan order.
	Stands []UndoneCall

	document []byte // the plan of the run
	input    json.RawMessage
	spec     Spec
	edit     func(*Spec)
}

// UndoneCall is a call that changed the world, or may have.
type UndoneCall struct {
	Path      string // see exec.Event
	Tool      string
	Undo      string // the tool that takes it back; "" when it stands
	Uncertain bool   // nobody knows whether it did its work
	Why       string // it stands
}

// An UndoneError says that a run can't go on, since it was undone or is being undone.
type UndoneError struct{ Run, By string }

func (e *UndoneError) Error() string {
	return fmt.Sprintf("the run %s is undone by the run %s, so it can't go on; run its plan again", e.Run, e.By)
}

// The labels of a run that undoes another.
const (
	undoes   = "undoes"   // which one
	undoing  = "undoing"  // how many of its calls
	standing = "standing" // how many others stand; none when there are none
)

// undoID returns the id of the run that undoes a run: the same each time, so that there is one.
func undoID(run string) string {
	return run[:min(10, len(run))] + exec.IDOf("undo " + run)[:16]
}

// notUndone returns an error for a run that was undone.
func notUndone(ctx context.Context, store journal.Store, run string) error {
	var missing *journal.MissingError
	by, err := store.Summary(ctx, undoID(run))
	switch {
	case errors.As(err, &missing):
		return nil
	case err != nil:
		return err
	}
	return &UndoneError{run, by.Run}
}

// Undoing returns the run that undoes another, and how far it is: "undoing" while it goes on or
// waits, "undone" when it has taken everything back, and "undoneInPart" when it has not. They are
// "" when nobody has begun to undo the run.
func (e *Engine) Undoing(ctx context.Context, run string) (id, state string, err error) {
	store, err := e.records()
	if err != nil {
		return "", "", err
	}
	var missing *journal.MissingError
	by, err := store.Summary(ctx, undoID(run))
	switch {
	case errors.As(err, &missing):
		return "", "", nil
	case err != nil:
		return "", "", err
	case by.Status == exec.Completed && by.Labels[standing] == "" && strconv.Itoa(by.Calls[exec.Completed]) == by.Labels[undoing]:
		return by.Run, "undone", nil
	case by.Status == exec.Completed, by.Status == exec.Failed, by.Status == exec.Cancelled, by.Status == exec.Rejected:
		return by.Run, "undoneInPart", nil
	}
	return by.Run, "undoing", nil
}

// PlanUndo returns how a recorded run is undone: what its record says that its calls did, in
// reverse plan order, and what the definitions of their tools say of taking it back, as the tool
// files have them now. edit changes the settings of the run that does it; nil changes none.
func (e *Engine) PlanUndo(ctx context.Context, run string, edit func(*Spec)) (*Undoing, error) {
	store, err := e.records()
	if err != nil {
		return nil, err
	}
	sum, err := store.Summary(ctx, run)
	switch {
	case err != nil:
		return nil, err
	case sum.Labels[undoes] != "":
		return nil, fmt.Errorf("the run %s undoes the run %s: that can't be undone", sum.Run, sum.Labels[undoes])
	case sum.Holder != nil:
		return nil, fmt.Errorf("the run %s goes on, in process %d on %s; end it first", sum.Run, sum.Holder.PID, sum.Holder.Host)
	}
	given := &paramsGiven{of: map[string]json.RawMessage{}}
	w, err := e.replay(ctx, store, sum.Run, Source{}, func(o *exec.Options) { o.OnRecall = given.note })
	if err != nil {
		return nil, err
	}
	if w.Plan.Program.Template || !w.Plan.Spec().Instances.isZero() {
		return nil, errors.New("the plan ran for instances, which plc can't undo")
	}
	record, err := store.Reader(ctx, sum.Run)
	if err != nil {
		return nil, err
	}
	did, err := doneBy(w.Plan.Program, record, given.of)
	if err != nil {
		return nil, err
	}
	spec := w.Plan.Spec()
	u := &Undoing{Run: sum.Run, ID: undoID(sum.Run), edit: edit, spec: Spec{
		Toolset: spec.Toolset, Limits: Limits{Timeout: spec.Limits.Timeout, Parallel: spec.Limits.Parallel, State: spec.Limits.State},
		Approvals: spec.Approvals, ModelTapes: spec.ModelTapes, OnFailure: Ask, Effects: spec.Effects,
	}}
	if edit != nil {
		edit(&u.spec)
	}
	tools, err := e.Tools(ctx, u.spec.Toolset, ToCheck)
	if err != nil {
		return nil, err
	}
	u.write(w.Plan.Program, tools.Catalogue, did, sum)
	return u, nil
}

// paramsGiven are the params of calls that a replay came by, by their paths: not those of calls in
// documents whose end is in the record.
type paramsGiven struct {
	mu sync.Mutex
	of map[string]json.RawMessage
}

func (g *paramsGiven) note(_ *compile.Call, _, path string, params json.RawMessage, _ *exec.Past) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.of[path] = slices.Clone(params)
}

// A doing is a call of a run, and its result.
type doing struct {
	path    string
	order   []int // its place in plan order, from the outermost call in
	call    *compile.Call
	params  json.RawMessage // nil when they are not known
	past    *exec.Past
	pending bool // nobody knows whether it did its work
}

// doneBy returns the calls of a run that changed the world, or may have.
func doneBy(prog *compile.Program, record exec.Record, params map[string]json.RawMessage) (all []*doing, err error) {
	instances := []string{""}
	for i := range prog.Instances {
		instances = append(instances, prog.Instances[i].Name)
	}
	for _, instance := range instances {
		pasts, err := record.Past(instance)
		if err != nil {
			return nil, err
		}
		for path, past := range pasts {
			c, order := callAt(prog, path)
			if c == nil {
				return nil, fmt.Errorf("the run made the call %q, which its plan does not have any more: it can't be undone as a whole", path)
			}
			if pending, did := didWork(c, past); did {
				all = append(all, &doing{path: path, order: order, call: c, params: params[path], past: past, pending: pending})
			}
		}
	}
	return all, nil
}

// didWork reports whether a call changed the world or, with pending, may have.
func didWork(c *compile.Call, past *exec.Past) (pending, did bool) {
	r := past.Returned
	pending = past.Lost && r == nil || r != nil && r.Lost
	switch {
	case c.Delegates() || c.Choose != nil || c.Result != nil || past.Applied, // others have done it
		past.Attempts == 0 && !past.Fallback,
		!pending && (r == nil || r.Failure != nil || r.Skipped):
		return false, false
	}
	t := made(c, past)
	return pending, t.Effects.ReadOnly != tool.Yes && t.Effects.Pure != tool.Yes
}

// made returns what was called last.
func made(c *compile.Call, past *exec.Past) *compile.Target {
	if past.Fallback && c.Rare != nil && c.Fallback != nil {
		return c.Fallback.Target
	}
	return c.Target
}

// write writes the plan that undoes a run.
func (u *Undoing) write(prog *compile.Program, cat *tool.Catalogue, all []*doing, sum *journal.Summary) {
	slices.SortFunc(all, func(a, b *doing) int { return cmp.Or(slices.Compare(b.order, a.order), cmp.Compare(b.path, a.path)) })
	calls := []json.RawMessage{}
	input := map[string]any{}
	after := newUndoOrder(prog)
	for _, d := range all {
		t := made(d.call, d.past)
		c := UndoneCall{Path: d.path, Tool: t.Tool.Definition.Name, Uncertain: d.pending}
		def, undo := undoOf(cat, t.Tool)
		switch {
		case undo == nil:
			c.Why = "its tool says nothing of undoing it"
		case d.past.Fallback && d.call.Fallback.Params != nil:
			c.Why = "its fallback did it, with params of its own"
		case d.pending && !undo.WhenUncertain:
			c.Why = "nobody knows whether it did its work, and its undo does not say whenUncertain"
		}
		if c.Why != "" {
			u.Stands = append(u.Stands, c)
			continue
		}
		name := "c" + strconv.Itoa(len(u.Calls))
		given := map[string]any{"key": d.past.Key, "failure": map[string]any{"code": sum.Status, "message": sum.Reason}}
		if d.params != nil {
			given["params"] = d.params
		}
		if r := d.past.Returned; r != nil && !d.pending {
			given["result"] = objectOrNull(r.Value)
		}
		text, reads, err := undoCall(undo, name)
		switch {
		case err != nil: // which checking the plan tells
			c.Why = err.Error()
		case d.params == nil && slices.Contains(reads, "params"):
			c.Why = "the record does not have the params of calls in documents, which its undo reads"
		}
		if c.Why != "" {
			u.Stands = append(u.Stands, c)
			continue
		}
		input[name] = given
		c.Undo = undo.Tool
		u.Calls = append(u.Calls, c)
		calls = append(calls, text.with(d.path, after.add(d), fmt.Sprintf("undoes %q, a call of %q", d.path, def.Name)))
	}
	slices.Reverse(u.Stands)
	u.document, u.input = encoded(map[string]any{"calls": calls, "output": nil}), encoded(input)
}

func objectOrNull(v json.RawMessage) json.RawMessage {
	if v == nil {
		return json.RawMessage("null")
	}
	return v
}

// undoOf returns what takes back calls of a tool. Documents and servers are not trusted with it.
func undoOf(cat *tool.Catalogue, t *tool.Tool) (*tool.Definition, *tool.Undo) {
	if now, ok := cat.Lookup(t.Definition.Name); ok {
		t = now
	}
	if t.Source == tool.Document || strings.HasPrefix(t.Source, "mcp:") {
		return t.Definition, nil
	}
	return t.Definition, t.Definition.Undo
}

// callAt returns the call of a path, and its place in plan order: for each call that leads to it
// the place, the attempt and the item. It returns nil when there is none.
func callAt(prog *compile.Program, path string) (c *compile.Call, order []int) {
	for name := range strings.SplitSeq(path, "/") {
		name, item, _ := strings.Cut(name, "[")
		name, attempt, _ := strings.Cut(name, "#")
		if prog == nil {
			return nil, nil
		}
		var ok bool
		if c, ok = prog.Call(unescapeID(name)); !ok {
			return nil, nil
		}
		n, _ := strconv.Atoi(attempt) // none is the first
		i, _ := strconv.Atoi(strings.TrimSuffix(item, "]"))
		order = append(order, int(c.Place), n, i)
		prog = nil
		if c.Rare != nil && c.Delegate != nil {
			prog = c.Delegate.Program
		}
	}
	return c, order
}

func unescapeID(name string) string {
	return strings.NewReplacer("~0", "~", "~1", "/", "~2", "[", "~3", "#").Replace(name)
}

// undoOrder finds what the undoing of a call waits for: the undoing of what waited for the call.
// Calls below one call of the plan are undone one after the other.
type undoOrder struct {
	prog  *compile.Program
	last  map[int32]string   // by the call of the plan, what is undone last below it
	below map[int32][]string // what is undone last of all that waited for a call
}

func newUndoOrder(prog *compile.Program) *undoOrder {
	return &undoOrder{prog: prog, last: map[int32]string{}, below: map[int32][]string{}}
}

// add adds a call, in reverse plan order, and returns the paths that it waits for.
func (o *undoOrder) add(d *doing) []string {
	top := int32(d.order[0] - 1)
	var after []string
	if before, ok := o.last[top]; ok {
		after = []string{before}
	} else {
		after = o.behind(top)
	}
	o.last[top] = d.path
	return after
}

// behind returns what is undone of calls that waited for one, up to the next of which something is.
func (o *undoOrder) behind(n int32) []string {
	found, seen := []string{}, map[int32]bool{n: true}
	todo := []int32{n}
	for len(todo) > 0 {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, next := range o.prog.Starts.Succ(at) {
			if seen[next] {
				continue
			}
			seen[next] = true
			if path, ok := o.last[next]; ok {
				found = append(found, path)
			} else {
				todo = append(todo, next)
			}
		}
	}
	slices.Sort(found)
	return found
}

// undoText is a call that takes another back, without its name.
type undoText []byte

// with returns the call with its name, what it waits for and what it is for.
func (t undoText) with(path string, after []string, about string) json.RawMessage {
	head := map[string]any{"_id": path, "_description": about, "_retry": undoRetries}
	if len(after) > 0 {
		head["_dependsOn"] = after
	}
	text := encoded(head)
	return append(append(text[:len(text)-1:len(text)-1], ','), t[1:]...)
}

// undoRetries limits the further attempts to undo a call.
const undoRetries = 3

// undoCall returns the call that takes another back, whose references lead to what the input has of
// that one, by this name; and which kinds it reads.
func undoCall(u *tool.Undo, name string) (call undoText, reads []string, err error) {
	text := []byte(`[{"_tool":` + string(jsonscan.Encode(u.Tool)))
	if params := jsonscan.Compact(nil, u.Params); len(params) > 2 {
		text = append(append(text, ','), params[1:]...)
	} else {
		text = append(text, '}')
	}
	text = append(text, ']')
	doc, findings := lang.Parse(diag.NewFile("undo", text), nil)
	if err := findings.Err(); err != nil {
		return nil, nil, err
	}
	if len(doc.Calls) != 1 || doc.Calls[0].Tool != u.Tool || doc.Calls[0].Rest != nil {
		return nil, nil, errors.New("its params are those of the tool, without members that begin with _")
	}
	var kinds []*lang.Expr
	for _, m := range doc.Calls[0].Params {
		for _, t := range m.Value.Texts() {
			for _, part := range t.Parts {
				kinds = append(kinds, refsIn(part.Expr)...)
			}
		}
	}
	slices.SortFunc(kinds, func(a, b *lang.Expr) int { return cmp.Compare(b.KindSpan.Start, a.KindSpan.Start) })
	for _, e := range kinds {
		if !slices.Contains([]string{"params", "result", "key", "failure"}, e.Kind) {
			return nil, nil, fmt.Errorf("†%s: an undo reads params, result, key and failure of the call", e.Kind)
		}
		reads = append(reads, e.Kind)
		text = slices.Insert(text, int(e.KindSpan.Start), []byte("input."+name+".")...)
	}
	return undoText(text[1 : len(text)-1]), reads, nil
}

// refsIn returns the references of an expression.
func refsIn(e *lang.Expr) (all []*lang.Expr) {
	switch {
	case e == nil:
		return nil
	case e.Op == lang.OpRef:
		return []*lang.Expr{e}
	}
	for _, a := range e.Args {
		all = append(all, refsIn(a)...)
	}
	return all
}

// Undo begins the run that undoes another, or goes on with it if it has begun; Do does it. The
// error is a *PlanError when one of its calls must not be made.
func (e *Engine) Undo(ctx context.Context, u *Undoing) (r *Run, err error) {
	store, err := e.records()
	if err != nil {
		return nil, err
	}
	held, err := store.Resume(ctx, u.Run) // so that nobody goes on with it meanwhile
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, held.Close()) }()
	var undone *UndoneError
	if err := notUndone(ctx, store, u.Run); errors.As(err, &undone) {
		return e.Continue(ctx, undone.By, Change{Edit: u.edit})
	} else if err != nil {
		return nil, err
	}
	if len(u.Calls) == 0 {
		return nil, fmt.Errorf("there is nothing to undo of the run %s", u.Run)
	}
	spec := u.spec
	spec.Plan = Source{Name: "undo " + u.Run, Text: string(u.document)}
	spec.Values = Values{Input: []Source{{Name: "<what the run did>", Text: string(u.input)}}}
	spec.Labels = map[string]string{undoes: u.Run, undoing: strconv.Itoa(len(u.Calls))}
	if len(u.Stands) > 0 {
		spec.Labels[standing] = strconv.Itoa(len(u.Stands))
	}
	p, err := e.Prepare(ctx, spec)
	if err != nil {
		return nil, err
	}
	return p.begin(ctx, u.ID)
}

// checkUndo finds what is wrong with what takes back the calls of a plan.
func (c *Checker) checkUndo(prog *compile.Program) (found diag.List) {
	seen := map[string]bool{}
	for _, t := range prog.Targets() {
		name := t.Tool.Definition.Name
		if seen[name] {
			continue
		}
		seen[name] = true
		def, undo := undoOf(c.Catalogue, t.Tool)
		if undo == nil {
			continue
		}
		for _, f := range c.checkUndoOf(def, undo) {
			found = append(found, diag.Finding{
				Code: f.Code, Severity: diag.Error, Loc: def.Loc, Pointer: "/undo",
				Message: fmt.Sprintf("tool %q: its undo: %s", def.Name, f.Message),
			})
		}
	}
	return found
}

// checkUndoOf compiles the call that takes back a call of a tool.
func (c *Checker) checkUndoOf(def *tool.Definition, undo *tool.Undo) diag.List {
	text, reads, err := undoCall(undo, "c0")
	if err == nil && undo.WhenUncertain && slices.Contains(reads, "result") {
		err = errors.New("it reads †result, which is not there when nobody knows whether the call did its work; leave whenUncertain out, or the reference")
	}
	if err != nil {
		return diag.List{{Code: diag.BadSchema, Message: err.Error()}}
	}
	of := map[string]any{
		"params": schemaText(def.Params), "key": map[string]any{"type": "string"},
		"failure": json.RawMessage(`{"type":"object","properties":{"code":{"type":"string"},"message":{"type":"string"}},"required":["code","message"]}`),
	}
	of["result"] = schemaText(def.Output)
	required := slices.Sorted(maps.Keys(of))
	schema := encoded(map[string]any{
		"type": "object", "required": []string{"c0"}, "additionalProperties": false,
		"properties": map[string]any{"c0": map[string]any{"type": "object", "properties": of, "required": required, "additionalProperties": false}},
	})
	f := diag.NewFile("undo", encoded(map[string]any{"calls": []json.RawMessage{text.with("undo", nil, "")}, "output": nil}))
	doc, findings := lang.Parse(f, nil)
	o := *c.options
	o.Values, o.Run, o.Instances, o.Delegates, o.Budget = map[string]compile.Given{}, false, false, nil, compile.Budget{}
	o.Schemas = map[string]compile.Given{"input": {JSON: schema, Loc: diag.Loc{File: f}}}
	_, more := compile.Compile(doc, &o)
	return slices.DeleteFunc(append(findings, more...), func(f diag.Finding) bool { return f.Severity != diag.Error })
}

// schemaText returns a schema that stands by itself; any, when it refers to others.
func schemaText(s *schemas.Schema) json.RawMessage {
	if s == nil {
		return json.RawMessage("true")
	}
	text := s.Text()
	if strings.Contains(string(text), `"$`) {
		return json.RawMessage("true")
	}
	return text
}
