package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"
)

// mcpServer is an MCP server for scripts: mcpserver NAME [ADDRESS], on standard input and output or
// over HTTP, with the tools search, secret, pay, form and whatever description the file NAME.txt
// has for search, with the members of NAME.json over the definition. pay writes a line to paid.txt;
// when there is a file deadly, the server ends then without an answer; while there is a file stuck,
// it gives none. form asks a person. The one called echo has tools that tell its environment.
func mcpServer() {
	s := mcpTest{name: os.Args[1], out: func(text string) { fmt.Println(text) }}
	fmt.Fprintln(os.Stderr, s.name, "is starting")
	started, _ := os.OpenFile(s.name+".started", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	fmt.Fprintln(started, os.Getpid())
	_ = started.Close()
	if len(os.Args) > 2 {
		_ = http.ListenAndServe(os.Args[2], http.HandlerFunc(serveMCP))
		return
	}
	s.in = bufio.NewScanner(os.Stdin)
	for s.in.Scan() {
		s.answer(s.in.Bytes())
	}
}

// serveMCP answers a message over HTTP.
func serveMCP(w http.ResponseWriter, r *http.Request) {
	text, _ := io.ReadAll(r.Body)
	answered := false
	s := mcpTest{name: os.Args[1], out: func(text string) {
		answered = true
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, text)
	}}
	if r.Method != http.MethodPost {
		w.WriteHeader(http.StatusMethodNotAllowed)
	} else if s.answer(text); !answered {
		w.WriteHeader(http.StatusAccepted)
	}
}

// mcpTest is the server: what it reads, if it can, and where it writes.
type mcpTest struct {
	name string
	in   *bufio.Scanner
	out  func(string)
}

// answer answers a message, unless it is a notification.
func (s *mcpTest) answer(message []byte) {
	var req struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params struct {
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
			Meta      map[string]any  `json:"_meta"`
		} `json:"params"`
	}
	if json.Unmarshal(message, &req) != nil || req.ID == nil {
		return
	}
	result := any(nil)
	switch req.Method {
	case "initialize":
		result = map[string]any{"protocolVersion": "2025-06-18", "capabilities": map[string]any{"tools": map[string]any{}}, "serverInfo": map[string]any{"name": s.name, "version": "1"}}
	case "tools/list":
		result = map[string]any{"tools": s.tools()}
	case "tools/call":
		result = s.call(req.Params.Name, req.Params.Arguments, req.Params.Meta)
	default:
		s.out(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"method not found"}}`, req.ID))
		return
	}
	text, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": req.ID, "result": result})
	s.out(string(text))
}

func (s *mcpTest) tools() []any {
	description, _ := os.ReadFile(s.name + ".txt")
	object := func(required ...string) any {
		properties := map[string]any{}
		for _, name := range required {
			properties[name] = map[string]any{"type": "string"}
		}
		return map[string]any{"type": "object", "properties": properties, "required": append([]string{}, required...)}
	}
	if s.name == "echo" {
		return []any{map[string]any{"name": "echo", "inputSchema": object()}, map[string]any{"name": "echoFails", "inputSchema": object()}}
	}
	hints := func(readOnly bool) any { return map[string]any{"readOnlyHint": readOnly, "destructiveHint": false} }
	search := map[string]any{"name": "search", "description": strings.TrimSpace(string(description)), "inputSchema": object("query"), "annotations": hints(true)}
	if changed, err := os.ReadFile(s.name + ".json"); err == nil {
		if err := json.Unmarshal(changed, &search); err != nil {
			panic(err)
		}
	}
	if s.name == "lang" { // names of the language
		var all []any
		for _, name := range []string{"choose", "forEach", "reduce", "repeat", "step", "join"} {
			all = append(all, map[string]any{"name": name, "inputSchema": object(), "annotations": hints(true)})
		}
		return all
	}
	return []any{
		search,
		map[string]any{"name": s.name + "_secret", "inputSchema": object("why"), "annotations": hints(true)},
		map[string]any{"name": s.name + "_pay", "inputSchema": object("to"), "annotations": hints(false)},
		map[string]any{"name": s.name + "_form", "inputSchema": object(), "annotations": hints(true)},
	}
}

func (s *mcpTest) call(name string, arguments json.RawMessage, meta map[string]any) any {
	text := func(s string, isError bool) any {
		return map[string]any{"content": []any{map[string]any{"type": "text", "text": s}}, "isError": isError}
	}
	if s.name == "lang" {
		return text("the server's "+name, false)
	}
	switch name {
	case "echo":
		return map[string]any{"content": []any{}, "structuredContent": map[string]any{"env": os.Environ(), "encoded": encodings(strings.Join(os.Environ(), "\n"))}}
	case "echoFails":
		fmt.Fprintln(os.Stderr, os.Environ())
		return text(fmt.Sprint(os.Environ(), encodings(strings.Join(os.Environ(), "\n"))), true)
	case "search":
		return map[string]any{"content": []any{}, "structuredContent": map[string]any{"server": s.name, "found": arguments, "trace": meta["traceparent"]}}
	case s.name + "_secret":
		return text("the token is "+os.Getenv("TOKEN")+" and that is wrong", true)
	case s.name + "_pay":
		paid, _ := os.OpenFile("paid.txt", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		fmt.Fprintln(paid, meta["plc/idempotencyKey"] != nil)
		_ = paid.Close()
		if os.Remove("deadly") == nil {
			os.Exit(7)
		}
		for _, err := os.Stat("stuck"); err == nil; _, err = os.Stat("stuck") {
			time.Sleep(10 * time.Millisecond)
		}
		return text("paid", false)
	case s.name + "_form":
		s.out(strings.Join(strings.Fields(form), " "))
		for s.in.Scan() {
			var res struct {
				ID     any
				Result any
			}
			if json.Unmarshal(s.in.Bytes(), &res) == nil && res.ID == "form" {
				return map[string]any{"content": []any{}, "structuredContent": res.Result}
			}
		}
	}
	return text("there is no such tool", true)
}

// form is what the tool form wants to know.
const form = `{"jsonrpc":"2.0","id":"form","method":"elicitation/create","params":{"message":"who_are_you?\u001b[2J","requestedSchema":{
	"type":"object", "required":["name"], "properties":{
		"name":{"type":"string","minLength":2},
		"age":{"type":"integer","minimum":18,"description":"in_years"},
		"size":{"type":"string","enum":["s","l"],"enumNames":["small","large"],"default":"s"},
		"tags":{"type":"array","items":{"type":"string","enum":["x","y"]}}
	}}}}`
