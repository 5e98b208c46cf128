package loop

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
)

// ReadAnswer parses the JSON in a model's answer, which may be surrounded by prose. The findings
// say what was repaired, and what is invalid as JSON; ReadAnswer doesn't check the calls.
func ReadAnswer(text string) (*lang.Document, diag.List) {
	doc, findings := lang.Parse(diag.NewFile("answer", []byte(text)), &lang.Options{Answer: true})
	return doc, slices.DeleteFunc(findings, func(f diag.Finding) bool {
		return f.Severity == diag.Error && f.Code != diag.NotJSON && f.Code != diag.OverLimit && f.Code != diag.DuplicateMember
	})
}

// answerOf returns an answer as compact JSON with the members of a solution, {"calls": […],
// "output": …}, and any further members it has. A list of calls, or a plan message, becomes a
// solution without an output.
func answerOf(text string) (json.RawMessage, diag.List) {
	doc, findings := ReadAnswer(text) // the calls are checked later, with the context
	if findings.HasErrors() {
		return nil, findings
	}
	switch v := doc.Root; {
	case v.Kind() == lang.Array && doc.Form == lang.CallList:
		return ObjectOf("calls", json.RawMessage(v.AppendJSON(nil)), "output", nil).JSON(), findings
	case v.Kind() == lang.Object:
		if answer, ok := answerIn(v); ok {
			return answer, findings
		}
	}
	return nil, append(findings, diag.Finding{
		Code: diag.NotAPlan, Severity: diag.Error, Loc: diag.Loc{File: doc.File},
		Message: `the answer is no solution: it is one object {"calls": […], "output": …}`,
	})
}

// answerIn returns an object as an answer; ok is false if it isn't one.
func answerIn(v lang.Node) (answer json.RawMessage, ok bool) {
	calls, output := Member{"calls", json.RawMessage("[]")}, Member{"output", json.RawMessage("null")}
	var more []Member
	for m := range v.Members() {
		switch m.Name {
		case "plan", "calls":
			calls.Value, ok = callsOf(m.Value), true
		case "output":
			output.Value, ok = m.Value.AppendJSON(nil), true
		case "decision":
			ok = true
			fallthrough
		case "progress", "add", "remove":
			more = append(more, Member{m.Name, m.Value.AppendJSON(nil)})
		}
	}
	return writeObject(append([]Member{calls, output}, more...)...), ok
}

// tellMended emits a warning about repairs that were needed to read an answer.
func (s *solver) tellMended(findings diag.List) {
	for i := range findings {
		if f := &findings[i]; f.Code == diag.Mended {
			s.Emit(Event{Type: Warned, Text: "in the answer of the model: " + f.Message})
		}
	}
}

// faulty reports findings as an event, and returns them as text for the planner.
func (s *solver) faulty(findings diag.List) string {
	s.result.Findings = findings
	s.Emit(Event{Type: Faulty, Findings: findings})
	return compact(findings)
}

// maxTold is the maximum number of findings that the planner gets at once, and maxBytes the maximum
// length of each.
const (
	maxTold  = 20
	maxBytes = 400 // about 100 tokens
)

// compact formats the errors of a list, one per line with code, place, message and fix. A line has
// fewer than 120 tokens.
func compact(findings diag.List) string {
	var b strings.Builder
	told, left := 0, 0
	for i := range findings {
		f := &findings[i]
		if f.Severity != diag.Error {
			continue
		}
		if told++; told > maxTold {
			left++
			continue
		}
		line := f.Code.String()
		if p := strings.TrimPrefix(f.Pointer, "/solution"); p != "" {
			line += " " + p
		}
		if f.Call != "" {
			line += fmt.Sprintf(" (%s)", f.Call)
		}
		line += ": " + f.Message
		if f.Fix != nil && f.Fix.Message != "" {
			line += "; " + f.Fix.Message
		}
		fmt.Fprintf(&b, "%s\n", cut(line, maxBytes))
	}
	if left > 0 {
		fmt.Fprintf(&b, "and %d more errors\n", left)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// cut returns a line, shortened to at most most bytes.
func cut(line string, most int) string {
	if len(line) <= most {
		return line
	}
	return strings.ToValidUTF8(line[:most], "") + "…"
}

// mend repairs the solution with the fixes of its errors. It returns false if that isn't safe: an
// error has no fix, or a fix would call another tool or turn text into a reference.
func (a *attempt) mend(findings diag.List) bool {
	var fixes []*diag.Fix
	var told []string
	text := a.s.board.document(string(a.solution))
	for i := range findings {
		f := &findings[i]
		if f.Severity != diag.Error {
			continue
		}
		if !f.Sure() || f.Code == diag.UnknownTool || f.Code == diag.BareDagger || f.Code == diag.NearReference || strings.HasSuffix(f.Pointer, "/_tool") {
			return false
		}
		fixes, told = append(fixes, f.Fix), append(told, f.Message+"; "+f.Fix.Message)
	}
	mended, err := diag.ApplyFixes(text, fixes)
	if err != nil {
		return false
	}
	a.solution = json.RawMessage(gjson.GetBytes(mended, "solution").Raw)
	a.abandon()
	a.s.Emit(Event{Type: Warned, Text: "the solution was mended: " + strings.Join(told, "; ")})
	return true
}
