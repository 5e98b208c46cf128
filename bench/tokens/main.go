// Command tokens counts what an agent reads and writes for twenty tasks over MCP servers: by
// calling their tools itself, and by plans through plc mcp. It does each task in three worlds
// (by direct calls, by plans over pipes, by plans over HTTP), says yes to what waits for a
// person, and wants the same files and the same memory in the end. It prints the table of
// docs/agents.md:
//
//	PLC_NPM_MCP_SERVERS=FOLDER go -C bench run ./tokens
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidwall/gjson"
	"github.com/tiktoken-go/tokenizer"
)

func main() {
	if err := tokens(context.Background(), os.Getenv("PLC_NPM_MCP_SERVERS")); err != nil {
		fmt.Fprintln(os.Stderr, "tokens:", err)
		os.Exit(1)
	}
}

var codec = func() tokenizer.Codec {
	c, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		panic(err) // the table of the encoding is part of the program
	}
	return c
}()

// count returns how many tokens a text or the JSON of a value has.
func count(v any) int {
	text, ok := v.(string)
	if !ok {
		raw, err := json.Marshal(v)
		if err != nil {
			panic(err) // values of this program
		}
		text = string(raw)
	}
	n, err := codec.Count(text)
	if err != nil {
		panic(err)
	}
	return n
}

// A tally is what a task takes: how many calls the agent makes, and the tokens of what it writes
// and reads.
type tally struct{ calls, written, read int }

func (t *tally) add(o tally) { t.calls += o.calls; t.written += o.written; t.read += o.read }

// An agent is connected to servers.
type agent struct {
	tools map[string]*mcp.ClientSession // that have a tool
	given int                           // the tokens of what it is told before a task
	used  tally
}

func (a *agent) connect(ctx context.Context, t mcp.Transport) (*mcp.ClientSession, error) {
	s, err := mcp.NewClient(&mcp.Implementation{Name: "tokens", Version: "1"}, nil).Connect(ctx, t, nil)
	if err != nil {
		return nil, err
	}
	if a.tools == nil {
		a.tools = map[string]*mcp.ClientSession{}
	}
	if init := s.InitializeResult(); init != nil {
		a.given += count(init.Instructions)
	}
	for t, err := range s.Tools(ctx, nil) {
		if err != nil {
			return nil, err
		}
		a.tools[t.Name] = s
		a.given += count(map[string]any{"name": t.Name, "description": t.Description, "input_schema": t.InputSchema})
	}
	return s, nil
}

// call calls a tool, and counts the call and the texts of its result, as a host shows them.
func (a *agent) call(ctx context.Context, name string, args any) (gjson.Result, error) {
	res, err := a.tools[name].CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		return gjson.Result{}, fmt.Errorf("%s: %w", name, err)
	}
	var text strings.Builder
	for _, c := range res.Content {
		if t, ok := c.(*mcp.TextContent); ok {
			text.WriteString(t.Text)
		}
	}
	if res.IsError {
		return gjson.Result{}, fmt.Errorf("%s: %s", name, text.String())
	}
	a.used.add(tally{1, count(map[string]any{"name": name, "input": args}), count(text.String())})
	raw, err := json.Marshal(res.StructuredContent)
	return gjson.ParseBytes(raw), err
}

// A world is a folder that the servers work in.
type world struct {
	dir, servers, plc string
}

// programs returns the commands of the servers.
func (w *world) programs() map[string]*exec.Cmd {
	all := map[string]*exec.Cmd{}
	for name, args := range map[string][]string{"filesystem": {filepath.Join(w.dir, "files")}, "memory": nil, "everything": nil} {
		cmd := exec.Command(filepath.Join(w.servers, "node_modules/.bin/mcp-server-"+name), args...)
		cmd.Dir = filepath.Join(w.dir, "files")
		cmd.Env = append(os.Environ(), "MEMORY_FILE_PATH="+filepath.Join(w.dir, "memory.jsonl"))
		all[name] = cmd
	}
	return all
}

// direct returns an agent that calls the servers itself.
func (w *world) direct(ctx context.Context) (*agent, error) {
	a := new(agent)
	for _, cmd := range w.programs() {
		if _, err := a.connect(ctx, &mcp.CommandTransport{Command: cmd}); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// planner returns an agent that writes plans for plc mcp, over HTTP or pipes.
func (w *world) planner(ctx context.Context, overHTTP bool) (*agent, error) {
	servers := map[string]any{}
	for name, cmd := range w.programs() {
		servers[name] = map[string]any{
			"command": cmd.Path, "args": cmd.Args[1:], "trust": true, "env": map[string]string{"MEMORY_FILE_PATH": filepath.Join(w.dir, "memory.jsonl")},
		}
	}
	text, err := json.Marshal(map[string]any{"mcpServers": servers})
	if err != nil {
		return nil, err
	}
	config := filepath.Join(w.dir, "servers.json")
	if err := os.WriteFile(config, text, 0o600); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, w.plc, "mcp", "--no-project", "--mcp", config, "--store", w.store())
	cmd.Dir = filepath.Join(w.dir, "files")
	var transport mcp.Transport = &mcp.CommandTransport{Command: cmd}
	if overHTTP {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		address := l.Addr().String()
		l.Close()
		const token = "0123456789abcdef"
		cmd.Args, cmd.Env = append(cmd.Args, "--http", address), append(os.Environ(), "PLC_MCP_TOKEN="+token)
		if err := cmd.Start(); err != nil {
			return nil, err
		}
		for { // until it listens, or ctx ends it
			c, err := net.Dial("tcp", address)
			if err == nil {
				c.Close()
				break
			}
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			time.Sleep(50 * time.Millisecond)
		}
		transport = &mcp.StreamableClientTransport{Endpoint: "http://" + address, HTTPClient: &http.Client{Transport: bearer(token)}}
	}
	a := new(agent)
	s, err := a.connect(ctx, transport)
	if err != nil {
		return nil, err
	}
	prompt, err := s.GetPrompt(ctx, &mcp.GetPromptParams{Name: "write_plan"})
	if err != nil {
		return nil, err
	}
	list, notation := a.given, count(prompt.Messages[0].Content.(*mcp.TextContent).Text)
	if a.given += notation; list > 2500 || notation > 1500 {
		return nil, fmt.Errorf("the tools and instructions have %d tokens, which may be 2500, and the prompt %d, which may be 1500", list, notation)
	}
	fmt.Fprintf(os.Stderr, "tools and instructions: %d tokens, prompt: %d\n", list, notation)
	return a, nil
}

func (w *world) store() string { return filepath.Join(w.dir, "runs.db") }

// bearer sends a token with each request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// byPlan does a task as an agent that plans: it looks for the tools, runs the plan, and asks how
// far it is when a person has answered.
func (w *world) byPlan(ctx context.Context, a *agent, t *task) (yes bool, err error) {
	if _, err := a.call(ctx, "search_tools", map[string]any{"query": t.search, "limit": 5}); err != nil {
		return false, err
	}
	state, err := a.call(ctx, "run", map[string]any{"plan": t.plan, "wait": 120})
	if err == nil && state.Get("status").Str == "paused" {
		yes = true
		if state, err = w.answered(ctx, a, state); err != nil {
			return yes, err
		}
	}
	if err == nil && state.Get("status").Str != "completed" {
		err = fmt.Errorf("the run is %s", state)
	}
	return yes, err
}

// answered says yes, as a person does in a terminal, until the run has ended. Then the agent asks
// how far it is, once.
func (w *world) answered(ctx context.Context, a *agent, state gjson.Result) (gjson.Result, error) {
	used, run := a.used, state.Get("run").Str
	for status := ""; status == "" || status == "paused" || status == "running"; status = state.Get("status").Str {
		if state.Get("waiting.0").Exists() {
			out, err := exec.CommandContext(ctx, w.plc, "approve", run, "--all", "--yes", "--store", w.store()).CombinedOutput()
			if err != nil {
				return state, fmt.Errorf("plc approve: %w\n%s", err, out)
			}
		}
		var err error
		if state, err = a.call(ctx, "status", map[string]any{"run": run, "wait": 0.2}); err != nil {
			return state, err
		}
	}
	a.used = used
	return a.call(ctx, "status", map[string]any{"run": run, "wait": 120})
}

func tokens(ctx context.Context, servers string) error {
	if servers == "" {
		return errors.New("PLC_NPM_MCP_SERVERS names no folder with MCP servers; .ci/run says how it is made")
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	top, err := os.MkdirTemp("", "tokens")
	if err != nil {
		return err
	}
	defer os.RemoveAll(top)
	plc := filepath.Join(top, "plc")
	if out, err := exec.CommandContext(ctx, "go", "build", "-C", "..", "-o", plc, "./cmd/plc").CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	worlds, agents := make([]*world, 3), make([]*agent, 3)
	for i, name := range []string{"direct", "pipes", "http"} {
		w := &world{filepath.Join(top, name), servers, plc}
		if err := furnish(filepath.Join(w.dir, "files")); err != nil {
			return err
		}
		if i == 0 {
			agents[i], err = w.direct(ctx)
		} else {
			agents[i], err = w.planner(ctx, name == "http")
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		worlds[i] = w
	}
	fmt.Print("| task | calls | written | read | with plans: calls | written | read | of direct |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n")
	var sums [2]tally
	for _, t := range tasks() {
		for i, a := range agents {
			a.used = tally{}
			var yes bool
			if i == 0 {
				err = t.direct(func(name string, args object) (gjson.Result, error) { return a.call(ctx, name, args) })
			} else if yes, err = worlds[i].byPlan(ctx, a, t); err == nil && yes != t.asks {
				err = fmt.Errorf("a person was asked: %v, want %v", yes, t.asks)
			}
			if err != nil {
				return fmt.Errorf("%s, %s: %w", t.name, filepath.Base(worlds[i].dir), err)
			}
		}
		if err := same(worlds); err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
		d, p := agents[0].used, agents[1].used
		d.read, p.read = d.read+agents[0].given, p.read+agents[1].given
		row(t.name, d, p)
		sums[0].add(d)
		sums[1].add(p)
	}
	row("all", sums[0], sums[1])
	fmt.Printf("\nBefore a task, the agent is told %d tokens of definitions directly, and %d with plans.\n", agents[0].given, agents[1].given)
	return nil
}

func row(name string, d, p tally) {
	share := 100 * (p.written + p.read) / (d.written + d.read)
	fmt.Printf("| %s | %d | %d | %d | %d | %d | %d | %d %% |\n", name, d.calls, d.written, d.read, p.calls, p.written, p.read, share)
}

// same returns an error unless the files and the memory of all worlds are the same.
func same(worlds []*world) error {
	want := ""
	for i, w := range worlds {
		var all strings.Builder
		err := filepath.WalkDir(filepath.Join(w.dir, "files"), func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				fmt.Fprintln(&all, strings.TrimPrefix(path, w.dir))
				return err
			}
			text, err := os.ReadFile(path)
			fmt.Fprintf(&all, "%s\n%s\n", strings.TrimPrefix(path, w.dir), text)
			return err
		})
		memory, readErr := os.ReadFile(filepath.Join(w.dir, "memory.jsonl"))
		if readErr != nil && !errors.Is(readErr, os.ErrNotExist) || err != nil {
			return errors.Join(err, readErr)
		}
		all.Write(memory)
		if i == 0 {
			want = all.String()
		} else if all.String() != want {
			return fmt.Errorf("%s has other files or another memory than %s:\n%.2000s\nwant\n%.2000s", w.dir, worlds[0].dir, all.String(), want)
		}
	}
	return nil
}
