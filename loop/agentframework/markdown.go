package agentframework

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/internal/python"
	"github.com/plc-lang/plc/internal/texttree"
	"github.com/plc-lang/plc/loop"
)

// maxFrontMatter is the maximum nesting depth of front matter.
const maxFrontMatter = 64

// ParseAgent reads an agent from Markdown: front matter in YAML, the system prompt and, if there is
// a third part, the prompt of each run, parted by lines of three hyphens.
//
//	---
//	id: scout
//	description: Looks where nobody has been.
//	parameters: {place: {description: where to look}}
//	tools: [look]
//	---
//	You are a scout.
//	---
//	Look at {{place}}.
//
// A list of tools, subagents or skills that the front matter does not have is empty: the agent may
// call none. The errors name what is wrong; a member that is not known is an error.
func ParseAgent(text []byte) (*Agent, error) {
	front, body, err := parts(text)
	if err != nil {
		return nil, err
	}
	tree, fault := texttree.YAML{What: "front matter", MaxDepth: maxFrontMatter, MaxBytes: 1 << 20, MaxNodes: 1 << 16, Aliases: true}.Parse(front)
	if fault != nil {
		return nil, fmt.Errorf("agentframework: the front matter can't be read: %w", fault)
	}
	o := agentOptions{Agent: Agent{Tools: []string{}, Subagents: []string{}, Skills: []string{}}}
	if err := loop.ReadObject(tree.JSON(), &o); err != nil {
		return nil, fmt.Errorf("agentframework: the front matter can't be read: %w", err)
	}
	if o.ID == "" {
		return nil, errors.New(`agentframework: the front matter has no "id"`)
	}
	o.Instructions = strings.TrimSpace(strings.Join([]string{o.Instructions, body[0]}, "\n\n"))
	if len(body) > 1 {
		o.Prompt = body[1]
	}
	a, err := o.agent()
	return &a, err
}

// parts splits a file into its front matter and the one or two parts after it.
func parts(text []byte) (front []byte, body []string, err error) {
	var all [][]string
	for line := range strings.Lines(string(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")))) {
		switch hyphens := strings.TrimRight(line, " \t\r\n") == "---"; {
		case hyphens && len(all) < 3:
			all = append(all, nil)
		case len(all) > 0:
			all[len(all)-1] = append(all[len(all)-1], line)
		case strings.TrimSpace(line) != "":
			return nil, nil, errors.New("agentframework: the file does not begin with front matter, between lines of ---")
		}
	}
	if len(all) < 2 {
		return nil, nil, errors.New("agentframework: the file has no front matter and no prompt behind it, parted by lines of ---")
	}
	for _, part := range all[1:] {
		body = append(body, strings.TrimSpace(strings.Join(part, "")))
	}
	return []byte(strings.Join(all[0], "")), body, nil
}

// ReadAgents reads the agents of a folder; each agent is a file ID.md. If there is a file ID.json,
// its members take precedence over those in the front matter. Errors name the file.
func ReadAgents(folder fs.FS) ([]Agent, error) {
	names, err := fs.Glob(folder, "*.md")
	if err != nil {
		return nil, err
	}
	var list []Agent
	for _, name := range names {
		text, err := fs.ReadFile(folder, name)
		if err != nil {
			return nil, err
		}
		a, err := ParseAgent(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if err := beside(folder, strings.TrimSuffix(name, path.Ext(name))+".json", a); err != nil {
			return nil, err
		}
		if slices.ContainsFunc(list, func(b Agent) bool { return b.ID == a.ID }) {
			return nil, fmt.Errorf("%s: there is another agent with the id %q", name, a.ID)
		}
		list = append(list, *a)
	}
	return list, nil
}

// beside merges the model settings in the file next to that of an agent.
func beside(folder fs.FS, name string, a *Agent) error {
	text, err := fs.ReadFile(folder, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var own modelOptions
	if err == nil {
		err = loop.ReadObject(text, &own)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	own.into(a)
	return nil
}

// Parameter is a declared parameter of an agent.
type Parameter struct {
	Name        string
	Description string
	Type        string          // as in JSON Schema; "" allows any
	Default     json.RawMessage // nil if there is none
	Optional    bool
}

// parameterOptions is the JSON form of a Parameter.
type parameterOptions struct {
	Description string          `json:"description"`
	Type        string          `json:"type"`
	Required    *bool           `json:"required"` // nil means true
	Default     json.RawMessage `json:"default"`
}

// placeholder matches a parameter in the prompt of an agent.
var placeholder = regexp.MustCompile(`\{\{\s*([a-zA-Z_][a-zA-Z0-9_]*)`)

// checkPrompt returns an error that names an undeclared parameter in the prompt.
func (a *Agent) checkPrompt() error {
	for _, m := range placeholder.FindAllStringSubmatch(a.Prompt, -1) {
		if m[1] != "instruction" && a.parameter(m[1]) == nil {
			return fmt.Errorf("the prompt has {{%s}}, which is no parameter of the agent", m[1])
		}
	}
	return nil
}

// parameter returns the parameter with the given name, or nil.
func (a *Agent) parameter(name string) *Parameter {
	i := slices.IndexFunc(a.Parameters, func(p Parameter) bool { return p.Name == name })
	if i < 0 {
		return nil
	}
	return &a.Parameters[i]
}

// complete sets missing parameters to their defaults. fault names the missing parameters without a
// default.
func (a *Agent) complete(params *Values) (fault string) {
	var missing []string
	for i := range a.Parameters {
		p := &a.Parameters[i]
		switch {
		case params.Get(p.Name) != nil:
		case p.Default != nil:
			params.Put(p.Name, p.Default)
		case !p.Optional:
			missing = append(missing, p.Name)
		}
	}
	if missing == nil {
		return ""
	}
	return fmt.Sprintf("parameters: the agent %q needs %s", a.ID, python.List(missing))
}

// fill returns the prompt of an agent with the parameters filled in.
func fill(prompt string, params *Values) string {
	x := &resolving{known: &References{InvocationParameters: params, StepResults: &Values{}}}
	x.text("\n"+prompt, nil) // the newline makes it a text even if it is a single reference
	return strings.TrimPrefix(jsonscan.Text(x.out), "\n")
}
