package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// serving runs plc serve until the end of the test, and returns its address.
func serving(t *testing.T, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	reader, stderr := io.Pipe()
	env := &environment{stdin: strings.NewReader(""), stdout: newOutput(io.Discard), stderr: stderr, asking: make(chan struct{}, 1)}
	root := rootCommand(env)
	root.SetArgs(append([]string{"serve", "--no-project", "--listen", "127.0.0.1:0"}, args...))
	ended := make(chan error, 1)
	go func() {
		ended <- root.ExecuteContext(ctx)
		stderr.Close()
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != exit(exitCancelled) {
			t.Errorf("it ended with %v", err)
		}
	})
	lines := bufio.NewScanner(reader)
	for lines.Scan() {
		if at, ok := strings.CutPrefix(lines.Text(), "serving on "); ok {
			go io.Copy(io.Discard, reader)
			return at
		}
	}
	t.Fatalf("it does not serve: %v", lines.Err())
	return ""
}

// A server that can't be used keeps neither the others nor the tools of the files from being served.
func TestServeWithoutAServer(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	tools := write("tools.yaml", "{tools: {one: {}}, activities: {one: {return: 1}}}")
	servers := write("servers.json", `{"mcpServers": {"gone": {"command": "/no/such/program"}}}`)
	tokens := filepath.Join(dir, "tokens.json")
	code, token := plcHere(t, "token", "create", "ada", "--roles", "read", "--tokens", tokens)
	if code != exitDone {
		t.Fatal(token)
	}
	at := serving(t, "--tools", tools, "--mcp", servers, "--tokens", tokens, "--store", filepath.Join(dir, "runs.db"))
	req, _ := http.NewRequest("GET", at+"/v1/catalogue", nil)
	req.Header.Set("Authorization", "Bearer "+strings.TrimSpace(token))
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if said, _ := io.ReadAll(res.Body); res.StatusCode != http.StatusOK || !strings.Contains(string(said), `"name":"one"`) {
		t.Errorf("status %d, %s", res.StatusCode, said)
	}
}

// Agents are served beside the pages: with their own tokens and roles, in both versions of the
// protocol. What waits leads to a page, on which a person with a token of their own decides.
func TestServeAgents(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	tools := write("tools.yaml", `{tools: {double: {effects: {readOnly: true}}, wipe: {effects: {destructive: true}}, hidden: {}},
		activities: {double: {return: 42}, wipe: {return: gone}, hidden: {return: 1}}}`)
	agents := write("agents.yaml", `{roles: {tidy: {tools: [double, wipe], session: {steps: 10}}}}`)
	tokens, store := filepath.Join(dir, "tokens.json"), filepath.Join(dir, "runs.db")
	token := func(args ...string) string {
		code, out := plcHere(t, append([]string{"token", "create", "--tokens", tokens}, args...)...)
		if code != exitDone {
			t.Fatal(out)
		}
		return strings.TrimSpace(out)
	}
	bot, none, ada := token("bot", "--roles", "run", "--agent", "tidy"), token("none", "--roles", "run"), token("ada", "--roles", "run,approve")
	if code, _ := plcHere(t, "token", "create", "--tokens", tokens, "bad", "--roles", "run,approve", "--agent", "tidy"); code != exitUsage {
		t.Errorf("a token of an agent that approves: exit %d", code)
	}
	at := serving(t, "--tools", tools, "--agents", agents, "--tokens", tokens, "--store", store)
	for secret, want := range map[string]int{"": 401, "plc_wrong": 401, none: 403, ada: 403} {
		req, _ := http.NewRequest("POST", at+"/mcp", strings.NewReader("{}"))
		if secret != "" {
			req.Header.Set("Authorization", "Bearer "+secret)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("the token %.8s: status %d, want %d", secret, res.StatusCode, want)
		}
	}
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(version, func(t *testing.T) {
			opened := make(chan string, 1)
			c, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
				Capabilities: &mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapabilities{URL: &mcp.URLElicitationCapabilities{}}},
				ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
					opened <- r.Params.URL
					return &mcp.ElicitResult{Action: "accept"}, nil
				},
			}).Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: at + "/mcp", HTTPClient: &http.Client{Transport: bearer(bot)}}, &mcp.ClientSessionOptions{ProtocolVersion: version})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			call := func(name string, args any) string {
				res, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
				if err != nil {
					return err.Error()
				}
				raw, _ := json.Marshal(res)
				return string(raw)
			}
			if found := call("search_tools", map[string]any{}); strings.Contains(found, "hidden") || !strings.Contains(found, "double") {
				t.Errorf("found %s", found)
			}
			told := make(chan string)
			go func() {
				told <- call("run", map[string]any{"plan": []any{map[string]any{"_tool": "wipe", "_outputPath": "†state.x"}}, "wait": 60})
			}()
			url := <-opened
			if !strings.HasPrefix(url, at+"/inbox?run=") {
				t.Fatalf("the page is %s", url)
			}
			run := url[strings.Index(url, "=")+1:]
			answer := func(secret string) int {
				req, _ := http.NewRequest("POST", at+"/v1/runs/"+run+"/answers", strings.NewReader(fmt.Sprintf(`{"call":"wipe","digest":%q,"decision":"approve"}`, questionDigest(t, at, run, ada))))
				req.Header.Set("Authorization", "Bearer "+secret)
				req.Header.Set("Content-Type", "application/json")
				res, err := http.DefaultClient.Do(req)
				if err != nil {
					t.Fatal(err)
				}
				res.Body.Close()
				return res.StatusCode
			}
			if code := answer(bot); code != http.StatusForbidden {
				t.Errorf("an agent answers with its token: status %d", code)
			}
			if code := answer(ada); code/100 != 2 {
				t.Errorf("a person answers: status %d", code)
			}
			if got := <-told; !strings.Contains(got, `"status":"completed"`) {
				t.Errorf("%s", got)
			}
		})
	}
	code, out := plcHere(t, "mcp", "sessions", "--store", store, "--format", "json")
	var sessions []toldSession
	if err := json.Unmarshal([]byte(out), &sessions); code != exitDone || err != nil || len(sessions) != 2 || sessions[0].By != "bot" || sessions[0].Role != "tidy" || sessions[0].Runs != 1 {
		t.Fatalf("exit %d, %v: %s", code, err, out)
	}
	for _, s := range sessions {
		if code, out := plcHere(t, "runs", "--store", store, "--session", s.ID); code != exitDone || strings.Count(out, "  completed  ") != 1 {
			t.Errorf("exit %d: %s", code, out)
		}
		if code, out := plcHere(t, "mcp", "sessions", s.ID, "--store", store); code != exitDone || !strings.Contains(out, "run: began run ") {
			t.Errorf("exit %d: %s", code, out)
		}
	}
}

// questionDigest returns the digest of the only question of a run.
func questionDigest(t *testing.T, at, run, secret string) string {
	t.Helper()
	req, _ := http.NewRequest("GET", at+"/v1/runs/"+run+"/questions", nil)
	req.Header.Set("Authorization", "Bearer "+secret)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var body struct{ Questions []struct{ Digest string } }
	if err := json.NewDecoder(res.Body).Decode(&body); err != nil || len(body.Questions) != 1 {
		t.Fatalf("%+v, %v", body, err)
	}
	return body.Questions[0].Digest
}
