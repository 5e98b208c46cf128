//go:build unix

package process

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plc-lang/plc/tool"
)

func TestParamsOnStandardInput(t *testing.T) {
	req := &tool.Request{
		Run: "r", Call: "c", Tool: "t", Attempt: 2, Key: "r/c", Seed: 7,
		Params: json.RawMessage(`{"name": "Ada", "list": [1, 2.50]}`), Scopes: json.RawMessage(`{"state": {}}`),
	}
	for stdin, want := range map[string]string{
		"":        `"{\"name\": \"Ada\", \"list\": [1, 2.50]}"`,
		"params":  `"{\"name\": \"Ada\", \"list\": [1, 2.50]}"`,
		"none":    `""`,
		"{name}!": `"Ada!"`,
		"{list}":  `"[1,2.50]"`,
		"request": `"{\"run\":\"r\",\"call\":\"c\",\"tool\":\"t\",\"attempt\":2,\"key\":\"r/c\",\"seed\":7,` +
			`\"params\":{\"name\":\"Ada\",\"list\":[1,2.50]},\"scopes\":{\"state\":{}}}"`,
	} {
		got, err := program(t, "echo", Config{Stdin: stdin, Output: "text"}).Call(t.Context(), req)
		if err != nil || string(got.Value) != want {
			t.Errorf("stdin %q: %s, %v; want %s", stdin, got.Value, err, want)
		}
	}
	if got, err := call(program(t, "echo", Config{}), ""); got != "{}" || err != nil {
		t.Errorf("no params: %s, %v", got, err)
	}
}

func TestParamsInArguments(t *testing.T) {
	a := program(t, "args", Config{}, "{text}", "--n={n}", "{opt}", "--opt={opt}", "{obj}", "--", "{path}", "{{x}}")
	got, err := call(a, `{"text": "a b; $(rm) \"'\n*", "n": 1.0, "obj": {"k": [1, null]}, "path": "-rf", "opt": null}`)
	want := `["a b; $(rm) \"'\n*","--n=1.0","{\"k\":[1,null]}","--","-rf","{x}"]`
	if err != nil || got != want {
		t.Errorf("%s, %v; want %s", got, err, want)
	}
}

func TestDashesAreRefused(t *testing.T) {
	for _, c := range []struct {
		args   []string
		params string
		allow  []string
		ok     bool
	}{
		{[]string{"{a}"}, `{"a": "--upload-pack=evil"}`, nil, false},
		{[]string{"{a}"}, `{"a": -5}`, nil, false},
		{[]string{"{a}"}, `{"a": "-"}`, nil, false},
		{[]string{"{a}{b}"}, `{"a": "", "b": "-x"}`, []string{"a"}, false},
		{[]string{"{a}{b}"}, `{"a": "", "b": "-x"}`, []string{"a", "b"}, true},
		{[]string{"{a}"}, `{"a": "-5"}`, []string{"a"}, true},
		{[]string{"--n={a}"}, `{"a": "-5"}`, nil, true},
		{[]string{"--", "{a}"}, `{"a": "-5"}`, nil, true},
		{[]string{"{a}", "{b}"}, `{"a": "--", "b": "-x"}`, []string{"a"}, false},
		{[]string{"{a}", "--"}, `{"a": "-5"}`, nil, false},
		{[]string{"--", "find", "{a}"}, `{"a": "-delete"}`, nil, false}, // the "--" is not for find
		{[]string{"find", "--", "{a}"}, `{"a": "-delete"}`, nil, true},
		{[]string{"--", "sed", "-n", "p", "{a}"}, `{"a": "-e1e id"}`, nil, false},
	} {
		got, err := call(program(t, "args", Config{AllowDash: c.allow}, c.args...), c.params)
		if (err == nil) != c.ok {
			t.Errorf("%q with %s, allowed %q: %s, %v", c.args, c.params, c.allow, got, err)
		}
		if err != nil && (toolError(t, err).Code != "bad-params" || !toolError(t, err).Permanent) {
			t.Errorf("%q: %v", c.args, err)
		}
	}
}

func TestWhatCannotBePassedOn(t *testing.T) {
	arg := program(t, "args", Config{}, "{a}")
	for name, c := range map[string]struct {
		a   *Activity
		req tool.Request
	}{
		"NUL in an argument": {arg, tool.Request{Params: json.RawMessage(`{"a": "x\u0000y"}`)}},
		"NUL in the key":     {arg, tool.Request{Key: "r/\x00"}},
		"missing for stdin":  {program(t, "echo", Config{Stdin: "{a}"}), tool.Request{}},
	} {
		_, err := c.a.Call(t.Context(), &c.req)
		if e := toolError(t, err); e.Code != "bad-params" || !e.Permanent || e.Uncertain {
			t.Errorf("%s: %+v", name, e)
		}
	}
	_, err := call(arg, `{"a": "`+strings.Repeat("x", 4<<20)+`"}`)
	if e := toolError(t, err); e.Code != "no-program" || !strings.Contains(e.Message, "standard input") {
		t.Errorf("a huge argument: %v", e)
	}
}

func TestEnvironmentOfAChild(t *testing.T) {
	a := program(t, "env", Config{
		Environ: []string{"PATH=/bin", "SECRET=x"},
		Env:     map[string]string{"MINE": "1", "PLC_RUN": "forged"},
	})
	result, err := a.Call(t.Context(), &tool.Request{Run: "r1", Call: "pay-2", Tool: "pay", Attempt: 3, Key: "r1/pay-2", Seed: 9})
	var got []string
	if err != nil || json.Unmarshal(result.Value, &got) != nil {
		t.Fatalf("%s, %v", result.Value, err)
	}
	slices.Sort(got)
	want := []string{
		"MINE=1", "PATH=/bin", "PLC_ATTEMPT=3", "PLC_CALL=pay-2", "PLC_IDEMPOTENCY_KEY=r1/pay-2", "PLC_RUN=r1",
		"PLC_SEED=9", "PLC_TOOL=pay", childMode + "=env",
	}
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
}

// A trace is passed on, and is not there when nobody traces.
func TestTraceOfAChild(t *testing.T) {
	a := program(t, "env", Config{Environ: []string{"TRACEPARENT=of-plc"}})
	for _, c := range []struct {
		trace tool.Trace
		want  []string
	}{
		{tool.Trace{}, nil},
		{tool.Trace{Parent: "00-1-2-01"}, []string{"TRACEPARENT=00-1-2-01"}},
		{tool.Trace{Parent: "00-1-2-01", State: "v=1"}, []string{"TRACEPARENT=00-1-2-01", "TRACESTATE=v=1"}},
	} {
		result, err := a.Call(tool.WithTrace(t.Context(), c.trace), &tool.Request{Call: "c"})
		var got []string
		if err != nil || json.Unmarshal(result.Value, &got) != nil {
			t.Fatalf("%s, %v", result.Value, err)
		}
		got = slices.DeleteFunc(got, func(v string) bool { return !strings.HasPrefix(v, "TRACE") })
		if slices.Sort(got); !slices.Equal(got, c.want) {
			t.Errorf("%+v: %q", c.trace, got)
		}
	}
}

// Ordinary programs are tools without a script around them.
func TestProgramsOfTheSystem(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "-log"), []byte("one\ntwo -x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	find := Config{Command: []string{"grep", "-n", "--regexp={pattern}", "--", "{file}"}, Stdin: "none", Output: "lines", OKExit: []int{1}}
	for _, c := range []struct {
		cfg          Config
		params, want string
	}{
		{Config{Command: []string{"wc", "-w"}, Stdin: "{text}"}, `{"text": "three little words"}`, "3"},
		{Config{Command: []string{"sort", "-u"}, Stdin: "{text}", Output: "lines"}, `{"text": "b\na\nb"}`, `["a","b"]`},
		{find, `{"pattern": "-x", "file": "-log"}`, `["2:two -x"]`},
		{find, `{"pattern": "three", "file": "-log"}`, `[]`},
		{Config{Command: []string{"sh", "-c", `printf "%s" "$1"`, "sh", "{text}"}, Output: "text"}, `{"text": "$(id); \"x\""}`, `"$(id); \"x\""`},
	} {
		c.cfg.Dir = dir
		a, err := New(c.cfg)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := call(a, c.params); err != nil || strings.TrimSpace(got) != c.want {
			t.Errorf("%q with %s: %s, %v; want %s", c.cfg.Command, c.params, got, err, c.want)
		}
	}
}

func TestOutput(t *testing.T) {
	for _, c := range []struct{ output, prints, want string }{
		{"", `{"a": 1}` + "\n", `{"a": 1}`},
		{"json", "", ""},
		{"json", " null ", "null"},
		{"text", "a\nb\n", `"a\nb"`},
		{"text", "a\r\n\n", `"a\r\n"`},
		{"text", "", `""`},
		{"lines", "a\nb\r\n\nc", `["a","b","","c"]`},
		{"lines", "", `[]`},
		{"lines", "\n", `[""]`},
	} {
		got, err := call(say(t, Config{Output: c.output}, c.prints, "noise", "0"), "")
		if err != nil || got != c.want {
			t.Errorf("%s of %q: %s, %v; want %s", c.output, c.prints, got, err, c.want)
		}
	}
}

func TestOutputThatIsNoResult(t *testing.T) {
	for _, c := range []struct{ output, prints, want string }{
		{"json", "Traceback (most recent call last)", `begins with "Traceback`},
		{"json", `{"a":1,"a":2}`, "JSON"},
		{"json", "{}{}", "JSON"},
		{"text", "caf\xe9", "byte 3"},
		{"lines", "ok\ncaf\xe9", "byte 3"},
	} {
		_, err := call(say(t, Config{Output: c.output}, c.prints, "", "0"), "")
		e := toolError(t, err)
		if e.Code != "bad-output" || !e.Permanent || !e.Uncertain || !strings.Contains(e.Message, c.want) {
			t.Errorf("%s of %q: %+v", c.output, c.prints, e)
		}
	}
}

func TestFailure(t *testing.T) {
	for _, c := range []struct {
		stdout, stderr, status string
		want                   tool.Error
	}{
		{"", "no such city\n", "1", tool.Error{Code: "exit-1", Message: "no such city"}},
		{"on stdout", "\n", "2", tool.Error{Code: "exit-2", Message: "on stdout"}},
		{"", "", "3", tool.Error{Code: "exit-3", Message: "the program ended with status 3 and said nothing"}},
		{"", "\x1b[31mred\x1b[0m \xff", "1", tool.Error{Code: "exit-1", Message: "[31mred [0m \ufffd"}},
		{"", "trying\n" + `{"code": "busy", "message": "later", "retryAfter": 1.5}` + "\n", "75",
			tool.Error{Code: "busy", Message: "later", RetryAfter: 1500 * time.Millisecond}},
		{"", `{"code": "card_declined", "permanent": true, "uncertain": true, "extra": 1}`, "1",
			tool.Error{Code: "card_declined", Permanent: true, Uncertain: true}},
		{"", `{"code": "x", "retryAfter": 1e300}`, "1", tool.Error{Code: "x", RetryAfter: (1<<31 - 1) * time.Second}},
		{"", `{"code": "x", "retryAfter": -1}`, "1", tool.Error{Code: "x"}},
		{"", `{"code": 3}`, "1", tool.Error{Code: "exit-1", Message: `{"code": 3}`}},
		{"", `{"code": ""}`, "1", tool.Error{Code: "exit-1", Message: `{"code": ""}`}},
		{"", `{"code": "a", "code": "b"}`, "1", tool.Error{Code: "exit-1", Message: `{"code": "a", "code": "b"}`}},
	} {
		_, err := call(say(t, Config{}, c.stdout, c.stderr, c.status), "")
		if e := toolError(t, err); *e != c.want {
			t.Errorf("%q: %+v, want %+v", c.stderr, *e, c.want)
		}
	}
}

func TestStatusThatIsNoFailure(t *testing.T) {
	cfg := Config{Output: "lines", OKExit: []int{1}}
	if got, err := call(say(t, cfg, "", "", "1"), ""); got != "[]" || err != nil {
		t.Errorf("status 1: %s, %v", got, err)
	}
	if _, err := call(say(t, cfg, "", "", "2"), ""); toolError(t, err).Code != "exit-2" {
		t.Errorf("status 2: %v", err)
	}
}

func TestKilledByOthers(t *testing.T) {
	a, err := New(Config{Command: []string{"sh", "-c", "echo oops >&2; kill -SEGV $$"}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = call(a, "")
	if e := toolError(t, err); e.Code != "signal-SEGV" || !e.Uncertain || e.Permanent || !strings.Contains(e.Message, "oops") {
		t.Errorf("%+v", e)
	}
}

func TestProgramThatCannotStart(t *testing.T) {
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	script := filepath.Join(dir, "script")
	garbage := filepath.Join(dir, "garbage")
	for file, content := range map[string]string{plain: "", script: "#!/no/such/interpreter\n", garbage: "\x01\x02"} {
		if err := os.WriteFile(file, []byte(content), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(plain, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		cfg  Config
		want string
	}{
		{Config{Command: []string{"no-such-program-of-plc"}}, "install it"},
		{Config{Command: []string{"/no/such/program"}}, "does not exist"},
		{Config{Command: []string{plain}}, "chmod +x"},
		{Config{Command: []string{script}}, "interpreter"},
		{Config{Command: []string{garbage}}, "no program for this machine"},
		{Config{Command: []string{"sh", "-c", ":"}, Dir: filepath.Join(dir, "nowhere")}, "dir"},
		{Config{Command: []string{"sh", "-c", ":"}, Dir: plain}, "dir"},
	} {
		a, err := New(c.cfg)
		if err != nil {
			t.Fatal(err)
		}
		_, err = call(a, "")
		if e := toolError(t, err); e.Code != "no-program" || !e.Permanent || e.Uncertain || !strings.Contains(e.Message, c.want) {
			t.Errorf("%+v: %+v, want %q", c.cfg, e, c.want)
		}
	}
}

func TestDir(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "where"), []byte("#!/bin/sh\npwd -P\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	a, err := New(Config{Command: []string{"./where"}, Dir: dir, Output: "text"})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := call(a, ""); err != nil || got != `"`+dir+`"` {
		t.Errorf("%s, %v; want %s", got, err, dir)
	}
}

// Params larger than any pipe neither block nor fail when nobody reads them.
func TestInputThatIsNotRead(t *testing.T) {
	big := `{"a": "` + strings.Repeat("x", 8<<20) + `"}`
	for mode, want := range map[string]string{"shut": `"shut"`, "ignore-input": `"ignored"`, "echo": big} {
		got, err := call(program(t, mode, Config{}), big)
		if err != nil || strings.TrimSpace(got) != want {
			t.Errorf("%s: %.20s, %v", mode, got, err)
		}
	}
}

func TestTooMuchOutput(t *testing.T) {
	a := program(t, "print", Config{MaxOutput: 1 << 20})
	_, err := call(a, "")
	e := toolError(t, err)
	if e.Code != "output-too-large" || !e.Permanent || !e.Uncertain || !strings.Contains(e.Message, "maxOutput") {
		t.Errorf("%+v", e)
	}
	most := say(t, Config{MaxOutput: math.MaxInt64, Output: "text"}, "1234", "", "0")
	if got, err := call(most, ""); got != `"1234"` || err != nil {
		t.Errorf("without a limit: %s, %v", got, err)
	}
	exact := say(t, Config{MaxOutput: 4, Output: "text"}, "1234", "", "0")
	if got, err := call(exact, ""); got != `"1234"` || err != nil {
		t.Errorf("as much as is allowed: %s, %v", got, err)
	}
	over := say(t, Config{MaxOutput: 4, Output: "text"}, "12345", "", "0")
	if _, err := call(over, ""); toolError(t, err).Code != "output-too-large" {
		t.Errorf("a byte more: %v", err)
	}
}

// One that goes on printing without end, ignoring every hint, is killed.
func TestTooMuchOutputOfTheDeaf(t *testing.T) {
	file := pidFile(t)
	_, err := call(program(t, "deaf-print", Config{MaxOutput: 1 << 10, Grace: 10 * time.Millisecond}, file), "")
	if toolError(t, err).Code != "output-too-large" {
		t.Error(err)
	}
	mustBeGone(t, awaitPID(t, file))
}

func TestTailOfStandardError(t *testing.T) {
	_, err := call(program(t, "grumble", Config{MaxStderr: 100}), "")
	e := toolError(t, err)
	if e.Code != "exit-7" || len(e.Message) > 100 || !strings.HasSuffix(e.Message, "grumble \nthe last word") {
		t.Errorf("%+v", e)
	}
}

// stops calls the activity and cancels when the child has signed.
func stops(t *testing.T, a *Activity, file string) (int, error) {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	failed := make(chan error)
	go func() {
		_, err := a.Call(ctx, &tool.Request{})
		failed <- err
	}()
	pid := awaitPID(t, file)
	cancel(errors.New("enough"))
	return pid, <-failed
}

func TestCancel(t *testing.T) {
	for _, mode := range []string{"polite", "deaf", "parent-wait"} {
		t.Run(mode, func(t *testing.T) {
			file := pidFile(t)
			pid, err := stops(t, program(t, mode, Config{Grace: 50 * time.Millisecond}, file), file)
			e := toolError(t, err)
			if e.Code != "cancelled" || !e.Uncertain || !errors.Is(err, context.Canceled) || !strings.Contains(e.Err.Error(), "enough") {
				t.Errorf("%+v", e)
			}
			mustBeGone(t, pid)
		})
	}
}

func TestTimeout(t *testing.T) {
	file := pidFile(t)
	a := program(t, "polite", Config{}, file)
	uncertain := false
	for wait := 200 * time.Millisecond; !uncertain && wait < time.Minute; wait *= 2 { // it may not have begun in that time
		ctx, cancel := context.WithTimeout(t.Context(), wait)
		_, err := a.Call(ctx, &tool.Request{})
		cancel()
		e := toolError(t, err)
		if e.Code != "timeout" || !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("%+v", e)
		}
		uncertain = e.Uncertain
	}
	if !uncertain {
		t.Error("it never began")
	}
	if fileExists(file) {
		mustBeGone(t, awaitPID(t, file))
	}
}

func TestDoneBeforeItBegins(t *testing.T) {
	file := pidFile(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := program(t, "polite", Config{}, file).Call(ctx, &tool.Request{})
	if e := toolError(t, err); e.Code != "cancelled" || e.Uncertain {
		t.Errorf("%+v", e)
	}
	if fileExists(file) {
		t.Error("the program was started")
	}
}

// A program that ends and leaves another: the result counts, the other is ended.
func TestGrandchildIsEnded(t *testing.T) {
	for _, mode := range []string{"parent", "parent-quiet"} {
		file := pidFile(t)
		got, err := call(program(t, mode, Config{Grace: 20 * time.Millisecond}, file), "")
		if err != nil || got != `"parent"` {
			t.Errorf("%s: %s, %v", mode, got, err)
		}
		mustBeGone(t, awaitPID(t, file))
	}
}

// The program has ended, but what it left holds its output, and nobody waits any more.
func TestCancelWhileOthersHoldTheOutput(t *testing.T) {
	dir := t.TempDir()
	a, err := New(Config{Command: []string{"sh", "-c", `sleep 1000 & echo $! >new; mv new pid`}, Dir: dir, Grace: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	pid, err := stops(t, a, filepath.Join(dir, "pid"))
	if e := toolError(t, err); e.Code != "cancelled" || !e.Uncertain {
		t.Errorf("%+v", e)
	}
	mustBeGone(t, pid)
}

// Text that a process left behind might have gone on with is no result, and nothing
// at all is not null.
func TestOutputThatIsCutOff(t *testing.T) {
	for mode, output := range map[string]string{"parent": "text", "parent-silent": "json"} {
		file := pidFile(t)
		_, err := call(program(t, mode, Config{Grace: 20 * time.Millisecond, Output: output}, file), "")
		if e := toolError(t, err); e.Code != "bad-output" || !strings.Contains(e.Message, "left running") {
			t.Errorf("%s: %+v", mode, e)
		}
		mustBeGone(t, awaitPID(t, file))
	}
}

// What is in the pipe is read, however late its readers are: here the grace is over
// at once, and many calls keep each other waiting.
func TestNoGraceLosesNothing(t *testing.T) {
	a := program(t, "echo", Config{Grace: 1})
	params := `{"a":"` + strings.Repeat("x", 60_000) + `"}`
	results := make(chan error)
	const n = 24
	for range n {
		go func() {
			got, err := call(a, params)
			if err == nil && got != params {
				err = fmt.Errorf("got %d bytes", len(got))
			}
			results <- err
		}()
	}
	for range n {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
}

// A group that a shell made is ended as a whole, deaf and in the middle of a pipeline.
func TestShellPipelineIsEnded(t *testing.T) {
	dir := t.TempDir()
	a, err := New(Config{
		Command: []string{"sh", "-c", `trap "" TERM; sleep 1000 | sleep 1000 & sleep 1000 & echo $$ >new; mv new pid; wait`},
		Dir:     dir,
		Grace:   20 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	group, err := stops(t, a, filepath.Join(dir, "pid"))
	if toolError(t, err).Code != "cancelled" {
		t.Error(err)
	}
	eventually(t, "the group is empty", func() bool { return !groupRunning(t, group) })
}

func TestManyAtOnce(t *testing.T) {
	a := program(t, "echo", Config{})
	results := make(chan error)
	const n = 32
	for range n {
		go func() {
			got, err := call(a, `{"a":1}`)
			if err == nil && strings.TrimSpace(got) != `{"a":1}` {
				err = errors.New("got " + got)
			}
			results <- err
		}()
	}
	for range n {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
}

func BenchmarkCall(b *testing.B) {
	a, err := New(Config{Command: []string{"cat"}})
	if err != nil {
		b.Fatal(err)
	}
	req := &tool.Request{Params: json.RawMessage(`{"city": "Paris"}`)}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := a.Call(b.Context(), req); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkBareExec is what there is to compare with.
func BenchmarkBareExec(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		cmd := exec.Command("cat")
		cmd.Stdin = strings.NewReader(`{"city": "Paris"}`)
		if _, err := cmd.Output(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkOutput is a program that gives a megabyte.
func BenchmarkOutput(b *testing.B) {
	a, err := New(Config{Command: []string{"cat"}})
	if err != nil {
		b.Fatal(err)
	}
	req := &tool.Request{Params: json.RawMessage(`{"a": "` + strings.Repeat("x", 1<<20) + `"}`)}
	b.SetBytes(int64(len(req.Params)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := a.Call(b.Context(), req); err != nil {
			b.Fatal(err)
		}
	}
}
