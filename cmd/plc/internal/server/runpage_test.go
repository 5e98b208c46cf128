package server

import (
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/cmd/plc/internal/runner"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/internal/effort"
	"github.com/plc-lang/plc/journal"
)

// page returns a page as a person with all roles is shown it.
func (g *rig) page(path string) string {
	g.t.Helper()
	status, _, text := g.send(g.admin, "GET", path, nil)
	if status != http.StatusOK {
		g.t.Fatalf("%s: %d %s", path, status, text)
	}
	return string(text)
}

// runTo starts a run by the server and waits for an event of it.
func (g *rig) runTo(kind string, body object) (run string) {
	g.t.Helper()
	run = g.want(201, "POST", "/v1/runs", body)["run"].(string)
	g.until(run, kind, 0)
	return run
}

// wordsOf returns the text of a part of a page.
func wordsOf(page string) string {
	return strings.Join(strings.Fields(html.UnescapeString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(page, " "))), " ")
}

// The page of a run says what each call waited for, and how its attempts went.
func TestTimeIsExplained(t *testing.T) {
	g := newRig(t, Options{Spec: plc.Spec{Limits: plc.Limits{Parallel: 1}}})
	run := g.runTo("runFinished", object{"plan": []object{
		{"_id": "a", "_tool": "nap", "ms": 30, "_outputPath": "†state.a"}, {"_id": "b", "_tool": "nap", "ms": 30, "_outputPath": "†state.b"},
		{"_id": "c", "_tool": "nap", "ms": "†state.a", "_dependsOn": []string{"b"}, "_outputPath": "†state.c"},
		{"_id": "f", "_tool": "flaky", "_retry": object{"max": 2, "delay": "20ms", "jitter": false}, "_dependsOn": []string{"c"}, "_outputPath": "†state.f"},
	}})
	page := wordsOf(g.page("/runs/" + run))
	for _, want := range []string{
		`b nap ✓ completed waited for its turn \(\d+(\.\d+)?ms\), with at most 1 call at a time, then attempt 1 \(\d+(\.\d+)?ms\) 1`,
		`c nap ✓ completed waited for b \(\d+(\.\d+)?ms\), then`,
		`f flaky ✓ completed waited for c \(.*?\), then.* attempt 1 \(.*?\): busy, then waited before the next attempt \(.*?\), then attempt 2 \(`,
		`†state.c set c 30`,
	} {
		if !regexp.MustCompile(want).MatchString(page) {
			t.Errorf("no %s in %s", want, page)
		}
	}
	call := wordsOf(g.page("/runs/" + run + "/call?call=c"))
	for _, want := range []string{`Waits for a b`, `Awaited by f`, `Params { "ms": 30 }`, `Result 30`, `Error None`, `Writes †state.c`} {
		if !strings.Contains(call, want) {
			t.Errorf("no %s in %s", want, call)
		}
	}
	before := wordsOf(g.page("/runs/" + run + "?at=1"))
	if strings.Contains(before, "completed wait") || !strings.Contains(before, "○ pending") || !strings.Contains(before, "No call has written anything") {
		t.Errorf("after the first event: %s", before)
	}
}

// loop runs a plan that doubles each item of a list by a document that it delegates to.
func (g *rig) loop(items string) (run string) {
	t := g.t
	t.Helper()
	dir := t.TempDir()
	plan, inner := filepath.Join(dir, "plan.json"), filepath.Join(dir, "item.json")
	for name, text := range map[string]string{
		plan:  `[{"_id": "each", "_tool": "forEach", "items": "†input.items", "_delegate": "item.json", "_outputPath": "†state.all"}]`,
		inner: `{"calls": [{"_id": "twice", "_tool": "double", "n": "†input.item", "_outputPath": "†state.n"}], "output": "†state.n"}`,
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	res, err := g.server.opts.Engine.Run(t.Context(), plc.Spec{
		Plan: plc.File(plan), Values: plc.Values{Input: []plc.Source{plc.Text(`{"items": ` + items + `}`)}}, Labels: map[string]string{runner.Label: frontend},
	})
	if err != nil || res.Status != "completed" {
		t.Fatalf("%+v, %v", res, err)
	}
	return res.Run
}

// What a delegate runs, items of loops and instances are groups, which have pages of their own.
func TestGroups(t *testing.T) {
	g := newRig(t, Options{})
	few := g.loop(`[1, 2, 3]`)
	page := g.page("/runs/" + few)
	for _, want := range []string{"<details data-key", `data-call="each[2]/twice"`, "each: 3 calls"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s in %s", want, page)
		}
	}
	if !strings.Contains(page, "Collapse what is inside of delegates") || strings.Contains(g.page("/runs/"+few+"?flat=yes"), "Collapse what") {
		t.Error("the graph can't be collapsed")
	}
	open := g.page("/runs/" + few + "/graph")
	if flat := g.page("/runs/" + few + "/graph?flat=yes"); !strings.Contains(open, `data-id="each/twice" data-status="completed"`) || strings.Contains(flat, "each/twice") {
		t.Errorf("%s\n%s", open, flat)
	}
	call := wordsOf(g.page("/runs/" + few + "/call?call=" + url.QueryEscape("each[2]/twice")))
	if !strings.Contains(call, `Params { "n": 3 }`) || !strings.Contains(call, "Result 6") {
		t.Error(call)
	}
	var items strings.Builder
	for i := range 250 {
		fmt.Fprintf(&items, ",%d", i)
	}
	many := g.loop("[" + items.String()[1:] + "]")
	if page := wordsOf(g.page("/runs/" + many)); strings.Contains(page, "[0]") || !strings.Contains(page, "each: show its 250 calls 250 ✓ completed") {
		t.Error(page)
	}
	if page := wordsOf(g.page("/runs/" + many + "?under=each&page=1")); !strings.Contains(page, "101 to 200 of 250") || !strings.Contains(page, "[100]") {
		t.Error(page)
	}
	for _, page := range []string{"2", "3", "9223372036854775807", "92233720368547759"} {
		if page := wordsOf(g.page("/runs/" + many + "?under=each&page=" + page)); !strings.Contains(page, "201 to 250 of 250 Before") {
			t.Error(page)
		}
	}
	if status, _, _ := g.send(g.admin, "GET", "/runs/"+many+"?under=none", nil); status != http.StatusNotFound {
		t.Errorf("a group that is not there: %d", status)
	}
}

// A run of many instances is shown a page at a time.
func TestManyInstances(t *testing.T) {
	g := newRig(t, Options{})
	var lines strings.Builder
	n := effort.Of(300, 2000)
	for i := range n {
		fmt.Fprintf(&lines, "{\"_instance\": \"i%d\", \"n\": %d}\n", i, i)
	}
	run := g.runTo("runFinished", object{"plan": []object{{"_tool": "double", "n": "†input.n", "_outputPath": "†state.n"}}, "instances": lines.String()})
	began := time.Now()
	page := g.page("/runs/" + run)
	took := time.Since(began)
	t.Logf("%d bytes in %s", len(page), took)
	if !strings.Contains(wordsOf(page), fmt.Sprintf("1 to 100 of %d", n)) || len(page) > 200_000 {
		t.Errorf("%d bytes: %.2000s", len(page), wordsOf(page))
	}
	if page := wordsOf(g.page("/runs/" + run + "?in=i277")); !strings.Contains(page, "554") {
		t.Error(page)
	}
	if page := wordsOf(g.page("/runs/" + run + "/call?call=double&instance=i277")); !strings.Contains(page, `"n": 277`) || !strings.Contains(page, "554") {
		t.Error(page)
	}
}

// The forms of the pages fork a run from a call with other values, and go on where one ended.
func TestForkForm(t *testing.T) {
	g := newRig(t, Options{})
	run := g.runTo("runFinished", object{"plan": []object{{"_tool": "double", "n": "†input.n", "_outputPath": "†state.n"}}, "input": object{"n": 2, "m": 1}})
	form := func(path string, fields url.Values) (int, string) {
		t.Helper()
		r := httptest.NewRequest("POST", path, strings.NewReader(fields.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Authorization", "Bearer "+g.admin)
		r.Host = g.http.Listener.Addr().String()
		w := httptest.NewRecorder()
		g.server.ServeHTTP(w, r)
		return w.Code, w.Header().Get("Location") + w.Body.String()
	}
	status, to := form("/runs/"+run+"/fork", url.Values{"at": {"double"}, "set": {"input.n=21\r\ninput.m=1\r\n"}, "was": {"input.m=1\ninput.n=2\n"}})
	if status != http.StatusSeeOther || to == "/runs/"+run {
		t.Fatalf("%d %s", status, to)
	}
	fork := strings.TrimPrefix(to, "/runs/")
	g.until(fork, "runFinished", 0)
	if page := wordsOf(g.page(to)); !strings.Contains(page, `"n": 42`) || !strings.Contains(page, "A fork of "+run) {
		t.Error(page)
	}
	if status, text := form("/runs/"+run+"/fork", url.Values{"at": {"double"}, "set": {"nonsense"}}); status != http.StatusUnprocessableEntity {
		t.Errorf("%d %s", status, text)
	}
	if status, text := form("/runs/"+run+"/fork", url.Values{"at": {"none"}}); status != http.StatusUnprocessableEntity {
		t.Errorf("%d %s", status, text)
	}
}

// A call whose answer was lost is settled on the page of its run.
func TestUncertainIsSettled(t *testing.T) {
	g := newRig(t, Options{})
	run := g.runTo("runPaused", object{"plan": []object{{"_tool": "lost", "_outputPath": "†state.x"}}})
	if page := wordsOf(g.page("/runs/" + run)); !strings.Contains(page, "may have done its work, but gave no result") || !strings.Contains(page, "Call it again") {
		t.Fatal(page)
	}
	q := g.want(200, "GET", "/v1/runs/"+run+"/questions", nil)["questions"].([]any)[0].(object)
	g.send(g.admin, "POST", "/v1/runs/"+run+"/answers", object{"call": q["call"], "digest": q["digest"], "decision": "answer", "result": "it was paid"})
	g.until(run, "runFinished", 0)
	if page := wordsOf(g.page("/runs/" + run)); !strings.Contains(page, "✓ completed") || !strings.Contains(page, "it was paid") || g.lost.Load() != 1 {
		t.Errorf("%d calls: %s", g.lost.Load(), page)
	}
}

// A run that has ended shows its output. Calls that a cancel ended do not go on, and a page that was
// opened before the first event has its slider.
func TestPageOfAnEndedRun(t *testing.T) {
	g := newRig(t, Options{})
	run := g.runTo("runFinished", object{"plan": object{"calls": []object{{"_tool": "double", "n": 7, "_outputPath": "†state.x"}}, "output": object{"told": "†state.x"}}})
	if text := wordsOf(g.page("/runs/" + run)); !strings.Contains(text, `Output { "told":`) {
		t.Error(text)
	}
	run = g.runTo("callStarted", object{"plan": []object{{"_tool": "slow"}, {"_tool": "wipe", "what": "x", "_dependsOn": []string{"slow"}}}})
	g.want(200, "POST", "/v1/runs/"+run+"/cancel", object{})
	g.until(run, "runFinished", 0)
	text := g.page("/runs/" + run)
	if told := wordsOf(text); strings.Contains(told, "running") || strings.Contains(told, "goes on") || !strings.Contains(text, `type="range"`) {
		t.Error(told)
	}
}

// The page of a call says that a person changed its params, and what they were.
func TestEditedCall(t *testing.T) {
	g := newRig(t, Options{})
	run := g.runTo("runPaused", object{"plan": []object{{"_tool": "wipe", "what": "disk"}}})
	q := g.want(200, "GET", "/v1/runs/"+run+"/questions", nil)["questions"].([]any)[0].(object)
	for _, params := range []any{5, nil, []any{1}, "x"} {
		g.want(422, "POST", "/v1/runs/"+run+"/answers", object{"call": q["call"], "digest": q["digest"], "decision": "approve", "params": params})
	}
	g.send(g.admin, "POST", "/v1/runs/"+run+"/answers", object{"call": q["call"], "digest": q["digest"], "decision": "approve", "params": object{"what": "tape"}})
	g.until(run, "runFinished", 0)
	if page := wordsOf(g.page("/runs/" + run + "/call?call=wipe")); !strings.Contains(page, "approved with other params by") || !strings.Contains(page, `Params before a person changed them { "what": "disk" }`) {
		t.Error(page)
	}
}

// The inbox says once which answer of a person was taken.
func TestInboxSaysWhatWasAnswered(t *testing.T) {
	g := newRig(t, Options{})
	run := g.runTo("runPaused", object{"plan": []object{{"_tool": "wipe", "what": "disk"}}})
	q := g.want(200, "GET", "/v1/runs/"+run+"/questions", nil)["questions"].([]any)[0].(object)
	fields := url.Values{"call": {q["call"].(string)}, "digest": {q["digest"].(string)}, "decision": {"edit"}, "value": {`{"what": "tape"}`}}
	if status, _, text := g.form("/runs/"+run+"/decide", fields); status != http.StatusSeeOther {
		t.Fatal(status, text)
	}
	const want = "approved with other params: the call wipe of run "
	if page := wordsOf(g.page("/inbox")); !strings.Contains(page, want+run) {
		t.Error(page)
	}
	if page := wordsOf(g.page("/inbox")); strings.Contains(page, want) {
		t.Errorf("twice: %s", page)
	}
}

// A call that is asked about again says that it was refused.
func TestRefusedCallIsAskedAgain(t *testing.T) {
	g := newRig(t, Options{})
	run := g.runTo("runPaused", object{"plan": []object{{"_tool": "wipe", "what": "disk"}}})
	answer := func(decision string) {
		q := g.want(200, "GET", "/v1/runs/"+run+"/questions", nil)["questions"].([]any)[0].(object)
		g.want(204, "POST", "/v1/runs/"+run+"/answers", object{"call": q["call"], "digest": q["digest"], "decision": decision, "reason": "not this one"})
	}
	answer("refuse")
	seen := g.until(run, "runFinished", 0)
	g.want(202, "POST", "/v1/runs/"+run+"/resume", nil)
	g.until(run, "runPaused", seen[len(seen)-1])
	for _, path := range []string{"/inbox", "/runs/" + run} {
		if page := wordsOf(g.page(path)); !regexp.MustCompile(`This call was refused by .*\(not this one\)\. The run was continued`).MatchString(page) {
			t.Errorf("%s: %s", path, page)
		}
	}
}

// Calls are named as the plan names them, also where an id has what paths escape.
func TestNamesAreShownAsWritten(t *testing.T) {
	g := newRig(t, Options{})
	const id, asks = "a/b~c[0]#d", "w/x"
	plan := []object{
		{"_id": id, "_tool": "double", "n": 1, "_outputPath": "†state.n"},
		{"_id": asks, "_tool": "wipe", "what": "†{state.n}", "_outputPath": "†state.w"},
		{"_id": "z/z", "_tool": "put", "what": "†state.w"},
	}
	run := g.runTo("runPaused", object{"plan": plan})
	text, err := json.Marshal(plan)
	if err != nil {
		t.Fatal(err)
	}
	_, _, preview := g.form("/playground", url.Values{"plan": {string(text)}, "do": {"check"}})
	query := url.Values{"call": {exec.PathOf(asks)}}.Encode()
	for name, c := range map[string]struct {
		page string
		want []string
	}{
		"run":        {g.page("/runs/" + run), []string{id + " double", asks + " wipe", "\"" + asks + "\" waits for approval", "Call " + asks + " of run"}},
		"call":       {g.page("/runs/" + run + "/call?" + query), []string{"Call " + asks, "Waits for " + id, "Awaited by z/z"}},
		"events":     {g.page("/runs/" + run + "/events"), []string{"callCompleted " + id}},
		"inbox":      {g.page("/inbox"), []string{"Call " + asks + " of run"}},
		"playground": {preview, []string{id + " double", asks + " wipe"}},
	} {
		words := wordsOf(c.page)
		for _, want := range c.want {
			if !strings.Contains(words, want) {
				t.Errorf("%s: no %q in %s", name, want, words)
			}
		}
		if at := strings.IndexByte(strings.ReplaceAll(words, "b~c", ""), '~'); at >= 0 {
			t.Errorf("%s shows an escape: %s", name, words)
		}
	}
}

// A value that is too long for its place is marked as cut, outside of it, and leads to the whole of
// it; that of a question can be opened in place.
func TestCutValues(t *testing.T) {
	g := newRig(t, Options{})
	wipe := func(what string) string {
		return g.runTo("runPaused", object{"plan": []object{{"_tool": "wipe", "what": what}}})
	}
	approve := func(run string) {
		q := g.want(200, "GET", "/v1/runs/"+run+"/questions", nil)["questions"].([]any)[0].(object)
		g.want(204, "POST", "/v1/runs/"+run+"/answers", object{"call": q["call"], "digest": q["digest"], "decision": "approve"})
		g.until(run, "runFinished", 0)
	}
	before, long := wipe("cache"), strings.Repeat("abcdefgh ", 80)+"the end"
	approve(before)
	waits := wipe(long)
	card := g.page("/inbox?run=" + waits)
	if n := strings.Count(card, "the end"); n != 3 { // in the question, in the difference and where it can be changed
		t.Errorf("the whole value is there %d times in %s", n, card)
	}
	for _, want := range []string{`Cut: the first 200 of 729 bytes\. *</p><pre>\n&#34;abcdefgh`, `<details><summary>Show all 729 bytes</summary><pre>\n&#34;abcdefgh[a-h ]*the end&#34;</pre>`} {
		if !regexp.MustCompile(want).MatchString(card) {
			t.Errorf("no %s in %s", want, card)
		}
	}
	approve(waits)
	row := `Cut: the first 200 of 735 bytes. <a href="/runs/` + waits + `/call?call=wipe">Show all</a>`
	if page := g.page("/runs/" + waits); !strings.Contains(page, row) {
		t.Errorf("no %s in %s", row, page)
	}
	if page := g.page("/runs/" + waits + "/call?call=wipe"); strings.Contains(page, "Cut:") || !strings.Contains(page, "the end&#34;</pre>") {
		t.Errorf("the page of the call: %s", page)
	}
	huge := wipe(strings.Repeat("x", bytesShown) + "the end")
	if page := g.page("/runs/" + huge + "/call?call=wipe"); !strings.Contains(page, `<a href="/runs/`+huge+`/call?call=wipe&amp;whole=yes">Show all</a>`) {
		t.Error("a huge value has no way to the whole of it")
	}
	if _, page, _ := strings.Cut(g.page("/runs/"+huge+"/call?call=wipe&whole=yes"), `class="beside"`); strings.Contains(page, "Cut:") || !strings.Contains(page, `the end&#34;`) {
		t.Error("a huge value is not shown when it is asked for")
	}
}

// That a call waited for its turn is told only if as many calls ran as may. What else keeps a call
// from starting is not in the record.
func TestTurns(t *testing.T) {
	g := newRig(t, Options{Spec: plc.Spec{Limits: plc.Limits{Parallel: 2}}})
	run := g.runTo("runFinished", object{"plan": []object{
		{"_id": "a", "_tool": "nap", "ms": 1}, {"_id": "b", "_tool": "nap", "ms": 1}, {"_id": "c", "_tool": "nap", "ms": 1},
	}})
	sum, err := g.server.opts.Engine.Summary(t.Context(), run)
	if err != nil {
		t.Fatal(err)
	}
	at := func(ms int) time.Time { return time.Unix(0, 0).Add(time.Duration(ms) * time.Millisecond) }
	for _, c := range []struct {
		spans map[string][2]int // when each call began and ended
		waits string            // the calls that waited for their turn
	}{
		{map[string][2]int{"a": {0, 100}, "b": {0, 100}, "c": {100, 200}}, "c"},
		{map[string][2]int{"a": {0, 100}, "b": {30, 100}, "c": {100, 200}}, "c"},
		{map[string][2]int{"a": {0, 20}, "b": {30, 100}, "c": {60, 200}}, ""},
		{map[string][2]int{"a": {50, 60}, "b": {30, 40}, "c": {45, 50}}, ""},
	} {
		told, err := g.server.follow(t.Context(), sum, sum.Events)
		if err != nil {
			t.Fatal(err)
		}
		told.began, told.last = at(0), at(300)
		for _, call := range told.calls {
			of := c.spans[call.Call]
			call.spans = []span{{kind: attempt, from: at(of[0]), to: at(of[1])}}
		}
		waits := ""
		for _, call := range told.calls {
			if strings.Contains(told.spent(call), "waited for its turn") {
				waits += call.Call
			}
		}
		if waits != c.waits {
			t.Errorf("%v: %q waited for their turn, want %q", c.spans, waits, c.waits)
		}
	}
}

// Calls that a run never came to are not pending when it has ended: page, graph and the page of a
// call say what exec says of them.
func TestCallsThatNeverRan(t *testing.T) {
	g := newRig(t, Options{Spec: plc.Spec{OnUncertain: plc.FailUncertain, Limits: plc.Limits{Parallel: 1}}})
	run := g.runTo("runFinished", object{"plan": []object{
		{"_id": "handled", "_tool": "lost", "_errorPath": "†state.error"}, {"_id": "sees", "_tool": "put", "what": "†{state.error.code}"},
		{"_id": "fails", "_tool": "flaky", "_outputPath": "†state.a", "_dependsOn": []string{"sees"}},
		{"_id": "needs", "_tool": "put", "what": "†state.a", "_outputPath": "†state.b"}, {"_id": "behind/it", "_tool": "double", "n": 1, "_dependsOn": []string{"needs"}},
		{"_id": "late", "_tool": "double", "n": 2, "_dependsOn": []string{"sees"}},
	}})
	page := g.page("/runs/" + run)
	states := map[string]string{}
	for _, n := range g.want(200, "GET", "/v1/runs/"+run+"/graph?as=json", nil)["nodes"].([]any) {
		states[n.(object)["id"].(string)], _ = n.(object)["status"].(string)
	}
	got := map[string]string{}
	for _, c := range g.want(200, "GET", "/v1/runs/"+run, nil)["result"].(object)["calls"].([]any) {
		id, status := c.(object)["id"].(string), c.(object)["status"].(string)
		got[id] = status
		if row := regexp.MustCompile(`(?s)<tr data-call="` + exec.PathOf(id) + `".*?</tr>`).FindString(page); !strings.Contains(wordsOf(row), " "+status) || states[id] != status {
			t.Errorf("%s is %s, in the graph %s and in the table %s", id, status, states[id], wordsOf(row))
		}
		if call := wordsOf(g.page("/runs/" + run + "/call?call=" + url.QueryEscape(exec.PathOf(id)))); !regexp.MustCompile(`Call ` + id + ` \S ` + status).MatchString(call) {
			t.Errorf("%s is %s, and its page says %s", id, status, call)
		}
	}
	if got["needs"] != "blocked" || got["behind/it"] != "blocked" || got["late"] != "cancelled" {
		t.Errorf("the run does not have what is tested: %v", got)
	}
	if page := wordsOf(page); !strings.Contains(page, "1 ✓ completed not begun: 1 – cancelled 2 – blocked") || !strings.Contains(page, "– blocked what it needs failed") {
		t.Error(page)
	}
	if page := wordsOf(g.page("/runs/" + run + "?at=2")); strings.Contains(page, "– blocked") || !strings.Contains(page, "not begun: 5 ○ pending") {
		t.Errorf("after event 2: %s", page)
	}
}

// The calls of a document are blocked with the call that would have run it.
func TestDocumentsThatNeverRan(t *testing.T) {
	g := newRig(t, Options{})
	run := g.runTo("runFinished", object{
		"plan":      []object{{"_id": "fails", "_tool": "flaky", "_outputPath": "†state.a"}, {"_id": "d", "_tool": "forEach", "items": []any{"†state.a"}, "_delegate": "doc"}},
		"documents": object{"doc": []object{{"_id": "x", "_tool": "double", "n": 1}}},
	})
	sum, err := g.server.opts.Engine.Summary(t.Context(), run)
	if err != nil {
		t.Fatal(err)
	}
	told, err := g.server.follow(t.Context(), sum, sum.Events)
	if err != nil {
		t.Fatal(err)
	}
	if states := told.states(""); states["d"] != "blocked" || states["d/x"] != "blocked" || told.fate("", "d/x") != "blocked" {
		t.Errorf("%v, and %s", states, told.fate("", "d/x"))
	}
}

// The list of runs, the page of a run and its table count calls alike: each that has begun, also
// those that delegate.
func TestCountsAreAlike(t *testing.T) {
	g := newRig(t, Options{})
	instances := g.runTo("runFinished", object{"plan": []object{{"_id": "a", "_tool": "put", "what": "†input.what", "_outputPath": "†state.a"}, {"_tool": "put", "what": "†state.a"}}, "instances": "{\"what\": \"x\"}\n{\"what\": \"y\"}\n"})
	waits := g.runTo("runPaused", object{"plan": []object{{"_tool": "wipe", "what": "x", "_outputPath": "†state.a"}, {"_tool": "put", "what": "†state.a"}}})
	goes := g.want(201, "POST", "/v1/runs", object{"plan": []object{{"_tool": "forEach", "items": []int{1}, "_delegate": "item"}}, "documents": object{"item": []object{{"_tool": "slow"}}}})["run"].(string)
	for len(g.want(200, "GET", "/v1/runs/"+goes, nil)["calls"].([]any)) < 2 {
		time.Sleep(time.Millisecond)
	}
	list := g.page("/")
	for run, want := range map[string]string{g.loop(`[1, 2, 3]`): "4 ✓ completed", instances: "4 ✓ completed", waits: "1 ? awaiting", goes: "2 ► running"} {
		row := regexp.MustCompile(`(?s)<tr data-run="` + run + `".*?</tr>`).FindString(g.page("/"))
		head := regexp.MustCompile(`(?s)<section id="head".*?</section>`).FindString(g.page("/runs/" + run))
		if !strings.Contains(wordsOf(row), want) || !strings.Contains(wordsOf(head), want) {
			t.Errorf("want %s in the list, %s, and on the page, %s", want, wordsOf(row), wordsOf(head))
		}
	}
	for run, want := range map[string]string{waits: "awaiting pending", goes: "running"} { // also in the document of the run
		var got []string
		for _, c := range g.want(200, "GET", "/v1/runs/"+run, nil)["result"].(object)["calls"].([]any) {
			got = append(got, c.(object)["status"].(string))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("the calls are %v, want %s", got, want)
		}
	}
	close(g.gate)
	g.want(200, "POST", "/v1/runs/"+waits+"/cancel", object{}) // its call was asked about and never made
	if page := wordsOf(g.page("/runs/" + waits)); !regexp.MustCompile(`cancelled by ada not begun: 2 – cancelled`).MatchString(page) {
		t.Error(page)
	}
	if !strings.Contains(list, "Calls begun") {
		t.Error("the list does not say what it counts")
	}
}

// An attempt whose process was killed ended nobody knows when: its time does not go on until the run
// is resumed. That of a call that delegates leaves out the pauses of the run.
func TestTimeWithoutOutages(t *testing.T) {
	at := func(s int) time.Time { return time.Unix(int64(s), 0) }
	events := []exec.Event{
		{Type: exec.RunStarted, Time: at(0)}, {Type: exec.CallStarted, Call: "each", Attempt: 1, Time: at(1)}, {Type: exec.CallStarted, Call: "each[0]/a", Attempt: 1, Time: at(2)},
		{Type: exec.CallReturned, Call: "other", Time: at(5)},
		{Type: exec.RunResumed, Time: at(100)}, {Type: exec.CallStarted, Call: "each", Attempt: 1, Time: at(101)}, {Type: exec.CallStarted, Call: "each[0]/a", Attempt: 2, Time: at(102)},
		{Type: exec.CallReturned, Call: "each[0]/a", Attempt: 2, Time: at(104)}, {Type: exec.CallCompleted, Call: "each[0]/a", Time: at(104)},
		{Type: exec.RunPaused, Time: at(105)}, {Type: exec.RunResumed, Time: at(200)}, {Type: exec.CallStarted, Call: "each", Attempt: 1, Time: at(200)},
		{Type: exec.CallReturned, Call: "each", Attempt: 1, Time: at(203)}, {Type: exec.CallCompleted, Call: "each", Time: at(203)}, {Type: exec.RunFinished, Status: exec.Completed, Time: at(203)},
	}
	told := &runRecord{sum: &journal.Summary{}, known: map[callAt]*Call{}, entered: map[string]time.Time{}, ended: map[string]instanceEnd{}}
	for i := range events {
		if err := told.take(int64(i+1), &events[i]); err != nil {
			t.Fatal(err)
		}
	}
	for call, want := range map[string]string{
		"each[0]/a": "attempt 1 (cut off when its process ended), then attempt 2 (2s)",
		"each":      "attempt 1 (cut off when its process ended), then went on with attempt 1 (4s), then went on with attempt 1 (3s)",
	} {
		if got := told.spent(told.known[callAt{"", call}]); got != want {
			t.Errorf("%s: %s, want %s", call, got, want)
		}
	}
	if s := told.known[callAt{"", "each[0]/a"}].spans[0]; !s.to.Equal(at(5)) { // when the process lived still
		t.Errorf("the attempt that was cut off ends %v", s.to)
	}
}

// What goes on is shown without a time, which would be old when it is read.
func TestNoTimeOfWhatGoesOn(t *testing.T) {
	told := &runRecord{sum: &journal.Summary{}, known: map[callAt]*Call{}, entered: map[string]time.Time{}, ended: map[string]instanceEnd{}}
	for i, e := range []exec.Event{
		{Type: exec.RunStarted, Time: time.Unix(0, 0)}, {Type: exec.CallStarted, Call: "a", Attempt: 1, Time: time.Unix(1, 0)},
		{Type: exec.ApprovalAsked, Call: "b", Question: exec.ApprovalQuestion, Time: time.Unix(2, 0)},
	} {
		if err := told.take(int64(i+1), &e); err != nil {
			t.Fatal(err)
		}
	}
	for call, want := range map[string]string{"a": "attempt 1 goes on", "b": "waits for a person"} {
		if got := told.spent(told.known[callAt{"", call}]); got != want {
			t.Errorf("%s: %s, want %s", call, got, want)
		}
	}
}
