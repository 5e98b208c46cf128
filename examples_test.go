package plc_test

import (
	"go/ast"
	"strings"
	"testing"
)

// withoutExample are the packages that may be imported and have no Example, each with the reason.
var withoutExample = map[string]string{
	"exec/law":             "it has tests only",
	"exec/exectest":        "it is for tests, which show its use",
	"journal":              "programs use it by way of the root package, whose examples have a store",
	"journal/sqlite":       "as journal",
	"tool/model/modeltest": "it needs a test to stand in",
}

// Each package that a user may import shows how in an Example, which go test runs.
func TestEachPackageHasAnExample(t *testing.T) {
	has := map[string]bool{}
	importable := map[string]bool{}
	for _, f := range sourceFiles(t) {
		if f.dir == "internal" || strings.HasPrefix(f.dir, "internal/") || strings.Contains(f.dir, "/internal/") || layers[f.dir].program {
			continue
		}
		importable[f.dir] = true
		for _, d := range f.ast.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && f.test && strings.HasPrefix(fn.Name.Name, "Example") {
				has[f.dir] = true
			}
		}
	}
	for dir := range importable {
		switch why := withoutExample[dir]; {
		case !has[dir] && why == "":
			t.Errorf("%s has no Example", dir)
		case has[dir] && why != "":
			t.Errorf("%s has an Example, and need not be excepted", dir)
		}
	}
}
