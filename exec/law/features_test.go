package law

import (
	"slices"
	"strings"
)

// features are what the plans of a test are to have in them.
var features = []string{
	"run", "a hundred calls", "refused PLC302", "refused PLC302 by types", "refused PLC401", "refused PLC402", "refused by the schema",
	"handled failure", "unhandled failure", "skipped", "skipped because of a failure", "last alternative chosen", "fallback",
	"forward reference", "||", "&&", "†{", "[*]", "[-1]", ".0", "_when", "_dependsOn", "_errorPath", "_retry", "_scopes", "_expect", "a fallback with params", "_output",
	"push", "concat", "merge", "assign", "a write on a list", "a reader from nothing", "fan-out", "schema", "output", "lenient", "strict effects",
	"effects of a domain", "lost answer", "timeout",
	"runs", "forEach", "reduce", "repeat", "choose", "a failure inside", "delegates in delegates", "refused with documents",
}

// features are those of a plan that ran.
func (p *plan) features(r *reading) []string {
	text := p.text()
	found := []string{"run"}
	add := func(name string, there bool) {
		if there && !slices.Contains(found, name) {
			found = append(found, name)
		}
	}
	for _, name := range []string{"||", "&&", "†{", "[*]", "[-1]", ".0", "_when", "_dependsOn", "_errorPath", "_retry", "_scopes", "_expect"} {
		add(name, strings.Contains(text, name))
	}
	for _, e := range r.log {
		add(e.Method.String(), true)
		add("a write on a list", len(e.Path) > 2 && e.Path[2].Kind != 0)
	}
	add("a reader from nothing", r.fromNothing)
	add("a hundred calls", len(p.Calls) >= 100)
	add("schema", p.Schema != "")
	add("output", p.Output != "")
	add("lenient", p.Lenient)
	add("strict effects", p.Effects == "strict")
	for _, c := range p.Calls {
		add("effects of a domain", strings.HasPrefix(c.Tool, "pays") && definitions[c.Tool].Domain != "")
		add("lost answer", c.Does.Lost > 0)
		add("timeout", c.Does.Hangs > 0)
	}
	for _, c := range p.Calls {
		add("delegates in delegates", c.Sub != nil && len(c.Sub.files()) > 0)
	}
	for _, s := range r.list {
		add(s.Tool, slices.Contains([]string{"runs", "forEach", "reduce", "repeat", "choose"}, s.Tool) && s.status == "completed")
		add("a failure inside", s.delegated() && s.err != nil && s.err.code == "delegate")
		add("skipped because of a failure", s.status == "skipped" && s.byFailure)
		add("skipped", s.status == "skipped" && !s.byFailure)
		add("handled failure", s.handled)
		add("unhandled failure", s.status == "failed" && !s.handled)
		add("fallback", s.rest.Fallback != nil && s.status == "completed")
		add("a fallback with params", s.rest.Fallback != nil && s.rest.Fallback.Own && s.status == "completed")
		add("_output", s.rest.HasOutput && s.status == "completed")
		last := len(s.alternatives) - 1
		add("last alternative chosen", last > 0 && s.status == "completed" && s.outcome == s.spelled[last])
		add("fan-out", last == 0 && len(s.alternatives[0]) > 1 && s.status == "completed")
		add("forward reference", slices.ContainsFunc(s.needs, func(o *step) bool { return o.index > s.index }))
	}
	return found
}
