package plc_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

const module = "github.com/plc-lang/plc"

// The libraries that code may import; docs/decisions says of each what it is for.
const (
	participle   = "github.com/alecthomas/participle/v2"
	gjson        = "github.com/tidwall/gjson"
	sjson        = "github.com/tidwall/sjson"
	jsonschema   = "github.com/santhosh-tekuri/jsonschema/v5"
	xsync        = "golang.org/x/sync"
	jsonschemaGo = "github.com/google/jsonschema-go"
	xtime        = "golang.org/x/time"
	xsys         = "golang.org/x/sys"
	xterm        = "golang.org/x/term"
	yaml         = "go.yaml.in/yaml/v4"
	failsafe     = "github.com/failsafe-go/failsafe-go"
	kin          = "github.com/getkin/kin-openapi"
	gojq         = "github.com/itchyny/gojq"
	cobra        = "github.com/spf13/cobra"
	sqliteLib    = "modernc.org/sqlite"
	pgxLib       = "github.com/jackc/pgx/v5"
	mcpSDK       = "github.com/modelcontextprotocol/go-sdk"
	pflag        = "github.com/spf13/pflag" // the flags of cobra
	jsonrpc      = "github.com/sourcegraph/jsonrpc2"
	jwt          = "github.com/golang-jwt/jwt/v5"
	openaiSDK    = "github.com/sashabaranov/go-openai"
)

// layer is what a package may import besides the standard library.
type layer struct {
	own       string   // packages of this module, by their folders, with spaces between
	libraries []string // modules, in files that are linked
	program   bool     // package main: it prints, and may read the environment
}

// layers is who may import whom (docs/architecture.md). A package that is not here has
// to be given its place. Tests of a package may import what stands above it.
var layers = map[string]layer{
	".": {own: "approval compile compile/cel compile/flow compile/report dag/draw diag exec exec/adaptive exec/forecast exec/plantest exec/simulate exec/undo internal/durable internal/jsonscan internal/links internal/spell journal lang lang/dialect lang/dialect/notations lang/yaml loop loop/agentframework loop/flux loop/planning loop/tea schemas state tool tool/file tool/guard tool/http tool/math tool/mcp tool/model tool/model/anthropic tool/model/openai tool/standin"},

	// Leaves.
	"internal/jsonscan":        {},
	"internal/durable":         {},
	"internal/links":           {},
	"internal/python":          {},
	"internal/spell":           {},
	"internal/display":         {own: "internal/jsonscan"},
	"internal/effort":          {}, // for tests
	"internal/lazyregexp":      {},
	"internal/texttree":        {own: "internal/jsonscan", libraries: []string{yaml}},
	"diag":                     {own: "internal/display"},
	"dag":                      {},
	"dag/draw":                 {own: "dag internal/display"},
	"schemas":                  {own: "schemas/internal/prover schemas/internal/tree schemas/internal/pattern schemas/internal/value internal/jsonscan internal/spell", libraries: []string{gjson}},
	"schemas/internal/prover":  {own: "schemas/internal/tree schemas/internal/pattern schemas/internal/value"},
	"schemas/internal/tree":    {own: "schemas/internal/pattern schemas/internal/value internal/jsonscan", libraries: []string{jsonschema}},
	"schemas/internal/pattern": {own: "schemas/internal/value"},
	"schemas/internal/value":   {own: "internal/jsonscan"},
	"state":                    {own: "internal/jsonscan", libraries: []string{gjson, sjson}},

	// Text → tree.
	"lang": {own: "internal/lazyregexp diag internal/jsonscan internal/spell", libraries: []string{participle}},

	"lang/dialect":                {own: "diag lang internal/jsonscan"},
	"lang/dialect/llmcompiler":    {own: "internal/lazyregexp diag lang lang/dialect"},
	"lang/dialect/mathqa":         {own: "internal/lazyregexp diag lang lang/dialect", libraries: []string{participle}},
	"lang/dialect/qdmr":           {own: "internal/lazyregexp diag internal/spell lang/dialect", libraries: []string{participle}},
	"lang/dialect/rewoo":          {own: "internal/lazyregexp diag lang lang/dialect"},
	"lang/yaml":                   {own: "internal/lazyregexp diag internal/jsonscan internal/texttree"},
	"lang/dialect/tree":           {own: "internal/lazyregexp diag lang lang/dialect lang/yaml internal/spell internal/jsonscan internal/texttree"},
	"lang/dialect/mnms":           {own: "diag lang lang/dialect lang/dialect/tree"},
	"lang/dialect/nestful":        {own: "internal/lazyregexp diag lang lang/dialect lang/dialect/tree internal/spell"},
	"lang/dialect/sealtools":      {own: "internal/lazyregexp diag lang lang/dialect lang/dialect/tree"},
	"lang/dialect/taskbench":      {own: "internal/lazyregexp diag lang lang/dialect lang/dialect/tree internal/spell"},
	"lang/dialect/agentframework": {own: "internal/lazyregexp diag lang lang/dialect lang/dialect/tree"},
	"lang/dialect/flux":           {own: "internal/lazyregexp diag lang lang/dialect lang/dialect/tree"},
	"lang/dialect/planstep":       {own: "internal/lazyregexp diag lang lang/dialect lang/dialect/tree"},
	"lang/dialect/tea":            {own: "diag lang lang/dialect lang/dialect/tree"},
	"lang/dialect/toolcalls":      {own: "diag lang lang/dialect lang/dialect/tree"},
	"lang/dialect/arazzo":         {own: "internal/lazyregexp diag lang lang/dialect lang/dialect/tree internal/jsonscan internal/spell"},
	"lang/dialect/notations":      {own: "lang/dialect lang/dialect/agentframework lang/dialect/arazzo lang/dialect/flux lang/dialect/llmcompiler lang/dialect/mathqa lang/dialect/mnms lang/dialect/nestful lang/dialect/planstep lang/dialect/qdmr lang/dialect/rewoo lang/dialect/sealtools lang/dialect/taskbench lang/dialect/tea lang/dialect/toolcalls"},

	// What can be called.
	"tool":                     {own: "diag schemas internal/jsonscan internal/spell", libraries: []string{gjson, jsonschemaGo}},
	"tool/internal/driver":     {own: "tool internal/jsonscan", libraries: []string{gjson}},
	"tool/internal/secret":     {own: "tool/internal/driver internal/jsonscan"},
	"tool/internal/group":      {libraries: []string{xsys}},
	"tool/process":             {own: "tool tool/internal/driver tool/internal/group internal/jsonscan"},
	"tool/mcp":                 {own: "diag schemas tool tool/process tool/internal/driver tool/internal/group internal/jsonscan internal/spell", libraries: []string{gjson, mcpSDK}},
	"tool/http":                {own: "tool tool/internal/driver internal/jsonscan", libraries: []string{gjson}},
	"tool/standin":             {own: "tool schemas"},
	"tool/math":                {own: "diag tool"},
	"tool/model":               {own: "tool schemas tool/internal/driver tool/internal/secret internal/jsonscan", libraries: []string{gjson}},
	"tool/model/internal/wire": {own: "tool tool/model"},
	"tool/model/anthropic":     {own: "tool/model tool/model/internal/wire internal/jsonscan", libraries: []string{gjson}},
	"tool/model/openai":        {own: "tool tool/model tool/model/internal/wire", libraries: []string{openaiSDK}},
	"internal/tracetest":       {},                                              // for tests
	"tool/model/modeltest":     {own: "tool/model", libraries: []string{gjson}}, // for tests
	"exec/exectest":            {own: "exec compile"},                           // for tests
	"tool/label":               {own: "diag"},
	"tool/builtin":             {own: "diag tool tool/internal/driver tool/http", libraries: []string{gjson}},
	"tool/builtin/jq":          {own: "tool tool/builtin tool/internal/driver internal/jsonscan", libraries: []string{gjson, gojq}},
	"tool/guard":               {own: "tool tool/internal/driver internal/jsonscan"},
	"tool/openapi":             {own: "diag schemas tool tool/http tool/internal/driver internal/jsonscan internal/spell internal/texttree", libraries: []string{gjson}},
	"tool/file":                {own: "diag tool tool/guard tool/openapi tool/builtin tool/builtin/jq tool/internal/driver tool/internal/secret tool/http tool/label tool/math tool/process tool/standin internal/jsonscan internal/spell internal/texttree"},

	// Tree + catalogue → program → run.
	"compile":        {own: "lang tool schemas state dag diag internal/jsonscan internal/spell", libraries: []string{gjson}},
	"compile/report": {own: "compile lang tool schemas state internal/jsonscan", libraries: []string{gjson}},
	"compile/flow":   {own: "compile lang schemas tool tool/label state diag internal/display internal/jsonscan internal/spell"},
	"compile/cel":    {own: "compile schemas internal/jsonscan internal/spell", libraries: []string{gjson}},
	"exec":           {own: "compile compile/report lang tool schemas state dag diag internal/display internal/jsonscan", libraries: []string{xtime}},
	"exec/adaptive":  {own: "exec", libraries: []string{failsafe}},
	"exec/undo":      {own: "compile dag exec diag lang schemas tool internal/jsonscan"},
	"exec/plantest":  {own: "compile exec exec/undo diag schemas tool tool/standin internal/jsonscan"},
	"exec/simulate":  {own: "compile exec exec/plantest tool tool/standin"},
	"exec/law":       {}, // tests only
	"exec/forecast":  {own: "compile/flow exec exec/undo compile diag lang tool schemas state dag internal/spell"},
	"trace":          {own: "exec tool"},
	"approval":       {own: "compile/report internal/durable internal/jsonscan"},

	// The record of runs.
	"journal":                 {own: "exec compile"},
	"journal/internal/record": {own: "exec journal internal/jsonscan"},
	"journal/memory":          {own: "exec journal journal/internal/record"},
	"journal/sqlite":          {own: "exec journal journal/internal/record internal/jsonscan", libraries: []string{sqliteLib, xsys}},
	"journal/postgres":        {own: "exec journal journal/internal/record", libraries: []string{pgxLib}},
	"internal/pgtest":         {},                    // for tests
	"journal/storetest":       {own: "exec journal"}, // for tests

	// The solution loop.
	"loop":                {own: "exec compile compile/report lang lang/dialect lang/dialect/toolcalls tool tool/model schemas state diag internal/jsonscan internal/spell", libraries: []string{gjson}},
	"loop/agentframework": {own: "loop exec compile lang lang/dialect lang/dialect/agentframework tool tool/model schemas diag internal/jsonscan internal/python internal/texttree", libraries: []string{gjson, sjson}},
	"loop/flux":           {own: "compile dag exec internal/durable lang/dialect/flux loop tool tool/model internal/jsonscan internal/python"},
	"loop/tea":            {own: "dag exec lang/dialect/tea loop tool tool/model internal/jsonscan internal/python"},
	"loop/planning":       {own: "loop exec compile lang lang/dialect lang/dialect/planstep tool tool/model schemas diag internal/jsonscan"},

	// Front ends.
	"cmd/plc/internal/runner":        {own: ". exec journal tool"},
	"cmd/plc/internal/gateway":       {own: ". cmd/plc/internal/runner diag exec exec/forecast internal/jsonscan journal lang/yaml tool", libraries: []string{gjson, jsonschemaGo, mcpSDK}},
	"cmd/plc/internal/server/html":   {own: "internal/display"},
	"cmd/plc/internal/oidc":          {own: "lang/yaml", libraries: []string{jwt}},
	"cmd/plc/internal/oidc/oidctest": {libraries: []string{jwt}},
	"cmd/plc/internal/server":        {own: ". cmd/plc/internal/oidc cmd/plc/internal/runner compile compile/flow cmd/plc/internal/server/html dag/draw diag exec exec/forecast exec/undo internal/display journal lang state tool"},
	"cmd/plc/internal/webhook":       {own: ". cmd/plc/internal/runner exec internal/display internal/lazyregexp journal lang/yaml tool tool/http"},

	// Programs.
	"cmd/plc/internal/lsp/protocol":     {},
	"editors/schema":                    {},
	"editors/schema/internal/schemagen": {program: true, own: "lang tool/file"},
	"cmd/plc/internal/lsp": {
		own:       "editors/schema . cmd/plc/internal/lsp/protocol compile compile/flow dag/draw diag exec/forecast lang schemas state tool tool/file tool/math internal/jsonscan internal/spell internal/texttree",
		libraries: []string{jsonrpc},
	},
	"cmd/plc": {program: true,
		own: "editors/schema compile/flow . compile/report approval cmd/plc/internal/lsp compile " +
			"exec exec/forecast exec/plantest exec/simulate exec/undo journal journal/postgres journal/sqlite " +
			"lang lang/dialect/notations loop loop/flux " +
			"tool tool/file tool/guard tool/openapi tool/mcp tool/model " +
			"state trace dag/draw diag internal/display internal/durable internal/jsonscan internal/links internal/texttree cmd/plc/internal/gateway cmd/plc/internal/oidc cmd/plc/internal/runner cmd/plc/internal/server cmd/plc/internal/webhook internal/spell",
		libraries: []string{cobra, mcpSDK, pflag, xsys, xterm}},
	"diag/internal/explaingen": {program: true},
	"examples/embed":           {program: true, own: ". tool"},
	"examples/hello":           {program: true, own: ". tool"},
	"examples/http":            {program: true},
	"examples/pages":           {program: true},
	"examples/tutorial/server": {program: true, libraries: []string{mcpSDK}},
	"examples/resume":          {program: true, own: ". exec journal journal/sqlite tool"},
}

// core are the packages that whoever runs plans from Go links, and coreLibraries all
// that they may need: the five that the project is built on, and two for one purpose each.
const core = "lang compile compile/report dag exec state schemas schemas/internal/prover schemas/internal/tree schemas/internal/pattern schemas/internal/value tool diag"

var coreLibraries = map[string]string{ // library → the packages that may import it
	participle:   "lang", // and below it the readers of small notations
	gjson:        core,
	sjson:        core,
	jsonschema:   "schemas/internal/tree",
	xsync:        core,
	jsonschemaGo: "tool",
	xtime:        "exec",
}

// testLibraries are those that any test may import.
var testLibraries = []string{
	"github.com/google/go-cmp", "github.com/rogpeppe/go-internal", "go.uber.org/goleak", "pgregory.net/rapid", jsonschema, xsync, gjson, kin,
	"modernc.org/libc", // by which the tests of journal get between SQLite and its files
}

// forbidden is what libraries do not use: what a library is not given, it can not
// reach, and what it has to say it returns.
var forbidden = map[string][]string{ // import path → names; none is all of them
	"fmt":      {"Print", "Printf", "Println"},
	"log":      nil,
	"log/slog": nil,
	"flag":     nil,
	"os":       {"Getenv", "LookupEnv", "Environ", "ExpandEnv", "Setenv", "Unsetenv", "Clearenv", "Stdin", "Stdout", "Stderr", "Exit", "Args"},
	"syscall":  {"Getenv", "Environ", "Setenv", "Exit"},
}

// granted are the exceptions, each with its reason.
var granted = map[string]string{
	"internal/effort os.Getenv": "it is for tests, whose amount the environment sets",
	"tool/process os.Environ":   "a program runs in an environment; what of plc's own it gets is a fixed list, and the caller may give another",
}

// sourceFile is a Go file of the module.
type sourceFile struct {
	dir, name string
	test      bool
	set       *token.FileSet
	ast       *ast.File
	lines     []string // of its text, once asked for
}

func (f *sourceFile) at(n ast.Node) string { return f.set.Position(n.Pos()).String() }

// sourceFiles parses all Go files of the module, whatever system they are for. It
// is done here and not by the go command, whose answers the cache of tests would not see.
func sourceFiles(t *testing.T) []*sourceFile {
	t.Helper()
	files, err := parsedFiles()
	if err != nil {
		t.Fatal(err)
	}
	return files
}

var parsedFiles = sync.OnceValues(func() ([]*sourceFile, error) {
	var files []*sourceFile
	set := token.NewFileSet()
	err := filepath.WalkDir(".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && name != "." && (e.Name() == "testdata" || strings.HasPrefix(e.Name(), ".") || isModule(name)):
			return fs.SkipDir
		case e.IsDir() || path.Ext(name) != ".go":
			return nil
		}
		parsed, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution|parser.ParseComments)
		if err != nil {
			return err
		}
		files = append(files, &sourceFile{
			dir: filepath.ToSlash(filepath.Dir(name)), name: name, set: set, ast: parsed,
			test: strings.HasSuffix(name, "_test.go"),
		})
		return nil
	})
	return files, err
})

// isModule reports whether a folder is a module of its own.
func isModule(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

// imports are the import paths of a file, with the names by which it uses them.
func (f *sourceFile) imports() map[string]string {
	all := map[string]string{}
	for _, spec := range f.ast.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			panic(err) // the parser let it through
		}
		name := path.Base(p)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		all[p] = name
	}
	return all
}

// foreign reports whether an import path is of another module.
func foreign(p string) bool {
	first, _, _ := strings.Cut(p, "/")
	return strings.Contains(first, ".") && !own(p)
}

func own(p string) bool { return p == module || strings.HasPrefix(p, module+"/") }

// folder is the folder of a package of this module.
func folder(p string) string {
	if p == module {
		return "."
	}
	return strings.TrimPrefix(p, module+"/")
}

func within(p string, modules []string) bool {
	return slices.ContainsFunc(modules, func(m string) bool { return p == m || strings.HasPrefix(p, m+"/") })
}

func TestLayers(t *testing.T) {
	seen, used := map[string]bool{}, map[string]bool{}
	for _, f := range sourceFiles(t) {
		seen[f.dir] = true
		l, ok := layers[f.dir]
		if !ok {
			t.Errorf("%s: the package %s has no place in the table of layers", f.name, f.dir)
			continue
		}
		for p, name := range f.imports() {
			if !f.test {
				used[f.dir+" "+p] = true
			}
			switch {
			case name == ".":
				t.Errorf("%s: an import by %q hides what is used of %s", f.name, name, p)
			case f.test && foreign(p) && !within(p, testLibraries) && !within(p, l.libraries):
				t.Errorf("%s: tests do not import %s", f.name, p)
			case f.test:
			case foreign(p) && !within(p, l.libraries):
				t.Errorf("%s: %s does not import %s", f.name, f.dir, p)
			case own(p) && !slices.Contains(strings.Fields(l.own), folder(p)):
				t.Errorf("%s: %s does not import %s", f.name, f.dir, p)
			}
		}
	}
	for dir, l := range layers {
		if !seen[dir] {
			t.Errorf("the table of layers has %s, which is not there", dir)
		}
		for _, lib := range l.libraries {
			if !slices.ContainsFunc(slices.Collect(maps.Keys(used)), func(u string) bool {
				p, ok := strings.CutPrefix(u, dir+" ")
				return ok && within(p, []string{lib})
			}) {
				t.Errorf("the table of layers lets %s import %s, which it does not", dir, lib)
			}
		}
	}
}

// shared are the libraries that several packages import, each with the reason. Every other one is
// imported by one package and stands behind names of ours.
var shared = map[string]string{
	gjson:        "it walks over one JSON text without decoding it, as a for loop does over a list: a name of ours would only be another name for it",
	sjson:        "it sets one member of a JSON text, where gjson reads one",
	jsonschemaGo: "the schemas of Go types are made by it, those of tools and those of the gateway's own",
	mcpSDK:       "tool/mcp is a client, and the gateway and an example are servers",
	participle:   "each grammar is its own: that of expressions, and those of two notations",
	xsys:         "process groups and locks on files have nothing in common but the system",
	jwt:          "oidc reads tokens, and the issuer that its tests start makes them",
}

// A library is imported at one place, unless it is shared for a reason.
func TestLibrariesHaveOnePlace(t *testing.T) {
	places := map[string][]string{}
	for dir, l := range layers {
		for _, lib := range l.libraries {
			places[lib] = append(places[lib], dir)
		}
	}
	for lib, dirs := range places {
		slices.Sort(dirs)
		switch why := shared[lib]; {
		case len(dirs) > 1 && why == "":
			t.Errorf("%s is imported by %s: give it one place, or say in shared why it has several", lib, strings.Join(dirs, ", "))
		case len(dirs) == 1 && why != "":
			t.Errorf("%s is imported by %s alone, and need not be shared", lib, dirs[0])
		}
	}
}

// What two packages share and no user may have imports nothing above it.
func TestInternalIsBelow(t *testing.T) {
	for dir, l := range layers {
		for other := range strings.FieldsSeq(l.own) {
			if strings.HasPrefix(dir, "internal/") && !strings.HasPrefix(other, "internal/") {
				t.Errorf("%s imports %s", dir, other)
			}
		}
	}
}

// The table itself: nothing that the core can reach needs more than the libraries of
// the core, and there are no cycles.
func TestCoreIsSmall(t *testing.T) {
	for _, start := range strings.Fields(core) {
		for dir := range reach(t, start) {
			for _, lib := range layers[dir].libraries {
				users, ok := coreLibraries[lib]
				if !ok || !slices.Contains(strings.Fields(users), dir) {
					t.Errorf("%s links %s by way of %s", start, lib, dir)
				}
			}
			if !slices.Contains(strings.Fields(core), dir) && !strings.HasPrefix(dir, "internal/") {
				t.Errorf("%s needs %s, which is neither of the core nor internal", start, dir)
			}
			if !strings.HasPrefix(dir, "internal/") {
				continue
			}
			for _, own := range strings.Fields(layers[dir].own) {
				if !strings.HasPrefix(own, "internal/") {
					t.Errorf("%s imports %s, which is not internal", dir, own)
				}
			}
			if len(layers[dir].libraries) > 0 {
				t.Errorf("%s imports libraries", dir)
			}
		}
	}
}

// coreModules is all that a program links which parses, checks and runs plans from Go: the
// libraries of the core, and what these need.
var coreModules = []string{
	module, participle, gjson, sjson, jsonschema, jsonschemaGo, xtime,
	"github.com/tidwall/match", "github.com/tidwall/pretty",
}

// No database, no server, no model, no traces: whoever imports the core gets these modules
// and no others. The go command says what they link; that all files of this module and go.mod were
// read before has the cache of tests forget its answer when one of them changes.
func TestCoreLinksFewModules(t *testing.T) {
	linked := linkedModules(t, strings.Fields(core)...)
	for _, m := range linked {
		if !slices.Contains(coreModules, m) {
			t.Errorf("the core links %s", m)
		}
	}
	for _, m := range coreModules {
		if !slices.Contains(linked, m) {
			t.Errorf("the core does not link %s any more", m)
		}
	}
}

// A program that runs plans links a database only when it imports a store that needs one.
func TestRootLinksNoDatabase(t *testing.T) {
	for _, m := range linkedModules(t, ".", "journal", "journal/memory", "loop", "loop/flux") {
		if strings.HasPrefix(m, "modernc.org/") || strings.HasPrefix(m, "github.com/jackc/") {
			t.Errorf("it links %s", m)
		}
	}
	for store, library := range map[string]string{"journal/sqlite": sqliteLib, "journal/postgres": pgxLib} {
		if !slices.Contains(linkedModules(t, store), library) {
			t.Errorf("%s does not link %s any more", store, library)
		}
	}
}

// linkedModules returns the modules that a program links which imports packages. All files of this
// module and go.mod are read before, so that the cache of tests forgets the answer when one of them
// changes.
func linkedModules(t *testing.T, dirs ...string) []string {
	t.Helper()
	sourceFiles(t)
	for _, name := range []string{"go.mod", "go.sum"} {
		if _, err := os.ReadFile(name); err != nil {
			t.Fatal(err)
		}
	}
	args := []string{"list", "-deps", "-f", "{{if not .Standard}}{{.Module.Path}}{{end}}"}
	for _, dir := range dirs {
		args = append(args, "./"+dir)
	}
	out, err := exec.Command("go", args...).Output()
	if err != nil {
		t.Fatal(err)
	}
	return slices.Compact(slices.Sorted(strings.FieldsSeq(string(out))))
}

// reach is a package and all that it may import, directly or not.
func reach(t *testing.T, start string) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	var visit func(dir string, way []string)
	visit = func(dir string, way []string) {
		if slices.Contains(way, dir) {
			t.Fatalf("the table of layers has a cycle: %s", strings.Join(append(way, dir), " → "))
		}
		all[dir] = true
		for next := range strings.FieldsSeq(layers[dir].own) {
			visit(next, append(way, dir))
		}
	}
	visit(start, nil)
	return all
}

// Libraries neither print nor read the environment, have no init, and nothing that is
// left to do.
func TestLibrariesKeepToThemselves(t *testing.T) {
	used := map[string]bool{}
	for _, f := range sourceFiles(t) {
		if f.test {
			continue
		}
		for _, use := range f.uses(layers[f.dir].program) {
			if granted[f.dir+" "+use.what] == "" {
				t.Errorf("%s: %s in %s", f.at(use.node), use.what, f.dir)
			}
			used[f.dir+" "+use.what] = true
		}
	}
	for what := range maps.Keys(granted) {
		if !used[what] {
			t.Errorf("nothing needs the exception for %q any more", what)
		}
	}
}

// use is a place that uses what libraries do not.
type use struct {
	node ast.Node
	what string
}

func (f *sourceFile) uses(program bool) (found []use) {
	names := map[string]string{} // of imports that are forbidden in part or as a whole
	for p, name := range f.imports() {
		if _, ok := forbidden[p]; ok {
			names[name] = p
		}
	}
	ast.Inspect(f.ast, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			x, ok := n.X.(*ast.Ident)
			if !ok || program {
				break
			}
			if p, ok := names[x.Name]; ok && (forbidden[p] == nil || slices.Contains(forbidden[p], n.Sel.Name)) {
				found = append(found, use{n, p + "." + n.Sel.Name})
			}
		case *ast.FuncDecl:
			if n.Recv == nil && n.Name.Name == "init" {
				found = append(found, use{n, "func init"})
			}
		case *ast.CallExpr:
			if what := unfinished(n); what != "" {
				found = append(found, use{n, what})
			}
		}
		return true
	})
	return found
}

// unfinished names a call that no finished code has: print, println, panic("todo").
func unfinished(call *ast.CallExpr) string {
	f, ok := call.Fun.(*ast.Ident)
	if !ok {
		return ""
	}
	switch f.Name {
	case "print", "println":
		return f.Name
	case "panic":
		if lit, ok := call.Args[0].(*ast.BasicLit); ok && strings.Contains(strings.ToLower(lit.Value), "todo") {
			return fmt.Sprintf("panic(%s)", lit.Value)
		}
	}
	return ""
}

// The go.mod names no module that only a machine of ours could find.
func TestNoReplacedModules(t *testing.T) {
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(mod)) {
		if strings.HasPrefix(line, "replace") {
			t.Errorf("go.mod: %s", line)
		}
	}
}
