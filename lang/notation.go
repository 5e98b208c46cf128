package lang

import "github.com/plc-lang/plc/internal/lazyregexp"

// notation is another notation for plans (--from) that a text looks like.
type notation struct {
	what string
	cure string
}

func from(what, name string) *notation {
	return &notation{what, "it is read with --from " + name}
}

// What lines of other notations look like.
var (
	arazzoLine      = lazyregexp.New(`(?m)^arazzo:`)
	rewooLine       = lazyregexp.New(`(?m)^\s*#E\d+\s*=`)
	llmcompilerLine = lazyregexp.New(`(?m)^\s*\d+\.\s*\w+\(`)
	mathqaLine      = lazyregexp.New(`^\s*\w+\([^()\n]*\)\|?\s*(\w+\(|$)`)
	qdmrLine        = lazyregexp.New(`(?mi)^\s*return\b.*;\s*return\b`)
	yamlLine        = lazyregexp.New(`(?m)^\s*(-\s*)?["']?_tool["']?:`)
	markdownLine    = lazyregexp.New(`(?m)^\s*([-*+]|\d+[.)])\s+\S`)
)

// notationOf returns the other notation that a text which is not JSON looks like, nil if none. It
// looks at the first 64 KiB.
func notationOf(text []byte) *notation {
	text = text[:min(len(text), 64<<10)]
	switch {
	case arazzoLine.Match(text):
		return from("an Arazzo document in YAML", "arazzo")
	case rewooLine.Match(text):
		return from("a ReWOO plan", "rewoo")
	case llmcompilerLine.Match(text):
		return from("an LLMCompiler plan", "llmcompiler")
	case mathqaLine.Match(text):
		return from("a MathQA formula", "mathqa")
	case qdmrLine.Match(text):
		return from("a QDMR decomposition", "qdmr")
	case yamlLine.Match(text) && text[0] != '{' && text[0] != '[':
		return &notation{"a plan in YAML", "it is read from a file whose name ends in .yaml"}
	case markdownLine.Match(text):
		return &notation{"a list in prose", "a plan is JSON, such as [{\"_tool\": …}]"}
	}
	return nil
}

// notationOfTree returns the other notation that a document in JSON looks like, nil if none.
func notationOfTree(root Node) *notation {
	if root.is(Object) {
		return notationOfObject(root)
	}
	for _, first := range root.Elements() {
		return notationOfStep(first)
	}
	return nil
}

// has reports whether an object has all of these members.
func (n Node) hasAll(names ...string) bool {
	for _, name := range names {
		if n.get(name).IsZero() {
			return false
		}
	}
	return true
}

func notationOfObject(root Node) *notation {
	switch {
	case root.hasAll("arazzo"):
		return from("an Arazzo document", "arazzo")
	case root.hasAll("task_nodes"):
		return from("a TaskBench plan", "taskbench")
	case root.hasAll("tool_calls"), root.get("message").hasAll("tool_calls"), isToolUse(root.get("content")):
		return from("tool calls of a model", "toolcalls")
	case root.hasAll("subtasks"), root.get("plan").hasAll("subtasks"):
		return from("a plan of The Edge Agent", "tea")
	case root.hasAll("steps"):
		for _, step := range root.get("steps").Elements() {
			return notationOfStep(step)
		}
	}
	return nil
}

func isToolUse(content Node) bool {
	for _, block := range content.Elements() {
		if block.get("type").Str() == "tool_use" {
			return true
		}
	}
	return false
}

// notationOfStep returns the notation that the first step of a list looks like.
func notationOfStep(step Node) *notation {
	switch {
	case step.hasAll("tool_calls"), step.hasAll("function"), isToolUse(step.get("content")):
		return from("tool calls of a model", "toolcalls")
	case step.hasAll("task_nodes"):
		return from("a TaskBench plan", "taskbench")
	case step.hasAll("name", "arguments"):
		return from("a NESTFUL plan", "nestful")
	case step.hasAll("id", "name", "args"):
		return from("an m&m's plan", "mnms")
	case step.hasAll("api", "parameters"):
		return from("a Seal-Tools plan", "sealtools")
	case step.hasAll("tool_name"):
		return from("a plan of agent_framework", "agentframework")
	case step.hasAll("action"):
		return from("a plan of steps", "planstep")
	case step.hasAll("name", "description"):
		return from("a Flux plan", "flux")
	}
	return nil
}
