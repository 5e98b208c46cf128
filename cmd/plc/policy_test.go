package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/file"
)

// recipes returns the files of examples/policies that match a pattern.
func recipes(t *testing.T, pattern string) []string {
	names, err := filepath.Glob("../../examples/policies/" + pattern)
	if err != nil || len(names) == 0 {
		t.Fatalf("%s: %d files, %v", pattern, len(names), err)
	}
	return names
}

// The policies of examples/policies hold for their plans, some of which pass and some of which do
// not. Each of their rules is needed by a test, and they are short.
func TestRecipes(t *testing.T) {
	code, out := plcHere(t, "policy", "test", "../../examples/policies", "--format", "json")
	var all policyDocument
	if err := json.Unmarshal([]byte(out), &all); err != nil {
		t.Fatalf("exit %d, %v: %s", code, err, out)
	}
	policies := recipes(t, "*.policytest.yaml")
	if code != exitDone || len(all.Files) != len(policies) || len(all.Coverage) != len(policies) {
		t.Errorf("exit %d, %d files, %d policies: %s", code, len(all.Files), len(all.Coverage), out)
	}
	for _, f := range all.Files {
		verdicts := map[string]int{}
		for _, test := range f.Tests {
			verdicts[*test.Verdict]++
		}
		if verdicts["allow"] == 0 || verdicts["reject"] == 0 {
			t.Errorf("%s: the verdicts are %v", f.File, verdicts)
		}
	}
	for _, c := range all.Coverage {
		if c.Needed != c.Rules || c.Rules == 0 {
			t.Errorf("%s: tests need %d of %d rules; no test needs %v", c.Policy, c.Needed, c.Rules, c.Missed)
		}
		text, err := os.ReadFile(c.Policy)
		if err != nil {
			t.Fatal(err)
		}
		if lines := strings.Count(string(text), "\n"); lines >= 40 {
			t.Errorf("%s has %d lines", c.Policy, lines)
		}
	}
}

// A requirement that tests need is one without which they fail: of each recipe, one after the
// other is taken away.
func TestRecipesNeedTheirRules(t *testing.T) {
	for _, name := range recipes(t, "*.policytest.yaml") {
		folder := t.TempDir()
		stem := strings.TrimSuffix(filepath.Base(name), ".policytest.yaml")
		for _, f := range recipes(t, stem+"*") {
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(folder, filepath.Base(f)), string(text))
		}
		policy := filepath.Join(folder, stem+".yaml")
		text, err := os.ReadFile(policy)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(string(text), "\n")
		rules := slices.Index(lines, "rules:")
		if rules < 0 {
			t.Fatalf("%s has no rules", name)
		}
		for i := rules + 1; i < len(lines); i++ {
			if !strings.HasPrefix(lines[i], "  - ") {
				continue
			}
			without := slices.Delete(slices.Clone(lines), i, i+1)
			if slices.IndexFunc(without[rules+1:], func(l string) bool { return strings.HasPrefix(l, "  - ") }) < 0 {
				without = without[:rules]
			}
			write(t, policy, strings.Join(without, "\n"))
			if code, out := plcQuietly("policy", "test", filepath.Join(folder, stem+".policytest.yaml")); code == exitDone {
				t.Errorf("%s: the tests pass without %s: %s", name, lines[i], out)
			}
		}
	}
}

// plcQuietly runs plc in this process, where it is to fail.
func plcQuietly(args ...string) (code int, stdout string) {
	var out, errs strings.Builder
	code = run(args, strings.NewReader(""), &out, &errs)
	return code, out.String()
}

// The tools of the recipes are those of the servers and of GitHub, with their params and effects.
func TestRecipesHaveTheToolsOfServers(t *testing.T) {
	for _, name := range []string{"filesystem", "memory", "github"} {
		real, own := toolsIn(t, "../../testdata/catalogues/"+name+".json"), toolsIn(t, "../../examples/policies/"+name+"-tools.yaml")
		if name != "github" && own.Len() != real.Len() {
			t.Errorf("%s: %d tools, and the server has %d", name, own.Len(), real.Len())
		}
		for got := range own.Tools() {
			want, ok := real.Lookup(got.Definition.Name)
			if !ok {
				t.Errorf("%s: there is no %q", name, got.Definition.Name)
				continue
			}
			if d := cmp.Diff(want.Definition.Effects, got.Definition.Effects); d != "" {
				t.Errorf("%s: the effects of %s: %s", name, got.Definition.Name, d)
			}
			if d := cmp.Diff(sortedKeys(want.Definition.Param), sortedKeys(got.Definition.Param)); d != "" {
				t.Errorf("%s: the params of %s: %s", name, got.Definition.Name, d)
			}
			if d := cmp.Diff(slices.Sorted(slices.Values(want.Definition.Required)), slices.Sorted(slices.Values(got.Definition.Required))); d != "" {
				t.Errorf("%s: the required params of %s: %s", name, got.Definition.Name, d)
			}
		}
	}
}

// toolsIn returns the tools of a tool file.
func toolsIn(t *testing.T, name string) *tool.Catalogue {
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	f, findings := file.Read(diag.NewFile(name, text))
	c, _, more := file.Catalogue(f)
	if err := append(findings, more...).Err(); err != nil {
		t.Fatal(err)
	}
	return c
}

// A first policy has no findings against the catalogue that it was made for.
func TestFirstPolicies(t *testing.T) {
	folder := t.TempDir()
	plan := filepath.Join(folder, "plan.json")
	write(t, plan, `[]`)
	var catalogues []string
	for _, pattern := range []string{"../../testdata/catalogues/*.json", "../../examples/*/tools.yaml", "../../examples/policies/*-tools.yaml"} {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(names), err)
		}
		catalogues = append(catalogues, names...)
	}
	for i, name := range append(catalogues, "math") {
		policy := filepath.Join(folder, string(rune('a'+i))+".yaml")
		code, _ := plcHere(t, "policy", "init", "--tools", name, "-o", policy)
		if code != exitDone {
			t.Errorf("%s: exit %d", name, code)
			continue
		}
		before, without := plcHere(t, "check", plan, "--tools", name)
		after, with := plcHere(t, "check", plan, "--tools", name, "--policy", policy)
		if before != after || without != with {
			t.Errorf("%s: exit %d: %s\nand with the policy %d: %s", name, before, without, after, with)
		}
		if code, _ := plcHere(t, "flow", plan, "--tools", name, "--policy", policy); code != exitDone {
			t.Errorf("%s: plc flow: exit %d", name, code)
		}
	}
}

// A first policy for a real MCP server has no findings.
func TestFirstPolicyOfServers(t *testing.T) {
	folder := t.TempDir()
	config := npmConfig(t, filepath.Join(folder, "memory.jsonl"), map[string][]string{"filesystem": {folder}, "memory": nil, "everything": nil})
	plan, policy := filepath.Join(folder, "plan.json"), filepath.Join(folder, "policy.yaml")
	write(t, plan, `[]`)
	if code, _ := plcHere(t, "policy", "init", "--mcp", config, "-o", policy); code != exitDone {
		t.Fatalf("exit %d", code)
	}
	_, without := plcHere(t, "check", plan, "--mcp", config)
	if code, with := plcHere(t, "check", plan, "--mcp", config, "--policy", policy); code != exitDone || with != without {
		t.Errorf("exit %d: %s\nwithout the policy: %s", code, with, without)
	}
}
