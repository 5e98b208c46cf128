package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// answerDir is a folder with a plan of calls that are asked for, and a store.
func answerDir(t *testing.T) (dir string, env []string) {
	t.Helper()
	dir = t.TempDir()
	write(t, filepath.Join(dir, "plan.json"), `[{"_id": "a", "_tool": "drop", "n": 1, "_outputPath": "†state.a"}]`)
	write(t, filepath.Join(dir, "two.json"), `[{"_id": "a", "_tool": "drop", "n": 1, "_outputPath": "†state.a"}, {"_id": "b", "_tool": "drop", "n": 2, "_outputPath": "†state.b"}]`)
	write(t, filepath.Join(dir, "fails.json"), `[{"_id": "a", "_tool": "broken", "_outputPath": "†state.a"}]`)
	write(t, filepath.Join(dir, "tools.yaml"), `
tools:
  drop: {properties: {n: {type: number}}, effects: {destructive: true, independent: true}}
  broken: {properties: {}, effects: {readOnly: true}}
activities:
  drop: {echo: true}
  broken: {fail: {code: oops, message: it broke}}
`)
	return dir, []string{"PLC_STORE=" + filepath.Join(dir, "runs.db"), "EDITOR=", "VISUAL="}
}

// All answers can be given at the terminal; what does not fit is asked again.
func TestAnswersAtTheTerminal(t *testing.T) {
	const prompt = `y yes, n no, e edit, v value, s skip, \? help:$`
	for _, c := range []struct {
		plan  string
		flags []string
		typed [][2]string // what is shown, and what is typed then
		code  int
		last  string
	}{
		{"plan.json", nil, [][2]string{{prompt, `e {"n": 7}`}}, exitDone, `"n": 7`},
		{"plan.json", nil, [][2]string{{prompt, `e`}, {`a JSON object on one line:$`, `{"n": 8}`}}, exitDone, `"n": 8`},
		{"plan.json", nil, [][2]string{{prompt, `e {"n": "x"}`}, {`\? a: the params do not fit: [\s\S]*` + prompt, `y`}}, exitDone, `"n": 1`},
		{"plan.json", nil, [][2]string{{prompt, `v [1, 2]`}}, exitDone, `"a": \[`},
		{"plan.json", nil, [][2]string{{prompt, `?`}, {`  \+ .*then another call first\n[\s\S]*` + prompt, `s no need`}}, exitDone, `a person skipped it: no need`},
		{"plan.json", nil, [][2]string{{prompt, `No, thanks`}}, exitFailed, `a person rejected the call: No, thanks`},
		{"fails.json", []string{"--on-failure", "ask"}, [][2]string{
			{`try it again\? ` + prompt, `y`}, {`(oops[\s\S]*){4}try it again\? ` + prompt, `v 5`}}, exitDone, `"a": 5`},
		{"fails.json", []string{"--on-failure", "ask"}, [][2]string{{`try it again\? ` + prompt, `n`}}, exitFailed, `oops: it broke`},
	} {
		dir, env := answerDir(t)
		term := wideTerminal.on(t, dir, "", env, append([]string{"run", c.plan, "--tools", "tools.yaml"}, c.flags...)...)
		for _, step := range c.typed {
			term.until(t, step[0])
			term.typeIn(t, step[1]+"\n")
		}
		code, shown := term.end(t)
		if code != c.code || !regexp.MustCompile(c.last).MatchString(shown) {
			t.Errorf("%s %q: exit %d\n%s", c.plan, c.typed, code, shown)
		}
	}
}

// firstOfTwo is the call that is asked for, when another one waits as well.
func firstOfTwo(t *testing.T, term *terminal) string {
	t.Helper()
	for n := 1; ; n++ {
		term.until(t, `(skip(, \+ next \(of 1 more\))?, \? help:[\s\S]*){`+strconv.Itoa(n)+`}\z`)
		if shown := term.shows(); strings.HasSuffix(strings.TrimSpace(shown), "+ next (of 1 more), ? help:") {
			return regexp.MustCompile(`\? ([ab]) \(drop\)`).FindStringSubmatch(shown)[1]
		}
		term.typeIn(t, "?\n")
	}
}

// The questions of several calls can be answered in any order.
func TestQuestionsInAnyOrder(t *testing.T) {
	dir, env := answerDir(t)
	term := wideTerminal.on(t, dir, "", env, "run", "two.json", "--tools", "tools.yaml", "--on-failure", "continue")
	first := firstOfTwo(t, term)
	other := map[string]string{"a": "b", "b": "a"}[first]
	term.typeIn(t, "+\n")
	term.until(t, `\? `+other+` \(drop\)[\s\S]*\+ next \(of 1 more\), \? help:$`)
	term.typeIn(t, "y\n")
	term.until(t, `(\? `+first+` \(drop\)[\s\S]*){2}skip, \? help:$`)
	term.typeIn(t, "n\n")
	if code, shown := term.end(t); code != exitFailed || !strings.Contains(shown, `"`+other+`": {`) {
		t.Errorf("exit %d\n%s", code, shown)
	}
}

// An editor changes params.
func TestEditor(t *testing.T) {
	dir, env := answerDir(t)
	write(t, filepath.Join(dir, "edit.sh"), "#!/bin/sh\nsed 's/1/6/' \"$1\" > \"$1.new\" && mv \"$1.new\" \"$1\"\n")
	if err := os.Chmod(filepath.Join(dir, "edit.sh"), 0o700); err != nil {
		t.Fatal(err)
	}
	term := wideTerminal.on(t, dir, "", append(env, "EDITOR=./edit.sh"), "run", "plan.json", "--tools", "tools.yaml")
	term.until(t, `help:$`)
	term.typeIn(t, "e\n")
	if code, shown := term.end(t); code != exitDone || !strings.Contains(shown, `"n": 6`) {
		t.Errorf("exit %d\n%s", code, shown)
	}
}

// While the terminal asks, somebody elsewhere may answer; a line that was begun then is no answer
// to what is asked next.
func TestAnswersFromElsewhere(t *testing.T) {
	dir, env := answerDir(t)
	term := wideTerminal.on(t, dir, "", env, "run", "two.json", "--tools", "tools.yaml")
	first := firstOfTwo(t, term)
	term.typeIn(t, "y")
	eventually(t, "the question is in the store, and answered", func() bool {
		return recorded(t, dir, "approve", "last", first, "--result", `"elsewhere"`).code == exitDone
	})
	other := map[string]string{"a": "b", "b": "a"}[first]
	term.until(t, `\? `+other+` \(drop\)[\s\S]*help:$`)
	term.typeIn(t, "y\n")
	if code, shown := term.end(t); code != exitDone || !strings.Contains(shown, `"`+first+`": "elsewhere"`) || !strings.Contains(shown, `"n": `) {
		t.Errorf("exit %d\n%s", code, shown)
	}
	if o := recorded(t, dir, "replay", "last"); o.code != exitDone {
		t.Errorf("replay: exit %d: %s", o.code, o.stderr)
	}
}

// plc approve asks at its own terminal, with the params checked.
func TestApproveOfARunAtTheTerminal(t *testing.T) {
	dir, env := answerDir(t)
	if o := recorded(t, dir, "run", "two.json", "--tools", "tools.yaml"); o.code != exitPaused {
		t.Fatalf("exit %d: %s", o.code, o.stderr)
	}
	term := wideTerminal.on(t, dir, "", env, "approve", "last")
	term.until(t, `\? a \(drop\)[\s\S]*help:$`)
	term.typeIn(t, "e {\"n\": true}\n")
	term.until(t, `the params do not fit[\s\S]*help:$`)
	term.typeIn(t, "e {\"n\": 3}\n")
	term.until(t, `^a approved with other params\n\? b \(drop\)[\s\S]*help:$`)
	term.typeIn(t, "y\n")
	if code, shown := term.end(t); code != exitDone {
		t.Errorf("exit %d\n%s", code, shown)
	}
	if o := recorded(t, dir, "resume", "last"); o.code != exitDone || !strings.Contains(o.stdout, `"n": 3`) {
		t.Errorf("exit %d: %s%s", o.code, o.stdout, o.stderr)
	}
}

// A long value is cut in a question, with its length and digest; + shows it whole, a page at a time,
// and the answer comes after that.
func TestLongParamsAtTheTerminal(t *testing.T) {
	const long = 6000
	dir := t.TempDir()
	write(t, filepath.Join(dir, "tools.yaml"), "tools: {pay: {properties: {note: {type: string}}, effects: {destructive: true}}}\nactivities: {pay: {echo: true}}\n")
	write(t, filepath.Join(dir, "plan.json"), `[{"_tool": "pay", "note": "`+strings.Repeat("x", long)+`the-end"}]`)
	term := size{160, 50}.on(t, dir, "", nil, "run", "plan.json", "--tools", "tools.yaml", "--store", "none")
	term.until(t, `the params are cut: \d+ bytes, SHA-256 [0-9a-f]{64}\n  call it\? .*, \+ params as a whole \(page 1 of 2\)`)
	if strings.Contains(term.shows(), "the-end") {
		t.Error("the value is shown as a whole at once")
	}
	term.typeIn(t, "+\n")
	term.until(t, `page 2 of 2`)
	if strings.Contains(term.shows(), "the-end") {
		t.Error("the first page has the end of the value")
	}
	term.typeIn(t, "+\n")
	term.until(t, `the-end"\n(.*\n)*  call it\? y yes, n no, e edit, v value, s skip, \? help:$`)
	shown := term.shows()
	if n := strings.Count(shown[strings.Index(shown, "page 1 of 2"):], "x"); n < long || n > long+20 {
		t.Errorf("the pages have %d of %d characters", n, long)
	}
	term.typeIn(t, "y\n")
	if code, shown := term.end(t); code != exitDone {
		t.Errorf("exit %d\n%s", code, shown)
	}
}

// A long value of a plan is cut as well when the plan is to be approved, unless the call is covered,
// and + shows all of it first.
func TestLongPlanAtTheTerminal(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "tools.yaml"), "tools: {pay: {properties: {note: {type: string}}, effects: {destructive: true}}}\nactivities: {pay: {echo: true}}\n")
	write(t, filepath.Join(dir, "plan.json"), `[{"_tool": "pay", "note": "`+strings.Repeat("x", 6000)+`the-end"}]`)
	if o := runPLC(t, dir, "plan", "plan.json", "--tools", "tools.yaml", "--approve", "all", "-o", "a.json"); o.code != exitDone {
		t.Fatalf("exit %d\n%s", o.code, o.stderr)
	}
	term := size{160, 50}.on(t, dir, "", nil, "approve", "a.json")
	for page := 1; ; page++ {
		term.until(t, `\+ shows it as a whole \(page `+strconv.Itoa(page)+` of \d+\)`)
		if strings.Contains(term.shows(), "the-end") {
			break
		}
		term.typeIn(t, "+\n")
	}
	term.typeIn(t, "y\n")
	if code, shown := term.end(t); code != exitDone || !strings.Contains(shown, "bytes, SHA-256 ") {
		t.Errorf("exit %d\n%s", code, shown)
	}
}
