package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
)

// A document of a delegate comes from a host that is allowed, by a flag or by the policy
// of a tool file, and from no other.
func TestDelegateOfURL(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"calls": [{"_tool": "a", "x": "†input.x", "_outputPath": "†state.y"}], "output": "†state.y.x"}`)
	}))
	defer s.Close()
	host := strings.TrimPrefix(s.URL, "http://")
	const tools = `{"tools": {"a": {"properties": {"x": {}}, "effects": {"pure": true}}, "sub": {"properties": {"x": {}}}},
		"activities": {"a": {"echo": true}}, "policy": {"hosts": [%s]}}`
	dir := t.TempDir()
	write(t, filepath.Join(dir, "plan.json"), fmt.Sprintf(`{"calls": [{"_tool": "sub", "x": 7, "_delegate": "%s/sub.json", "_outputPath": "†state.r"}], "output": "†state.r"}`, s.URL))
	write(t, filepath.Join(dir, "none.json"), fmt.Sprintf(tools, ""))
	write(t, filepath.Join(dir, "policy.json"), fmt.Sprintf(tools, `"`+host+`"`))
	for _, test := range []struct {
		tools, flag string
		code        int
		out         string
	}{
		{"none.json", "", exitErrors, "no host is allowed to give documents; --delegate-hosts names those that are"},
		{"none.json", "--delegate-hosts=other.example", exitErrors, "[PLC605]"},
		{"policy.json", "--delegate-hosts=other.example", exitErrors, "[PLC605]"},
		{"none.json", "--delegate-hosts=" + host, exitDone, "7\n"},
		{"policy.json", "--strict=false", exitDone, "7\n"},
	} {
		args := []string{"run", "plan.json", "--tools", test.tools}
		if test.flag != "" {
			args = append(args, test.flag)
		}
		got := runPLC(t, dir, args...)
		if got.code != test.code || !strings.Contains(got.stdout+got.stderr, test.out) {
			t.Errorf("%s %s: exit %d: %s%s", test.tools, test.flag, got.code, got.stdout, got.stderr)
		}
	}
}
