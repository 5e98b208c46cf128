package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

// mcpServer is an MCP server for scripts: mcpserver NAME, with the tools search, secret, pay and
// whatever description the file NAME.txt has for search. pay writes a line to paid.txt; when
// there is a file deadly, it ends then without an answer. The one called echo has tools that tell its
// environment.
func mcpServer() {
	name := os.Args[1]
	fmt.Fprintln(os.Stderr, name, "is starting")
	started, _ := os.OpenFile(name+".started", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	fmt.Fprintln(started, os.Getpid())
	_ = started.Close()
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		var req struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params struct {
				Name      string          `json:"name"`
				Arguments json.RawMessage `json:"arguments"`
				Meta      map[string]any  `json:"_meta"`
			} `json:"params"`
		}
		if json.Unmarshal(in.Bytes(), &req) != nil || req.ID == nil {
			continue
		}
		result := any(nil)
		switch req.Method {
		case "initialize":
			result = map[string]any{"protocolVersion": "2025-06-18", "capabilities": map[string]any{"tools": map[string]any{}}, "serverInfo": map[string]any{"name": name, "version": "1"}}
		case "tools/list":
			result = map[string]any{"tools": mcpTools(name)}
		case "tools/call":
			result = mcpCall(name, req.Params.Name, req.Params.Arguments, req.Params.Meta)
		default:
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"method not found"}}`+"\n", req.ID)
			continue
		}
		text, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": req.ID, "result": result})
		fmt.Println(string(text))
	}
}

func mcpTools(name string) []any {
	description, _ := os.ReadFile(name + ".txt")
	object := func(required string) any {
		return map[string]any{"type": "object", "properties": map[string]any{required: map[string]any{"type": "string"}}, "required": []string{required}}
	}
	if name == "echo" {
		return []any{map[string]any{"name": "echo", "inputSchema": map[string]any{"type": "object"}}, map[string]any{"name": "echoFails", "inputSchema": map[string]any{"type": "object"}}}
	}
	hints := func(readOnly bool) any { return map[string]any{"readOnlyHint": readOnly, "destructiveHint": false} }
	return []any{
		map[string]any{"name": "search", "description": strings.TrimSpace(string(description)), "inputSchema": object("query"), "annotations": hints(true)},
		map[string]any{"name": name + "_secret", "inputSchema": object("why"), "annotations": hints(true)},
		map[string]any{"name": name + "_pay", "inputSchema": object("to"), "annotations": hints(false)},
	}
}

func mcpCall(server, name string, arguments json.RawMessage, meta map[string]any) any {
	text := func(s string, isError bool) any {
		return map[string]any{"content": []any{map[string]any{"type": "text", "text": s}}, "isError": isError}
	}
	switch name {
	case "echo":
		return map[string]any{"content": []any{}, "structuredContent": map[string]any{"env": os.Environ(), "encoded": encodings(strings.Join(os.Environ(), "\n"))}}
	case "echoFails":
		fmt.Fprintln(os.Stderr, os.Environ())
		return text(fmt.Sprint(os.Environ(), encodings(strings.Join(os.Environ(), "\n"))), true)
	case "search":
		return map[string]any{"content": []any{}, "structuredContent": map[string]any{"server": server, "found": arguments}}
	case server + "_secret":
		return text("the token is "+os.Getenv("TOKEN")+" and that is wrong", true)
	case server + "_pay":
		paid, _ := os.OpenFile("paid.txt", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		fmt.Fprintln(paid, meta["plc/idempotencyKey"] != nil)
		_ = paid.Close()
		if os.Remove("deadly") == nil {
			os.Exit(7)
		}
		return text("paid", false)
	}
	return text("there is no such tool", true)
}
