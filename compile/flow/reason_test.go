package flow_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/plc-lang/plc/compile/flow"
)

// Each finding about a plan has a reason, which names something that the policy requires, and the
// verdicts are those of the report.
func TestReasons(t *testing.T) {
	reasons := 0
	for _, name := range caseNames(t) {
		c := readCase(t, name)
		var all []*flow.Reason
		var required []flow.Requirement
		for _, r := range c.reports {
			all, required = append(all, r.Reasons()...), append(required, r.Policy.Requirements()...)
		}
		if len(all) != len(c.found) {
			t.Errorf("%s: %d reasons for %d findings", name, len(all), len(c.found))
			continue
		}
		for i, r := range all {
			reasons++
			if f := c.found[i]; r.Code != f.Code || !strings.HasPrefix(f.Message, r.Message) || r.Loc != f.Loc {
				t.Errorf("%s: %+v is the reason of %+v", name, r, f)
			}
			named := slices.ContainsFunc(required, func(q flow.Requirement) bool { return q.Rule == r.Rule && q.Code == r.Code })
			if !named && !strings.HasSuffix(r.Rule, " leaves") {
				t.Errorf("%s: the policy requires no %q", name, r.Rule)
			}
			if !strings.Contains(c.verdicts(), " "+string(r.Verdict)+"\n") {
				t.Errorf("%s: no verdict is %s: %s", name, r.Verdict, c.verdicts())
			}
		}
	}
	if reasons == 0 {
		t.Error("no plan breaks anything")
	}
}
