package main

import (
	"path/filepath"
	"testing"
)

// A first policy has no findings against the catalogue that it was made for.
func TestFirstPolicies(t *testing.T) {
	folder := t.TempDir()
	plan := filepath.Join(folder, "plan.json")
	write(t, plan, `[]`)
	var catalogues []string
	for _, pattern := range []string{"../../testdata/catalogues/*.json", "../../examples/*/tools.yaml"} {
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
