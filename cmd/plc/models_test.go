package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/diag"
	toolfile "github.com/plc-lang/plc/tool/file"
	"github.com/plc-lang/plc/tool/model"
	"github.com/plc-lang/plc/tool/model/modeltest"
)

// modelServer speaks as both providers do. It answers a call by the param "about".
func modelServer(t *testing.T, asked *atomic.Int32) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json")
		ours := r.URL.Path == "/v1/messages"
		if r.Header.Get("Authorization") != "Bearer top-secret-key" && r.Header.Get("X-Api-Key") != "top-secret-key" {
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprintf(w, `{"error":{"message":"no: %s%s"}}`, r.Header.Get("Authorization"), r.Header.Get("X-Api-Key"))
			return
		}
		prompt := gjson.GetBytes(body, "messages.1.content").Str
		if ours {
			prompt = gjson.GetBytes(body, "messages.0.content.0.text").Str
		}
		answer := `{"_value":` + gjson.Get(prompt, "params.about").Raw + `}`
		switch about := gjson.Get(prompt, "params.about").String(); {
		case gjson.Get(prompt, "outcomes").Exists():
			answer = fmt.Sprintf(`{"_outcome":%s,"_value":{"why":%s,"seen":%s}}`, gjson.Get(prompt, "outcomes.1").Raw,
				gjson.Get(prompt, "params.about").Raw, gjson.Get(prompt, "context").Raw)
		case about == "nonsense":
			answer = "I think that"
		}
		if ours {
			fmt.Fprintf(w, `{"id":"m","type":"message","role":"assistant","content":[{"type":"tool_use","id":"t","name":"answer","input":%s}],"stop_reason":"tool_use","usage":{"input_tokens":100,"output_tokens":20}}`, answer)
			return
		}
		text, _ := json.Marshal(answer)
		fmt.Fprintf(w, `{"choices":[{"message":{"role":"assistant","content":%s},"finish_reason":"stop"}],"usage":{"prompt_tokens":100,"completion_tokens":20}}`, text)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// withModels is a folder with a tool file whose default model is that of a server.
func withModels(t *testing.T, url string) string {
	dir := t.TempDir()
	t.Setenv("MODEL_KEY", "top-secret-key")
	write(t, filepath.Join(dir, "tools.yaml"), `
tools:
  think: {properties: {about: {}, _output: {type: string}}, required: [about], effects: {readOnly: true}}
  count: {properties: {text: {type: string}, _output: {type: integer}}, effects: {pure: true}}
  decide: {properties: {about: {type: string}}, _outcomes: ["yes", "no"], effects: {pure: true}}
  muse: {properties: {about: {type: string}, _output: {type: string}}, effects: {pure: true}}
activities:
  count: {process: {command: [wc, -c], stdin: "{text}"}}
  muse: {latent: {model: other}}
models:
  default: {provider: openai, model: small, baseURL: "`+url+`/v1", apiKey: {env: MODEL_KEY}, temperature: 0, prices: {input: 1000, output: 10000}}
  other: {provider: anthropic, model: large, baseURL: "`+url+`", apiKey: {env: MODEL_KEY}}
`)
	write(t, filepath.Join(dir, "plan.json"), `[
		{"_tool": "think", "about": "rain", "_outputPath": "†state.thought"},
		{"_tool": "count", "text": "†state.thought", "_outputPath": "†state.n"},
		{"_tool": "muse", "about": "†{state.thought} in †{state.n}", "_outputPath": "†state.mused"}
	]`)
	write(t, filepath.Join(dir, "choice.json"), `{"type": "plan", "mode": "lazy", "plan": [
		{"_tool": "decide", "about": "rain", "_scopes": ["†input.day"], "_outputPath": "†state.yes || †state.no"},
		{"_tool": "think", "about": "†{state.no.why}!", "_outputPath": "†state.after"},
		{"_tool": "think", "about": "†state.yes", "_outputPath": "†state.never"}
	]}`)
	return dir
}

func TestModelsMakeLatentCalls(t *testing.T) {
	var asked atomic.Int32
	dir := withModels(t, modelServer(t, &asked))
	got := runPLC(t, dir, "run", "plan.json", "--tools", "tools.yaml", "--format", "json")
	if want := `{"thought":"rain","n":4,"mused":"rain in 4"}`; got.code != 0 || gjson.Get(got.stdout, "state|@ugly").Raw != want {
		t.Fatalf("exit %d: %s%s", got.code, got.stdout, got.stderr)
	}
	if u := gjson.Get(got.stdout, "usage|@ugly").Raw; u != `{"tokens":240,"inputTokens":200,"outputTokens":40,"cost":0.3}` {
		t.Errorf("usage %s", u)
	}
	got = runPLC(t, dir, "run", "choice.json", "--tools", "tools.yaml", "--yes", "--input", "day=monday", "--input", "secret=1", "--format", "json")
	if want := `{"no":{"why":"rain","seen":{"input":{"day":"monday"}}},"after":"rain!"}`; got.code != 0 || gjson.Get(got.stdout, "state|@ugly").Raw != want {
		t.Errorf("exit %d: %s%s", got.code, got.stdout, got.stderr)
	}
	if n := asked.Load(); n != 4 {
		t.Errorf("models were asked %d times", n)
	}
}

// One latent tool can be tried, with the model or its recorded answers.
func TestCallOfALatentTool(t *testing.T) {
	var asked atomic.Int32
	dir := withModels(t, modelServer(t, &asked))
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"think", `{"about": "rain"}`, "--model-record", "tape.jsonl"}, 0, `"rain"`},
		{[]string{"think", `{"about": "rain"}`, "--model-replay", "tape.jsonl"}, 0, `"rain"`},
		{[]string{"think", `{"about": "snow"}`, "--model-replay", "tape.jsonl"}, 3, "no-recording"},
		{[]string{"muse", `{"about": "rain"}`}, 0, `"rain"`},
		{[]string{"think", `{}`}, 1, "the params do not fit"},
		{[]string{"think", `{"about": 1}`}, 3, "the answer is not what the definition"},
		{[]string{"think", `{}`, "--model-replay", "none.jsonl"}, 2, "can't be used"},
	} {
		got := runPLC(t, dir, append(append([]string{"tools", "call"}, c.args...), "--tools", "tools.yaml")...)
		if got.code != c.code || !strings.Contains(got.stdout+got.stderr, c.says) {
			t.Errorf("%q: exit %d: %s%s", c.args, got.code, got.stdout, got.stderr)
		}
	}
	if n := asked.Load(); n != 3 {
		t.Errorf("models were asked %d times", n)
	}
}

// Calls that are ready at once go in one request, when that is wanted; a recording has each by
// itself.
func TestLatentCallsTogether(t *testing.T) {
	var asked atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		body, _ := io.ReadAll(r.Body)
		var parts []string
		gjson.Parse(gjson.GetBytes(body, "messages.1.content").Str).ForEach(func(name, call gjson.Result) bool {
			parts = append(parts, name.Raw+`:{"_value":`+call.Get("params.about").Raw+`}`)
			return true
		})
		text, _ := json.Marshal("{" + strings.Join(parts, ",") + "}")
		fmt.Fprintf(w, `{"choices":[{"message":{"role":"assistant","content":%s},"finish_reason":"stop"}],"usage":{"prompt_tokens":100,"completion_tokens":20}}`, text)
	}))
	t.Cleanup(s.Close)
	dir := t.TempDir()
	write(t, filepath.Join(dir, "tools.yaml"), `
tools: {think: {properties: {about: {}, _output: {type: string}}, required: [about], effects: {readOnly: true}}}
models: {default: {provider: openai, model: small, baseURL: "`+s.URL+`/v1", batch: 3}}
`)
	write(t, filepath.Join(dir, "plan.json"), `{"type": "plan", "mode": "lazy", "plan": [
		{"_tool": "think", "about": "a", "_outputPath": "†state.a"}, {"_tool": "think", "about": "b", "_outputPath": "†state.b"}, {"_tool": "think", "about": 3, "_errorPath": "†state.c"}]}`)
	args := []string{"run", "plan.json", "--tools", "tools.yaml", "--yes", "--format", "json", "--max-parallel", "8"}
	wrong := func(got outcome) bool {
		return got.code != 0 || gjson.Get(got.stdout, "state.a").Str+gjson.Get(got.stdout, "state.b").Str != "ab" || gjson.Get(got.stdout, "state.c.code").Str != "result" ||
			gjson.Get(got.stdout, "usage.tokens").Int() != 120 || asked.Load() != 1
	}
	var got outcome
	for try := 0; try == 0 || asked.Load() > 1 && try < 100; try++ { // on a machine that is busy they may be too far from each other
		asked.Store(0)
		_ = os.Remove(filepath.Join(dir, "tape.jsonl"))
		if got = runPLC(t, dir, append(args, "--model-record", "tape.jsonl")...); got.code != 0 {
			break
		}
	}
	if wrong(got) {
		t.Fatalf("exit %d, asked %d times: %s%s", got.code, asked.Load(), got.stdout, got.stderr)
	}
	if got := runPLC(t, dir, append(args, "--model-replay", "tape.jsonl")...); wrong(got) {
		t.Errorf("exit %d, asked %d times: %s%s", got.code, asked.Load(), got.stdout, got.stderr)
	}
}

// What a model answered is remembered like the result of any tool, and what it fails with is
// guarded.
func TestGuardsOfLatentCalls(t *testing.T) {
	var asked atomic.Int32
	dir := withModels(t, modelServer(t, &asked))
	write(t, filepath.Join(dir, "more.yaml"), `activities: {think: {latent: true, cache: 10m, maxOutput: 20}}`)
	write(t, filepath.Join(dir, "p.json"), `[{"_tool": "think", "about": "rain", "_outputPath": "†state.a"}, {"_tool": "think", "about": "rain", "_outputPath": "†state.b"}]`)
	for range 2 {
		got := runPLC(t, dir, "run", "p.json", "--tools", "tools.yaml", "--tools", "more.yaml", "--store", "runs.db", "--schedule", "sequential")
		if n := asked.Load(); got.code != 0 || n != 1 || !strings.Contains(got.stdout, `"b": "rain"`) {
			t.Errorf("exit %d, asked %d times: %s%s", got.code, n, got.stdout, got.stderr)
		}
	}
	write(t, filepath.Join(dir, "p.json"), `[{"_tool": "think", "about": "0123456789012345678901234567890"}]`)
	got := runPLC(t, dir, "run", "p.json", "--tools", "tools.yaml", "--tools", "more.yaml")
	if got.code != 3 || !strings.Contains(got.stderr, "output-too-large") {
		t.Errorf("exit %d: %s", got.code, got.stderr)
	}
}

// Recorded answers need neither the server nor the key, and a run with them is the same.
func TestModelRecordings(t *testing.T) {
	var asked atomic.Int32
	dir := withModels(t, modelServer(t, &asked))
	args := []string{"run", "plan.json", "--tools", "tools.yaml", "--format", "json"}
	first := runPLC(t, dir, append(args, "--model-record", "answers.jsonl")...)
	again := runPLC(t, dir, append(args, "--model-record", "answers.jsonl")...)
	os.Unsetenv("MODEL_KEY")
	replayed := runPLC(t, dir, append(args, "--model-replay", "answers.jsonl")...)
	for _, o := range []outcome{first, again, replayed} {
		for _, what := range []string{"state", "usage", "status"} {
			if got, want := gjson.Get(o.stdout, what).Raw, gjson.Get(first.stdout, what).Raw; o.code != 0 || got != want {
				t.Errorf("exit %d, %s %s, want %s: %s", o.code, what, got, want, o.stderr)
			}
		}
	}
	if n := asked.Load(); n != 2 {
		t.Errorf("models were asked %d times", n)
	}
	tape, err := os.ReadFile(filepath.Join(dir, "answers.jsonl"))
	if err != nil || strings.Count(string(tape), "\n") != 2 || strings.Contains(string(tape), "top-secret") {
		t.Errorf("the recording: %v\n%s", err, tape)
	}
	write(t, filepath.Join(dir, "other.json"), `[{"_tool": "think", "about": "snow"}]`)
	got := runPLC(t, dir, "run", "other.json", "--tools", "tools.yaml", "--model-replay", "answers.jsonl")
	if got.code != 3 || !strings.Contains(got.stderr, "no-recording") {
		t.Errorf("a request that was not recorded: exit %d: %s", got.code, got.stderr)
	}
	for _, c := range [][]string{
		{"--model-replay", "none.jsonl"}, {"--model-replay", "tools.yaml"},
	} {
		if got := runPLC(t, dir, append(args, c...)...); got.code != 1 || !strings.Contains(got.stdout, "PLC606") {
			t.Errorf("%v: exit %d: %s", c, got.code, got.stderr)
		}
	}
	if got := runPLC(t, dir, append(args, "--model-replay", "answers.jsonl", "--model-record", "x")...); got.code != 2 {
		t.Errorf("both: exit %d: %s", got.code, got.stderr)
	}
}

func TestModelFailures(t *testing.T) {
	var asked atomic.Int32
	dir := withModels(t, modelServer(t, &asked))
	for _, c := range []struct {
		plan string
		args []string
		code int
		says string
	}{
		{`[{"_tool": "think", "about": "nonsense"}]`, nil, 3, "result: the answer is not JSON"},
		{`[{"_tool": "think", "about": 1}]`, nil, 3, "result: the answer is not what the definition of \"think\" says"},
		{`[{"_tool": "think", "about": "x", "_expect": {"minLength": 5}}]`, nil, 3, "unexpected: the answer is not what _expect says"},
		{`[{"_tool": "think", "about": "x"}, {"_tool": "think", "about": "y"}]`, []string{"--max-tokens", "100", "--schedule", "sequential"}, 3, "the run has used 120 tokens; the budget is 100"},
		{`[{"_tool": "think", "about": "x"}, {"_tool": "think", "about": "y"}]`, []string{"--max-cost", "0.3", "--schedule", "sequential", "--on-failure", "ask"}, 4, "and with the call \"think-2\" would cost more than 0.3"},
		{`[{"_tool": "decide", "about": "x", "_outputPath": "†state.yes || †state.no"}]`, nil, 1, "PLC602"},
		{`[{"_tool": "forEach", "items": [1], "_delegate": "anonymous"}]`, nil, 1, "this is a loop"},
	} {
		write(t, filepath.Join(dir, "p.json"), c.plan)
		got := runPLC(t, dir, append([]string{"run", "p.json", "--tools", "tools.yaml"}, c.args...)...)
		if got.code != c.code || !strings.Contains(got.stderr+got.stdout, c.says) {
			t.Errorf("%s: exit %d, %s%s", c.plan, got.code, got.stdout, got.stderr)
		}
	}
	before := asked.Load()
	write(t, filepath.Join(dir, "p.json"), `[{"_tool": "think", "about": "nonsense", "_retry": {"max": 2, "delay": 0.001}}]`)
	runPLC(t, dir, "run", "p.json", "--tools", "tools.yaml")
	if n := asked.Load() - before; n != 3 {
		t.Errorf("with two retries the model was asked %d times", n)
	}
	t.Setenv("MODEL_KEY", "wrong-secret-key")
	got := runPLC(t, dir, "run", "plan.json", "--tools", "tools.yaml", "--events", "e.jsonl")
	events, _ := os.ReadFile(filepath.Join(dir, "e.jsonl"))
	if all := got.stdout + got.stderr + string(events); got.code != 3 || !strings.Contains(all, "http-401") || strings.Contains(all, "wrong-secret") {
		t.Errorf("a wrong key: exit %d: %s", got.code, all)
	}
	os.Unsetenv("MODEL_KEY")
	if got := runPLC(t, dir, "run", "plan.json", "--tools", "tools.yaml"); got.code != 1 || !strings.Contains(got.stderr, "PLC606") || !strings.Contains(got.stderr, "MODEL_KEY is not set") {
		t.Errorf("no key: exit %d: %s", got.code, got.stderr)
	}
	if got := runPLC(t, dir, "check", "plan.json", "--tools", "tools.yaml"); got.code != 0 {
		t.Errorf("a check wants the key: %s", got.stderr)
	}
	write(t, filepath.Join(dir, "p.json"), `[{"_tool": "think", "about": "x", "_output": "known", "_outputPath": "†state.x"}]`)
	if got := runPLC(t, dir, "run", "p.json", "--tools", "tools.yaml"); got.code != 0 || !strings.Contains(got.stdout, "known") {
		t.Errorf("a result that is there: exit %d: %s", got.code, got.stderr)
	}
}

// A planner is a model of the tool files; its replies are recorded like answers, and replayed
// without the server and the key.
func TestPlanners(t *testing.T) {
	server := modeltest.New(t, modeltest.Reply{Status: 503, RetryAfter: "0.001"}, modeltest.Say("one"), modeltest.Say("two"))
	t.Setenv("MODEL_KEY", modeltest.Key)
	tape := filepath.Join(t.TempDir(), "replies.jsonl")
	file, findings := toolfile.Read(diag.NewFile("tools.yaml", []byte(`
models:
  default: {provider: openai, model: small, baseURL: "`+server.URL+`/v1", apiKey: {env: MODEL_KEY}, prices: {input: 1, output: 2}}
  other: {provider: anthropic, model: large, baseURL: "`+server.URL+`", apiKey: {env: MODEL_KEY}}
`)))
	if err := findings.Err(); err != nil {
		t.Fatal(err)
	}
	file.Secrets = &toolfile.Secrets{LookupEnv: os.LookupEnv}
	ask := func(f plc.ModelTapes, name, text string) (string, error) {
		t.Helper()
		m, err := (&plc.Tools{Files: []*toolfile.File{file}}).Models(f)
		if err != nil {
			t.Fatal(err)
		}
		p, err := m.Planner(name)
		if err != nil {
			return "", err
		}
		told := ""
		reply, err := p.Converse(t.Context(), &model.Turn{
			Messages: []model.Message{{Role: model.User, Text: text}},
			OnText:   func(piece string) error { told += piece; return nil },
		})
		if err == nil && told != reply.Text {
			t.Errorf("told %q of %q", told, reply.Text)
		}
		return told, err
	}
	recording, replay := plc.ModelTapes{Record: tape}, plc.ModelTapes{Replay: tape}
	for _, name := range []string{"", "other", "default"} {
		want := map[string]string{"": "one", "default": "one", "other": "two"}[name]
		if got, err := ask(recording, name, "hello"); err != nil || got != want {
			t.Errorf("%q says %q, %v", name, got, err)
		}
	}
	if n := len(server.Requests()); n != 3 {
		t.Errorf("the server was asked %d times", n)
	}
	os.Unsetenv("MODEL_KEY")
	if got, err := ask(replay, "other", "hello"); err != nil || got != "two" {
		t.Errorf("replayed: %q, %v", got, err)
	}
	for _, c := range []struct {
		flags      plc.ModelTapes
		name, text string
		want       string
	}{
		{replay, "", "another", "there is no recorded answer in " + tape},
		{plc.ModelTapes{}, "", "hello", "MODEL_KEY is not set"},
		{plc.ModelTapes{}, "othr", "hello", "did you mean other?"},
		{plc.ModelTapes{}, "x", "hello", `declare it under "models"`},
	} {
		if _, err := ask(c.flags, c.name, c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q, %q: %v", c.name, c.text, err)
		}
	}
	m, _ := (&plc.Tools{Files: []*toolfile.File{file}}).Models(plc.ModelTapes{})
	if p := m.Prices(""); p != (model.Prices{Input: 1, Output: 2}) || m.Prices("x") != (model.Prices{}) {
		t.Errorf("the prices are %v", p)
	}
}

// A task is solved by the models of both providers alike, as fast or slow as they say what they
// say, and also when they are busy at first.
func TestSolveByBothProviders(t *testing.T) {
	for _, provider := range []string{"openai", "anthropic"} {
		for _, piece := range []int{0, 1} {
			solution := modeltest.Say(`{"calls":[{"_tool":"look","q":"†input.who","_outputPath":"†state.seen"}],"output":null}`)
			last := modeltest.Say(`{"calls":[],"output":{"seen":"†state.seen.q","as":"Grüezi \"†\" 👩‍🚀"}}`)
			solution.Piece, last.Piece, last.Cached = piece, piece, 60
			s := modeltest.New(t, modeltest.Reply{Status: 429, RetryAfter: "0.001"}, solution, last)
			dir := t.TempDir()
			t.Setenv("MODEL_KEY", modeltest.Key)
			url := map[string]string{"openai": s.OpenAI().BaseURL, "anthropic": s.Anthropic().BaseURL}[provider]
			write(t, filepath.Join(dir, "tools.yaml"), `
models: {default: {provider: `+provider+`, model: some-model, baseURL: "`+url+`", apiKey: {env: MODEL_KEY}}}
tools: {look: {properties: {q: {}}, required: [q], effects: {readOnly: true}}}
activities: {look: {echo: true}}
`)
			got := runPLC(t, dir, "solve", "look", "--tools", "tools.yaml", "--input", "who=†me", "--store", "none", "--format", "json")
			want := `{"seen":"†me","as":"Grüezi \"†\" 👩‍🚀"}`
			if got.code != 0 || gjson.Get(got.stdout, "output|@ugly").Raw != want || len(s.Requests()) != 3 {
				t.Errorf("%s, in pieces of %d: exit %d after %d requests: %s%s", provider, piece, got.code, len(s.Requests()), got.stdout, got.stderr)
			}
			if u := gjson.Get(got.stdout, "usage|@ugly").Raw; !strings.HasPrefix(u, `{"requests":2,"inputTokens":200,"outputTokens":40,"cachedTokens":60,`) {
				t.Errorf("%s: usage %s", provider, u)
			}
		}
	}
}
