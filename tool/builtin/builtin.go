package builtin

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/internal/driver"
)

// Driver is the Driver of the tools.
const Driver = "builtin"

// DefaultMaxBytes is the maximum size of a result when Config.MaxBytes is 0.
const DefaultMaxBytes = 16 << 20

// Config says what the tools may reach.
type Config struct {
	Hosts    []string // that http.get may reach, in the form of http.Config.AllowHosts
	Paths    []string // folders and files; relative ones are from the current directory
	MaxBytes int64    // of a file, an answer, a text; 0 is DefaultMaxBytes
}

// Names returns the names of the tools.
func Names() []string {
	names := make([]string, len(table))
	for i, e := range table {
		names[i] = e.name
	}
	return names
}

// entry describes a tool and how to make its activity.
type entry struct {
	name, definition string
	activity         func(Config) (tool.Activity, error)
}

var table = [...]entry{
	{"http.get", `{
		"description": "Asks for a URL with GET. The answer is an error unless its status is 2xx; JSON is read, anything else is text.",
		"properties": {
			"url": {"type": "string", "minLength": 1, "description": "https:// or http://, of an allowed host"},
			"headers": {"type": "object", "additionalProperties": {"type": "string"}}
		},
		"required": ["url"], "additionalProperties": false,
		"outputSchema": {"type": "object", "properties": {
			"status": {"type": "integer"}, "headers": {"type": "object", "additionalProperties": {"type": "string"}}, "body": {}
		}, "required": ["status", "headers", "body"]},
		"effects": {"readOnly": true, "idempotent": true, "openWorld": true}
	}`, newGet},
	{"file.read", `{
		"description": "Reads a text file, in UTF-8.",
		"properties": {"path": {"type": "string", "minLength": 1}},
		"required": ["path"], "additionalProperties": false,
		"outputSchema": {"type": "string"},
		"effects": {"readOnly": true, "idempotent": true, "openWorld": false}
	}`, newRead},
	{"file.write", `{
		"description": "Writes a text file: all of it at once, in place of what was there. Folders on the way are made.",
		"properties": {"path": {"type": "string", "minLength": 1}, "text": {"type": "string"}},
		"required": ["path", "text"], "additionalProperties": false,
		"outputSchema": {"type": "object", "properties": {"bytes": {"type": "integer"}}, "required": ["bytes"]},
		"effects": {"readOnly": false, "destructive": true, "idempotent": true, "openWorld": false}
	}`, newWrite},
	{"dir.list", `{
		"description": "Lists what is in a folder, by name. Links are not followed.",
		"properties": {"path": {"type": "string", "minLength": 1}, "recursive": {"type": "boolean", "description": "also what is in the folders below"}},
		"required": ["path"], "additionalProperties": false,
		"outputSchema": {"type": "array", "items": {"type": "object", "properties": {
			"name": {"type": "string", "description": "from the folder on, with slashes"}, "type": {"enum": ["file", "dir", "link", "other"]}, "size": {"type": "integer", "minimum": 0}
		}, "required": ["name", "type", "size"]}},
		"effects": {"readOnly": true, "idempotent": true, "openWorld": false}
	}`, newList},
	{"text.template", `{
		"description": "Fills a text: {name} stands for the value of that name, {user.mail} for a value within one; {{ and }} are braces. For a list of values the texts of all, joined.",
		"properties": {
			"template": {"type": "string"},
			"values": {"oneOf": [{"type": "object"}, {"type": "array", "items": {"type": "object"}}]},
			"join": {"type": "string", "description": "between the texts of a list; a line end when not given"}
		},
		"required": ["template", "values"], "additionalProperties": false,
		"outputSchema": {"type": "string"},
		"effects": {"pure": true}
	}`, newTemplate},
	{"time.now", `{
		"description": "The time, in UTC.",
		"additionalProperties": false,
		"outputSchema": {"type": "object", "properties": {
			"time": {"type": "string", "format": "date-time"}, "date": {"type": "string", "format": "date"},
			"weekday": {"enum": ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]},
			"unix": {"type": "integer", "description": "seconds since 1970"}
		}, "required": ["time", "date", "weekday", "unix"]},
		"effects": {"readOnly": true, "idempotent": true}
	}`, newNow},
	{"wait", `{
		"description": "Waits.",
		"properties": {"duration": {"oneOf": [{"type": "number", "minimum": 0}, {"type": "string", "minLength": 1}], "description": "seconds, or a text like 1m30s; 24 hours at most"}},
		"required": ["duration"], "additionalProperties": false,
		"outputSchema": {"type": "null"},
		"effects": {"readOnly": true, "idempotent": true}
	}`, newWait},
}

// New makes a tool. It returns an error if there is no tool of this name, or if the Config grants
// nothing that it could reach.
func New(name string, cfg Config) (*tool.Tool, error) {
	if cfg.MaxBytes == 0 {
		cfg.MaxBytes = DefaultMaxBytes
	}
	for _, e := range table {
		if e.name == name {
			return e.tool(cfg)
		}
	}
	return nil, fmt.Errorf("there is no built-in tool %q", name)
}

func (e entry) tool(cfg Config) (*tool.Tool, error) {
	activity, err := e.activity(cfg)
	if err != nil {
		return nil, err
	}
	t := &tool.Tool{Definition: Define(e.name, e.definition), Activity: activity, Source: Driver, Driver: Driver}
	if strings.HasPrefix(e.name, "file.") || strings.HasPrefix(e.name, "dir.") { // relative paths are from here
		if t.Place.Dir, err = filepath.Abs("."); err != nil {
			return nil, err
		}
		for _, name := range append([]string{"."}, cfg.Paths...) {
			if name, err = filepath.Abs(name); err != nil {
				return nil, err
			}
			t.Place.Follow(name)
		}
	}
	if e.name == "wait" {
		t.Timeout = maxWait + maxWait/24 // the timeout of the run would end it too early
	}
	return t, nil
}

// Define reads the definition of a tool that is written in Go. It panics if the definition has any
// findings.
func Define(name, definition string) *tool.Definition {
	def, findings := tool.ParseDefinition(json.RawMessage(definition), name, diag.Loc{})
	if len(findings) > 0 {
		panic(findings[0].Message)
	}
	return def
}

// text returns a string as a result, or an error if it is longer than allowed.
func (cfg Config) text(s []byte) (tool.Result, error) {
	if int64(len(s)) > cfg.MaxBytes {
		return tool.Result{}, tooLarge(cfg.MaxBytes)
	}
	value, err := driver.Text(s)
	if err != nil {
		return tool.Result{}, &tool.Error{Code: driver.BadOutput, Message: err.Error(), Permanent: true}
	}
	return tool.Result{Value: value}, nil
}

func tooLarge(most int64) error {
	return &tool.Error{Code: driver.TooLarge, Message: fmt.Sprintf("more than %d bytes", most), Permanent: true}
}
