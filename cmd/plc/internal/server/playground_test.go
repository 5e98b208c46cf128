package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/plc-lang/plc"
)

// form sends a form as a browser of a person with all roles does.
func (g *rig) form(path string, fields url.Values) (status int, location, page string) {
	g.t.Helper()
	req := httptest.NewRequest("POST", path, strings.NewReader(fields.Encode()))
	req.Host = g.http.Listener.Addr().String()
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Authorization", "Bearer "+g.admin)
	w := httptest.NewRecorder()
	g.server.ServeHTTP(w, req)
	return w.Code, w.Header().Get("Location"), w.Body.String()
}

// The playground previews a plan for each of its instances, says which calls ask a person, and starts
// a run with labels, by which the list of runs finds it.
func TestPlaygroundInstances(t *testing.T) {
	g := newRig(t, Options{})
	fields := url.Values{
		"plan":      {`[{"_id": "w", "_tool": "wipe", "what": "†input.what", "_outputPath": "†state.w"}]`},
		"instances": {"{\"what\": \"attic\"}\r\n{\"what\": \"cellar\"}\r\n"}, "labels": {"team = cleaners\r\n\r\nfloor=all"},
	}
	fields.Set("do", "check")
	status, _, page := g.form("/playground", fields)
	for _, want := range []string{"Asks a person", "w of 1", "w of 2", "is destructive"} {
		if status != http.StatusOK || !strings.Contains(wordsOf(page), want) {
			t.Errorf("status %d, no %s in %s", status, want, wordsOf(page))
		}
	}
	fields.Set("do", "run")
	status, run, page := g.form("/playground", fields)
	if status != http.StatusSeeOther {
		t.Fatalf("status %d: %s", status, page)
	}
	for _, path := range []string{"/?label=team%3Dcleaners", "/?label=floor+%3D+all", run} {
		if page := wordsOf(g.page(path)); !strings.Contains(page, "floor = all team = cleaners") {
			t.Errorf("%s: %s", path, page)
		}
	}
	if page := g.page("/?label=team%3Dcooks"); strings.Contains(page, run) {
		t.Errorf("a run without the label is listed: %s", page)
	}
	fields.Set("labels", "cleaners")
	if _, _, page := g.form("/playground", fields); !strings.Contains(wordsOf(page), `It was not started: "cleaners" is no label; write one as in team=a`) || !strings.Contains(page, "\ncleaners<") {
		t.Errorf("what is no label: %s", page)
	}
	for _, path := range []string{"/?label=cleaners", "/?label=%3Da", "/v1/runs?label=cleaners"} {
		if status, _, text := g.send(g.admin, "GET", path, nil); status != http.StatusBadRequest {
			t.Errorf("%s: %d %s", path, status, text)
		}
	}
}

// What a person typed is on the page that refuses it.
func TestWhatWasTypedStays(t *testing.T) {
	g := newRig(t, Options{})
	run := g.runTo("approvalAsked", object{"plan": []object{{"_id": "w", "_tool": "wipe", "what": "x"}}})
	q := g.want(200, "GET", "/v1/runs/"+run+"/questions", nil)["questions"].([]any)[0].(object)
	status, _, page := g.form("/runs/"+run+"/decide", url.Values{"call": {"w"}, "digest": {q["digest"].(string)}, "decision": {"edit"}, "reason": {"per<haps"}, "value": {`{"what": 5, "why":` + "\r\n" + `"a long text"}`}})
	if status != http.StatusUnprocessableEntity {
		t.Errorf("status %d: %s", status, page)
	}
	// The question is shown again, with all that it is about and each way to answer it.
	for _, want := range []string{"wipe destroys", `"what": "x"`, "the params do not fit", `JSON {"what": 5, "why": "a long text"} Approve with these params Give this result Approve without this change Skip the call`} {
		if !strings.Contains(wordsOf(page), want) {
			t.Errorf("no %s in %s", want, wordsOf(page))
		}
	}
	for _, want := range []string{`action="/runs/` + run + `/decide"`, `name="digest" value="` + q["digest"].(string), `name="call" value="w"`, `name="decision" value="edit"`, `name="decision" value="refuse"`, `value="per&lt;haps"`} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s in %s", want, page)
		}
	}
	// One that has changed is shown as it is now.
	status, _, page = g.form("/runs/"+run+"/decide", url.Values{"call": {"w"}, "digest": {"old"}, "decision": {"edit"}, "value": {`{"what": "y"}`}})
	if status != http.StatusConflict || !strings.Contains(page, q["digest"].(string)) || !strings.Contains(wordsOf(page), `{"what": "y"}`) {
		t.Errorf("status %d: %s", status, page)
	}
	status, _, page = g.form("/login", url.Values{"token": {"plc_secret"}, "reason": {}})
	if status != http.StatusForbidden && status != http.StatusUnauthorized || strings.Contains(page, "plc_secret") {
		t.Errorf("status %d: %s", status, page)
	}
}

// A page lists the events of a run, and leads to the run as it was after each.
func TestListOfEvents(t *testing.T) {
	g := newRig(t, Options{})
	run := g.runTo("runFinished", object{"plan": []object{
		{"_id": "f", "_tool": "flaky", "_retry": object{"max": 2}, "_outputPath": "†state.f"},
		{"_id": "n", "_tool": "double", "n": 21, "_outputPath": "†state.n"},
	}})
	if !strings.Contains(g.page("/runs/"+run), `href="/runs/`+run+`/events"`) {
		t.Error("the page of the run does not lead to its events")
	}
	page := g.page("/runs/" + run + "/events")
	for _, want := range []string{"callRetrying f attempt 1 busy: come again", "write n †state.n set 42", "runFinished ✓ completed"} {
		if !strings.Contains(wordsOf(page), want) {
			t.Errorf("no %s in %s", want, wordsOf(page))
		}
	}
	if !strings.Contains(page, `href="/runs/`+run+`?at=2"`) {
		t.Errorf("it does not lead to the run after an event: %s", page)
	}
	for after, status := range map[string]int{"9223372036854775807": 200, "-1": 400, "x": 400, "3": 200} {
		if got, _, text := g.send(g.admin, "GET", "/runs/"+run+"/events?after="+after, nil); got != status {
			t.Errorf("after=%s: %d %s", after, got, text)
		}
	}
	if page := wordsOf(g.page("/runs/" + run + "/events?after=3")); !strings.Contains(page, "Before") || strings.Contains(page, "runStarted") {
		t.Errorf("after event 3: %s", page)
	}
	g.want(404, "GET", "/runs/none/events", nil)
}

// A line of instances that is wrong is a finding with its place, and a run of it says what was wrong.
func TestWrongInstances(t *testing.T) {
	g := newRig(t, Options{})
	lines := "{\"what\": \"attic\"}\n{\"what\": \"cellar\"\n{\"what\": 5}\n"
	fields := url.Values{"plan": {`[{"_id": "d", "_tool": "put", "what": "†input.what"}]`}, "instances": {lines}, "do": {"check"}}
	_, _, page := g.form("/playground", fields)
	for _, want := range []string{"instances, line 2, column 18: found the end", `instances, line 3, column 1: the instance "3": the call "d" would fail: the params do not fit the tool "put"`} {
		if !strings.Contains(wordsOf(page), want) {
			t.Errorf("no %s in %s", want, wordsOf(page))
		}
	}
	for _, path := range []string{"/v1/check", "/v1/plan"} {
		_, _, text := g.send(g.admin, "POST", path, object{"plan": fields.Get("plan"), "instances": lines})
		if !strings.Contains(string(text), `"line":2`) || !strings.Contains(string(text), `"line":3`) || !strings.Contains(string(text), "would fail") {
			t.Errorf("%s: %s", path, text)
		}
	}
	fields.Set("do", "run")
	if status, _, page := g.form("/playground", fields); status != http.StatusOK || !strings.Contains(wordsOf(page), "It was not started: line 2 of the instances is wrong: found the end") {
		t.Errorf("%d %s", status, wordsOf(page))
	}
	run := g.runTo("runFinished", object{"plan": fields.Get("plan"), "instances": lines})
	page = wordsOf(g.page("/runs/" + run))
	for _, want := range []string{`1 put.*✓ completed`, `2 ✗ failed <instances>:2:18: found the end`, `3 ✗ failed "d" failed: params`} {
		if !regexp.MustCompile(want).MatchString(page) {
			t.Errorf("no %s in %s", want, page)
		}
	}
}

// The preview says which calls may ask a person for other reasons than their own approval.
func TestWhoElseIsAsked(t *testing.T) {
	policy := plc.Text(`{"flow": {"tools": {"put": {"leaves": false, "takes": {"what": {"trust": "user"}}}, "double": {"leaves": false, "gives": {"trust": "untrusted"}}, "wipe": {"leaves": false}}, "rules": ["count(put) <= 1"], "violation": "approve"}}`)
	g := newRig(t, Options{Spec: plc.Spec{Toolset: plc.Toolset{Files: []plc.Source{policy}}}})
	_, _, page := g.form("/playground", url.Values{"do": {"check"}, "plan": {`[{"_id": "d", "_tool": "double", "n": 1, "_outputPath": "†state.n"}, {"_id": "p", "_tool": "put", "what": "†{state.n}", "_onFailure": "ask"}, {"_id": "q", "_tool": "put", "what": "x"}]`}})
	for _, want := range []string{`p may ask a person, since a policy wants that for its param "what".`, `A person may be asked because of the rule "count(put) <= 1".`, "p asks a person if it fails.", "At most 3 tool calls would be made."} {
		if !strings.Contains(wordsOf(page), want) {
			t.Errorf("no %s in %s", want, wordsOf(page))
		}
	}
}

// A plan that waits as a whole is shown by its effects, and only until somebody approves it.
func TestLazyPlanInTheInbox(t *testing.T) {
	g := newRig(t, Options{Spec: plc.Spec{Lazy: true}})
	run := g.runTo("runPaused", object{"plan": []object{{"_id": "w", "_tool": "wipe", "what": "x", "_onFailure": "ask"}}})
	shown := func(page string) string { return regexp.MustCompile(`data-digest="(\w+)"`).FindString(page) }
	page := g.page("/inbox?run=" + run)
	if effect := regexp.MustCompile(`<p class="effect">(.*?)</p>`).FindStringSubmatch(page); effect == nil || !strings.Contains(effect[1], "(destructive)") || !strings.Contains(page, "w asks a person if it fails.") {
		t.Errorf("%v in %s", effect, wordsOf(page))
	}
	digest := g.want(200, "GET", "/v1/runs/"+run+"/approval", nil)["digest"].(string)
	g.server.runs.Close() // so that nobody goes on with it
	if status, _, page := g.form("/runs/"+run+"/decide", url.Values{"digest": {digest}, "decision": {"approve"}}); status != http.StatusSeeOther {
		t.Fatalf("status %d: %s", status, page)
	}
	page = g.page("/inbox")
	if !strings.Contains(page, "Nothing waits.") {
		t.Error(page)
	}
	if got, want := shown(page), shown(newRig(t, Options{}).page("/inbox")); got != want { // it would say that something has changed
		t.Errorf("a page on which nothing waits has %s, and one of a server without runs %s", got, want)
	}
}

// A group in which something goes on, or waits for a person, has not failed.
func TestStatusOfGroups(t *testing.T) {
	for _, c := range []struct {
		counts map[string]int
		want   string
	}{
		{map[string]int{"failed": 2, "awaiting": 1, "pending": 1}, "awaiting"}, {map[string]int{"failed": 2, "running": 1}, "running"},
		{map[string]int{"failed": 1, "completed": 3}, "failed"}, {map[string]int{"completed": 1, "skipped": 1}, "completed"},
	} {
		if got := worst(c.counts); got != c.want {
			t.Errorf("%v: %s, want %s", c.counts, got, c.want)
		}
	}
}

// Runs are told apart by the names of their plans: what a person calls them, and else the tools that
// they call. A name is that of no file.
func TestNamesOfPlans(t *testing.T) {
	g := newRig(t, Options{})
	plan := []object{{"_tool": "double", "n": 1}, {"_tool": "double", "n": 2}, {"_tool": "wipe", "what": "x"}}
	for _, c := range []struct {
		body object
		want string
	}{
		{object{"plan": plan}, "<double, wipe>"},
		{object{"plan": plan, "name": "nightly/plan.json"}, "<nightly/plan.json>"},
		{object{"plan": "Thought: none.\nPlan: #E1 = put[x]", "notation": "rewoo"}, "<put>"},
		{object{"plan": []object{{"_tool": "double", "n": 1}, {"_tool": "put", "what": "x"}, {"_tool": "slow"}, {"_tool": "lost"}, {"_tool": "wipe", "what": "x"}}}, "<double, put, slow, …>"},
	} {
		status, _, text := g.send(g.admin, "POST", "/v1/runs", c.body)
		var sum Summary
		if err := json.Unmarshal(text, &sum); err != nil || status != http.StatusCreated || sum.Plan != c.want {
			t.Errorf("%v: %d %s, want %s", c.body, status, text, c.want)
			continue
		}
		if page := wordsOf(g.page("/runs/" + sum.Run)); !strings.Contains(page, "Plan "+c.want) {
			t.Errorf("no %s in %s", c.want, page)
		}
	}
	page := wordsOf(g.page("/?plan=" + url.QueryEscape("nightly/plan.json")))
	if !strings.Contains(page, "<nightly/plan.json>") || strings.Contains(page, "<double, wipe>") {
		t.Errorf("the runs of a plan: %s", page)
	}
	g.until(g.want(201, "POST", "/v1/runs", object{"plan": plan, "name": "spring cleaning"})["run"].(string), "runPaused", 0)
	if page := wordsOf(g.page("/inbox")); !strings.Contains(page, "of the plan <spring cleaning>") {
		t.Errorf("the inbox does not name the plan: %s", page)
	}
	for _, name := range []string{"a\nb", "<text>", " x", strings.Repeat("x", 101), "a\u202eb"} {
		g.want(422, "POST", "/v1/check", object{"plan": plan, "name": name})
	}
}

// A plan delegates to the documents of its request, and to no other.
func TestDocumentsOfRequests(t *testing.T) {
	g := newRig(t, Options{})
	plan := []object{{"_id": "each", "_tool": "forEach", "items": []int{1, 2}, "_delegate": "item.json", "_outputPath": "†state.all"}}
	item := func(n int) object {
		return object{"item.json": object{"calls": []object{{"_tool": "double", "n": n, "_outputPath": "†state.n"}}, "output": "†state.n"}}
	}
	if out := fmt.Sprint(g.want(200, "POST", "/v1/check", object{"plan": plan})); !strings.Contains(out, "no document of this name was given with the plan") {
		t.Error(out)
	}
	run := g.runTo("runFinished", object{"plan": plan, "documents": item(4)})
	if page := wordsOf(g.page("/runs/" + run)); !strings.Contains(page, "[ 8, 8 ]") {
		t.Error(page)
	}
}

// A file of instances is taken with the form, in place of lines that were typed, and stays in it.
func TestPlaygroundTakesFiles(t *testing.T) {
	g := newRig(t, Options{})
	send := func(file string) (status int, page string) {
		var body bytes.Buffer
		form := multipart.NewWriter(&body)
		for name, value := range map[string]string{"plan": `[{"_tool": "put", "what": "†input.what"}]`, "instances": `{"what": "typed"}`, "do": "check"} {
			form.WriteField(name, value)
		}
		part, _ := form.CreateFormFile("file", "rooms.jsonl")
		part.Write([]byte(file))
		form.Close()
		req := httptest.NewRequest("POST", "/playground", &body)
		req.Host = g.http.Listener.Addr().String()
		req.Header.Set("Content-Type", form.FormDataContentType())
		req.Header.Set("Authorization", "Bearer "+g.admin)
		w := httptest.NewRecorder()
		g.server.ServeHTTP(w, req)
		return w.Code, wordsOf(w.Body.String())
	}
	for _, c := range []struct{ file, want string }{
		{"\ufeff{\"what\": \"attic\"}\r\n{\"what\": \"cellar\"}\r\n", `{"what": "attic"} {"what": "cellar"}`},
		{"", `{"what": "typed"}`},
		{"{\"what\": \"attic\"}\n{\n", "instances, line 2, column 2"},
		{"\xff", "the file of instances is not UTF-8"},
	} {
		if status, page := send(c.file); status != http.StatusOK || !strings.Contains(page, c.want) {
			t.Errorf("%q: status %d, no %s in %s", c.file, status, c.want, page)
		}
	}
	if status, page := send(strings.Repeat("{}\n", maxBody/3)); status != http.StatusRequestEntityTooLarge || !strings.Contains(page, "more than 16 MiB, which is the most that is taken here; POST /v1/uploads takes larger files") {
		t.Errorf("status %d: %s", status, page)
	}
}

// Who answers several questions and marked none is told that, and not a count of nothing.
func TestNothingIsMarked(t *testing.T) {
	g := newRig(t, Options{})
	status, _, page := g.form("/inbox", url.Values{"decision": {"approve"}})
	if page = wordsOf(page); status != http.StatusOK || strings.Contains(page, "0 of 0") || !strings.Contains(page, "No question was marked, so none was answered.") {
		t.Errorf("%d %s", status, page)
	}
}

// A name that a list can't show is refused once, with what is wrong with it.
func TestRefusedNames(t *testing.T) {
	g := newRig(t, Options{})
	for name, want := range map[string]string{
		"<text>":                 `the name "<text>" contains < or >, which mark the names of plans that have no file; leave them out`,
		"a\u202eb":               `the name "a\u202eb" has characters that can't be seen, or that change how others are shown; leave them out`,
		strings.Repeat("x", 101): "the name has 101 characters, and the maximum is 100",
	} {
		_, _, page := g.form("/playground", url.Values{"plan": {`[{"_tool": "double", "n": 1}]`}, "name": {name}, "do": {"run"}})
		if n := strings.Count(wordsOf(page), want); n != 1 {
			t.Errorf("%q: %d times %s in %s", name, n, want, wordsOf(page))
		}
	}
	if _, _, text := g.send(g.admin, "POST", "/v1/check", object{"plan": "[]", "name": " x"}); !strings.Contains(string(text), "begins or ends with a space") {
		t.Errorf("%s", text)
	}
}

// The heading of a page that refuses something is in words for people, not those of HTTP.
func TestHeadingsOfProblems(t *testing.T) {
	g := newRig(t, Options{})
	run := g.runTo("runFinished", object{"plan": []object{{"_tool": "double", "n": 1}}})
	for path, want := range map[string]string{"/runs/none": "There is nothing here", "/runs/" + run + "?at=x": "This was not understood"} {
		_, _, page := g.send(g.admin, "GET", path, nil)
		if h1 := wordsOf(regexp.MustCompile(`<h1>.*?</h1>`).FindString(string(page))); h1 != want {
			t.Errorf("%s: %s", path, h1)
		}
	}
	for path, want := range map[string]string{"/runs/" + run + "/decide": "This can't be done now", "/runs/" + run + "/fork": "This was not done"} {
		if _, _, page := g.form(path, url.Values{"at": {"none"}, "call": {"double"}, "digest": {"x"}, "decision": {"approve"}}); !strings.Contains(page, "<h1>"+strings.ReplaceAll(want, "'", "&#39;")+"</h1>") {
			t.Errorf("%s: %s", path, wordsOf(page))
		}
	}
}

// The page of a run leads to the playground, with all that the run was given and a form can have.
func TestFromRunToPlayground(t *testing.T) {
	g := newRig(t, Options{})
	run := g.runTo("runFinished", object{
		"name": "nightly", "plan": "Plan: x #E1 = put[a]", "notation": "rewoo", "input": object{"n": 5}, "labels": object{"team": "blue"},
	})
	if page := g.page("/runs/" + run); !strings.Contains(page, `<a href="/playground?run=`+run+`">`) {
		t.Errorf("no link in %s", page)
	}
	form := html.UnescapeString(g.page("/playground?run=" + run))
	for _, want := range []string{`name="name" value="nightly"`, "Plan: x #E1 = put[a]</textarea>", `<option value="rewoo" selected`, `"n": 5`, "team=blue</textarea>"} {
		if !strings.Contains(form, want) {
			t.Errorf("no %s in %s", want, form)
		}
	}
	many := g.runTo("runFinished", object{
		"plan":      []object{{"_tool": "forEach", "items": []string{"†input.what"}, "_delegate": "once"}},
		"instances": `{"what": "a"}`, "documents": object{"once": []object{{"_tool": "double", "n": 7}}},
	})
	form = html.UnescapeString(g.page("/playground?run=" + many))
	for _, want := range []string{`{"what": "a"}</textarea>`, `"once": [`, `"n": 7`} {
		if !strings.Contains(form, want) {
			t.Errorf("no %s in %s", want, form)
		}
	}
	g.want(404, "GET", "/playground?run=none", nil)
}

// Statuses, notations and the way in are told in words, and times in one form.
func TestWordsOfPages(t *testing.T) {
	g := newRig(t, Options{})
	if page := g.page("/"); !strings.Contains(page, `<option value="undoneInPart">undone in part</option>`) || strings.Contains(page, ">undoneInPart") {
		t.Error(page)
	}
	if page := wordsOf(g.page("/playground")); !strings.Contains(page, "rewoo: a ReWOO plan") || !strings.Contains(page, "llm: a model's raw answer, with a plan in it") {
		t.Error(page)
	}
	_, _, login := g.send("", "GET", "/login", nil)
	for _, want := range []string{"If you have no token, ask whoever runs the server.", "plc token create NAME", "plc serve prints a link"} {
		if !strings.Contains(wordsOf(string(login)), want) {
			t.Errorf("no %s in %s", want, wordsOf(string(login)))
		}
	}
	run := g.runTo("runFinished", object{"plan": []object{{"_tool": "double", "n": 1}}})
	for _, path := range []string{"/", "/inbox", "/runs/" + run, "/runs/" + run + "/call?call=double", "/runs/" + run + "/events"} { // it shows times as those of the reader
		if page := g.page(path); !regexp.MustCompile(`<script type="module" src="/static/(page|run|runs|inbox).js">`).MatchString(page) {
			t.Errorf("%s has no script for times", path)
		}
	}
}
