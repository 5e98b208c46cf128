package arazzo

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/lang/dialect/tree"
)

// shape reports what Arazzo does not allow in a step, apart from what it refers to.
func (r *reader) shape(s *step) {
	if a := s.Get("action"); !a.IsZero() && a.Str() != "send" && a.Str() != "receive" {
		r.Errorf(a.At(), diag.BadNotation, "%s is no action; it is send or receive", a.AppendJSON(nil))
	}
	if t := s.Get("timeout"); t.Is(lang.NumberValue) && strings.HasPrefix(t.Word(), "-") {
		r.Errorf(t.At(), diag.BadNotation, "the timeout is negative")
	}
	if c := s.Get("successCriteria"); c.Is(lang.Array) && c.Len() == 0 {
		r.Errorf(c.At(), diag.BadNotation, "the list of successCriteria is empty")
	}
	for _, p := range s.Get("parameters").Elements() {
		if in := p.Get("in"); !in.IsZero() && !slices.Contains(places(), in.Str()) {
			r.Warnf(in.At(), diag.PassedOver, "a parameter is in %s, and not in %s, which is passed over", strings.Join(places(), ", "), in.Word())
		}
	}
	r.actions(s.Get("onSuccess"), "success")
	r.actions(s.Get("onFailure"), "failure")
}

// places returns where the parameters of an operation go.
func places() []string { return []string{"path", "query", "header", "cookie", "querystring"} }

// actions reports what is wrong with what to do after a success or a failure.
func (r *reader) actions(list tree.Value, after string) {
	types := []string{"end", "goto"}
	if after == "failure" {
		types = append(types, "retry")
	}
	for _, v := range list.Elements() {
		a, ok := r.reused(v, after+"Actions")
		if !ok {
			r.Errorf(v.Get("reference").All(), diag.NothingThere, "%s is no component of this document", v.Get("reference").Str())
			continue
		}
		switch t := a.Get("type"); {
		case t.IsZero():
			r.Errorf(a.At(), diag.BadNotation, "the action has no type; it is one of %s", strings.Join(types, ", "))
		case !slices.Contains(types, t.Str()):
			r.Errorf(t.At(), diag.BadNotation, "%s is no type of an action after a %s; it is one of %s", t.AppendJSON(nil), after, strings.Join(types, ", "))
		default:
			r.jump(a)
		}
	}
}

// jump reports a jump to nowhere.
func (r *reader) jump(a tree.Value) {
	to, flow := a.Get("stepId"), a.Get("workflowId")
	switch {
	case !to.IsZero() && !flow.IsZero():
		r.Errorf(a.At(), diag.BadNotation, "the action has a stepId and a workflowId")
	case a.Get("type").Str() == "goto" && to.IsZero() && flow.IsZero():
		r.Errorf(a.At(), diag.BadNotation, "the action goes nowhere: it has neither a stepId nor a workflowId")
	case !to.IsZero() && !strings.HasPrefix(to.Str(), "$") && r.flow.byID[to.Str()] == nil:
		f := r.Errorf(to.All(), diag.NothingThere, "no step of this workflow is %q", to.Str())
		if near, ok := r.labels.Nearest(to.Str()); ok {
			f.Message += fmt.Sprintf("; did you mean %q?", near)
		}
	case !flow.IsZero() && !strings.HasPrefix(flow.Str(), "$") && r.byID[flow.Str()] == nil:
		r.Errorf(flow.All(), diag.NothingThere, "no workflow is %q", flow.Str())
	}
}

// dependsOn writes the steps that one waits for. Those of other workflows are not in the plan.
func (r *reader) dependsOn(s *step) {
	m := s.Member("dependsOn")
	if !tree.IsNames(r.Builder, m) {
		return
	}
	var here []tree.Value
	for _, d := range m.Value.Elements() {
		if strings.HasPrefix(d.Str(), "$workflows.") || strings.HasPrefix(d.Str(), "$sourceDescriptions.") {
			r.Warnf(d.All(), diag.PassedOver, "this is a step of another workflow, and the plan is one; it is passed over")
			continue
		}
		here = append(here, d)
	}
	if len(here) == 0 {
		return
	}
	r.Member("_dependsOn", m.Key)
	r.List(m.Value.At())
	for _, d := range here {
		r.String(strings.TrimPrefix(d.Word(), "$steps."), d.All())
	}
	r.Close()
}

// control writes what is said of success, failure and time, as far as a plan has it.
func (r *reader) control(s *step) {
	r.criteria(s)
	if t := s.Get("timeout"); t.Is(lang.NumberValue) && !strings.HasPrefix(t.Word(), "-") {
		r.Member("_timeout", t.At())
		r.String(fmt.Sprintf("%sms", t.Word()), t.At())
	}
	retried := false
	for _, v := range r.after(s, "onFailure", "failureActions") {
		a, _ := r.reused(v, "failureActions")
		switch a.Get("type").Str() {
		case "retry":
			if !retried {
				r.retry(a)
			}
			retried = true
		case "goto":
			r.passOver(v.At(), "goto after a failure")
		}
	}
	last := s.place+1 == len(r.flow.steps)
	for i, v := range r.after(s, "onSuccess", "successActions") {
		a, _ := r.reused(v, "successActions")
		t := a.Get("type").Str()
		next := t == "goto" && !last && a.Get("stepId").Str() == r.flow.steps[s.place+1].id
		if t == "goto" && !next || t == "end" && (!last || i > 0) {
			r.passOver(v.At(), t+" after a success")
		}
	}
}

// passed is something that a plan can't say.
type passed struct {
	at   diag.Span
	what string
}

// passOver notes what is passed over, once a place: what a workflow says is for all of its
// steps.
func (r *reader) passOver(at diag.Span, what string) {
	if p := (passed{at, what}); !slices.Contains(r.passed, p) {
		r.passed = append(r.passed, p)
	}
}

// tellPassed tells all that was passed over, once a document: jumps are a warning, criteria alone
// are not.
func (r *reader) tellPassed() {
	if len(r.passed) == 0 {
		return
	}
	var kinds []string
	count := map[string]int{}
	for _, p := range r.passed {
		if count[p.what]++; count[p.what] == 1 {
			kinds = append(kinds, p.what)
		}
	}
	for i, kind := range kinds {
		if count[kind] > 1 {
			kinds[i] = fmt.Sprintf("%s (%d times)", kind, count[kind])
		}
	}
	report := r.Infof
	if slices.ContainsFunc(kinds, func(kind string) bool { return !strings.Contains(kind, "criteria") }) {
		report = r.Warnf // other steps may run than the workflow says
	}
	report(r.passed[0].at, diag.PassedOver, "a plan has no jumps and no criteria; passed over: %s", strings.Join(kinds, ", "))
}

// after returns the actions after a step: its own, or else those of the workflow.
func (r *reader) after(s *step, own, others string) []tree.Value {
	if s.Has(own) {
		return s.Get(own).List()
	}
	return r.flow.Get(others).List()
}

// criteria writes the success criteria, in words; that a response is a good one every
// call wants.
func (r *reader) criteria(s *step) {
	var words []string
	var list []tree.Value
	for _, c := range s.Get("successCriteria").Elements() {
		text := c.Get("condition").Str()
		if fields := strings.Fields(text); len(fields) == 3 && fields[0] == "$statusCode" && fields[1] == "==" && strings.HasPrefix(fields[2], "2") {
			continue
		}
		words, list = append(words, text), append(list, c)
	}
	if len(words) > 0 {
		at := tree.Join(list)
		r.passOver(at, "success criteria (kept as words)")
		r.Member("_expect", at)
		r.String(strings.Join(words, " and "), at)
	}
}

// retry writes how often a step is tried again.
func (r *reader) retry(a tree.Value) {
	limit, after := a.Get("retryLimit").Word(), a.Get("retryAfter")
	if limit == "" {
		limit = "1"
	}
	r.Member("_retry", a.At())
	r.Object(a.At())
	r.Member("max", a.At())
	r.JSON(limit, a.At())
	if after.Is(lang.NumberValue) {
		r.Member("delay", after.At())
		tree.Scalar(r.Builder, after)
	}
	r.Close()
	if a.Get("criteria").Len() > 0 {
		r.passOver(a.Get("criteria").At(), "criteria of a retry")
	}
}
