package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/cmd/plc/internal/server/html"
	"github.com/plc-lang/plc/dag/draw"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/exec/forecast"
	"github.com/plc-lang/plc/journal"
)

// played holds the content of the playground.
type played struct {
	view
	planForm
	Problem         string
	Refused         string            // why the run was not started
	Asked           bool              // a person has sent the form, so the focus is on the result
	Graph           []byte            // SVG
	MayRun, OK, Bad bool              // Bad: a value other than the plan can't be read
	Tools           []Tool            // the first mostTools
	Raw             []json.RawMessage // findings
	Findings        []finding
	Effects         []forecast.Effect
	Calls           []forecast.Call
	More            bool           // there are more calls than these
	Asks            []string       // other questions that may come, a line each
	Most            forecast.Count // the calls that are made at most
}

// planForm holds the fields of the playground's form.
type planForm struct {
	Plan, Notation, Input, Name, Documents string
	Instances, Labels                      string // one per line
}

// finding is a finding as the page shows it.
type finding struct {
	File, Code, Severity, Message string
	Line, Column                  int
	Fix                           *fix
}

// fix is the fix of a finding.
type fix struct {
	Message string
	Edits   []edit
}

// edit replaces the bytes between two offsets.
type edit struct {
	Offset, EndOffset int
	Text              string
}

// apply returns a text with the fix applied. If the fix does not fit the text, it returns the text
// unchanged.
func (f *fix) apply(text string) string {
	edits := slices.Clone(f.Edits)
	slices.SortFunc(edits, func(a, b edit) int { return b.Offset - a.Offset })
	for i, e := range edits {
		if e.Offset < 0 || e.EndOffset < e.Offset || e.EndOffset > len(text) || i > 0 && e.EndOffset > edits[i-1].Offset {
			return text
		}
		text = text[:e.Offset] + e.Text + text[e.EndOffset:]
	}
	return text
}

// playground checks a plan that a person types, shows what it would do, makes fixes, and runs it.
func (s *Server) playground(w http.ResponseWriter, r *http.Request) {
	v := &played{
		view: viewOf(r, "Playground"), MayRun: callerOf(r).may(Run),
		planForm: planForm{
			Plan: typed(r, "plan"), Notation: r.PostFormValue("notation"), Input: typed(r, "input"),
			Name: strings.TrimSpace(r.PostFormValue("name")), Documents: typed(r, "documents"), Instances: typed(r, "instances"), Labels: typed(r, "labels"),
		},
		Asked: r.PostFormValue("do")+r.PostFormValue("fix") != "",
	}
	v.Bad = !v.read(r)
	for t := range s.tools.Listed() {
		if len(v.Tools) == mostTools {
			break
		}
		d := t.Whole().Definition
		v.Tools = append(v.Tools, Tool{Signature: d.Signature(), Description: d.Description})
	}
	if run := r.URL.Query().Get("run"); run != "" {
		if err := s.fill(r, v, run); err != nil {
			fail(w, r, err)
			return
		}
	}
	if r.Method == http.MethodPost {
		if r.PostFormValue("do") == "run" && v.MayRun && !v.Bad {
			var run string
			in, err := v.started()
			if err == nil && in.Instances != "" {
				err = s.faultyLine(r, in)
			}
			if err == nil {
				run, _, err = s.startRun(r, in, nil)
			}
			if err == nil {
				http.Redirect(w, r, place{run: run}.url().String(), http.StatusSeeOther)
				return
			}
			v.Refused = err.Error()
		}
		s.play(r, v)
		if v.Problem == v.Refused { // the page shows it already
			v.Problem = ""
		}
		if n, err := strconv.Atoi(r.PostFormValue("fix")); err == nil && n >= 0 && n < len(v.Findings) && v.Findings[n].Fix != nil {
			v.Plan = v.Findings[n].Fix.apply(v.Plan)
			s.play(r, v)
		}
	}
	show(w, http.StatusOK, v.page())
}

// fill fills the form with the plan, input and settings of a run, as far as there are fields for
// them.
func (s *Server) fill(r *http.Request, v *played, run string) error {
	sum, err := s.opts.Engine.Summary(r.Context(), run)
	if err != nil {
		return err
	}
	given, err := s.opts.Engine.Given(r.Context(), sum.Run)
	if err != nil {
		return err
	}
	spec, _, err := plc.ReadSettings(given)
	if err != nil {
		return err
	}
	v.Plan, v.Notation, v.Instances = string(given.Plan.Bytes), spec.Plan.Notation, spec.Instances.Text
	if name := strings.Trim(sum.Plan, "<>"); name != sum.Plan && checkName(name) == nil {
		v.Name = name
	}
	if p, err := s.opts.Engine.PlanOf(r.Context(), sum.Run); err == nil && !isNull(p.Program.Initial["input"]) {
		v.Input = indented(p.Program.Initial["input"])
	}
	documents := map[string]json.RawMessage{}
	for _, t := range given.Texts {
		if t.Role != journal.Document {
			continue
		}
		if documents[t.Name] = t.Bytes; !json.Valid(t.Bytes) {
			documents[t.Name], _ = json.Marshal(string(t.Bytes)) // a text in another notation
		}
	}
	if text, err := json.Marshal(documents); err == nil {
		v.Documents = indented(text)
	}
	var labels []string
	for name, value := range s.summary(sum).Labels {
		if !reserved(name) {
			labels = append(labels, name+"="+value)
		}
	}
	slices.Sort(labels)
	v.Labels = strings.Join(labels, "\n")
	return nil
}

// indented returns JSON over several lines, and nothing for an object without members.
func indented(value json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, value, "", "  ") != nil || b.String() == "{}" {
		return ""
	}
	return b.String()
}

// read reads the file of instances, if the person chose one, and reports whether all values other
// than the plan can be read.
func (v *played) read(r *http.Request) bool {
	if file, _, err := r.FormFile("file"); err == nil {
		defer file.Close()
		text, err := io.ReadAll(file)
		switch {
		case err != nil:
			v.Problem = fmt.Sprintf("the file of instances can't be read: %v", err)
		case !utf8.Valid(text):
			v.Problem = "the file of instances is not UTF-8"
		case len(text) > 0: // else none was chosen
			v.Instances = strings.ReplaceAll(strings.TrimPrefix(string(text), "\ufeff"), "\r\n", "\n")
		}
	}
	for _, field := range []struct{ name, text string }{{"the input is", v.Input}, {"the documents are", v.Documents}} {
		var object map[string]json.RawMessage
		if err := json.Unmarshal([]byte(field.text), &object); strings.TrimSpace(field.text) != "" && err != nil {
			v.Problem = fmt.Sprintf("%s no JSON object: %s", field.name, bodyFault(err))
		}
	}
	return v.Problem == ""
}

func (v *played) planned() *Planned {
	text, _ := json.Marshal(v.Plan) // a string
	in := &Planned{Plan: text, Notation: v.Notation, Name: v.Name}
	_ = json.Unmarshal([]byte(v.Documents), &in.Documents) // read has checked it
	if strings.TrimSpace(v.Input) != "" {
		in.Input = json.RawMessage(v.Input)
	}
	if strings.TrimSpace(v.Instances) != "" {
		in.Instances = v.Instances
	}
	return in
}

// started returns the plan in the form in which a run of it is started.
func (v *played) started() (in *Planned, err error) {
	in = v.planned()
	in.Labels, err = parseLabels(lines(v.Labels))
	return in, err
}

// play checks and previews the plan.
func (s *Server) play(r *http.Request, v *played) {
	v.Raw, v.Findings, v.OK = nil, nil, false
	if v.Bad || v.Plan == "" {
		return // there is no plan, or its values can't be read
	}
	spec, err := s.spec(v.planned())
	var p *plc.Plan
	if err == nil {
		p, err = s.opts.Engine.Prepare(r.Context(), spec)
	}
	if err == nil {
		found := p.AllFindings()
		if spec.Instances.Text != "" {
			var more diag.List
			more, err = s.checkInstances(r, spec)
			found = slices.Concat(found, more)
		}
		v.Raw = findingsOf(found)
		for _, f := range v.Raw {
			var one finding
			_ = json.Unmarshal(f, &one) // our own type
			v.Findings = append(v.Findings, one)
		}
		if p.Program != nil {
			var svg bytes.Buffer
			if draw.SVG(&svg, plc.Draw(p.Program, 1)) == nil { // otherwise it is too large
				v.Graph = svg.Bytes()
			}
		}
		v.OK = p.Err() == nil && err == nil
	}
	if v.OK {
		var preview *plc.Preview
		if preview, err = p.Preview(r.Context()); err == nil {
			n := min(len(preview.DryRun.Calls), mostShown)
			v.Effects, v.Calls, v.Most, v.Asks = preview.Forecast.Effects, preview.DryRun.Calls[:n], preview.Forecast.Calls, askedBesides(preview)
			v.More = n < len(preview.DryRun.Calls)
		}
	}
	if err != nil {
		v.Problem, v.OK = err.Error(), false
	}
}

// faultyLine returns an error that names the first wrong line of the instances.
func (s *Server) faultyLine(r *http.Request, in *Planned) error {
	spec, err := s.spec(in)
	if err != nil {
		return err
	}
	found, err := s.checkInstances(r, spec)
	for _, f := range found {
		if f.Severity == diag.Error {
			return fmt.Errorf("line %d of the instances is wrong: %s; correct the line or remove it", f.Loc.File.Position(int(f.Loc.Span.Start)).Line, f.Message)
		}
	}
	return err
}

// checkInstances returns the findings about the lines of instances.
func (s *Server) checkInstances(r *http.Request, spec plc.Spec) (diag.List, error) {
	p, err := s.opts.Engine.Check(r.Context(), spec)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(p.AllFindings()), func(f diag.Finding) bool { return f.Loc.File == nil || f.Loc.File.Name != instancesName }), nil
}

// askedBesides describes the questions that may come in addition to the approvals of the calls
// themselves.
func askedBesides(p *plc.Preview) (all []string) {
	for _, r := range p.Forecast.Flows {
		for _, s := range r.Sinks() {
			if s.Call != nil && s.MayAsk() {
				all = append(all, fmt.Sprintf("%s may ask a person, since a policy wants that for its param %q.", s.Call.ID, s.Param))
			}
		}
		for _, d := range r.Duties {
			if d.MayAsk() {
				all = append(all, fmt.Sprintf("A person may be asked because of the rule %q.", d.Rule.Text))
			}
		}
	}
	for i := range p.Plan.Program.Calls {
		if c := &p.Plan.Program.Calls[i]; c.Rare != nil && c.OnFailure == "ask" {
			all = append(all, c.ID+" asks a person if it fails.")
		}
	}
	return all
}

func (v *played) page() []byte {
	area := func(label, name, rows html.Name, value string, more ...html.Item) html.Item {
		return el("p", el("label", text(label, " "), el("textarea", attr("name", name), attr("rows", rows), attr("spellcheck", "false"), html.Join(more...), html.Lines(value))))
	}
	notations := html.Each(plc.Notations(), func(n string) html.Item {
		label := n + ": " + plc.NotationWords(n)
		if n == "plan" {
			n, label = "", plc.NotationWords(n)
		}
		return el("option", attr("value", n), when(n == v.Notation, set("selected")), text(label))
	})
	return v.whole(
		el("p", attr("id", "lost"), attr("role", "status"), set("hidden"), text("The server is away; what is shown may be old.")),
		el("main", words("h1", "Playground"), el("div", class("halves"),
			el("form", attr("method", "post"), attr("id", "plan"), attr("enctype", "multipart/form-data"), html.Action(path("playground")),
				el("p", el("label", text("Name of the plan, as lists of runs show it "), el("input", attr("type", "text"), attr("name", "name"), exactly("value", v.Name), attr("autocomplete", "off")))),
				area("Plan", "plan", "18", v.Plan, set("required")),
				el("p", el("label", text("Notation "), el("select", attr("name", "notation"), notations))),
				area("Input, a JSON object", "input", "3", v.Input),
				el("details", when(v.Documents+v.Instances+v.Labels != "", set("open")), words("summary", "Documents, instances and labels"),
					area("Documents that the plan delegates to: a JSON object with a plan for each name", "documents", "4", v.Documents),
					area("Instances, a JSON object per line: the plan runs once for each", "instances", "4", v.Instances),
					el("p", el("label", text("Or a file with such lines, which takes their place (16 MiB at most; POST /v1/uploads takes larger ones) "),
						el("input", attr("type", "file"), attr("name", "file"), attr("accept", ".jsonl,.ndjson,.json,.txt")))),
					area("Labels by which the run is found, one a line, as in team=a", "labels", "2", v.Labels)),
				el("p", class("actions"), button("do", "check", "Check and preview"), text(" "), when(v.MayRun, button("do", "run", "Run"))),
				v.tools()),
			el("div", when(v.Refused != "", alert(text("It was not started: ", v.Refused))),
				el("section", attr("id", "result"), attr("aria-live", "off"), exactly("data-findings", rawList(v.Raw)), v.result())))),
		html.Module(path("static", "playground.js")))
}

// mostTools is the maximum number of tools that the playground lists.
const mostTools = 200

// tools lists the tools that a plan may call.
func (v *played) tools() html.Item {
	return el("details", words("summary", "Tools"), el("dl", html.Each(v.Tools, func(t Tool) html.Item {
		return html.Join(el("dt", el("code", text(t.Signature))), el("dd", text(t.Description)))
	})), when(len(v.Tools) == mostTools, el("p", text("These are the first ", mostTools, "; plc tools lists all."))))
}

func rawList(list []json.RawMessage) string {
	b, _ := json.Marshal(append([]json.RawMessage{}, list...)) // our own type
	return string(b)
}

// result shows the findings about the plan and its preview.
func (v *played) result() html.Item {
	var findings []html.Item
	for i, f := range v.Findings {
		where := html.Name("line ")
		if f.File == instancesName {
			where = "instances, line "
		}
		findings = append(findings, el("li", class(f.Severity), text(f.Severity, " ", f.Code, ", ", where, f.Line, ", column ", f.Column, ": ", f.Message),
			when(f.Fix != nil, text(" "), fixButton(i, f.Fix))))
	}
	led := !v.Asked || v.Refused != ""
	lead := func() html.Item { // the first part gets the focus if the person has sent the form
		if led {
			return html.Item{}
		}
		led = true
		return focused()
	}
	part := func(title html.Name, items ...html.Item) html.Item {
		return html.Join(el("h2", lead(), text(title)), html.Join(items...))
	}
	var all []html.Item
	if v.Problem != "" {
		all = append(all, el("p", class("error"), attr("role", "alert"), lead(), text(v.Problem)))
	}
	if len(findings) > 0 {
		all = append(all, part("Findings", el("ul", html.Join(findings...))))
	}
	if len(v.Graph) > 0 {
		all = append(all, part("Graph", el("div", class("wide"), attr("tabindex", "0"), html.Picture(v.Graph, "Graph of the plan"))))
	}
	if v.OK {
		all = append(all, part("What would happen", effects(v.Effects), planned(v.Calls), el("p", text("At most ", v.Most, " ", plural("tool call", int(v.Most)), " would be made."), when(v.More, text(" Only the first ", len(v.Calls), " rows are shown."))),
			html.Each(v.Asks, func(s string) html.Item { return el("p", class("warning"), text(s)) })))
	}
	return html.Join(all...)
}

func fixButton(i int, f *fix) html.Item {
	message := "mend it"
	if f != nil {
		message = f.Message
	}
	return el("button", attr("form", "plan"), attr("name", "fix"), attr("value", i), text(message))
}

// effects shows the effects of a plan.
func effects(all []forecast.Effect) html.Item {
	return html.Join(
		html.Each(all, func(e forecast.Effect) html.Item {
			return el("p", class("effect"), text(e.Tool, ": ", e.Words, " (", e.Kind.Meaning(), ")"))
		}),
		when(len(all) == 0, el("p", class("effect"), text("It changes nothing."))))
}

// planned shows the calls that a plan would make.
func planned(calls []forecast.Call) html.Item {
	cols := columns{"Call", "Tool", "Effect", "Asks a person", "Params"}
	return cols.table(html.Each(calls, func(c forecast.Call) html.Item {
		return cols.row(html.Item{}, named(c.Path, c.Instance), text(c.Tool), text(c.Effect.Meaning()), text(c.Approval),
			html.Join(html.Each(slices.Sorted(maps.Keys(c.Marks)), func(name string) html.Item { return marked(name, c.Marks[name]) }),
				when(c.Params != nil, value(c.Params, bytesShown, html.URL{})), when(c.LargeParams > 0, text("not shown: too large (", c.LargeParams, " bytes)"))))
	}))
}

// markWords has texts that say where the value of a param comes from; a known value needs none.
var markWords = map[forecast.Mark]html.Name{
	forecast.Sampled: "made up here, and another one when it runs", forecast.Recorded: "from an earlier run, and maybe another one when it runs", forecast.Unknown: "not known before it runs; what stands here may not even fit",
}

func marked(name string, m forecast.Mark) html.Item {
	why := markWords[m]
	return when(why != "", el("p", class("warning"), text(name, ": ", why)))
}
