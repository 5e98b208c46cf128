// Server is an MCP server for the tutorial. It reads the notes in a folder, and "sends" messages by
// adding them to the file sent.txt.
package main

import (
	"context"
	"fmt"
	"io/fs"
	"log"
	"os"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type nothing struct{}

type listed struct {
	Names []string `json:"names"`
}

type named struct {
	Name string `json:"name" jsonschema:"the name of a note, without .txt"`
}

type note struct {
	Text string `json:"text"`
}

type message struct {
	To   string `json:"to"`
	Text string `json:"text"`
}

type sent struct {
	Number int `json:"number"`
}

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: server FOLDER SENT")
	}
	notes, outbox := os.DirFS(os.Args[1]), os.Args[2]
	s := mcp.NewServer(&mcp.Implementation{Name: "notes", Version: "1"}, nil)
	no, yes := false, true
	reads := &mcp.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: &no}
	sends := &mcp.ToolAnnotations{DestructiveHint: &yes}

	mcp.AddTool(s, &mcp.Tool{Name: "list_notes", Description: "Lists the notes.", Annotations: reads},
		func(context.Context, *mcp.CallToolRequest, nothing) (*mcp.CallToolResult, listed, error) {
			files, err := fs.Glob(notes, "*.txt")
			names := []string{}
			for _, f := range files {
				names = append(names, strings.TrimSuffix(f, ".txt"))
			}
			return nil, listed{names}, err
		})
	mcp.AddTool(s, &mcp.Tool{Name: "read_note", Description: "Reads a note.", Annotations: reads},
		func(_ context.Context, _ *mcp.CallToolRequest, in named) (*mcp.CallToolResult, note, error) {
			text, err := fs.ReadFile(notes, in.Name+".txt")
			if err != nil {
				return nil, note{}, fmt.Errorf("there is no note %q", in.Name)
			}
			return nil, note{strings.TrimSpace(string(text))}, nil
		})
	mcp.AddTool(s, &mcp.Tool{Name: "send_message", Description: "Sends a message to somebody.", Annotations: sends},
		func(_ context.Context, _ *mcp.CallToolRequest, in message) (*mcp.CallToolResult, sent, error) {
			f, err := os.OpenFile(outbox, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
			if err != nil {
				return nil, sent{}, err
			}
			defer f.Close()
			if _, err := fmt.Fprintf(f, "%s: %q\n", in.To, in.Text); err != nil {
				return nil, sent{}, err
			}
			text, err := os.ReadFile(outbox)
			return nil, sent{strings.Count(string(text), "\n")}, err
		})
	if err := s.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		log.Fatal(err)
	}
}
