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

// Activity is an implementation as it is written in a tool file.
type Activity struct {
	Name    string // the name of its tool, or a name for _activity
	Driver  string // "process", "http", "stand-in", "latent", "mcp"; "" if it only has settings for a tool that comes with its activity
	Timeout time.Duration
	Queue   string // of the workers that make its calls; "" is any
	Loc     diag.Loc
	// Raw is the activity as it is written, with secrets by their names.
	Raw json.RawMessage
	// Offer says that plans may define tools with it.
	Offer bool
	// Effects declares the effects of the activity itself, whichever tool has it.
	Effects tool.Effects

	pointer string // JSON Pointer
	model   string
	driver  value // its config
	standIn standin.Config
	server  string // of an MCP tool
	tool    string // the server's name for the tool
	secrets *Secrets
	around  around
	service *service
	file    *File // that has it
}

// The members that select a driver; several of them select a stand-in.
const (
	driverProcess = "process"
	driverHTTP    = "http"
	driverMCP     = "mcp"
	driverLatent  = "latent"
	driverOpenAPI = openapi.Driver
	driverStandIn = "stand-in"
)

// activity reads an activity: one driver and the members that all activities may have.
func (r *reader) activity(v value, f *File) {
	v.named("activity", "What runs a tool: one driver, and what holds for every call.")
	a := Activity{Name: v.name(), Loc: r.loc(v.key), pointer: v.pointer}
	var first value // the member that selected the driver
	as := func(driver string, read set) set {
		return func(v value) {
			switch {
			case v.shape != nil:
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
		"timeout":    doc("The time for one attempt, unless the call sets its own.", r.duration(&a.Timeout, 1)),
		"queue":      doc("The workers that make the calls, for an engine that has several queues of them.", r.text(&a.Queue)),
		"offer":      doc("Plans may define tools over it.", r.flag(&a.Offer)),
		"effects":    doc("What it does to the world, whichever tool has it.", func(v value) { a.Effects = r.effects(a.Name, v) }),
		"process":    doc("A program: its command, or an object.", as(driverProcess, r.config(reflect.TypeFor[process.Config](), processDocs()))),
		"http":       doc("An HTTP request.", as(driverHTTP, r.config(reflect.TypeFor[http.Config](), httpDocs()))),
		"mcp":        doc("A tool of an MCP server.", as(driverMCP, func(v value) { r.mcp(v, &a) })),
		"openapi":    doc("An operation of an OpenAPI document.", as(driverOpenAPI, func(v value) { a.service = r.operation(v) })),
		"latent":     doc("A model makes the calls: true, or which model.", as(driverLatent, func(v value) { r.latent(v, &a.model) })),
		"return":     doc("A stand-in that gives this value.", as(driverStandIn, r.raw(&c.Return))),
		"returnEach": doc("A stand-in that gives a value by the id of the call.", as(driverStandIn, func(v value) { r.each(v, func(v value) { c.ReturnEach[v.name()] = v.JSON() }) })),
		"echo":       doc("A stand-in that gives the params.", as(driverStandIn, r.flag(&c.Echo))),
		"sample":     doc("A stand-in that gives a value made from the schema of the result.", as(driverStandIn, r.flag(&c.Sample))),
		"after":      doc("A stand-in that waits.", as(driverStandIn, r.duration(&c.After, 0))),
		"jitter":     doc("A stand-in that waits a random time of up to this in addition.", as(driverStandIn, r.duration(&c.Jitter, 0))),
		"fail":       doc("A stand-in that fails.", as(driverStandIn, func(v value) { r.fail(v, c) })),
		"failTimes":  doc("Only so many attempts of each call fail.", as(driverStandIn, r.count(&c.FailTimes, 0))),
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

// guards reports whether the activity has settings that wrap its calls.
func (a *Activity) guards() bool {
	return a.around != (around{}) || a.Timeout > 0 || a.Queue != "" || a.Offer || a.Effects != (tool.Effects{})
}

// config checks a driver's config, whose members are the fields of a struct. docs describes each of
// them; members that only docs has are texts. The driver itself reads the config later: see
// builder.
func (r *reader) config(t reflect.Type, docs map[string]string) set {
	return func(v value) {
		if v.Kind == texttree.Array && t == reflect.TypeFor[process.Config]() { // the command alone
			r.command(v)
			return
		}
		known := map[string]set{}
		for name, field := range jsonFields(t) {
			known[name] = doc(docs[name], r.like(field))
		}
		for name, about := range docs {
			if known[name] == nil {
				known[name] = doc(about, r.text(new(string)))
			}
		}
		switch t {
		case reflect.TypeFor[http.Config]():
			known["url"] = doc(docs["url"], func(v value) { r.text(new(string))(v); r.address(v, true) })
			known["result"] = among(known["result"], http.Results()...)
			known["method"] = suchAs(known["method"], "GET", "POST", "PUT", "PATCH", "DELETE", "HEAD")
		case reflect.TypeFor[process.Config]():
			known["command"] = doc(docs["command"], r.command)
			known["output"] = among(known["output"], process.Outputs()...)
			known["stdin"] = suchAs(known["stdin"], "params", "request", "none")
		}
		r.members(v, known)
	}
}

// command reads the command of a program.
func (r *reader) command(v value) {
	r.texts(new([]string))(v)
	for i, e := range v.Entries {
		if _, secrets := literalArg(v.Entries, i); len(secrets) > 0 && v.Kind == texttree.Array {
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

// like returns a reader that checks a value that will be read into a type of Go.
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
	case reflect.TypeFor[[]int]():
		return func(v value) {
			if v.shape != nil { // only the driver reads the value
				r.elements(v, r.count(new(int), 0))
			}
		}
	}
	return func(value) {}
}

// withSecrets returns the type of the fields that may hold secrets: variables, headers.
func withSecrets() reflect.Type { return reflect.TypeFor[map[string]string]() }

// textOrSecret checks that a value is a string, {"env": NAME} or {"file": PATH}.
func (r *reader) textOrSecret(v value) {
	v.named("secret", "A text, {env: NAME} or {file: PATH}.")
	if v.Kind == texttree.String {
		return
	}
	if v.shape == nil && (v.Kind != texttree.Object || len(v.Entries) != 1) {
		r.errorf(v, "%s is a string, {env: NAME} or {file: PATH}, not %s", v.what(), v.Kind)
		return
	}
	r.secret(v)
}

// secret checks that a value is {"env": NAME} or {"file": PATH}.
func (r *reader) secret(v value) {
	v.describe("minProperties", 1, "maxProperties", 1)
	r.members(v, r.secretMembers())
}

func (r *reader) secretMembers() map[string]set {
	s := new(string)
	return map[string]set{
		"env":  doc("The environment variable that has the secret.", r.text(s)),
		"file": doc("The file that has the secret.", r.text(s)),
	}
}

// mcp reads the server and the tool of an activity; the tool's name is the activity's by default.
func (r *reader) mcp(v value, a *Activity) {
	a.tool = a.Name
	r.members(v, map[string]set{"server": doc("The name of the server.", r.text(&a.server)), "tool": doc("The server's name for the tool; the default is the activity's.", r.text(&a.tool))})
	v.needs("server")
	if v.Kind == texttree.Object && a.server == "" {
		r.errorf(v, "%q needs the name of a server, as in {server: docs, tool: search}", a.Name)
	}
}

// latent reads true or an object that may name a model.
func (r *reader) latent(v value, model *string) {
	if v.Kind == texttree.Boolean && v.Raw == "true" {
		v.describe("enum", []any{true})
		return
	}
	r.members(v, map[string]set{"model": doc("One of models.", r.text(model))})
}

func (r *reader) fail(v value, c *standin.Config) {
	v.named("failure", "How a call fails.")
	e := &tool.Error{}
	r.members(v, map[string]set{
		"code": doc("The code of the error.", r.text(&e.Code)), "message": doc("What went wrong, in words.", r.text(&e.Message)),
		"permanent": doc("Trying again does not help.", r.flag(&e.Permanent)), "uncertain": doc("The tool may have done its work.", r.flag(&e.Uncertain)),
		"retryAfter": doc("How long to wait before the next attempt.", r.duration(&e.RetryAfter, 0)),
	})
	if v.Kind == texttree.Object && e.Code == "" {
		e.Code = "error"
	}
	c.Fail = e
}
