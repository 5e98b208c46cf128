package tool

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
)

// Place says where an activity does its work, as it was declared, without secrets. Members that
// don't apply are empty; a Go function has the zero Place.
type Place struct {
	Program []string `json:"program,omitempty"` // and its arguments, with their placeholders
	Path    string   `json:"path,omitempty"`    // of the program's file; "" when it was not found
	Dir     string   `json:"dir,omitempty"`     // the folder that it works in
	Pins    []Pin    `json:"pins,omitempty"`    // what the files were when the policy pins programs

	// Links maps Path, and names that a built-in tool may reach, to the files that they really are.
	// It lacks names without links.
	Links map[string]string `json:"links,omitempty"`

	Method string `json:"method,omitempty"` // of a request
	URL    string `json:"url,omitempty"`    // with its placeholders
	Host   string `json:"host,omitempty"`   // of URL, with its placeholders

	// Expanded is the SHA-256 of the command or URL of an MCP server after its variables and files
	// were replaced by their values; "" if it has none. Program and URL have them as they are
	// written.
	Expanded string `json:"expanded,omitempty"`

	Server string `json:"server,omitempty"` // MCP
	Tool   string `json:"tool,omitempty"`   // the server's name for it

	// Operation lists the names that an OpenAPI document has for an operation: its operationId, if
	// it has one, and its method and path.
	Operation []string `json:"operation,omitempty"`

	Document string `json:"document,omitempty"` // that is run
	Model    string `json:"model,omitempty"`    // of a latent tool; "" is for the run to say
}

// Pin is the content of a file that a program is made of.
type Pin struct {
	File   string `json:"file"`
	SHA256 string `json:"sha256"` // in hexadecimal; "unreadable", or "" if there is no such program
}

// PlaceOf returns the place that an activity of a tool file names, given its declaration.
func PlaceOf(declared json.RawMessage) Place {
	var list []json.RawMessage
	for json.Unmarshal(declared, &list) == nil && len(list) > 0 { // with the settings around it
		declared, list = list[0], nil
	}
	var a struct {
		Process json.RawMessage
		HTTP    struct{ Method, URL string }
		MCP     struct{ Server, Tool string }
		OpenAPI json.RawMessage
		Latent  json.RawMessage
	}
	if json.Unmarshal(declared, &a) != nil {
		return Place{}
	}
	p := Place{Server: a.MCP.Server, Tool: a.MCP.Tool, URL: a.HTTP.URL, Program: commandOf(a.Process)}
	if p.URL != "" {
		p.Method, p.Host = strings.ToUpper(cmp.Or(a.HTTP.Method, "GET")), hostOf(p.URL)
	}
	if json.Unmarshal(a.OpenAPI, &p.Operation) != nil { // as a tool file writes it
		p.Operation = nil
	}
	var latent struct{ Model string }
	if json.Unmarshal(a.Latent, &latent) == nil {
		p.Model = latent.Model
	}
	return p
}

// Names returns the names that the activity has outside the tool file: server.tool and the server's
// own name for a tool of an MCP server, and the names of an operation.
func (p Place) Names() []string {
	if p.Server != "" {
		return []string{p.Server + "." + p.Tool, p.Tool}
	}
	return p.Operation
}

// identity returns the same text for all activities that run the same tool of an MCP server or the
// same operation at the same address. For other activities, which can't be compared, it returns "".
func (p Place) identity() string {
	switch {
	case p.Server != "":
		return p.Server + "\x00" + p.Tool
	case p.Operation != nil:
		return p.Method + " " + p.URL
	}
	return ""
}

// hostOf returns the host of a URL with placeholders.
func hostOf(address string) string {
	_, rest, _ := strings.Cut(address, "://")
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		rest = rest[:end]
	}
	return rest[strings.LastIndex(rest, "@")+1:]
}

// Follow notes in Links where a link to a file or folder leads. A name that does not exist is not
// noted.
func (p *Place) Follow(name string) {
	at, err := filepath.EvalSymlinks(name)
	if err != nil || at == filepath.Clean(name) {
		return
	}
	if p.Links == nil {
		p.Links = map[string]string{}
	}
	p.Links[name] = at
}

// commandOf returns the command of a process, as a list or in an object.
func commandOf(declared json.RawMessage) (words []string) {
	var c struct{ Command []string }
	if json.Unmarshal(declared, &words) != nil && json.Unmarshal(declared, &c) == nil {
		words = c.Command
	}
	return words
}

// Words describes in one line what runs, given the kind of activity ("process", "http", …; "" for a
// latent one). Text that others wrote is quoted.
func (p Place) Words(driver string) string {
	var words string
	switch {
	case p.Document != "":
		return fmt.Sprintf("the document %q", p.Document)
	case p.Server != "" && len(p.Program) > 0:
		words = fmt.Sprintf("the tool %q of the MCP server %q, which is the program %s", p.Tool, p.Server, inQuotes(p.Program))
	case p.Server != "" && p.URL != "":
		words = fmt.Sprintf("the tool %q of the MCP server %q at %q", p.Tool, p.Server, p.URL)
	case p.Server != "" && p.Path == "":
		words = fmt.Sprintf("the tool %q of the MCP server %q", p.Tool, p.Server)
	case p.Server != "":
		return fmt.Sprintf("the tool %q of the MCP server %q, which is the program %q", p.Tool, p.Server, p.Path)
	case len(p.Program) > 0:
		words = "the program " + inQuotes(p.Program)
	case p.URL != "":
		return fmt.Sprintf("the request %s %q to the host %q", cmp.Or(p.Method, "GET"), p.URL, p.Host)
	case p.Model != "":
		return fmt.Sprintf("the model %q", p.Model)
	case driver == "" || driver == "latent":
		return "a model"
	case driver == "go":
		return "a Go function"
	case driver == "stand-in":
		return "a stand-in, which calls nothing"
	case driver == BuiltIn:
		return "part of the language"
	default:
		words = fmt.Sprintf("an activity of the kind %q", driver)
	}
	if p.Path != "" && len(p.Program) > 0 && p.Path != p.Program[0] {
		words += fmt.Sprintf(" (the file %q)", p.Path)
	}
	if p.Dir != "" {
		words += fmt.Sprintf(" in the folder %q", p.Dir)
	}
	return words
}

func inQuotes(list []string) string {
	all := make([]string, len(list))
	for i, s := range list {
		all[i] = fmt.Sprintf("%q", s)
	}
	return strings.Join(all, " ")
}
