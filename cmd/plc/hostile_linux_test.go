package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var torture = flag.Bool("torture", false, "run the hostile cases that are large as well")

// hostile is input that is meant to do harm. The command must end by itself, with
// a clear word and the right exit code, within bounded memory, with nothing left running.
type hostile struct {
	name  string
	large bool // only with -torture
	files files
	args  []string // after which come --tools tools.yaml, unless the case has no such file
	code  int
	want  string // a pattern of what is said
	most  int64  // MiB of memory
}

// files are the files of a case, by name.
type files map[string]content

// content writes a file, which may be large. mark tells the processes of the case.
type content func(w *bufio.Writer, mark string)

func text(s string) content {
	return func(w *bufio.Writer, _ string) { w.WriteString(s) }
}

func repeat(before, part string, n int, after string) content {
	return func(w *bufio.Writer, _ string) {
		w.WriteString(before)
		for range n {
			w.WriteString(part)
		}
		w.WriteString(after)
	}
}

func numbered(before, part string, n int) content {
	return func(w *bufio.Writer, _ string) {
		w.WriteString(before)
		for i := range n {
			fmt.Fprintf(w, part, i)
		}
	}
}

// tools are one that is a stand-in and one that is a program.
func tools(command string, config ...string) content {
	return func(w *bufio.Writer, mark string) {
		fmt.Fprintf(w, `
tools:
  a: {properties: {}, effects: {readOnly: true}}
  bad: {properties: {}, effects: {readOnly: true}}
activities:
  a: {return: 1}
  bad: {process: {command: [sh, -c, %q], stdin: none, env: {MARK: %q}, grace: 100ms%s}, timeout: 30s}
`, command, mark, strings.Join(append([]string{""}, config...), ", "))
	}
}

const (
	aPlan   = `[{"_tool": "a", "_outputPath": "†state.x"}]`
	badPlan = `[{"_tool": "bad", "_outputPath": "†state.x"}]`
)

var hostiles = []hostile{
	// Plans.
	{name: "deep", files: files{"plan.json": repeat("", "[", 1e6, "")},
		args: []string{"check", "plan.json"}, code: exitErrors, want: `PLC103`, most: 150},
	{name: "deeper than the limit of bytes", large: true, files: files{"plan.json": repeat("", "[", 100e6, "")},
		args: []string{"check", "plan.json"}, code: exitErrors, want: `more than 67108864 \[PLC103\]`, most: 400},
	{name: "deep and closed", files: files{"plan.json": repeat("", "[]", 0, strings.Repeat("[", 1e5)+strings.Repeat("]", 1e5))},
		args: []string{"run", "plan.json"}, code: exitErrors, want: `PLC103`, most: 150},
	{name: "objects in objects", files: files{"plan.json": repeat(`[{"_tool": "a", "x": `, `{"a":`, 1e5, "")},
		args: []string{"fmt", "plan.json"}, code: exitErrors, want: `PLC103`, most: 150},
	{name: "a long string", large: true, files: files{"plan.json": repeat(`[{"_tool": "a", "x": "`, "x", 64<<20-100, `", "_outputPath": "†state.x"}]`)},
		args: []string{"run", "plan.json"}, code: exitDone, want: `"x": 1`, most: 1000},
	{name: "the same id", files: files{"plan.json": repeat("[", `{"_tool": "a", "_id": "same"},`, 1e4, "]")},
		args: []string{"check", "plan.json"}, code: exitErrors, want: `9899 more findings like those before \[PLC204\]`, most: 150},
	{name: "the same id a million times", large: true, files: files{"plan.json": repeat("[", `{"_tool": "a", "_id": "same"},`, 1e6-1, `{"_tool": "a"}]`)},
		args: []string{"check", "plan.json"}, code: exitErrors, want: `more findings like those before \[PLC204\]`, most: 2000},
	{name: "too many calls", large: true, files: files{"plan.json": repeat("[", `{"_tool": "a"},`, 1e6+1, "]")},
		args: []string{"check", "plan.json"}, code: exitErrors, want: `PLC103`, most: 2000},
	{name: "a long reference", files: files{"plan.json": repeat(`[{"_tool": "a", "x": "†state`, ".x", 1e4, `", "_outputPath": "†state.x"}]`)},
		args: []string{"check", "plan.json"}, code: exitErrors, want: `error: `, most: 150},
	{name: "a long path", files: files{"plan.json": repeat(`[{"_tool": "a", "_outputPath": "†state`, ".x", 1e4, `"}]`)},
		args: []string{"check", "plan.json"}, code: exitErrors, want: `PLC103`, most: 150},
	{name: "many parentheses", files: files{"plan.json": repeat(`[{"_tool": "a", "x": "†state.x || `, "(", 1e5, `1", "_outputPath": "†state.x"}]`)},
		args: []string{"check", "plan.json"}, code: exitErrors, want: `error: `, most: 150},
	{name: "many alternatives", files: files{"plan.json": repeat(`[{"_tool": "a", "x": "†state.y`, " || 1", 1e4, `", "_outputPath": "†state.x"}]`)},
		args: []string{"check", "plan.json"}, code: exitDone, want: `0 errors`, most: 200},
	{name: "an id that writes to the terminal", files: files{"plan.json": text(`[{"_tool": "a", "_id": "\u001b[2J\u009b2J", "_dependsOn": ["\u001b]0;x\u0007"]}]`)},
		args: []string{"check", "plan.json"}, code: exitErrors, want: `PLC305`, most: 150},
	{name: "a name twice", files: files{"plan.json": text(`[{"_tool": "a", "_tool": "bad"}]`)},
		args: []string{"run", "plan.json"}, code: exitErrors, want: `PLC102`, most: 150},
	{name: "not UTF-8", files: files{"plan.json": text("[{\"_tool\": \"a\xff\"}]")},
		args: []string{"run", "plan.json"}, code: exitErrors, want: `PLC101`, most: 150},
	{name: "a number that is too long", files: files{"plan.json": repeat(`[{"_tool": "a", "x": 1`, "0", 1e6, `, "_outputPath": "†state.x"}]`)},
		args: []string{"run", "plan.json"}, code: exitDone, want: `"x": 1`, most: 150},
	{name: "prose with many braces", files: files{"plan.json": repeat("", `{"a": [`, 1e5, "")},
		args: []string{"check", "plan.json", "--from", "llm"}, code: exitErrors, want: `PLC10\d`, most: 300},
	{name: "no end", large: true, files: files{"plan.json": text(aPlan)},
		args: []string{"check", "/dev/zero"}, code: exitErrors, want: `more than 67108864 \[PLC103\]`, most: 400},

	// Values.
	{name: "a deep input", files: files{"plan.json": text(aPlan), "input.json": repeat("", "[", 1e6, "")},
		args: []string{"run", "plan.json", "--input", "input.json"}, code: exitUsage, want: `^plc: input.json:1:257: nested more than 256 deep`, most: 150},
	{name: "a large input", large: true, files: files{"plan.json": text(aPlan), "input.json": repeat(`{"x": "`, "x", 64<<20, `"}`)},
		args: []string{"run", "plan.json", "--input", "input.json"}, code: exitUsage, want: `^plc: input.json has more than 64 MiB`, most: 400},

	// Tool files.
	{name: "deep YAML", files: files{"plan.json": text(aPlan), "tools.yaml": repeat("tools: ", "[", 1e6, "")},
		args: []string{"check", "plan.json"}, code: exitErrors, want: `tools.yaml:.*PLC10[13]`, most: 150},
	{name: "deep YAML by indentation", files: files{"plan.json": text(aPlan), "tools.yaml": func(w *bufio.Writer, _ string) {
		for i := range 1000 {
			w.WriteString(strings.Repeat(" ", i) + "tools:\n")
		}
	}},
		args: []string{"check", "plan.json"}, code: exitErrors, want: `tools.yaml:.*error: `, most: 150},
	{name: "YAML that grows", files: files{"plan.json": text(aPlan), "tools.yaml": text("a: &a [x, x]\nb: &b [*a, *a]\ntools: [*b, *b]\n")},
		args: []string{"check", "plan.json"}, code: exitErrors, want: `tools.yaml:.*error: `, most: 150},
	{name: "a tool twice", files: files{"plan.json": text(aPlan), "tools.yaml": text("tools:\n  a: {properties: {}}\n  a: {properties: {}}\n")},
		args: []string{"check", "plan.json"}, code: exitErrors, want: `PLC102`, most: 150},
	{name: "a large tool file", large: true, files: files{"plan.json": text(aPlan), "tools.yaml": repeat("# ", "x", 64<<20, "\n")},
		args: []string{"check", "plan.json"}, code: exitUsage, want: `^plc: tools.yaml has more than 64 MiB`, most: 400},
	{name: "many tools", files: files{"plan.json": text(aPlan), "tools.yaml": numbered("tools:\n  a: {properties: {}}\n", "  t%d: {properties: {x: {type: string}}}\n", 2000)},
		args: []string{"check", "plan.json"}, code: exitDone, want: `0 errors|nothing wrong`, most: 200},

	// Tools.
	{name: "a tool that prints for ever", files: files{"plan.json": text(badPlan), "tools.yaml": tools("yes & yes", "maxOutput: 1000000")},
		args: []string{"run", "plan.json"}, code: exitFailed, want: `output-too-large: more than 1000000 bytes`, most: 150},
	{name: "a tool that prints for ever, by the usual limit", large: true, files: files{"plan.json": text(badPlan), "tools.yaml": tools("yes & yes")},
		args: []string{"run", "plan.json"}, code: exitFailed, want: `output-too-large: more than 67108864 bytes`, most: 500},
	{name: "a tool that complains for ever", large: true, files: files{"plan.json": text(badPlan), "tools.yaml": tools("yes | head -c 10000000000 >&2; exit 1")},
		args: []string{"run", "plan.json", "--timeout", "2m"}, code: exitFailed, want: `exit-1: `, most: 150},
	{name: "a tool that complains much", files: files{"plan.json": text(badPlan), "tools.yaml": tools("yes | head -c 10000000 >&2; exit 1")},
		args: []string{"run", "plan.json"}, code: exitFailed, want: `exit-1: `, most: 150},
	{name: "a tool that does not end", files: files{"plan.json": text(`[{"_tool": "bad", "_timeout": "200ms", "_outputPath": "†state.x"}]`), "tools.yaml": tools(`trap "" TERM; sleep 3600 & while :; do sleep 3600; done`)},
		args: []string{"run", "plan.json"}, code: exitFailed, want: `timeout: no answer within 200ms`, most: 150},
	{name: "a tool that leaves something running", files: files{"plan.json": text(badPlan), "tools.yaml": tools(`sleep 3600 & echo 1`)},
		args: []string{"run", "plan.json"}, code: exitDone, want: `"x": 1`, most: 150},
	{name: "a tool that prints deep JSON", files: files{"plan.json": text(badPlan), "tools.yaml": tools(`yes [ | head -c 2000000 | tr -d "\n"`)},
		args: []string{"run", "plan.json"}, code: exitFailed, want: `bad-output: .*nested more than 256 deep`, most: 150},
	{name: "a tool that prints a name twice", files: files{"plan.json": text(badPlan), "tools.yaml": tools(`echo "{{\"a\": 1, \"a\": 2}}"`)},
		args: []string{"run", "plan.json"}, code: exitFailed, want: `bad-output: `, most: 150},
	{name: "a tool that kills itself", files: files{"plan.json": text(badPlan), "tools.yaml": tools(`kill -9 $$`)},
		args: []string{"run", "plan.json"}, code: exitFailed, want: `signal-KILL`, most: 150},
	{name: "called by itself, a tool that does not end", files: files{"tools.yaml": tools(`trap "" TERM; while :; do sleep 3600; done`)},
		args: []string{"tools", "call", "bad", "--timeout", "200ms"}, code: exitFailed, want: `^the call failed: timeout`, most: 150},
}

func TestHostileInput(t *testing.T) {
	for _, h := range hostiles {
		t.Run(h.name, func(t *testing.T) {
			if h.large && !*torture {
				t.Skip("only with -torture")
			}
			h.test(t)
		})
	}
}

func (h *hostile) test(t *testing.T) {
	dir, mark := longRun(t, "", "1s") // its files are replaced
	args := append(h.args, "--tools", "tools.yaml")
	if h.files["tools.yaml"] == nil {
		h.files["tools.yaml"] = tools("echo 1")
	}
	if h.args[0] == "fmt" {
		args = h.args
	}
	for name, c := range h.files {
		f, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		w := bufio.NewWriter(f)
		c(w, mark)
		if err := errors.Join(w.Flush(), f.Close()); err != nil {
			t.Fatal(err)
		}
	}
	held := filepath.Join(t.TempDir(), "peak")
	t.Setenv(peakFile, held)
	o := runPLC(t, dir, args...)
	mib := peak(t, held)
	said := o.stdout + o.stderr
	if o.code != h.code {
		t.Errorf("exit %d, want %d", o.code, h.code)
	}
	if !regexp.MustCompile("(?m)" + h.want).MatchString(said) {
		t.Errorf("it does not say %s", h.want)
	}
	if strings.ContainsAny(said, "\x1b\x07\u009b") {
		t.Error("it writes to the terminal what the input says")
	}
	if n := len(said); n > 100_000 {
		t.Errorf("it says %d bytes", n)
	}
	if mib > h.most && !raceDetector {
		t.Errorf("%d MiB of memory, want at most %d", mib, h.most)
	}
	gone(t, mark)
	if t.Failed() {
		t.Logf("plc %s: exit %d, %d MiB\n%.2000s", strings.Join(args, " "), o.code, mib, said)
	}
}
