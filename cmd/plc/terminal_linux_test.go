package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"unsafe"

	"github.com/plc-lang/plc/tool/model/modeltest"
)

// terminal is a pseudo-terminal with plc on it.
type terminal struct {
	*exec.Cmd
	master *os.File
	ended  chan struct{} // closed when all is shown

	mu   sync.Mutex
	raw  strings.Builder // what was written
	view view
}

// A terminal on which no line of the tests is too long, and one on which some are.
var (
	wideTerminal   = size{100, 40}
	narrowTerminal = size{60, 12}
)

type size struct{ width, height uint16 }

// on starts plc on a terminal of this size. Before it starts, somebody has typed
// something.
func (sz size) on(t *testing.T, dir, typed string, env []string, args ...string) *terminal {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo-terminals: %v", err)
	}
	t.Cleanup(func() { master.Close() })
	var unlock, number int32
	ioctl(t, master, syscall.TIOCSPTLCK, unsafe.Pointer(&unlock))
	ioctl(t, master, syscall.TIOCGPTN, unsafe.Pointer(&number))
	slave, err := os.OpenFile("/dev/pts/"+strconv.Itoa(int(number)), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer slave.Close()
	term := &terminal{
		Cmd: exec.Command("plc", args...), master: master, ended: make(chan struct{}),
		view: view{width: int(sz.width), height: int(sz.height)},
	}
	ioctl(t, master, syscall.TIOCSWINSZ, unsafe.Pointer(&[4]uint16{sz.height, sz.width}))
	term.Dir, term.Stdin, term.Stdout, term.Stderr = dir, slave, slave, slave
	term.Env = append(append(os.Environ(), "TERM=xterm-256color", "NO_COLOR="), env...)
	term.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	term.typeIn(t, typed)
	if err := term.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = term.Process.Kill() }) // what has ended is not killed
	go term.follow()
	return term
}

func ioctl(t *testing.T, f *os.File, request uintptr, arg unsafe.Pointer) {
	t.Helper()
	if _, _, e := syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), request, uintptr(arg)); e != 0 {
		t.Fatalf("ioctl %#x: %v", request, e)
	}
}

func (term *terminal) typeIn(t *testing.T, text string) {
	t.Helper()
	if _, err := term.master.WriteString(text); err != nil {
		t.Fatal(err)
	}
}

// follow takes in what is written, until nobody has the terminal open.
func (term *terminal) follow() {
	defer close(term.ended)
	buf := make([]byte, 4096)
	for {
		n, err := term.master.Read(buf)
		if err != nil {
			return
		}
		term.mu.Lock()
		term.raw.Write(buf[:n])
		term.view.Write(buf[:n])
		term.mu.Unlock()
	}
}

// shows is what the terminal shows now.
func (term *terminal) shows() string {
	term.mu.Lock()
	defer term.mu.Unlock()
	return term.view.String()
}

// While MCP servers start and that takes long, a terminal shows how many have; then it is gone.
func TestStartingServersAreCounted(t *testing.T) {
	dir := t.TempDir()
	const waits = `{"command": "sh", "args": ["-c", "while test -e gate; do sleep 0.05; done; exec mcpserver docs"]}`
	write(t, filepath.Join(dir, "servers.json"), `{"mcpServers": {"a": {"command": "mcpserver", "args": ["docs"]}, "b": `+waits+`}}`)
	write(t, filepath.Join(dir, "gate"), "")
	term := wideTerminal.on(t, dir, "", nil, "tools", "--mcp", "servers.json")
	term.until(t, "starting servers: 1 of 2")
	if err := os.Remove(filepath.Join(dir, "gate")); err != nil {
		t.Fatal(err)
	}
	<-term.ended
	if shown := term.shows(); strings.Contains(shown, "starting servers") {
		t.Errorf("it is still there: %s", shown)
	}
}

// until waits until the terminal shows something.
func (term *terminal) until(t *testing.T, pattern string) {
	t.Helper()
	re := regexp.MustCompile("(?m)" + pattern)
	found := false
	defer func() {
		if !found {
			t.Logf("the terminal shows:\n%s", term.shows())
		}
	}()
	eventually(t, pattern, func() bool { return re.MatchString(term.shows()) })
	found = true
}

// end waits for the end and returns the exit code and what is shown then.
func (term *terminal) end(t *testing.T) (code int, shown string) {
	t.Helper()
	code = exitCode(t, term.Cmd)
	<-term.ended
	return code, term.shows()
}

// wantScreen makes sure that the terminal shows lines like these, and no others.
func wantScreen(t *testing.T, shown string, patterns ...string) {
	t.Helper()
	re := regexp.MustCompile(`\A` + strings.Join(patterns, `\n`) + `\z`)
	if !re.MatchString(shown) {
		t.Errorf("the terminal shows\n%s\nwhich is not like\n%s", shown, strings.Join(patterns, "\n"))
	}
}

// terminalDir is a folder with plans for terminals.
func terminalDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	long := strings.Repeat("long-", 20)
	for name, text := range map[string]string{
		"live.json": `[{"_tool": "quick", "_outputPath": "†state.quick"},
			{"_tool": "slow", "v": "†state.quick"}, {"_tool": "slow", "_id": "` + long + `", "v": "†state.quick"},
			{"_tool": "slow", "_id": "中文中文中文中文中文中文中文中文中文中文中文中文中文中文中文", "v": "†state.quick"},
			{"_tool": "broken", "_when": "†state.quick", "_onFailure": "continue"}]`,
		"drop.json":  `[{"_tool": "drop", "table": "users", "_outputPath": "†state.dropped"}]`,
		"drops.json": `[{"_tool": "drop", "table": "a"}, {"_tool": "drop", "table": "b"}]`,
		"lazy.json":  `{"type": "plan", "mode": "lazy", "plan": [{"_tool": "quick", "_outputPath": "†state.quick"}]}`,
		"waits.json": `[{"_tool": "broken", "_retry": {"max": 1, "delay": "1h", "jitter": false}}]`,
		"many.json":  manyCalls(t, "busy", 1000),
		"fails.json": manyCalls(t, "broken", 1000),
		"tools.yaml": `
tools:
  quick: {properties: {}, effects: {readOnly: true}}
  slow: {properties: {v: {}}, effects: {independent: true}}
  busy: {properties: {}, effects: {independent: true}}
  broken: {properties: {}, effects: {independent: true}}
  drop: {properties: {table: {type: string}}, effects: {destructive: true}}
activities:
  quick: {return: done}
  slow: {process: {command: [sh, -c, ": > running.$$; until test -e go; do sleep 0.01; done"], stdin: none}}
  busy: {return: 1, after: 20ms}
  broken: {fail: {code: refused, message: "no\x1b[2J\nway"}}
  drop: {return: true}
`,
	} {
		write(t, filepath.Join(dir, name), text)
	}
	return dir
}

// manyCalls is a plan of n calls of a tool.
func manyCalls(t *testing.T, tool string, n int) string {
	t.Helper()
	calls := make([]map[string]any, n)
	for i := range calls {
		calls[i] = map[string]any{"_tool": tool, "_id": fmt.Sprintf("call-%d", i)}
	}
	text, err := json.Marshal(calls)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestLiveList(t *testing.T) {
	dir := terminalDir(t)
	term := narrowTerminal.on(t, dir, "", nil, "run", "live.json", "--tools", "tools.yaml")
	// Calls that go on are below what has happened, cut to the width.
	term.until(t, `^✓ quick \(.*\)\n✗ broken: refused: no\\u001b\[2J\\nway .*\n`+
		`( +\S+s  (slow|long-long.*…|中文.*…)\n){3}  2 of 5 done, 3 running, 1 failed, \S+s$`)
	write(t, filepath.Join(dir, "go"), "")
	code, shown := term.end(t)
	if code != exitFailed {
		t.Errorf("exit %d", code)
	}
	// At the end nothing of the list is left.
	wantScreen(t, shown,
		`✓ quick \(\S+\)`, `✗ broken: refused: no\\u001b\[2J\\nway \(\S+\)`,
		`(✓ [\s\S]+ \(\S+\)\n){2,}✓ [\s\S]+ \(\S+\)`,
		`failed: 4 of 5 calls completed, 1 failed`, `  broken  failed  refused: no\\u001b\[2J\\nway`,
		`\{`, `  "quick": "done"`, `\}`)
	term.wantFrames(t)
}

func TestLiveListSaysWhatIsWaitedFor(t *testing.T) {
	term := narrowTerminal.on(t, terminalDir(t), "", nil, "run", "waits.json", "--tools", "tools.yaml")
	term.until(t, `^↻ broken: attempt 1 failed: .*; again in 1h0m\n  │ 0s\n`+
		` +\S+s  broken, attempt 2, waits to try again\n  0 of 1 done, 0 running, \S+s$`)
	term.typeIn(t, "\x03")
	if code, shown := term.end(t); code != exitCancelled {
		t.Errorf("exit %d\n%s", code, shown)
	}
}

func TestJSONCannotActOnATerminal(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "plan.json"), `[{"_tool": "a", "_outputPath": "†state.a"}]`)
	write(t, filepath.Join(dir, "tools.yaml"), "tools: {a: {properties: {}, effects: {readOnly: true}}}\nactivities: {a: {return: 1}}")
	write(t, filepath.Join(dir, "state.json"), "{\"x\": \"\u009b2J\u202e†\", \"\u0085\": 1}")
	run := []string{"run", "plan.json", "--tools", "tools.yaml", "--state", "state.json"}
	for _, env := range []string{"TERM=xterm", "TERM=dumb"} {
		for _, args := range [][]string{run, append(run, "--format", "json")} {
			term := wideTerminal.on(t, dir, "", []string{env}, args...)
			_, shown := term.end(t)
			if !strings.Contains(shown, `"x": "\u009b2J\u202e†"`) || !strings.Contains(shown, `"\u0085": 1`) || !json.Valid([]byte(shown[strings.Index(shown, "\n{")+1:])) ||
				strings.ContainsAny(term.raw.String(), "\u009b\u202e\u0085") {
				t.Errorf("%s plc %s:\n%q", env, args, shown)
			}
		}
	}
	if o := runPLC(t, dir, run...); !strings.Contains(o.stdout, "\u009b2J\u202e†") {
		t.Errorf("to a pipe: %q", o.stdout)
	}
}

// wantFrames makes sure of every frame: one list at most, at the end, of rows that
// are not wrapped; a cursor that is never hidden.
func (term *terminal) wantFrames(t *testing.T) {
	t.Helper()
	standing := regexp.MustCompile(`(?m)^  \d+ of \d+ done, .*$`)
	for _, f := range term.view.frames {
		switch n := len(standing.FindAllString(f, -1)); {
		case n > 1:
			t.Fatalf("%d lists:\n%s", n, f)
		case n == 1 && !regexp.MustCompile(`\n?  \d+ of \d+ done, [^\n]*\z`).MatchString(f):
			t.Fatalf("the list is not at the end:\n%s", f)
		}
	}
	if strings.Contains(term.raw.String(), "\x1b[?25l") {
		t.Error("the cursor is hidden")
	}
	if len(term.view.frames) == 0 {
		t.Error("there are no frames")
	}
}

func TestManyCallsAreCounted(t *testing.T) {
	term := narrowTerminal.on(t, terminalDir(t), "", nil, "run", "many.json", "--tools", "tools.yaml")
	code, shown := term.end(t)
	if code != exitDone {
		t.Errorf("exit %d", code)
	}
	wantScreen(t, shown, `completed: 1000 of 1000 calls completed`, `\{\}`)
	term.wantFrames(t)
	if n := strings.Count(term.raw.String(), "✓"); n > 0 {
		t.Errorf("%d lines of calls", n)
	}
	if n := term.raw.Len(); n > 1000*len(term.view.frames) { // however many there were time for
		t.Errorf("%d bytes were written in %d frames", n, len(term.view.frames))
	}
}

func TestManyFailuresAreBounded(t *testing.T) {
	term := wideTerminal.on(t, terminalDir(t), "", nil, "run", "fails.json", "--tools", "tools.yaml", "--on-failure", "continue")
	code, shown := term.end(t)
	if code != exitFailed {
		t.Errorf("exit %d", code)
	}
	if n := strings.Count(shown, "✗"); n != maxTold {
		t.Errorf("%d lines of failures, want %d", n, maxTold)
	}
	for _, want := range []string{
		"… what else does not go well is only counted\n",
		"failed: 0 of 1000 calls completed, 1000 failed\n",
		" more  failed  refused: no\\u001b[2J\\nway\n",
	} {
		if !strings.Contains(shown, want) {
			t.Errorf("there is no %q in\n%s", want, shown)
		}
	}
	term.wantFrames(t)
}

func TestColours(t *testing.T) {
	dir := terminalDir(t)
	write(t, filepath.Join(dir, "go"), "")
	sgr := regexp.MustCompile(`\x1b\[[\d;]*m`)
	for _, c := range []struct {
		env       string
		sgr, live bool
	}{
		{"NO_COLOR=", true, true},
		{"NO_COLOR=1", false, true},
		{"TERM=dumb", false, false},
	} {
		for _, args := range [][]string{
			{"run", "live.json", "--tools", "tools.yaml"},
			{"check", "live.json"},
		} {
			term := wideTerminal.on(t, dir, "", []string{c.env}, args...)
			term.end(t)
			if got := sgr.MatchString(term.raw.String()); got != c.sgr {
				t.Errorf("%s plc %s: colour %v", c.env, args[0], got)
			}
			if got := strings.Contains(term.raw.String(), beginFrame); got != (c.live && args[0] == "run") {
				t.Errorf("%s plc %s: frames %v", c.env, args[0], got)
			}
		}
	}
}

func TestInterruptAtTheTerminal(t *testing.T) {
	dir := terminalDir(t)
	term := wideTerminal.on(t, dir, "", nil, "run", "live.json", "--tools", "tools.yaml")
	term.until(t, `3 running, 1 failed`)
	// A program that is only being started is still in the group that Ctrl-C is for, and dies of it.
	eventually(t, "three programs run", func() bool {
		running, err := filepath.Glob(filepath.Join(dir, "running.*"))
		return err == nil && len(running) == 3
	})
	term.typeIn(t, "\x03")
	code, shown := term.end(t)
	if code != exitCancelled {
		t.Errorf("exit %d", code)
	}
	if !regexp.MustCompile(`(?m)^! interrupted: 3 running calls told to end; once more ends plc at once\ncancelled: 1 of 5 `).MatchString(shown) || strings.Contains(shown, "^C") {
		t.Errorf("the terminal shows\n%s", shown)
	}
	term.wantFrames(t)
}

func TestApprovalAtTheTerminal(t *testing.T) {
	const question = `\? drop \(drop\): the tool "drop" is destructive\n  runs a stand-in, which calls nothing \(the tool file "tools\.yaml"\)\n  \{\n    "table": "users"\n  \}\n  call it\? y yes, n no, e edit, v value, s skip, \? help:`
	for _, c := range []struct {
		typed string
		code  int
		last  []string
	}{
		{"y\n", exitDone, []string{`✓ drop \(\S+\)`, `completed: 1 of 1 call completed`, `\{`, `  "dropped": true`, `\}`}},
		{" YES \n", exitDone, []string{`✓ drop \(\S+\)`, `completed: 1 of 1 call completed`, `\{`, `  "dropped": true`, `\}`}},
		{"n\n", exitFailed, []string{`✗ drop: rejected: [\s\S]*`, `\{\}`}},
		{"\n", exitFailed, []string{`✗ drop: rejected: [\s\S]*`, `\{\}`}},
		{"not on a Friday\n", exitFailed, []string{`✗ drop: rejected: a person rejected the call: not on a Friday\n[\s\S]*`, `\{\}`}},
		{"\x04", exitPaused, []string{`paused: 0 of 1 call completed, 1 awaiting; "drop" waits for approval[\s\S]*`, `\{\}`}},
		{"\x03", exitCancelled, []string{`[\s\S]*cancelled: 0 of 1 call completed[\s\S]*`, `\{\}`}},
	} {
		// What was typed before the question is no answer.
		term := wideTerminal.on(t, terminalDir(t), "y\ny\n", nil, "run", "drop.json", "--tools", "tools.yaml")
		term.until(t, question+`$`)
		term.typeIn(t, c.typed)
		code, shown := term.end(t)
		if code != c.code {
			t.Errorf("%q: exit %d, want %d", c.typed, code, c.code)
		}
		wantScreen(t, shown, append([]string{`(y\ny\n)?` + question + ` ?.*`}, c.last...)...)
	}
}

// A single letter that is no answer is asked about again, and after three of them there was none.
func TestUnknownLettersAtTheTerminal(t *testing.T) {
	for _, c := range []struct {
		plan, again string
		typed       []string
		code        int
	}{
		{"drop.json", `\? drop: "%s" is no answer: type y, n, e, v, s, \+ or \?, or why not\n  call it\? .* help:`, []string{"x", "y please", "y"}, exitDone},
		{"drop.json", `\? drop: "%s" is no answer: type y, n, e, v, s, \+ or \?, or why not\n  call it\? .* help:`, []string{"e twenty", "ü", "v ?"}, exitPaused},
		{"drop.json", `\? drop: "%s" is no answer: type y, n, e, v, s, \+ or \?, or why not\n  call it\? .* help:`, []string{"x", "n"}, exitFailed},
		{"lazy.json", `"%s" is no answer: type y, n, e, or why not\n(.*\n)*run this plan\? .*and why:`, []string{"k", "y"}, exitDone},
		{"lazy.json", `"%s" is no answer: type y, n, e, or why not\n(.*\n)*run this plan\? .*and why:`, []string{"k", "2", "y yes"}, exitPaused},
	} {
		term := wideTerminal.on(t, terminalDir(t), "", nil, "run", c.plan, "--tools", "tools.yaml")
		term.until(t, `(help|why):$`)
		for i, line := range c.typed {
			term.typeIn(t, line+"\n")
			if i < len(c.typed)-1 {
				term.until(t, fmt.Sprintf(c.again, regexp.QuoteMeta(line))+"$")
			}
		}
		if code, shown := term.end(t); code != c.code {
			t.Errorf("%s, %q: exit %d, want %d\n%s", c.plan, c.typed, code, c.code, shown)
		}
	}
}

func TestQuestionsAreAskedOneByOne(t *testing.T) {
	term := wideTerminal.on(t, terminalDir(t), "", nil, "run", "drops.json", "--tools", "tools.yaml", "--effects", "none", "--on-failure", "continue")
	question := func(n int) string { return `(?s)\A(.*call it\?.*:){` + strconv.Itoa(n) + `}\z` }
	term.until(t, question(1))
	term.typeIn(t, "y\n")
	term.until(t, question(2))
	term.typeIn(t, "n\n")
	code, shown := term.end(t)
	if code != exitFailed || !strings.Contains(shown, "\nfailed: 1 of 2 calls completed, 1 failed\n") {
		t.Errorf("exit %d\n%s", code, shown)
	}
}

func TestLazyPlanAtTheTerminal(t *testing.T) {
	for typed, want := range map[string]struct {
		code int
		last string
	}{
		"y\n":     {exitDone, `(?s).*\n✓ quick .*\ncompleted: 1 of 1 call completed\n\{\n  "quick": "done"\n\}`},
		"later\n": {exitRejected, `(?s).*\nrejected: 0 of 1 call completed; the plan was not approved: later\n  quick  pending  it has not started\n\{\}`},
		"e\n":     {exitRejected, `(?s).*\nhint: change lazy.json and run it again.*\nrejected: 0 of 1 call completed; the plan was not approved: it is to be edited\n.*`},
		"\x04":    {exitPaused, `(?s).*\npaused: 0 of 1 call completed; .*`},
		"\x03":    {exitCancelled, `(?s).*`},
	} {
		term := wideTerminal.on(t, terminalDir(t), "", nil, "run", "lazy.json", "--tools", "tools.yaml")
		term.until(t, `^forecast: at most 1 call(.*\n)*run this plan\? \(e to edit it\) y is yes, anything else is no, and why:$`)
		term.typeIn(t, typed)
		code, shown := term.end(t)
		if code != want.code {
			t.Errorf("%q: exit %d, want %d", typed, code, want.code)
		}
		wantScreen(t, shown, want.last)
	}
}

// A call of a loop is asked about like that of a run, with a record and without.
func TestSolveAtTheTerminal(t *testing.T) {
	t.Setenv("MODEL_KEY", modeltest.Key)
	const tools = `
models: {default: {provider: openai, model: m, baseURL: %q, apiKey: {env: MODEL_KEY}}}
tools: {drop: {properties: {table: {type: string}}, effects: {destructive: true}}}
activities: {drop: {echo: true}}
`
	const plan = `{"calls": [{"_tool": "drop", "table": "users", "_outputPath": "†state.d", "_onFailure": "continue", "_id": "d"}], "output": {"d": "†state.d"}}`
	for typed, want := range map[string]string{
		"y\n":                       `"table": "users"`,
		"n not now\n":               `✗ d: rejected: a person rejected the call: not now`,
		"e {\"table\": \"b\"}\n":    `"table": "b"`,
		"v {\"table\": \"gone\"}\n": `"table": "gone"`,
		"s\n":                       `skipped`,
	} {
		for _, store := range []string{"none", "runs.db"} {
			dir := t.TempDir()
			s := modeltest.New(t, modeltest.Say(plan), modeltest.Say(`{"calls": [], "output": "over"}`))
			write(t, filepath.Join(dir, "tools.yaml"), fmt.Sprintf(tools, s.OpenAI().BaseURL))
			term := wideTerminal.on(t, dir, "", nil, "solve", "drop it", "--tools", "tools.yaml", "--store", store)
			term.until(t, `call it\? y yes, n no, e edit, v value, s skip, \? help:$`)
			term.typeIn(t, typed)
			code, shown := term.end(t)
			if code != exitDone || !strings.Contains(shown, want) {
				t.Errorf("%q, --store %s: exit %d, and there is no %s in\n%s", typed, store, code, want, shown)
			}
		}
	}
}

// A project file that nobody has trusted is asked about, and nothing that it names starts before a
// yes, which is remembered.
func TestTrustAtTheTerminal(t *testing.T) {
	for typed, trusted := range map[string]bool{"y\n": true, "no\n": false, "\x04": false} {
		dir := terminalDir(t)
		write(t, filepath.Join(dir, "plc.yaml"), "tools: [tools.yaml, starts.yaml]\n")
		write(t, filepath.Join(dir, "starts.yaml"), "mcpServers: {docs: {command: sh, args: [-c, touch started]}}\n")
		env := []string{"XDG_STATE_HOME=" + filepath.Join(dir, "state")}
		term := wideTerminal.on(t, dir, "", env, "check", "drop.json")
		term.until(t, `may start programs\. Trust it\? y is yes`)
		started := filepath.Join(dir, "started")
		if _, err := os.Stat(started); err == nil {
			t.Fatal("a server was started before anybody was asked")
		}
		term.typeIn(t, typed)
		code, shown := term.end(t)
		if _, err := os.Stat(started); (err == nil) != trusted {
			t.Errorf("%q: that the server was started is %v\n%s", typed, err == nil, shown)
		}
		if !trusted {
			if code != exitUsage {
				t.Errorf("%q: exit %d\n%s", typed, code, shown)
			}
			continue
		}
		again := wideTerminal.on(t, dir, "", env, "check", "drop.json")
		if _, shown := again.end(t); strings.Contains(shown, "Trust it?") {
			t.Errorf("the answer was forgotten\n%s", shown)
		}
	}
}

// At a terminal plc approve shows what was shown, asks, and writes down the answer.
func TestApproveAtTheTerminal(t *testing.T) {
	for typed, want := range map[string]struct {
		code     int
		last     string
		run      int
		approved string
	}{
		"y\n":     {exitDone, `(?s).*\nhint: approved by ada; .*`, exitDone, `"approvedBy": "ada"`},
		"later\n": {exitRejected, `(?s).*\nhint: rejected by ada`, exitRejected, `"reason": "later"`},
		"\x04":    {exitPaused, `(?s).*\nplc: nobody answered; --yes approves`, exitRejected, `"approved`},
		"\x03":    {exitCancelled, `(?s).*`, exitRejected, `"approved`},
	} {
		dir := terminalDir(t)
		ask := exec.Command("plc", "plan", "lazy.json", "--tools", "tools.yaml", "-o", "a.json")
		ask.Dir = dir
		if out, err := ask.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		term := wideTerminal.on(t, dir, "", nil, "approve", "a.json", "--as", "ada")
		term.until(t, `^lazy\.json: 1 call may run; SHA-256 [0-9a-f]{64}\n(.*\n)*approve this plan\? \+ shows it as a whole \(page 1 of [0-9]+\), y is yes, anything else is no, and why:$`)
		term.typeIn(t, typed)
		code, shown := term.end(t)
		if code != want.code {
			t.Errorf("%q: exit %d, want %d", typed, code, want.code)
		}
		wantScreen(t, shown, want.last)
		text, err := os.ReadFile(filepath.Join(dir, "a.json"))
		if err != nil || strings.Contains(string(text), want.approved) == (code == exitCancelled || code == exitPaused) {
			t.Errorf("%q: the file says %s", typed, text)
		}
		run := exec.Command("plc", "run", "lazy.json", "--tools", "tools.yaml", "--approval", "a.json")
		run.Dir = dir
		_ = run.Run() // how it ends is what counts
		if code := run.ProcessState.ExitCode(); code != want.run {
			t.Errorf("%q: the run ends with %d, want %d", typed, code, want.run)
		}
	}
}

// On a terminal plc init starts no server before a yes, and what it writes runs in any case.
func TestInitAtTheTerminal(t *testing.T) {
	for typed, starts := range map[string]bool{"y\n": true, "no\n": false} {
		dir := t.TempDir()
		write(t, filepath.Join(dir, ".mcp.json"), `{"mcpServers": {"docs": {"command": "sh", "args": ["-c", "touch started"]}}}`)
		env := []string{"XDG_STATE_HOME=" + filepath.Join(dir, "state")}
		term := wideTerminal.on(t, dir, "", env, "init")
		term.until(t, `Start the MCP servers of \.mcp\.json to see whether they run\?`)
		started := filepath.Join(dir, "started")
		if _, err := os.Stat(started); err == nil {
			t.Fatal("a server was started before anybody was asked")
		}
		term.typeIn(t, typed)
		code, shown := term.end(t)
		if _, err := os.Stat(started); (err == nil) != starts || code != exitDone || !strings.Contains(shown, "leaves out .mcp.json") {
			t.Errorf("%q: exit %d, and that the server was started is %v\n%s", typed, code, err == nil, shown)
		}
		if o := runPLC(t, dir, "run", "first-plan.json", "--trust", "--store", "runs.db"); o.code != exitDone || o.stdout != "20\n" {
			t.Errorf("%q: the first plan: exit %d\n%s%s", typed, o.code, o.stdout, o.stderr)
		}
	}
}
