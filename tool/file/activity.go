package file

import (
	"encoding/json"
	"reflect"
	"strings"
	"time"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/texttree"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/http"
	"github.com/plc-lang/plc/tool/openapi"
	"github.com/plc-lang/plc/tool/process"
	"github.com/plc-lang/plc/tool/standin"
)

// Activity is an implementation as a tool file has it.
type Activity struct {
	Name    string // of the tool, or for _activity to name
	Driver  string // "process", "http", "stand-in", "latent", "mcp"; "" when it only says what stands around a tool that comes with its activity
	Timeout time.Duration
	Loc     diag.Loc
	// Raw is the activity as it is written, secrets by their names.
	Raw json.RawMessage
	// Offer says that plans may define tools over it.
	Offer bool
	// Effects declares the effects of the activity itself, whichever tool has it.
	Effects tool.Effects

	pointer string // JSON Pointer
	model   string
	driver  value // its config
	standIn standin.Config
	server  string // of an MCP tool
	tool    string // the server's name for it
	secrets *Secrets
	around  around
	service *service
	file    *File // that has it
}

// The members that choose a driver: of a stand-in there are several.
const (
	driverProcess = "process"
	driverHTTP    = "http"
	driverMCP     = "mcp"
	driverLatent  = "latent"
	driverOpenAPI = openapi.Driver
	driverStandIn = "stand-in"
)

// activity reads an activity: one driver and what is common to all.
func (r *reader) activity(v value, f *File) {
	a := Activity{Name: v.name(), Loc: r.loc(v.key), pointer: v.pointer}
	var first value // that chose the driver
	as := func(driver string, read set) set {
		return func(v value) {
			switch {
			case a.Driver == "":
				a.Driver, a.driver, first = driver, v, v
			case a.Driver != driver:
				r.errorf(v, "%q has two drivers, %s and %s; keep one", a.Name, first.name(), v.name())
				return
			}
			read(v)
		}
	}
	before := len(r.findings)
	c := &a.standIn
	c.ReturnEach = map[string]json.RawMessage{}
	r.members(v, r.around(&a.around, map[string]set{
		"timeout":    r.duration(&a.Timeout, 1),
		"offer":      r.flag(&a.Offer),
		"effects":    func(v value) { a.Effects = r.effects(a.Name, v) },
		"process":    as(driverProcess, r.config(reflect.TypeFor[process.Config](), "grace")),
		"http":       as(driverHTTP, r.config(reflect.TypeFor[http.Config](), "timeout")),
		"mcp":        as(driverMCP, func(v value) { r.mcp(v, &a) }),
		"openapi":    as(driverOpenAPI, func(v value) { a.service = r.operation(v) }),
		"latent":     as(driverLatent, func(v value) { r.latent(v, &a.model) }),
		"return":     as(driverStandIn, r.raw(&c.Return)),
		"returnEach": as(driverStandIn, func(v value) { r.each(v, func(v value) { c.ReturnEach[v.name()] = v.JSON() }) }),
		"echo":       as(driverStandIn, r.flag(&c.Echo)),
		"sample":     as(driverStandIn, r.flag(&c.Sample)),
		"after":      as(driverStandIn, r.duration(&c.After, 0)),
		"jitter":     as(driverStandIn, r.duration(&c.Jitter, 0)),
		"fail":       as(driverStandIn, func(v value) { r.fail(v, c) }),
		"failTimes":  as(driverStandIn, r.count(&c.FailTimes, 0)),
	}))
	a.Raw = r.withoutLiterals(v.Node).JSON()
	switch {
	case r.findings[before:].HasErrors():
	case a.Driver == "" && a.guards(): // of a tool that comes with its activity
		f.Activities = append(f.Activities, a)
	case a.Driver == "":
		r.errorf(v, "%q has nothing that runs it; give it one of process, http, openapi, return, echo, fail, sample, mcp and latent", a.Name)
	default:
		f.Activities = append(f.Activities, a)
	}
}

// guards reports that something is said of what stands around the calls.
func (a *Activity) guards() bool {
	return a.around != (around{}) || a.Timeout > 0 || a.Offer || a.Effects != (tool.Effects{})
}

// config checks a driver's config, whose members are the fields of a struct; more
// are those that it reads as text. The driver reads it itself: see builder.
func (r *reader) config(t reflect.Type, more ...string) set {
	return func(v value) {
		if v.Kind == texttree.Array && t == reflect.TypeFor[process.Config]() { // the command alone
			r.command(v)
			return
		}
		known := map[string]set{}
		for name, field := range jsonFields(t) {
			known[name] = r.like(field)
		}
		switch t {
		case reflect.TypeFor[http.Config]():
			known["url"] = func(v value) { r.text(new(string))(v); r.address(v, true) }
		case reflect.TypeFor[process.Config]():
			known["command"] = r.command
		}
		for _, name := range more {
			known[name] = r.text(new(string))
		}
		r.members(v, known)
	}
}

// command reads the command of a program.
func (r *reader) command(v value) {
	r.texts(new([]string))(v)
	for i, e := range v.Entries {
		if _, _, is := literalArg(v.Entries, i); is && v.Kind == texttree.Array {
			r.exposed(v.below(e), "give it in env, as {env: NAME}")
		}
	}
}

// jsonFields returns the types of the fields of a struct by their names in JSON.
func jsonFields(t reflect.Type) map[string]reflect.Type {
	fields := map[string]reflect.Type{}
	for f := range t.Fields() {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
			fields[name] = f.Type
		}
	}
	return fields
}

// like checks a value that is read into a type of Go.
func (r *reader) like(t reflect.Type) set {
	switch t {
	case reflect.TypeFor[string]():
		return r.text(new(string))
	case reflect.TypeFor[bool]():
		return r.flag(new(bool))
	case reflect.TypeFor[int](), reflect.TypeFor[int64]():
		return r.count(new(int), 0)
	case reflect.TypeFor[[]string]():
		return r.texts(new([]string))
	case withSecrets():
		return func(v value) { r.each(v, func(v value) { r.variable(v, true) }) }
	}
	return func(value) {}
}

// withSecrets returns the type of the fields that may hold secrets: variables, headers.
func withSecrets() reflect.Type { return reflect.TypeFor[map[string]string]() }

// textOrSecret checks a string, {"env": NAME} or {"file": PATH}.
func (r *reader) textOrSecret(v value) {
	if v.Kind == texttree.String {
		return
	}
	if v.Kind != texttree.Object || len(v.Entries) != 1 {
		r.errorf(v, "%s is a string, {env: NAME} or {file: PATH}, not %s", v.what(), v.Kind)
		return
	}
	s := new(string)
	r.members(v, map[string]set{"env": r.text(s), "file": r.text(s)})
}

// mcp reads which tool of which server; the tool's name is by default the activity's.
func (r *reader) mcp(v value, a *Activity) {
	a.tool = a.Name
	r.members(v, map[string]set{"server": r.text(&a.server), "tool": r.text(&a.tool)})
	if v.Kind == texttree.Object && a.server == "" {
		r.errorf(v, "%q needs the name of a server, as in {server: docs, tool: search}", a.Name)
	}
}

// latent reads true or an object that may name a model.
func (r *reader) latent(v value, model *string) {
	if v.Kind == texttree.Boolean && v.Raw == "true" {
		return
	}
	r.members(v, map[string]set{"model": r.text(model)})
}

func (r *reader) fail(v value, c *standin.Config) {
	e := &tool.Error{}
	r.members(v, map[string]set{
		"code": r.text(&e.Code), "message": r.text(&e.Message),
		"permanent": r.flag(&e.Permanent), "uncertain": r.flag(&e.Uncertain),
		"retryAfter": r.duration(&e.RetryAfter, 0),
	})
	if v.Kind == texttree.Object && e.Code == "" {
		e.Code = "error"
	}
	c.Fail = e
}
