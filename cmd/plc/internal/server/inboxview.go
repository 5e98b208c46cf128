package server

import (
	"encoding/json"
	"fmt"

	"github.com/plc-lang/plc/cmd/plc/internal/server/html"
	"github.com/plc-lang/plc/exec"
)

func (v view) inbox(questions []asked, plans []waiting, outcome []string, more int, digest string, read int64, may bool) []byte {
	several := may && len(questions) > 1
	return v.whole(
		el("p", attr("id", "lost"), attr("role", "status"), set("hidden"), text("The connection to the server is lost; what is shown may be old.")),
		el("main", attr("data-list", "waiting"), attr("data-digest", digest), attr("data-read", read), words("h1", "Inbox"), words("p", "What waits for a person: first what may destroy, then what may change something, and of these the oldest."),
			when(len(outcome) > 0, el("ul", attr("role", "status"), focused(), html.Each(outcome, func(s string) html.Item { return el("li", text(s)) }))),
			el("p", attr("id", "more"), attr("role", "status"), set("hidden"), a(path("inbox"), text("Something has changed: show what waits now"))),
			html.Each(questions, func(q asked) html.Item { return q.article(may, several) }),
			html.Each(plans, func(p waiting) html.Item { return p.article(may) }),
			when(more > 0, el("p", text(more, " more wait. These are the riskiest; the others come when these are answered."))),
			when(several, el("form", attr("method", "post"), attr("id", "several"), html.Action(path("inbox")), words("h2", "Several at once"),
				words("p", "This answers the questions that are marked above. Each can be marked once it was shown from its beginning to its end."), reason(button("decision", "refuse", "Refuse the marked ones"), ""),
				button("decision", "approve", "Approve the marked ones"))),
			when(len(questions)+len(plans) == 0, el("p", attr("id", "nothing"), text("Nothing waits.")))),
		html.Module(path("static", "inbox.js")))
}

// questionAgain shows a question whose answer was refused.
func (v view) questionAgain(q *asked) []byte {
	return v.whole(el("main", words("h1", "The question is still open"), q.article(true, false)), html.Module(path("static", "inbox.js")))
}

// risks has the texts for the results of Server.risk.
var risks = [...]html.Name{"only reads", "changes something that can be mended", "may change the world", "destroys"}

// verbs returns the labels of the answers to a question.
func (q *asked) verbs() (yes, edited, no html.Name) {
	switch exec.QuestionKind(q.Kind) {
	case exec.UncertainQuestion:
		return "Call it again", "Call it again with these params", "It failed"
	case exec.FailureQuestion:
		return "Try it again", "Try it again with these params", "It has failed for good"
	}
	return "Approve", "Approve with these params", "Refuse"
}

// article shows a question, and a form for the answer if the caller may answer.
func (q *asked) article(may, several bool) html.Item {
	name, _ := json.Marshal([]string{q.Run, q.Instance, q.Call, q.Digest})
	yes, edited, no := q.verbs()
	value := html.JSON(q.Params)
	if q.Tried.value != "" {
		yes, value = yes+" without this change", html.Lines(q.Tried.value)
	}
	return el("article", class("question"), exactly("data-key", string(name)),
		el("h2", class("effect risk", q.Risk), text(q.Tool, " ", risks[q.Risk])),
		when(q.Does != "", el("p", text(q.Does))),
		el("p", text("Call "), a(place{run: q.Run}.callURL(q.Instance, q.Call), named(q.Call, q.Instance)), text(" of run "), a(path("runs", q.Run), text(q.Run)), text(" of the plan ", q.Plan),
			when(q.By != "", text(", which "), el("strong", text(q.By)), text(" started")), text("; asked "), moment(q.Asked)),
		when(exec.QuestionKind(q.Kind) == exec.UncertainQuestion, words("p", "It was called, and may have done its work, but gave no result that can be used. Look there before you call it again, or give the result that it had.")),
		q.refusedBefore(),
		when(q.Terms != nil && len(q.Terms.Breaks) > 0, q.breaks()),
		el("pre", html.Lines(q.Text)),
		q.difference(),
		el("p", el("small", text("Digest "), el("code", text(q.Digest)))),
		when(may && !q.Unknown, el("form", attr("method", "post"), html.Action(path("runs", q.Run, "decide")), class("decide"),
			hidden("call", q.Call), hidden("instance", q.Instance), hidden("digest", q.Digest), when(q.Here, hidden("then", "run")), when(q.Tried.fault != "", alert(text(q.Tried.fault))),
			reason(button("decision", "refuse", no), q.Tried.reason),
			el("details", when(q.Tried.value != "", set("open")), words("summary", "Change the params, or give a result instead of calling it"),
				el("label", text("JSON "), el("textarea", attr("name", "value"), attr("rows", "6"), attr("spellcheck", "false"), when(q.Tried.value != "", attr("data-changed", "yes")), value)),
				el("p", class("tried"), attr("role", "status")),
				button("decision", "edit", edited), text(" "), button("decision", "answer", "Give this result")),
			el("p", class("actions"), button("decision", "approve", yes), text(" "), button("decision", "skip", "Skip the call")),
			when(no == "Refuse", el("p", el("small", text("A call that is refused fails. One that is skipped is left out, with the calls that need its result."))))),
			when(several, el("p", el("label", el("input", attr("type", "checkbox"), attr("form", "several"), attr("name", "question"), exactly("value", string(name)), attr("autocomplete", "off")),
				text(" Mark it, to answer several at once; it can be marked once its beginning and its end were on the screen"))))))
}

// refusedBefore shows who refused the call, if the run was continued after that.
func (q *asked) refusedBefore() html.Item {
	if q.Refusal == nil {
		return html.Item{}
	}
	a := q.Refusal.Answer
	return el("p", class("warning"), text("This call was refused "), when(a.By != "", text("by ", a.By, " ")), moment(stamp(q.Refusal.Time)),
		when(a.Reason != "", text(" (", a.Reason, ")")), text(". The run was continued, so it is asked again."))
}

// breaks lists the parts of a policy that a call breaks: approving it allows them.
func (q *asked) breaks() html.Item {
	return html.Join(words("p", "A policy wants a person to see that this breaks:"),
		el("ul", html.Each(q.Terms.Breaks, func(s string) html.Item { return el("li", class("error"), text(s)) })))
}

// difference shows how the params differ from those that were approved last.
func (q *asked) difference() html.Item {
	if q.Last == nil {
		return el("p", text("No call of ", q.Tool, " was approved in the newest ", runsLookedAt, " runs."))
	}
	last := q.Last
	now, before := place{run: q.Run}.callURL(q.Instance, q.Call), place{run: last.run}.callURL(last.instance, last.call)
	who := html.Join(text("The last call of ", q.Tool, " that was approved"), when(last.by != "", text(" (by ", last.by, ")")), text(": "),
		a(before, named(last.call, last.instance)), text(", "), moment(stamp(last.at)))
	all := changes(q.Params, last.params)
	changed := 0
	for i := range all {
		if !all[i].same() {
			changed++
		}
	}
	if changed == 0 {
		return el("p", who, text(". Its params were the same."))
	}
	cell := func(v json.RawMessage, of html.URL) html.Item {
		switch {
		case v == nil:
			return text("–")
		case len(v) > bytesInRow && len(v) <= bytesShown:
			return html.Join(value(v, bytesInRow, html.URL{}), el("details", el("summary", text("Show all ", len(v), " bytes")), el("pre", html.JSON(v))))
		}
		return value(v, bytesInRow, of.With("whole", "yes"))
	}
	cols := columns{"Param", "Now", "Approved last"}
	rows := html.Each(all, func(p changedParam) html.Item {
		if p.same() {
			return html.Item{}
		}
		return cols.row(html.Item{}, el("code", text(p.name)), el("ins", cell(p.now, now)), el("del", cell(p.was, before)))
	})
	same := ". These params differ:"
	if n := len(all) - changed; n > 0 {
		same = fmt.Sprintf(". %d params are the same, and these differ:", n)
	}
	return html.Join(el("p", who, text(same)), cols.table(rows))
}

// article shows what a plan that waits for approval as a whole would do.
func (p *waiting) article(may bool) html.Item {
	return el("article", class("question"), exactly("data-key", p.Run),
		el("h2", text("The plan ", p.Plan, " of run "), a(path("runs", p.Run), text(p.Run))),
		when(p.Digest != "", effects(p.Effects)),
		html.Each(p.Asks, func(s string) html.Item { return el("p", class("warning"), text(s)) }),
		el("p", when(p.By != "", el("strong", text(p.By)), text(" started it. ")), text("It waits since "), moment(p.Since)),
		el("pre", html.Lines(p.Text)),
		when(p.More > 0, el("p", text(p.More, " calls are not shown; an approval does not cover them, and each that needs a person asks."))),
		when(p.Digest != "" && p.Last == "", el("p", text("No plan of this name was approved in the newest ", runsLookedAt, " runs."))),
		when(p.Last != "", el("p", text("Difference from the plan that was approved last, of run "), a(path("runs", p.Last), text(p.Last))),
			el("pre", class("tall"), attr("tabindex", "0"), html.Each(p.Diff, func(l changedLine) html.Item {
				line := html.Lines(string(l.sign) + " " + l.text + "\n")
				switch l.sign {
				case '+':
					return el("ins", line)
				case '-':
					return el("del", line)
				}
				return line
			}))),
		when(p.Digest != "", el("p", el("small", text("Digest "), el("code", text(p.Digest))))),
		when(may && p.Digest != "", el("form", attr("method", "post"), html.Action(path("runs", p.Run, "decide")), class("decide"), hidden("digest", p.Digest), reason(button("decision", "refuse", "Refuse"), ""),
			el("p", class("actions"), button("decision", "approve", "Approve the plan")))))
}

// reason returns a field for the reason of a refusal, with the text that was typed there before,
// and the button that refuses. It is the first button of its form, so Enter in the field presses
// it.
func reason(refuse html.Item, before string) html.Item {
	return el("p", class("reason"), el("label", text("Reason for a refusal "), el("input", attr("type", "text"), attr("name", "reason"), when(before != "", exactly("value", before)))), text(" "), refuse)
}
