// Package arazzo reads and writes workflows of OpenAPI Arazzo 1.0 and 1.1, in JSON or
// YAML: steps that call operations of an API, with runtime expressions.
//
//	arazzo: 1.0.1
//	sourceDescriptions: [{name: pets, url: ./pets.yaml, type: openapi}]
//	workflows:
//	- workflowId: buy
//	  steps:
//	  - stepId: find
//	    operationId: findPet
//	    parameters: [{name: tag, in: query, value: $inputs.tag}]
//	    outputs: {id: $response.body#/0/id}
//	  - stepId: order
//	    operationId: order
//	    requestBody: {payload: {pet: $steps.find.outputs.id, note: "for {$inputs.who}"}}
//
// An operation is a tool, whose result is the body of the response; a request body is its param
// body. Data decide in which order steps go, and not their list: jumps (goto, end) and criteria are
// passed over, with one warning for the document. The plan is the workflow that no other one calls.
package arazzo

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/lang/dialect"
	"github.com/plc-lang/plc/lang/dialect/tree"
)

// Notation returns the notation of Arazzo.
func Notation() *dialect.Notation {
	return &dialect.Notation{Name: "arazzo", What: "an Arazzo workflow", Read: read, Write: write, Catalogue: catalogue}
}

// workflow is a workflow of the document.
type workflow struct {
	tree.Value
	id    string
	steps []*step
	byID  map[string]*step
}

// step is a step of a workflow.
type step struct {
	tree.Value
	id    string
	place int
	calls string // the workflow that it calls, "" for an operation
	idle  bool   // it calls nothing
	// params are its parameters, when they were found.
	params []param
}

// param is a parameter of a step.
type param struct {
	tree.Value            // that describes it
	value      tree.Value // which a reusable object may replace
}

type reader struct {
	*dialect.Builder
	root      tree.Value
	workflows []*workflow
	byID      map[string]*workflow

	flow    *workflow       // that is read
	used    map[string]bool // the inputs that it refers to
	schemas *schemaWriter
	labels  tree.Labels
	found   map[lang.Node][]tree.Found
	passed  []passed // what was passed over
}

func read(b *dialect.Builder) {
	root, ok := tree.ReadAny(b)
	if !ok {
		return
	}
	r := &reader{Builder: b, root: root, byID: map[string]*workflow{}}
	if !r.version() {
		return
	}
	for _, w := range root.Get("workflows").Elements() {
		r.workflow(w)
	}
	if len(r.workflows) == 0 && !b.Found() {
		b.Errorf(root.At(), diag.BadNotation, "the document has no workflows")
	}
	plan := r.plan()
	for _, w := range r.workflows {
		if w != plan {
			r.check(w)
			r.Beside(func() { r.write(w) })
		}
	}
	if plan != nil {
		r.check(plan)
		if d := plan.Get("dependsOn"); d.Len() > 0 {
			r.Warnf(d.At(), diag.PassedOver, "the plan is one workflow; those that it depends on are passed over")
		}
		r.write(plan)
	}
	r.tellPassed()
}

// version checks that this is an Arazzo document.
func (r *reader) version() bool {
	v := r.root.Get("arazzo")
	switch {
	case v.IsZero():
		r.Errorf(r.root.At(), diag.BadNotation, "an Arazzo document is an object with arazzo and workflows, and not %s", r.root.Describe())
		return false
	case !strings.HasPrefix(v.Word(), "1."):
		r.Errorf(v.At(), diag.BadNotation, "Arazzo %s is not read, only 1.0 and 1.1", v.Word())
		return false
	}
	if !r.root.Get("workflows").Is(lang.Array) {
		r.Errorf(r.root.At(), diag.BadNotation, "the document has no list of workflows")
		return false
	}
	return true
}

// workflow notes a workflow and its steps.
func (r *reader) workflow(v tree.Value) {
	w := &workflow{Value: v, id: v.Get("workflowId").Str(), byID: map[string]*step{}}
	if w.id == "" {
		r.Errorf(v.At(), diag.BadNotation, "the workflow has no workflowId")
		return
	}
	if r.byID[w.id] != nil {
		r.Errorf(v.Get("workflowId").All(), diag.DuplicateID, "two workflows have the workflowId %q", w.id)
		return
	}
	tree.Known(r.Builder, v, "a workflow", "workflowId", "summary", "description", "inputs", "dependsOn", "steps",
		"successActions", "failureActions", "outputs", "parameters")
	for _, s := range v.Get("steps").Elements() {
		r.step(w, s)
	}
	if len(w.steps) == 0 && !r.Found() {
		r.Errorf(v.At(), diag.BadNotation, "the workflow %q has no steps", w.id)
	}
	r.Owner(v.At(), "", w.id)
	r.byID[w.id] = w
	r.workflows = append(r.workflows, w)
}

func (r *reader) step(w *workflow, v tree.Value) {
	s := &step{Value: v, id: v.Get("stepId").Str(), place: len(w.steps), calls: localID(v.Get("workflowId").Str())}
	if s.id == "" {
		r.Errorf(v.At(), diag.BadNotation, "the step has no stepId")
		return
	}
	r.Owner(v.At(), s.id, w.id)
	tree.Known(r.Builder, v, "a step", "stepId", "description", "operationId", "operationPath", "channelPath", "workflowId", "parameters",
		"requestBody", "successCriteria", "onSuccess", "onFailure", "outputs", "timeout", "correlationId", "action", "dependsOn")
	n := 0
	for _, name := range targets() {
		if v.Has(name) {
			n++
		}
	}
	s.idle = n == 0
	switch {
	case n == 0:
		r.Errorf(v.At(), diag.BadNotation, "the step %q calls nothing; it has an operationId, an operationPath or a workflowId", s.id)
	case n > 1:
		r.Errorf(v.At(), diag.BadNotation, "the step %q calls more than one: of operationId, operationPath, channelPath and workflowId it has %d", s.id, n)
	}
	if w.byID[s.id] == nil {
		w.byID[s.id] = s
	}
	w.steps = append(w.steps, s)
}

// targets returns the members of a step that say what it calls; the last is an extension of
// Redocly.
func targets() []string {
	return []string{"operationId", "operationPath", "channelPath", "workflowId", "x-operation"}
}

// localID returns the workflow that a workflowId names, without the document that it is in.
func localID(id string) string {
	if rest, ok := strings.CutPrefix(id, "$sourceDescriptions."); ok {
		_, id, _ = strings.Cut(rest, ".")
		id = strings.TrimPrefix(id, "workflows.")
	}
	return id
}

// plan returns the workflow that is the plan: the one that no other calls.
func (r *reader) plan() *workflow {
	called := map[string]bool{}
	for _, w := range r.workflows {
		for _, s := range w.steps {
			if s.calls != "" && s.calls != w.id {
				called[s.calls] = true
			}
		}
	}
	var plan *workflow
	var others []*workflow
	for _, w := range r.workflows {
		switch {
		case called[w.id]:
		case plan == nil:
			plan = w
		default:
			others = append(others, w)
		}
	}
	if len(others) > 0 {
		what := "this one is"
		if len(others) > 1 {
			what = fmt.Sprintf("this and %s are", dialect.Count(len(others)-1, "other workflow"))
		}
		r.Warnf(others[0].Get("workflowId").All(), diag.PassedOver, "the plan is the workflow %q; %s only checked", plan.id, what)
	}
	if plan == nil && len(r.workflows) > 0 {
		plan = r.workflows[0]
	}
	return plan
}

// maxShared bounds what the parameters and actions of a workflow become in its steps.
const maxShared = 1_000_000

// check finds the references of a workflow, and judges them.
func (r *reader) check(w *workflow) {
	r.flow, r.found, r.used = w, map[lang.Node][]tree.Found{}, map[string]bool{}
	r.labels = tree.Labels{Spell: func(id string) string { return "$steps." + id }}
	for _, s := range w.steps {
		r.labels.Step(s.id)
	}
	if n := w.Get("parameters").Len() + w.Get("successActions").Len() + w.Get("failureActions").Len(); n*len(w.steps) > maxShared {
		r.Errorf(w.Get("workflowId").At(), diag.OverLimit, "%d parameters and actions for each of %d steps are more than %d", n, len(w.steps), maxShared)
		return
	}
	for _, s := range w.steps {
		s.params = r.parameters(s)
		for _, p := range s.params {
			r.refs(p.value, s.place)
		}
		r.refs(s.Get("requestBody").Get("payload"), s.place)
		for _, p := range s.Get("requestBody").Get("replacements").Elements() {
			r.refs(p.Get("value"), s.place)
		}
		for m := range s.Get("outputs").Members() {
			r.output(s, m)
		}
		r.shape(s)
	}
	r.actions(w.Get("successActions"), "success")
	r.actions(w.Get("failureActions"), "failure")
	r.refs(w.Get("outputs"), len(w.steps))
	r.labels.Judge(r.Builder)
}

// parameters returns those of a step: its own, and those of the workflow that it does not
// replace. A reference to a component stands for it.
func (r *reader) parameters(s *step) (list []param) {
	own := map[string]bool{}
	key := func(c tree.Value) string { return c.Get("in").Str() + " " + c.Get("name").Str() }
	add := func(v tree.Value, wanted func(c tree.Value) bool) {
		c := r.component(v)
		if c.IsZero() || !wanted(c) {
			return
		}
		p := param{c, c.Get("value")}
		if v.Has("reference", "value") {
			p.value = v.Get("value")
		}
		list = append(list, p)
	}
	for _, v := range s.Get("parameters").Elements() {
		add(v, func(c tree.Value) bool { own[key(c)] = true; return true })
	}
	for _, v := range r.flow.Get("parameters").Elements() {
		add(v, func(c tree.Value) bool { return !own[key(c)] })
	}
	return list
}

// component returns a parameter, or what a reusable object refers to; the zero Value, and
// reported, for one that is not there.
func (r *reader) component(p tree.Value) tree.Value {
	c, ok := r.reused(p, "parameters")
	if !ok {
		r.Errorf(p.Get("reference").All(), diag.NothingThere, "%s is no component of this document", p.Get("reference").Str())
	}
	return c
}

// reused returns what a reusable object refers to, among the components of a kind; v itself if it
// is none.
func (r *reader) reused(v tree.Value, kind string) (c tree.Value, ok bool) {
	ref := v.Get("reference")
	if ref.IsZero() {
		return v, true
	}
	name, ok := strings.CutPrefix(ref.Str(), "$components."+kind+".")
	c = r.root.Get("components").Get(kind).Get(name)
	return c, ok && !c.IsZero()
}

// write writes a workflow.
func (r *reader) write(w *workflow) {
	r.Object(w.At())
	r.context(w)
	r.Member("calls", w.At())
	r.List(w.At())
	for _, s := range w.steps {
		r.call(s)
	}
	r.Close()
	if out := w.Get("outputs"); out.Is(lang.Object) && out.Len() > 0 {
		r.Member("output", out.At())
		r.values(out)
	}
	r.Close()
}

func (r *reader) call(s *step) {
	r.Object(s.At())
	name, at := r.tool(s)
	r.Member("_tool", at)
	r.String(name, at)
	id := s.Member("stepId")
	r.Member("_id", id.Key)
	r.String(s.id, id.Value.All())
	tree.Prose(r.Builder, "_description", s.Member("description"))
	r.params(s)
	r.dependsOn(s)
	r.control(s)
	r.Member("_outputPath", id.Key)
	r.Path(s.id, id.Value.All())
	r.Close()
}

// tool returns the name of the tool that a step calls.
func (r *reader) tool(s *step) (name string, at diag.Span) {
	if v := s.Get("workflowId"); v.Is(lang.String) {
		return s.calls, v.All()
	}
	if v := s.Get("operationId"); v.Is(lang.String) {
		return operation(r.root, v.Str()), v.All()
	}
	if v := s.Get("x-operation"); v.Is(lang.Object) {
		return strings.ToUpper(v.Get("method").Str()) + " " + v.Get("url").Str(), v.At()
	}
	v := s.First("operationPath", "channelPath").Value
	if v.IsZero() {
		return dialect.StepTool, s.At() // reported
	}
	return pathTool(v.Str()), v.All()
}

// operation returns the operation that an operationId names, without the document that it is in.
func operation(root tree.Value, id string) string {
	rest, ok := strings.CutPrefix(id, "$sourceDescriptions.")
	if !ok {
		rest = id
	}
	for _, d := range root.Get("sourceDescriptions").Elements() {
		if op, found := strings.CutPrefix(rest, d.Get("name").Str()+"."); found && d.Get("name").Str() != "" {
			return op
		}
	}
	if ok {
		_, rest, _ = strings.Cut(rest, ".")
	}
	return rest
}

// pathTool returns the tool of an operation without an operationId: its method and path.
func pathTool(path string) string {
	_, pointer, _ := strings.Cut(path, "#/")
	parts := strings.Split(pointer, "/")
	for i, p := range parts {
		parts[i] = jsonscan.UnescapePointer(p)
	}
	switch {
	case len(parts) == 3 && parts[0] == "paths":
		return strings.ToUpper(parts[2]) + " " + parts[1]
	case len(parts) >= 2:
		return strings.Join(parts[1:], " ")
	}
	return path
}

// params writes the parameters and the body.
func (r *reader) params(s *step) {
	first := map[string]diag.Span{}
	names := r.newNames(s)
	for _, p := range s.params {
		name := p.Get("name")
		if name.Word() == "" {
			r.Errorf(p.At(), diag.BadNotation, "the parameter has no name")
			continue
		}
		in := p.Get("in").Word()
		key := in + " " + name.Word()
		if at, ok := first[key]; ok {
			f := r.Errorf(name.All(), diag.DuplicateMember, "the parameter %q is there twice", name.Word())
			f.Related = []diag.Related{{Loc: diag.Loc{File: r.File, Span: at}, Message: "also here"}}
			continue
		}
		first[key] = name.All()
		r.Member(names.free(name.Word(), in), name.All())
		if p.value.IsZero() {
			r.Errorf(p.At(), diag.BadNotation, "the parameter %q has no value", name.Word())
			r.JSON("null", p.At())
			continue
		}
		r.values(p.value)
	}
	r.body(s, names)
	if s.idle { // which was reported
		r.Member("description", s.At())
		r.Parts(s.At(), dialect.Fault(s.At()))
	}
}

// paramNames gives the parameters of an operation their names as params of a tool, as
// tool/openapi does: the name itself or, where another has that or it begins with an
// underscore, which the language keeps for itself, query_NAME.
type paramNames struct {
	taken map[string]bool
	known []string // the params that the tool has
}

func (r *reader) newNames(s *step) *paramNames {
	n := &paramNames{taken: map[string]bool{}}
	if r.Options.Params != nil {
		name, _ := r.tool(s)
		n.known, _ = r.Options.Params(name)
	}
	return n
}

func (n *paramNames) free(name, in string) string {
	if in == "" {
		in = "input"
	}
	other := in + "_" + name
	if strings.HasPrefix(name, "_") || n.taken[name] || slices.Contains(n.known, other) {
		name = other
	}
	n.taken[name] = true
	return name
}

// body returns the name of the param that is the body of a request.
func (n *paramNames) body() string {
	if n.taken["body"] {
		return "requestBody"
	}
	return "body"
}
