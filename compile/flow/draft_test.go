package flow_test

import (
	"context"
	"strings"
	"testing"

	"github.com/plc-lang/plc/compile/flow"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/file"
)

// A first policy can be read, and has an entry for each tool, whatever its name.
func TestDraft(t *testing.T) {
	names := []string{
		"pay", "pay it", "@destructive", "@", "*", "a*b", "yes", "Null", "1", "1.5", "-", "-a", "é", "a\u2028b", "a\u0085b", "a: b", "a #b", `"q"`, "'q'",
		"a\nb", "\u202eb", "{}", " a ", "docs.search", "~",
	}
	for _, name := range names {
		def := tool.Func(name, "", func(context.Context, struct{ X string }) (string, error) { return "", nil })
		cat := tool.NewCatalogue(def)
		text := flow.Draft(cat, nil)
		policy, found := file.ReadPolicy(diag.NewFile("policy.yaml", text))
		policies, more := policiesOf(cat, nil, policy)
		if found = append(found, more...); len(found) > 0 || len(policies) != 1 {
			t.Errorf("%q: %v\n%s", name, found, text)
			continue
		}
		tools := policies[0].Said().Tools
		if len(tools) != 1 || !tool.Matches(tools[0].Text, name) || strings.HasPrefix(tools[0].Text, "@") {
			t.Errorf("%q has no entry: %s", name, text)
		}
	}
}
