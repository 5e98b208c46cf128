package main

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// answeredFiles are what the run of TestTamperedAnswer is made of, in which one call asks, and one in
// a delegate.
var answeredFiles = map[string]string{
	"plan.json": `[{"_tool": "note", "_id": "top", "text": "hello", "n": 5, "_retry": {"max": 1, "delay": 0}, "_timeout": "9s", "_fallback": {"_tool": "fetch", "page": "a"}},
		{"_tool": "fetch", "_id": "inside", "page": "inner", "_delegate": "sub.json", "_dependsOn": ["top"]}]`,
	"sub.json": `{"calls": [{"_tool": "note", "text": "†input.page"}], "output": 1}`,
	"tools.yaml": `
tools:
  note: {description: Writes a note., properties: {text: {type: string}, n: {}}, effects: {destructive: true}}
  burn: {properties: {text: {type: string}, n: {}}, effects: {destructive: true}}
  fetch: {properties: {page: {type: string}}, effects: {readOnly: true}}
activities:
  note: {process: {command: [tell.sh, one], stdin: "{text}", output: text}}
  burn: {process: {command: [tell.sh, two], stdin: "{text}", output: text}}
  fetch: {return: 1}
policy: {pinPrograms: true}
`,
	"bin/tell.sh":       "#!/bin/sh\ntee -a effects\n",
	"elsewhere/tell.sh": "#!/bin/sh\ntee -a effects\n",
}

// answerTampers change something after the call top was approved; those of a plan are given to plc
// resume --plan. Those of the store change what it keeps, before or after the approval.
var answerTampers = []struct {
	tamper
	sql    string
	before bool // it is approved
	inside bool // it is about the call in the delegate
	whole  bool // the run is not resumed at all
}{
	{tamper: tamper{name: "a param", file: "plan.json", old: `hello`, new: `hullo`}},
	{tamper: tamper{name: "the type of a param", file: "plan.json", old: `"n": 5`, new: `"n": "5"`}},
	{tamper: tamper{name: "the spelling of a number", file: "plan.json", old: `"n": 5`, new: `"n": 5.0`}},
	{tamper: tamper{name: "a param more", file: "plan.json", old: `"n": 5`, new: `"n": 5, "m": 1`}},
	{tamper: tamper{name: "the tool", file: "plan.json", old: `"_tool": "note"`, new: `"_tool": "burn"`}},
	{tamper: tamper{name: "the activity", file: "plan.json", old: `"_id": "top"`, new: `"_id": "top", "_activity": "burn"`}},
	{tamper: tamper{name: "the fallback's params", file: "plan.json", old: `"page": "a"`, new: `"page": "b"`}},
	{tamper: tamper{name: "the fallback's tool", file: "plan.json", old: `"_tool": "fetch", "page": "a"`, new: `"_tool": "burn", "text": "a"`}},
	{tamper: tamper{name: "no fallback", file: "plan.json", old: `, "_fallback": {"_tool": "fetch", "page": "a"}`, new: ``}},
	{tamper: tamper{name: "the fallback's activity", file: "plan.json", old: `{"_tool": "fetch", "page": "a"}`, new: `{"_tool": "fetch", "_activity": "note", "text": "a"}`}},
	{tamper: tamper{name: "retries", file: "plan.json", old: `"max": 1`, new: `"max": 2`}},
	{tamper: tamper{name: "the timeout", file: "plan.json", old: `9s`, new: `8s`}},
	{tamper: tamper{name: "the name of the call", file: "plan.json", old: `"top"`, new: `"other"`, all: true}},
	{tamper: tamper{name: "what the call is", file: "plan.json", old: `"text": "hello"`, new: `"_delegate": "sub.json", "page": "hello"`}},
	{tamper: tamper{name: "the default timeout", file: "plan.json", old: `, "_timeout": "9s"`, new: ``}},
	{tamper: tamper{name: "the content of the program", file: "bin/tell.sh", old: `tee -a`, new: `tee -a -i`}, whole: true},
	{tamper: tamper{name: "the program that is found", env: [2]string{"PATH", "$DIR/elsewhere:$PATH"}}},
	{tamper: tamper{name: "the digest of the question"}, sql: `UPDATE questions SET digest = replace(digest, substr(digest, 1, 1), 'x')`},
	{tamper: tamper{name: "the digest of the question, before"}, sql: `UPDATE questions SET digest = replace(digest, substr(digest, 1, 1), 'x')`, before: true},
	{tamper: tamper{name: "what is asked, before"}, sql: `UPDATE events SET body = replace(body, 'hello', 'hullo') WHERE body LIKE '%approvalAsked%'`, before: true},
	{tamper: tamper{name: "what is asked"}, sql: `UPDATE events SET body = replace(body, 'hello', 'hullo') WHERE body LIKE '%approvalAsked%'`},
	{tamper: tamper{name: "which call is asked about, before"}, sql: `UPDATE questions SET path = 'inside/note'`, before: true},
	{tamper: tamper{name: "the answer"}, sql: `UPDATE questions SET answer = replace(answer, 'true', 'true,"params":{"text":"hullo"}')`},
	{tamper: tamper{name: "an answer that nobody gave"}, sql: `UPDATE questions SET answer = '{"approved":true}'`, before: true},
	{tamper: tamper{name: "the question as closed"}, sql: `UPDATE questions SET closed = 1`},
	{tamper: tamper{name: "the plan in the store"}, sql: `UPDATE texts SET body = CAST(replace(CAST(body AS TEXT), 'hello', 'hullo') AS BLOB) WHERE CAST(body AS TEXT) LIKE '%hello%'`},

	{tamper: tamper{name: "a param inside", file: "sub.json", old: `†input.page`, new: `inner!`}, inside: true},
	{tamper: tamper{name: "the tool inside", file: "sub.json", old: `"note"`, new: `"burn"`}, inside: true},
	{tamper: tamper{name: "a fallback inside", file: "sub.json", old: `†input.page"`, new: `†input.page", "_fallback": "burn"`}, inside: true},
	{tamper: tamper{name: "what is given to it", file: "plan.json", old: `"inner"`, new: `"outer"`}, inside: true},
	{tamper: tamper{name: "another delegate", file: "plan.json", old: `"sub.json"`, new: `"two.json"`}, inside: true},
	{tamper: tamper{name: "the activity inside", file: "sub.json", old: `"text"`, new: `"_activity": "burn", "text"`}, inside: true},
}

// An answer holds for the call that was shown, and not when the plan, the program or the record has
// changed since.
func TestTamperedAnswer(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for name, text := range answeredFiles {
		if err := os.MkdirAll(filepath.Dir(at(name)), 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, at(name), text)
		if err := os.Chmod(at(name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write(t, at("two.json"), strings.Replace(answeredFiles["sub.json"], "†input.page", "†{input.page}!", 1))
	t.Setenv("PATH", at("bin")+":"+os.Getenv("PATH"))
	effects := func() string {
		text, _ := os.ReadFile(at("effects"))
		_ = os.Remove(at("effects"))
		return string(text)
	}
	plc := func(want int, args ...string) outcome {
		t.Helper()
		o := runHere(t, dir, append(args, "--store", "runs.db")...)
		if o.code != want {
			t.Fatalf("plc %s: exit %d, want %d\n%s%s", strings.Join(args, " "), o.code, want, o.stdout, o.stderr)
		}
		return o
	}
	begin := func(inside bool) (call string) {
		t.Helper()
		plc(exitPaused, "run", "plan.json", "--tools", "tools.yaml")
		if !inside {
			return "top"
		}
		plc(exitDone, "approve", "last", "top", "--yes")
		plc(exitPaused, "resume", "last")
		effects()
		return "inside/note"
	}
	for i := range answerTampers {
		c := &answerTampers[i]
		call := begin(c.inside)
		if !c.before {
			plc(exitDone, "approve", "last", call, "--yes")
		}
		undo := c.apply(t, dir)
		if c.sql != "" {
			change(t, at("runs.db"), c.sql)
		}
		if c.before {
			runHere(t, dir, "approve", "last", "top", "--yes", "--store", "runs.db") // or it may be refused
		}
		args := []string{"resume", "last", "--store", "runs.db"}
		if strings.HasSuffix(c.file, ".json") {
			args = append(args, "--plan", "plan.json")
		}
		if o := runHere(t, dir, args...); o.code == exitDone || effects() != "" {
			t.Errorf("%s: exit %d\n%s%s", c.name, o.code, o.stdout, o.stderr)
		} else if want := map[bool]int{false: exitPaused, true: exitUsage}[c.sql != "" || c.whole]; o.code != want {
			t.Errorf("%s: exit %d, want %d\n%s%s", c.name, o.code, want, o.stdout, o.stderr)
		}
		undo()
		for _, name := range []string{"runs.db", "runs.db-wal", "runs.db-shm", "runs.db.locks"} {
			_ = os.RemoveAll(at(name))
		}
	}
	call := begin(true)
	plc(exitDone, "approve", "last", call, "--yes")
	plc(exitDone, "resume", "last", "--plan", "plan.json")
	if got := effects(); got != "inner" {
		t.Errorf("untampered: effects %q", got)
	}
	t.Logf("%d tampers refused", len(answerTampers))
}

// change changes what a store keeps behind its back.
func change(t *testing.T, store, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite", store)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if res, err := db.Exec(statement); err != nil {
		t.Fatal(err)
	} else if n, _ := res.RowsAffected(); n == 0 {
		t.Fatalf("%s: changes nothing", statement)
	}
}
