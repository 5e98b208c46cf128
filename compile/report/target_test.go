package report_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/compile/report"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/tool"
)

func define(t testing.TB, name, raw string) *tool.Definition {
	t.Helper()
	def, findings := tool.ParseDefinition([]byte(raw), name, diag.Loc{})
	if findings.HasErrors() {
		t.Fatal(findings)
	}
	return def
}

// Each field of a target, changed alone, gives another digest.
func TestTargetDigestHasAllFields(t *testing.T) {
	owner := &tool.Tool{Definition: define(t, "owner", `{"effects": {"destructive": true}}`)}
	own := &tool.Tool{Definition: define(t, "own", `{"properties": {"a": {}}}`)}
	make := func() *compile.Target {
		return &compile.Target{
			Tool: own, Owners: []*tool.Tool{owner}, Definitions: []*tool.Definition{own.Definition}, Name: "n", Driver: "process",
			Raw: json.RawMessage(`{"a": 1}`), Remote: json.RawMessage(`{"b": 1}`),
		}
	}
	changes := map[string]func(*compile.Target){
		"Tool":        func(x *compile.Target) { x.Tool = &tool.Tool{Definition: define(t, "other", `{}`)} },
		"Owners":      func(x *compile.Target) { x.Owners = nil },
		"Definitions": func(x *compile.Target) { x.Definitions = append(x.Definitions, owner.Definition) },
		"Picked":      func(x *compile.Target) { x.Picked = true },
		"Name":        func(x *compile.Target) { x.Name = "m" },
		"Driver":      func(x *compile.Target) { x.Driver = "http" },
		"Place":       func(x *compile.Target) { x.Place.Dir = "/" },
		"Origin":      func(x *compile.Target) { x.Origin.Kind = "go" },
		"Limits":      func(x *compile.Target) { x.Limits.Parallel = 1 },
		"Limiter":     func(x *compile.Target) { x.Limiter, x.Limits.Parallel = "x", 2 },
		"Timeout":     func(x *compile.Target) { x.Timeout = time.Second },
		"Effects":     func(x *compile.Target) { x.Effects.OpenWorld = tool.Yes },
		"Undo":        func(x *compile.Target) { x.Undo = &tool.Undo{Tool: "u", Params: json.RawMessage(`{}`)} },
		"Approve":     func(x *compile.Target) { x.Approve.Needed = true },
		"Raw":         func(x *compile.Target) { x.Raw = nil },
		"Remote":      func(x *compile.Target) { x.Remote = json.RawMessage(`{"b": 2}`) },
		"Delegate":    func(x *compile.Target) { x.Delegate = &compile.Delegate{Program: compiledPlan(t, nil, `[]`)} },
	}
	// Functions, which raw and Name tell, what only permits, an estimate, and whose definition asks.
	elsewhere := []string{"Activity", "around", "offered", "Takes", "Queue", "Asker"}
	seen := map[string]string{report.TargetDigest(make()): "nothing"}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[compile.Target]()) {
		if field.Anonymous { // its fields follow
			continue
		}
		change, ok := changes[field.Name]
		if !ok {
			if !slices.Contains(elsewhere, field.Name) {
				t.Errorf("the digest of a target may not have its field %s", field.Name)
			}
			continue
		}
		x := make()
		change(x)
		if other, same := seen[report.TargetDigest(x)]; same {
			t.Errorf("changing %s makes the same digest as changing %s", field.Name, other)
		}
		seen[report.TargetDigest(x)] = field.Name
	}
	for field := range reflect.TypeFor[tool.Place]().Fields() {
		x := make()
		switch v := reflect.ValueOf(&x.Place).Elem().FieldByIndex(field.Index); v.Kind() {
		case reflect.String:
			v.SetString("other")
		case reflect.Map:
			v.Set(reflect.ValueOf(map[string]string{"a": "b"}))
		default:
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		}
		if report.TargetDigest(x) == report.TargetDigest(make()) {
			t.Errorf("the digest of a target does not have Place.%s", field.Name)
		}
	}
}

// TestTargetDigestHasAllBytes checks that names of files that are not UTF-8 are told apart.
func TestTargetDigestHasAllBytes(t *testing.T) {
	seen := map[string]string{}
	for _, name := range []string{"\xff", "\xfe", "\ufffd"} {
		for what, place := range map[string]tool.Place{
			"a folder":      {Dir: name},
			"a program":     {Program: []string{name}},
			"a file":        {Path: name},
			"a link":        {Links: map[string]string{"a": name}},
			"a link's name": {Links: map[string]string{name: "a"}},
		} {
			said := fmt.Sprintf("%s named %q", what, name)
			digest := report.TargetDigest(&compile.Target{Tool: &tool.Tool{Definition: define(t, "own", `{}`)}, Place: place})
			if other, same := seen[digest]; same {
				t.Errorf("%s and %s have one digest", said, other)
			}
			seen[digest] = said
		}
	}
}

func compiledPlan(t testing.TB, cat *tool.Catalogue, plan string) *compile.Program {
	t.Helper()
	doc, findings := lang.Parse(diag.NewFile("plan.json", []byte(plan)), nil)
	if findings.HasErrors() {
		t.Fatal(findings)
	}
	prog, _ := compile.Compile(doc, &compile.Options{Catalogue: cat})
	return prog
}
