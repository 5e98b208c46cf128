package tool

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/plc-lang/plc/diag"
)

func defined(t *testing.T, raw string) *Definition {
	t.Helper()
	def, findings := ParseDefinition(json.RawMessage(raw), "", diag.Loc{})
	if def == nil {
		t.Fatal(findings)
	}
	return def
}

// answers returns an activity that returns its own name.
func answers(name string) Activity {
	return ActivityFunc(func(context.Context, *Request) (Result, error) {
		return Result{Value: json.RawMessage(name)}, nil
	})
}

// answer returns what an activity returns, "latent" if there is none.
func answer(t *testing.T, a Activity) string {
	t.Helper()
	if a == nil {
		return "latent"
	}
	res, err := a.Call(t.Context(), &Request{})
	if err != nil {
		t.Fatal(err)
	}
	return string(res.Value)
}

func TestEmptyCatalogues(t *testing.T) {
	for _, c := range []*Catalogue{nil, {}, NewCatalogue()} {
		if _, ok := c.Lookup("a"); ok || c.Len() != 0 || len(slices.Collect(c.Tools())) != 0 || len(slices.Collect(c.Activities())) != 0 {
			t.Errorf("%+v is not empty", c)
		}
		if _, ok := c.Implementation("a"); ok {
			t.Error("an activity in an empty catalogue")
		}
		if c.With(&Tool{Definition: defined(t, `{"name": "a"}`)}).Len() != 1 {
			t.Error("a tool cannot be added")
		}
	}
}

func TestCatalogueIsImmutableAndSorted(t *testing.T) {
	a, b := &Tool{Definition: defined(t, `{"name": "a"}`)}, &Tool{Definition: defined(t, `{"name": "b"}`)}
	first := NewCatalogue(b)
	second := first.With(a, &Tool{Definition: defined(t, `{"name": "b", "description": "new"}`)})
	third := second.WithActivities(map[string]Implementation{"a": {Activity: answers("1"), Driver: "x", Timeout: time.Second}})
	if old, _ := first.Lookup("b"); first.Len() != 1 || old.Definition.Description != "" {
		t.Error("With changed its catalogue")
	}
	if old, _ := second.Lookup("a"); old.Activity != nil || a.Activity != nil {
		t.Error("WithActivities changed its catalogue, or a tool")
	}
	var names []string
	for tl := range third.Tools() {
		names = append(names, tl.Definition.Name+tl.Definition.Description)
	}
	if !slices.Equal(names, []string{"a", "bnew"}) {
		t.Error(names)
	}
	if got, _ := third.Lookup("a"); answer(t, got.Activity) != "1" || got.Driver != "x" || got.Timeout != time.Second {
		t.Errorf("%+v", got)
	}
}

func TestActivitiesGoToToolsThatHaveNone(t *testing.T) {
	own := &Tool{Definition: defined(t, `{"name": "own"}`), Activity: answers("go"), Driver: "go"}
	none := &Tool{Definition: defined(t, `{"name": "none"}`), Limits: Limits{Parallel: 2}, Timeout: time.Hour}
	given := map[string]Implementation{
		"own":   {Activity: answers("file"), Driver: "process"},
		"none":  {Activity: answers("file"), Driver: "process", Limits: Limits{Parallel: 9}, Timeout: time.Second},
		"later": {Activity: answers("file"), Limits: Limits{Parallel: 9}},
	}
	c := NewCatalogue(own, none).WithActivities(given).AddDocument(defined(t, `{"name": "later"}`))
	for name, want := range map[string]string{"own": "go", "none": "file", "later": "file"} {
		if tl, _ := c.Lookup(name); answer(t, tl.Activity) != want {
			t.Errorf("%s is run by %s, want %s", name, answer(t, tl.Activity), want)
		}
		if i, _ := c.Implementation(name); answer(t, i.Activity) != want {
			t.Errorf("activity %s is that of %s, want %s", name, answer(t, i.Activity), want)
		}
	}
	if tl, _ := c.Lookup("none"); tl.Limits.Parallel != 2 || tl.Timeout != time.Hour {
		t.Errorf("what a tool says of itself is overruled: %+v", tl)
	}
	if tl, _ := c.Lookup("later"); tl.Limits.Parallel != 9 {
		t.Errorf("limits of the activity are lost: %+v", tl)
	}
}

func TestResolve(t *testing.T) {
	c := NewCatalogue(
		&Tool{Definition: defined(t, `{"name": "go"}`), Activity: answers("go")},
		&Tool{Definition: defined(t, `{"name": "goButOther", "properties": {"_activity": {"const": "file"}}}`), Activity: answers("go")},
		&Tool{Definition: defined(t, `{"name": "file"}`)},
		&Tool{Definition: defined(t, `{"name": "none"}`)},
		&Tool{Definition: defined(t, `{"name": "other", "properties": {"_activity": {"const": "file"}}}`)},
		&Tool{Definition: defined(t, `{"name": "latent", "properties": {"_activity": {"const": ""}}}`)},
		&Tool{Definition: defined(t, `{"name": "missing", "properties": {"_activity": {"const": "nowhere"}}}`)},
		&Tool{Definition: defined(t, `{"name": "think"}`)},
	).WithActivities(map[string]Implementation{"file": {Activity: answers("file")}, "think": {Driver: "latent", Model: "m"}, "latent": {Activity: answers("never")}})
	const unsaid = "-"
	tests := []struct {
		tool, activity string
		status         Status
		want           string
	}{
		{"go", unsaid, Implemented, "go"},
		{"go", "file", Implemented, "file"},
		{"go", "go", Implemented, "go"},
		{"go", "", Latent, "latent"},
		{"go", "nowhere", NoActivity, "latent"},
		{"goButOther", unsaid, Implemented, "file"},
		{"file", unsaid, Implemented, "file"},
		{"none", unsaid, Latent, "latent"},
		{"none", "none", NoActivity, "latent"},
		{"none", "go", Implemented, "go"},
		{"other", unsaid, Implemented, "file"},
		{"other", "", Latent, "latent"},
		{"latent", unsaid, Latent, "latent"},
		{"missing", unsaid, NoActivity, "latent"},
		{"missing", "file", Implemented, "file"},
		{"think", unsaid, Latent, "latent"},
		{"none", "think", Latent, "latent"},
	}
	for _, r := range tests {
		tl, _ := c.Lookup(r.tool)
		i := c.Resolve(tl, r.activity, r.activity != unsaid)
		status := i.Status
		if status != r.status || answer(t, i.Activity) != r.want {
			t.Errorf("a call of %s with _activity %q: %d by %s, want %d by %s", r.tool, r.activity, status, answer(t, i.Activity), r.status, r.want)
		}
		if status == Implemented != (i.Activity != nil) {
			t.Errorf("a call of %s with _activity %q: status %d with %+v", r.tool, r.activity, status, i)
		}
	}
	tl, _ := c.Lookup("think")
	if i := c.Resolve(tl, "", false); i.Model != "m" {
		t.Errorf("the model of a latent tool is lost: %+v", i)
	}
}

func TestAddDocument(t *testing.T) {
	c := NewCatalogue(
		&Tool{Definition: defined(t, `{"name": "read", "description": "ours", "effects": {"readOnly": true}}`), Activity: answers("go")},
		&Tool{Definition: defined(t, `{"name": "drop", "effects": {"destructive": true}}`), Activity: answers("drop")},
	)
	d := c.AddDocument(
		defined(t, `{"name": "new", "effects": {"destructive": true}}`),
		defined(t, `{"name": "new", "description": "second", "effects": {"readOnly": true, "pure": true}}`),
		defined(t, `{"name": "read", "description": "theirs", "effects": {"idempotent": false, "readOnly": false}}`),
		defined(t, `{"name": "drop", "effects": {"readOnly": true}}`),
		defined(t, `{"name": "harmless", "effects": {"readOnly": true}, "properties": {"_activity": {"const": "drop"}}}`),
	)
	for name, want := range map[string]Effects{
		"new":      {}, // the later definition alone, and nothing that relaxes
		"read":     {ReadOnly: No, Pure: No, Idempotent: No},
		"drop":     {Destructive: Yes},
		"harmless": {}, // what it runs is found with the activity: see Resolve
	} {
		if tl, _ := d.Lookup(name); tl.Definition.Effects != want {
			t.Errorf("%s: %+v, want %+v", name, tl.Definition.Effects, want)
		}
	}
	if tl, _ := d.Lookup("read"); tl.Definition.Description != "ours" || answer(t, tl.Activity) != "go" {
		t.Error("a document replaces a tool")
	}
	if tl, _ := d.Lookup("new"); tl.Definition.Description != "second" || tl.Source != "plan" || tl.Activity != nil {
		t.Errorf("%+v", tl)
	}
	if tl, _ := c.Lookup("read"); tl.Definition.Effects.ReadOnly != Yes {
		t.Error("AddDocument changed its catalogue")
	}
}

func BenchmarkNewCatalogue(b *testing.B) {
	for _, n := range []int{10, 1000, 100_000} {
		tools := make([]*Tool, n)
		for i := range tools {
			tools[i] = &Tool{Definition: &Definition{Name: strconv.Itoa(i)}}
		}
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				NewCatalogue(tools...)
			}
		})
	}
}

func BenchmarkLookup(b *testing.B) {
	tools := make([]*Tool, 100_000)
	for i := range tools {
		tools[i] = &Tool{Definition: &Definition{Name: strconv.Itoa(i)}}
	}
	c := NewCatalogue(tools...)
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := c.Lookup("4711"); !ok {
			b.Fatal("not there")
		}
	}
}
