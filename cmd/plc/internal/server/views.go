package server

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"github.com/plc-lang/plc/cmd/plc/internal/server/html"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/exec/forecast"
)

// Short names of what pages are made of.
var (
	el, text, attr, exactly, set = html.El, html.Text, html.Attr, html.Exactly, html.Set
	a, path, when                = html.A, html.Path, html.If
)

func class(words ...any) html.Item { return attr("class", words...) }

// words returns an element with a text of the program's own.
func words(name, s html.Name) html.Item { return el(name, text(s)) }

// table returns a table with a heading for each column.
func table(columns []html.Name, rows html.Item) html.Item {
	head := html.Each(columns, func(c html.Name) html.Item { return words("th", c) })
	return el("div", class("wide"), el("table", el("thead", el("tr", head)), el("tbody", rows)))
}

// button returns one that sends its form with a value.
func button(name, value, label html.Name) html.Item {
	return el("button", attr("name", name), attr("value", value), text(label))
}

// whole returns a page around its content.
func (v view) whole(content ...html.Item) []byte {
	return html.Page(html.Join(
		el("meta", attr("name", "viewport"), attr("content", "width=device-width, initial-scale=1")),
		el("title", text(v.Title, " – plc")), html.NoIcon(), el("link", attr("rel", "stylesheet"), html.Href(path("static", "style.css"))),
	), html.Join(
		el("nav", attr("aria-label", "Pages"), words("strong", "plc"),
			text(" "), a(path(), text("Runs")), text(" "), a(path("inbox"), text("Inbox")), text(" "), a(path("playground"), text("Playground")),
			when(v.Who != "", el("form", attr("method", "post"), html.Action(path("logout")), el("span", text(v.Who)), text(" "), words("button", "Log out")))),
		html.Join(content...),
	))
}

// loggedIn leads on after a login at an issuer.
func (v view) loggedIn() []byte {
	return v.whole(el("main", words("h1", "Logged in"), el("p", a(path(), text("Go on")))))
}

func (v view) login(issuer bool) []byte {
	return v.whole(el("main", words("h1", "Log in"),
		when(issuer, el("p", a(path("login", "oidc"), text("Log in at the issuer")))),
		el("form", attr("method", "post"), html.Action(path("login")),
			el("p", el("label", text("Token "), el("input", attr("type", "password"), attr("name", "token"), attr("autocomplete", "off"), set("autofocus"), set("required")))),
			words("button", "Log in")),
		words("p", "plc token create makes one; plc serve prints a link that can be used once.")))
}

func (v view) problem(p *Problem) []byte {
	return v.whole(el("main", el("h1", text(p.Title)), el("p", class("error"), attr("role", "alert"), text(p.Detail)),
		html.Each(p.Findings, func(f json.RawMessage) html.Item { return el("pre", html.JSON(f)) })))
}

func (v view) runs(runs []Summary, status, next string) []byte {
	rows := html.Each(runs, func(r Summary) html.Item {
		return el("tr", el("td", a(path("runs", r.Run), text(r.Run))), el("td", class(r.Status), text(r.Status)), el("td", text(r.By)),
			el("td", text(r.Created)), el("td", text(r.Questions)), el("td", text(r.Reason)))
	})
	if len(runs) == 0 {
		rows = el("tr", el("td", attr("colspan", "6"), text("There are no runs. The playground starts one.")))
	}
	return v.whole(el("main", words("h1", "Runs"),
		el("form", attr("method", "get"), html.Action(path()),
			el("label", text("Status "), el("input", attr("name", "status"), attr("value", status), attr("size", "12"))), text(" "), words("button", "Filter")),
		table([]html.Name{"Run", "Status", "Started by", "Created", "Questions", "Reason"}, rows),
		when(next != "", el("p", a(path().With("from", next).With("status", status), text("Older runs"))))))
}

func (v view) run(r *Summary, at int64, calls []*Call, board map[string]json.RawMessage, plan string) []byte {
	rows := html.Each(calls, func(c *Call) html.Item { return c.row() })
	if len(calls) == 0 {
		rows = el("tr", el("td", attr("colspan", "7"), text("No call has begun.")))
	}
	self, graph := path("runs", r.Run), path("v1", "runs", r.Run, "graph")
	if at < r.Events {
		graph = graph.With("at", strconv.FormatInt(at, 10))
	}
	return v.whole(
		el("p", attr("id", "lost"), attr("role", "status"), set("hidden"), text("The connection to the server is lost; what is shown may be old.")),
		el("main", exactly("data-run", r.Run), attr("data-seq", r.Events), when(r.Finished != "" || at < r.Events, attr("data-ended", "yes")),
			el("h1", text("Run ", r.Run)),
			el("p", el("strong", class(r.Status), text(r.Status)), text(" ", r.Reason),
				when(r.Parent != "", text(" Fork of "), a(path("runs", r.Parent), text(r.Parent)), text("."))),
			el("p", attr("id", "more"), attr("role", "status"), set("hidden"), a(self, text("Something has changed: show the run as it is now"))),
			when(r.Questions > 0 || r.WaitsPlan, el("p", a(path("inbox").With("run", r.Run), text("It waits for a person")))),
			when(r.Finished == "", el("form", attr("method", "post"), html.Action(path("runs", r.Run, "cancel")), words("button", "Cancel the run"))),
			when(r.Events > 0, el("form", attr("method", "get"), html.Action(self),
				el("label", text("After event ", at, " of ", r.Events, " "), el("input", attr("type", "range"), attr("name", "at"), attr("min", "1"), attr("max", r.Events), attr("value", at))),
				text(" "), words("button", "Show the run as it was then"), text(" "), when(at < r.Events, a(self, text("Now"))))),
			words("h2", "Graph"),
			el("div", class("wide"), el("img", attr("id", "graph"), html.Src(graph), attr("alt", "The graph of the plan; the table of calls says the same"))),
			words("h2", "Calls"), table([]html.Name{"Call", "Tool", "Status", "Attempts", "Params", "Result", "Writes"}, rows),
			words("h2", "Whiteboard"), html.Each(slices.Sorted(maps.Keys(board)), func(kind string) html.Item {
				return html.Join(el("h3", text(kind)), el("pre", html.JSON(board[kind])))
			}),
			words("h2", "Plan"), el("pre", html.Lines(plan))),
		html.Module(path("static", "run.js")))
}

// row shows a call as a row of a table.
func (c *Call) row() html.Item {
	params := text("those of the plan")
	if !isNull(c.Params) {
		params = el("pre", html.JSON(c.Params))
	}
	return el("tr", exactly("data-call", c.Call), exactly("data-instance", c.Instance),
		el("td", named(c.Call, c.Instance)), el("td", text(c.Tool)), el("td", class("status ", c.Status), text(c.Status)), el("td", text(c.Attempts)),
		el("td", params),
		el("td", failure(c.Error), when(!isNull(c.Result), el("pre", html.JSON(c.Result))), when(c.Reason != "", el("p", text(c.Reason)))),
		el("td", html.Each(c.Writes, func(w Write) html.Item { return el("p", text(w.Seq, ": ", w.Method, " ", w.Path)) })))
}

// named names a call, with its instance if it has one.
func named(call, instance string) html.Item {
	return html.Join(text(call), when(instance != "", text(" of ", instance)))
}

func failure(f *exec.Failure) html.Item {
	if f == nil {
		return html.Item{}
	}
	return el("p", class("error"), text(f.Code, ": ", f.Message))
}

func isNull(v json.RawMessage) bool { return len(v) == 0 || string(v) == "null" }

func (v view) inbox(questions []asked, plans []waiting, may bool) []byte {
	return v.whole(el("main", words("h1", "Inbox"), words("p", "What waits for a person: first what may destroy, then what may change something, and of these the oldest."),
		html.Each(questions, func(q asked) html.Item { return q.article(may) }),
		html.Each(plans, func(p waiting) html.Item { return p.article(may) }),
		when(len(questions)+len(plans) == 0, words("p", "Nothing waits."))))
}

// article shows a question as what would happen, and takes an answer from who may give one.
func (q *asked) article(may bool) html.Item {
	return el("article", el("h2", text(q.Tool, ", call "), named(q.Call, q.Instance)),
		el("pre", html.Lines(q.Text)),
		el("p", text("Run "), a(path("runs", q.Run), text(q.Run)), text(", asked ", q.Asked, ", digest "), el("code", text(q.Digest))),
		when(may && !q.Unknown, el("form", attr("method", "post"), html.Action(path("runs", q.Run, "decide")),
			hidden("call", q.Call), hidden("instance", q.Instance), hidden("digest", q.Digest), reason(),
			el("details", words("summary", "Other params, or a result"), el("label", text("JSON "), el("textarea", attr("name", "value"), attr("rows", "4"))),
				button("decision", "edit", "Approve with these params"), text(" "), button("decision", "answer", "Give this result")),
			button("decision", "approve", "Approve"), text(" "), button("decision", "refuse", "Refuse"), text(" "), button("decision", "skip", "Skip the call"))))
}

// article shows what a plan would do that waits for approval as a whole.
func (p *waiting) article(may bool) html.Item {
	return el("article", el("h2", text("The plan of run "), a(path("runs", p.Run), text(p.Run))),
		el("pre", html.Lines(p.Text)),
		when(p.More > 0, el("p", text(p.More, " calls are not shown; an approval does not cover them, and each that needs a person asks."))),
		when(p.Digest != "", el("p", text("Digest "), el("code", text(p.Digest)))),
		when(may && p.Digest != "", el("form", attr("method", "post"), html.Action(path("runs", p.Run, "decide")), hidden("digest", p.Digest), reason(),
			button("decision", "approve", "Approve the plan"), text(" "), button("decision", "refuse", "Refuse"))))
}

// hidden returns an input that nobody sees.
func hidden(name html.Name, value string) html.Item {
	return el("input", attr("type", "hidden"), attr("name", name), exactly("value", value))
}

func reason() html.Item {
	return el("label", text("Reason, of a refusal "), el("input", attr("type", "text"), attr("name", "reason")))
}

// effects shows what a plan would change.
func effects(all []forecast.Effect) html.Item {
	return html.Join(
		html.Each(all, func(e forecast.Effect) html.Item {
			return el("p", class("effect"), text(e.Tool, ": ", e.Words, " (", e.Kind, ")"))
		}),
		when(len(all) == 0, el("p", class("effect"), text("It changes nothing."))))
}

// planned shows the calls that a plan would make.
func planned(calls []forecast.Call) html.Item {
	return table([]html.Name{"Call", "Tool", "Effect", "Params", "Known"}, html.Each(calls, func(c forecast.Call) html.Item {
		return el("tr", el("td", text(c.Path)), el("td", text(c.Tool)), el("td", text(c.Effect)),
			el("td", when(c.Params != nil, el("pre", html.JSON(c.Params))), when(c.LargeParams > 0, text("not shown: too large (", c.LargeParams, " bytes)"))),
			el("td", html.Each(slices.Sorted(maps.Keys(c.Marks)), func(name string) html.Item { return el("p", text(name, ": ", c.Marks[name])) })))
	}))
}

func (p *played) page() []byte {
	area := func(label, name, rows html.Name, value string, more ...html.Item) html.Item {
		return el("label", text(label, " "), el("textarea", attr("name", name), attr("rows", rows), attr("spellcheck", "false"), html.Join(more...), html.Lines(value)))
	}
	return p.whole(el("main", words("h1", "Playground"),
		el("form", attr("method", "post"), html.Action(path("playground")),
			area("Plan", "plan", "14", p.Plan, set("required")),
			el("label", text("Notation (empty is plc's own) "), el("input", attr("type", "text"), attr("name", "notation"), attr("value", p.Notation))),
			area("Input, a JSON object", "input", "3", p.Input),
			el("p", button("do", "check", "Check and preview"), text(" "), when(p.MayRun, button("do", "run", "Run")))),
		when(p.Problem != "", el("p", class("error"), attr("role", "alert"), text(p.Problem))),
		html.Each(p.Findings, func(f finding) html.Item {
			return el("p", class(f.Severity), text(f.Severity, " ", f.Code, ", line ", f.Line, ", column ", f.Column, ": ", f.Message))
		}),
		when(p.OK, words("h2", "What would happen"), effects(p.Effects), planned(p.Calls), words("h2", "Graph"),
			el("div", class("wide"), html.Picture(p.Graph, "The graph of the plan")))))
}
