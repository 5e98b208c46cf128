package server

import (
	"cmp"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/plc-lang/plc/cmd/plc/internal/server/html"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/journal"
)

// How much of a run one page shows; the rest is on other pages.
const (
	rowsShown   = 100  // calls and groups
	rowsWithin  = 20   // of a group that is shown with the others
	bytesInRow  = 600  // of a result
	bytesOfCut  = 200  // of a value that is too long for its place
	bytesShown  = 64e3 // of a value
	writesShown = 200  // of the whiteboard
)

// signs has a sign for each status, so that they can be distinguished without colours.
var signs = map[string]html.Name{
	"pending": "○", "running": "►", "awaiting": "?", "paused": "?", "uncertain": "?", "completed": "✓", "failed": "✗", "rejected": "✗", "interrupted": "✗",
	"skipped": "–", "blocked": "–", "cancelled": "–", "retrying": "↻", "undoing": "↶", "undone": "↶", "undoneInPart": "↶",
}

// statusWords holds the texts for statuses that are not plain words.
var statusWords = map[string]string{string(exec.UndoneInPart): "undone in part"}

// status shows a status with a sign, a word and a colour.
func status(word string) html.Item {
	sign := signs[word]
	if sign == "" {
		sign = "○"
	}
	return el("span", class("status ", word), text(sign, " ", cmp.Or(statusWords[word], word)))
}

// pageStatus maps the statuses that only lists of runs use to those on the pages of runs.
var pageStatus = map[string]string{string(journal.Delegating): string(exec.Running), string(exec.Ready): "retrying"}

// counted shows the number of calls of each status.
func counted(of map[string]int) html.Item {
	counts := map[string]int{}
	for word, n := range of {
		counts[cmp.Or(pageStatus[word], word)] += n
	}
	var all []html.Item
	for _, s := range append(slices.Clone(severity), "") {
		for _, word := range slices.Sorted(maps.Keys(counts)) {
			if word == s || s == "" && !slices.Contains(severity, word) {
				all = append(all, el("span", text(counts[word], " ")), status(word), text(" "))
			}
		}
	}
	return html.Join(all...)
}

// counted shows the number of calls of the group for each status.
func (g *group) counted() html.Item {
	return html.Join(counted(g.counts), when(len(g.rest) > 0, text("not begun: "), counted(g.rest)))
}

// A place is the part of a run that a page shows: the state after an event, and a group of calls.
type place struct {
	run, in, under string
	at             int64 // 0 is the last event
	page           int
	flat           bool // the graph does not show the inside of delegates
	whole          bool // values are not cut
}

// most returns the maximum size, in bytes, of a value that the page shows without cutting it.
func (p place) most() int {
	if p.whole {
		return math.MaxInt
	}
	return bytesShown
}

// url returns the address of the place.
func (p place) url(more ...string) html.URL {
	u := path(append([]string{"runs", p.run}, more...)...)
	if p.at > 0 {
		u = u.With("at", strconv.FormatInt(p.at, 10))
	}
	if p.in != "" {
		u = u.With("in", p.in)
	}
	if p.under != "" && len(more) == 0 {
		u = u.With("under", p.under)
	}
	if p.flat {
		u = u.With("flat", "yes")
	}
	if p.page > 0 && len(more) == 0 {
		u = u.With("page", strconv.Itoa(p.page))
	}
	return u
}

// within returns the place of a group.
func (p place) within(g *group) place {
	p.in, p.under, p.page = "", g.path, 0
	if g.instance != "" {
		p.in = g.instance
	}
	return p
}

// callURL returns the address of the page of a call.
func (p place) callURL(instance, call string) html.URL {
	u := path("runs", p.run, "call").With("call", call)
	if instance != "" {
		u = u.With("instance", instance)
	}
	if p.at > 0 {
		u = u.With("at", strconv.FormatInt(p.at, 10))
	}
	return u
}

// runShown holds the content of the page of a run.
type runShown struct {
	view
	place
	*runRecord
	summary   Summary
	scope     *group
	board     map[string]json.RawMessage
	output    json.RawMessage // of a run, or of an instance, that has ended; nil if there is none
	plan      string
	questions []asked
	plans     []waiting
	own       bool // it was started here
	may       struct{ run, approve bool }
	large     bool // too large to be drawn
	nested    bool // some calls delegate
}

func (v *runShown) whole() []byte {
	r := &v.summary
	return v.view.whole(
		el("p", attr("id", "lost"), attr("role", "status"), set("hidden"), text("The connection to the server is lost; what is shown may be old.")),
		el("main", exactly("data-run", r.Run), attr("data-seq", r.Events), attr("data-at", v.runRecord.at), exactly("data-in", v.in),
			el("h1", text("Run "), el("code", text(r.Run))),
			v.head(),
			v.actions(),
			el("p", attr("id", "more"), attr("role", "status"), set("hidden"), html.A(place{run: v.run}.url(), text("Something has changed: show the run as it is now"))),
			el("section", attr("id", "questions"), v.waits()),
			v.slider(),
			el("section", attr("id", "graphs"), words("h2", "Graph"), v.graph()),
			el("section", attr("id", "calls"), v.table()),
			el("section", attr("id", "board"), words("h2", "Whiteboard"), v.whiteboard()),
			words("h2", "Plan"), el("p", a(path("playground").With("run", v.run), text("Open it in the playground"))), long(html.Lines(v.plan))),
		html.Module(path("static", "run.js")))
}

// head returns the top of the page, which describes the run.
func (v *runShown) head() html.Item {
	r := &v.summary
	elapsed := ""
	if !v.began.IsZero() && (r.Finished != "" || v.place.at > 0) { // otherwise it would be out of date when it is read
		elapsed = ", took " + duration(v.last.Sub(v.began)) + " including waits"
	}
	return el("section", attr("id", "head"), exactly("data-status", v.status), when(r.Finished != "", attr("data-ended", "yes")),
		exactly("data-states", v.drawn()),
		el("p", status(v.status), when(v.place.at == 0, text(" ", r.Reason))),
		el("p", v.scope.counted()),
		el("p", text("Plan "), a(path().With("plan", r.Plan), text(r.Plan)), text(". Started "), when(r.By != "", text("by ", r.By, " ")), moment(r.Created), text(elapsed), text(", "), a(path("runs", r.Run, "events"), text(r.Events, " events")),
			when(r.Parent != "", text(". A fork of "), a(path("runs", r.Parent), text(r.Parent)))),
		labels(r.Labels),
		when(v.output != nil, html.Join(words("h2", "Output"), value(v.output, v.most(), v.place.url().With("whole", "yes")))),
		when(v.broken != "", el("p", class("error"), text("The plan can't be shown here: ", v.broken))))
}

// actions returns the buttons for the run. They are a separate part, so that the rest of the page
// can be replaced while one of them has the focus.
func (v *runShown) actions() html.Item {
	r := &v.summary
	return el("section", attr("id", "actions"), when(v.may.run && v.place.at == 0, el("div", class("actions"),
		when(r.Finished == "", post(path("runs", r.Run, "cancel"), "Cancel the run")),
		when(v.own && r.Finished != "" && r.Status != string(exec.Completed), post(path("runs", r.Run, "resume"), "Go on with the run")))))
}

// post returns a button that sends a request.
func post(to html.URL, label html.Name) html.Item {
	return el("form", attr("method", "post"), html.Action(to), words("button", label))
}

// moment shows a time, which a script converts to the local time.
func moment(stamp string) html.Item {
	if stamp == "" {
		return html.Item{}
	}
	shown := stamp
	if t, err := time.Parse(time.RFC3339Nano, stamp); err == nil {
		shown = t.UTC().Format("2006-01-02 15:04:05 UTC")
	}
	return el("time", attr("datetime", stamp), text(shown))
}

// drawn returns the statuses of the nodes of the graph, for the script.
func (v *runShown) drawn() string {
	states := map[string]string{}
	for call, status := range v.states(v.in) {
		states[nodeOf(call)] = status
	}
	b, _ := json.Marshal(states) // a map of strings
	return string(b)
}

// waits shows the questions that wait for a person.
func (v *runShown) waits() html.Item {
	if len(v.questions)+len(v.plans) == 0 {
		return html.Item{}
	}
	return html.Join(words("h2", "It waits for a person"),
		html.Each(v.questions, func(q asked) html.Item { return q.article(v.may.approve, false) }),
		html.Each(v.plans, func(p waiting) html.Item { return p.article(v.may.approve) }),
		when(v.summary.Questions > len(v.questions), el("p", a(path("inbox").With("run", v.run), text("All ", v.summary.Questions, " questions")))))
}

// slider shows which event the page is about, and goes to another one.
func (v *runShown) slider() html.Item {
	fields := html.Join(when(v.in != "", hidden("in", v.in)), when(v.under != "", hidden("under", v.under)), when(v.flat, hidden("flat", "yes")))
	now := v.place
	now.at = 0
	return el("form", attr("method", "get"), attr("id", "slider"), html.Action(path("runs", v.run)), fields,
		el("label", text("After event "), el("span", attr("id", "event"), text(v.runRecord.at)), text(" of "), el("span", attr("id", "events"), text(v.summary.Events)), text(" "),
			el("input", attr("type", "range"), attr("name", "at"), attr("min", "1"), attr("max", max(v.summary.Events, 1)), attr("value", v.runRecord.at))),
		text(" "), words("button", "Show the run as it was then"), text(" "), el("span", attr("id", "now"), when(v.place.at == 0, set("hidden")), a(now.url(), text("Show the run as it is now"))))
}

func (v *runShown) graph() html.Item {
	if v.runRecord.plan == nil {
		return html.Item{}
	}
	if v.large {
		return words("p", "The graph is too large to be drawn; the table of calls says the same.")
	}
	other := v.place
	other.flat = !v.flat
	return html.Join(
		when(v.nested, el("p", a(other.url(), text(map[bool]html.Name{false: "Collapse what is inside of delegates", true: "Show what is inside of delegates"}[v.flat])))),
		el("div", class("wide"), attr("id", "drawing"), attr("tabindex", "0"), attr("role", "group"), attr("aria-label", "Graph of the plan; the table of calls says the same"),
			el("img", attr("id", "graph"), html.Src(v.place.url("graph")), attr("alt", "Graph of the plan; the table of calls says the same"))))
}

// table shows the calls and groups of the place.
func (v *runShown) table() html.Item {
	kids := v.scope.kids
	pages := (len(kids) + rowsShown - 1) / rowsShown
	first := v.page * rowsShown
	shown := kids[first:min(first+rowsShown, len(kids))]
	rows := html.Each(shown, func(g *group) html.Item { return v.row(g, true) })
	if len(shown) == 0 {
		rows = callColumns.note(text("No call has begun."))
	}
	up := v.place
	up.in, up.under, up.page = "", "", 0
	turn := func(page int, label html.Name) html.Item {
		p := v.place
		p.page = page
		return a(p.url(), text(label))
	}
	return html.Join(words("h2", "Calls"),
		when(v.in != "" || v.under != "", el("p", a(up.url(), text("All calls")), when(v.in != "", text(" › instance ", v.in)), when(v.under != "", text(" › ", exec.CallID(v.under))), text(": "), v.scope.counted())),
		when(pages > 1, el("p", text(first+1, " to ", first+len(shown), " of ", len(kids), " "),
			when(v.page > 0, turn(v.page-1, "Before")), text(" "), when(v.page < pages-1, turn(v.page+1, "Next")))),
		callColumns.table(rows))
}

var callColumns = columns{"Call", "Tool", "Status", "Time", "Attempts", "Result or error", "Writes"}

// row shows a group as a row of a table, and its contents as another row.
func (v *runShown) row(g *group, top bool) html.Item {
	c := g.call
	if c == nil {
		c = &Call{Tool: g.tool}
	}
	name := text(g.shown())
	if g.isCall() {
		name = a(v.callURL(g.instance, g.path), text(g.shown()), when(g.instance != "" && v.in == "", text(" of ", g.instance)))
	}
	node := nodeOf(g.path) // the node in the graph
	row := callColumns.row(html.Join(exactly("data-call", g.path), exactly("data-instance", g.instance), when(node != g.path, exactly("data-node", node))),
		name, text(g.tool), status(g.status()), html.Join(class("when"), v.bar(g), when(g.call != nil, el("small", text(v.spent(c))))), when(c.Attempts > 0, text(c.Attempts)),
		html.Join(failure(c.Error), when(!isNull(c.Result), value(c.Result, bytesInRow, v.callURL(g.instance, g.path))), when(c.Reason != "", el("p", text(c.Reason))), when(g.end.reason != "", el("p", text(g.end.reason))), when(g.never != "", el("p", text(whyNever[g.never])))),
		html.Each(c.Writes[:min(len(c.Writes), 5)], func(w Write) html.Item { return el("p", text(w.Path, " (", w.Method, ")")) }))
	if len(g.kids) == 0 {
		return row
	}
	what := el("summary", text(g.shown(), ": ", g.size(), " ", plural("call", g.size()), ", "), g.counted())
	if g.size() > rowsWithin {
		return html.Join(row, callColumns.note(a(v.within(g).url(), text(g.shown(), ": show its ", g.size(), " calls")), text(" "), g.counted()))
	}
	return html.Join(row, callColumns.note(el("details", exactly("data-key", g.instance+"/"+g.path), when(!top, set("open")), what,
		callColumns.table(html.Each(g.kids, func(k *group) html.Item { return v.row(k, false) })))))
}

// plural returns a noun in the form that follows a number.
func plural(noun string, n int) string {
	if n == 1 {
		return noun
	}
	return noun + "s"
}

// value shows JSON. It cuts a value of more than most bytes, and says so in a notice, with a link
// to the whole value unless that URL is zero.
func value(v json.RawMessage, most int, whole html.URL) html.Item {
	switch {
	case len(v) > most:
		first := strings.ToValidUTF8(string(v[:bytesOfCut]), "")
		return el("div", class("cut"), el("p", class("warning"), text("Cut: the first ", len(first), " of ", len(v), " bytes. "), when(whole != html.URL{}, a(whole, text("Show all")))),
			el("pre", html.Lines(first)))
	case len(v) > 3*bytesInRow:
		return long(html.JSON(v))
	}
	return el("pre", html.JSON(v))
}

// long shows a long text in a box that scrolls.
func long(content html.Item) html.Item {
	return el("pre", class("tall"), attr("tabindex", "0"), content)
}

// spanClasses are the classes of spans in bars.
var spanClasses = map[spanKind]html.Name{
	forCalls: "for-calls", forSlot: "for-slot", forPerson: "for-person", forRetry: "for-retry", forWrite: "for-write", whilePaused: "paused",
	attempt: "attempt", failedAttempt: "attempt-failed",
}

// barWidth is the width of a bar in units of its drawing.
const barWidth = 1000

// bar draws how the time of a group was spent, on the time axis of the run.
func (v *runShown) bar(g *group) html.Item {
	whole := v.last.Sub(v.began)
	if whole <= 0 || g.from.IsZero() {
		return html.Item{}
	}
	var spans []span
	if g.call != nil {
		spans = slices.Concat(v.before(g.call), g.call.spans)
	} else {
		spans = []span{{kind: attempt, from: g.from, to: g.to}}
	}
	x := func(t time.Time) int {
		if t.IsZero() {
			t = v.last
		}
		return int(min(max(float64(t.Sub(v.began))/float64(whole), 0), 1) * barWidth)
	}
	return el("svg", class("bar"), attr("viewBox", "0 0 1000 10"), attr("preserveAspectRatio", "none"), attr("aria-hidden", "true"),
		html.Each(spans, func(s span) html.Item {
			from, to := x(s.from), x(s.to)
			if to-from < 3 {
				if s.kind != attempt && s.kind != failedAttempt {
					return html.Item{}
				}
				from = min(from, barWidth-3)
				to = from + 3
			}
			y, height := "0", "10"
			if s.kind != attempt && s.kind != failedAttempt {
				y, height = "4", "2"
			}
			return el("rect", class(spanClasses[s.kind]), attr("x", from), attr("width", to-from), attr("y", y), attr("height", height))
		}))
}

// whiteboard shows the values on the whiteboard, and which call wrote them.
func (v *runShown) whiteboard() html.Item {
	var shown []written
	for _, w := range v.writes {
		if (v.in == "" || w.call.Instance == v.in) && !isInner(w.call.Call) {
			shown = append(shown, w)
		}
	}
	more := max(len(shown)-writesShown, 0)
	cols := columns{"Event", "Path", "How", "Call", "Value"}
	rows := html.Each(shown[more:], func(w written) html.Item {
		of := v.callURL(w.call.Instance, w.call.Call)
		return cols.row(html.Item{}, text(w.Seq), el("code", text(w.Path)), text(w.Method), a(of, named(w.call.Call, w.call.Instance)), value(w.Value, bytesInRow, of))
	})
	return html.Join(
		when(len(shown) == 0, words("p", "No call has written anything.")),
		when(len(shown) > 0, words("h3", "Who wrote what"), when(more > 0, el("p", text("The last ", writesShown, " of ", len(shown), " writes."))),
			cols.table(rows)),
		when(v.in == "", html.Each(slices.Sorted(maps.Keys(v.board)), func(kind string) html.Item {
			if string(v.board[kind]) == "{}" {
				return html.Item{}
			}
			return html.Join(el("h3", text(kind)), value(v.board[kind], v.most(), v.place.url().With("whole", "yes")))
		})))
}

// callShown holds the content of the page of a call.
type callShown struct {
	view
	place
	*runRecord
	call           *Call
	instance, path string
	tool           string
	waitsFor, next []string
	params         json.RawMessage // nil if unknown
	question       *asked
	set            string // values at the start of the run
	own            bool
	may            struct{ run, approve bool }
	problem        string
}

func (v *callShown) whole() []byte {
	c := v.call
	if c == nil {
		c = &Call{Tool: v.tool, Status: v.fate(v.instance, v.path)}
		c.Reason = string(whyNever[c.Status])
	}
	part := func(title html.Name, known bool, missing html.Name, item html.Item) html.Item {
		if !known {
			item = el("p", text(missing))
		}
		return el("section", words("h2", title), item)
	}
	shown := func(j json.RawMessage) html.Item {
		return value(j, v.most(), v.callURL(v.instance, v.path).With("whole", "yes"))
	}
	link := func(id string) html.Item {
		prefix := v.path[:strings.LastIndexByte(v.path, '/')+1]
		return html.Join(a(v.callURL(v.instance, prefix+id), named(id, "")), text(" "))
	}
	return v.view.whole(el("main",
		el("h1", text("Call "), el("code", named(v.path, v.instance))),
		el("p", status(c.Status), when(c.Reason != "", text(" ", c.Reason)), when(c.answer != "", text(", ", c.answer, " ", by(c.By)))),
		el("p", text("Tool "), el("code", text(c.Tool)), text(", run "), a(v.place.url(), text(v.run)), when(v.place.at > 0, text(", after event ", v.runRecord.at))),
		when(v.call != nil, el("p", text(v.spent(c)))),
		when(len(v.waitsFor) > 0, el("p", text("Waits for "), html.Each(v.waitsFor, link))),
		when(len(v.next) > 0, el("p", text("Awaited by "), html.Each(v.next, link))),
		when(v.problem != "", el("p", class("error"), attr("role", "alert"), text(v.problem))),
		v.ask(),
		el("div", class("beside"),
			part("Params", v.params != nil, "Not known yet: they are made when the call begins.", shown(v.params)),
			when(c.asked != nil, el("section", words("h2", "Params before a person changed them"), shown(c.asked))),
			part("Result", !isNull(c.Result), "None.", shown(c.Result)),
			part("Error", c.Error != nil, "None.", failure(c.Error)),
			part("Writes", len(c.Writes) > 0, "None.", html.Each(c.Writes, func(w Write) html.Item {
				return html.Join(el("p", el("code", text(w.Path)), text(" (", w.Method, ", event ", w.Seq, ")")), shown(w.Value))
			}))),
		when(v.may.run && v.own, v.fork())),
		html.Module(path("static", "inbox.js")))
}

func (v *callShown) ask() html.Item {
	if v.question == nil {
		return html.Item{}
	}
	return el("section", attr("id", "questions"), v.question.article(v.may.approve, false))
}

// fork starts the run again from the call, with other values.
func (v *callShown) fork() html.Item {
	return el("form", attr("method", "post"), html.Action(path("runs", v.run, "fork")), class("fork"), words("h2", "Run again from here"),
		words("p", "Another run takes over what the calls before gave, and makes this call and all that depend on it again."),
		hidden("at", v.path), hidden("instance", v.instance), hidden("was", v.set),
		el("label", text("Values at the start, one a line, as in input.name=\"Ada\" "), el("textarea", attr("name", "set"), attr("rows", "4"), attr("spellcheck", "false"), html.Lines(v.set))),
		words("button", "Run again from here"))
}
