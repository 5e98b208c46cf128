package server

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"slices"

	"github.com/plc-lang/plc/cmd/plc/internal/server/html"
	"github.com/plc-lang/plc/exec"
)

// Short names for the functions of package html.
var (
	el, text, attr, exactly, set = html.El, html.Text, html.Attr, html.Exactly, html.Set
	a, path, when                = html.A, html.Path, html.If
)

func class(words ...any) html.Item { return attr("class", words...) }

// words returns an element with a constant text.
func words(name, s html.Name) html.Item { return el(name, text(s)) }

// focused returns the attributes of an element that has the focus when the page is opened, so that
// people with a small screen or a screen reader find it.
func focused() html.Item { return html.Join(attr("tabindex", "-1"), set("autofocus")) }

// alert returns an element that says why something was refused; it gets the focus.
func alert(why ...html.Item) html.Item {
	return el("p", class("error"), attr("role", "alert"), focused(), html.Join(why...))
}

// columns has the headings of the columns of a table. If there is no room for the columns side by
// side, the cells of a row are shown one below the other, each with its heading.
type columns []html.Name

// table returns a table with these columns.
func (c columns) table(rows html.Item) html.Item {
	return el("div", class("wide rows"), attr("tabindex", "0"), el("table",
		el("thead", el("tr", html.Each(c, func(name html.Name) html.Item { return words("th", name) }))), el("tbody", rows)))
}

// row returns a row with attributes, and a cell for each column.
func (c columns) row(attrs html.Item, cells ...html.Item) html.Item {
	all := make([]html.Item, len(cells))
	for i, cell := range cells {
		all[i] = el("td", when(cell != html.Item{}, attr("data-of", c[i]), cell))
	}
	return el("tr", attrs, html.Join(all...))
}

// note returns a row with one cell that is as wide as the table.
func (c columns) note(items ...html.Item) html.Item {
	return el("tr", class("within"), el("td", attr("colspan", len(c)), html.Join(items...)))
}

// button returns a button that sends its form with a value.
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

// loggedIn returns the page after a login at an issuer, with a link to the first page.
func (v view) loggedIn() []byte {
	return v.whole(el("main", words("h1", "Logged in"), el("p", a(path(), text("Go on")))))
}

// login returns the page for logging in, with a link to the issuer if there is one; to is the
// address to go to after the login.
func (v view) login(issuer bool, to string) []byte {
	return v.whole(el("main", words("h1", "Log in"),
		when(issuer, el("p", a(path("login", "oidc"), text("Log in at the issuer")))),
		el("form", attr("method", "post"), html.Action(path("login")), when(to != "", hidden("to", to)),
			el("p", el("label", text("Token "), el("input", attr("type", "password"), attr("name", "token"), attr("autocomplete", "off"), set("autofocus"), set("required")))),
			words("button", "Log in")),
		el("p", text("If you have no token, ask whoever runs the server. "), words("code", "plc token create NAME"), text(" makes one. "), words("code", "plc serve"), text(" prints a link when it starts; the link logs one browser in, once, within 10 minutes. Logging out ends that login."))))
}

// problem returns a page that says what was wrong with a request, with the form that the person
// sent, so that nothing is lost. If the request was about a run, the page has a link back to it.
func (v view) problem(p *Problem, run string, form html.Item) []byte {
	return v.whole(el("main", el("h1", text(headingOf(p.Status))), alert(text(p.Detail)),
		when(p.Status == http.StatusUnauthorized || p.Status == http.StatusForbidden, el("p", a(path("login"), text("Log in")))),
		when(run != "" && p.Status != http.StatusNotFound, el("p", a(path("runs", run), text("Back to the run")))),
		html.Each(p.Findings, func(f json.RawMessage) html.Item { return el("pre", html.JSON(f)) }),
		form))
}

// headingOf returns the heading of an error page with the given status.
func headingOf(status int) html.Name {
	switch status {
	case http.StatusBadRequest:
		return "This was not understood"
	case http.StatusUnauthorized:
		return "Log in first"
	case http.StatusForbidden:
		return "You may not do this"
	case http.StatusNotFound:
		return "There is nothing here"
	case http.StatusConflict:
		return "This can't be done now"
	case http.StatusRequestEntityTooLarge:
		return "This is too large"
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return "The server is busy"
	case http.StatusInternalServerError:
		return "The server has failed"
	}
	return "This was not done"
}

// runsAsked has the filter of a list of runs.
type runsAsked struct{ Status, Plan, By, Label, From string }

// url returns the address of the list that starts at a run.
func (q runsAsked) url(from string) html.URL {
	u := path()
	for _, f := range []struct {
		name  html.Name
		value string
	}{{"status", q.Status}, {"plan", q.Plan}, {"by", q.By}, {"label", q.Label}, {"from", from}} {
		if f.value != "" {
			u = u.With(f.name, f.value)
		}
	}
	return u
}

var runColumns = columns{"Run", "Status", "Started by", "Created", "Plan", "Calls begun", "Reason"}

func (v view) runs(runs []Summary, q runsAsked, next, digest string) []byte {
	rows := html.Each(runs, func(r Summary) html.Item {
		return runColumns.row(exactly("data-run", r.Run), a(path("runs", r.Run), text(r.Run)), status(r.Status), text(r.By), moment(r.Created),
			html.Join(text(r.Plan), labels(r.Labels)), counted(r.Calls),
			html.Join(when(r.Questions > 0 || r.WaitsPlan, a(path("inbox").With("run", r.Run), text("waits for a person")), text(" ")), text(r.Reason)))
	})
	if len(runs) == 0 {
		none := "There are no runs yet. The playground starts one."
		if q != (runsAsked{}) {
			none = "No run matches the filter."
		}
		rows = runColumns.note(text(none))
	}
	field := func(label, name html.Name, value string) html.Item {
		return html.Join(el("label", text(label, " "), el("input", attr("name", name), attr("value", value), attr("size", "12"))), text(" "))
	}
	options := html.Each(append([]string{""}, runStatuses...), func(s string) html.Item {
		label := cmp.Or(statusWords[s], s, "any")
		return el("option", attr("value", s), when(s == q.Status, set("selected")), text(label))
	})
	return v.whole(
		el("p", attr("id", "lost"), attr("role", "status"), set("hidden"), text("The connection to the server is lost; what is shown may be old.")),
		el("main", when(q.From == "", attr("data-list", "runs"), attr("data-digest", digest)), words("h1", "Runs"),
			el("form", attr("method", "get"), html.Action(path()), class("filters"),
				el("label", text("Status "), el("select", attr("name", "status"), options)), text(" "),
				field("Plan", "plan", q.Plan), field("Started by", "by", q.By), field("Label, as in team=a", "label", q.Label), words("button", "Filter")),
			el("section", attr("id", "runs"), runColumns.table(rows),
				when(next != "", el("p", a(q.url(next), text("Older runs")))))),
		html.Module(path("static", "runs.js")))
}

// labels lists the labels of a run.
func labels(all map[string]string) html.Item {
	return when(len(all) > 0, el("ul", class("labels"), html.Each(slices.Sorted(maps.Keys(all)), func(name string) html.Item { return el("li", text(name, " = ", all[name])) })))
}

// runStatuses are the statuses that runs may have.
var runStatuses = []string{"running", "paused", "completed", "failed", "rejected", "cancelled", "interrupted", "undoing", "undone", "undoneInPart", "damaged"}

// named shows the path of a call, with its instance if it has one.
func named(call, instance string) html.Item {
	return html.Join(text(exec.CallID(call)), when(instance != "", text(" of ", instance)))
}

func failure(f *exec.Failure) html.Item {
	if f == nil {
		return html.Item{}
	}
	return el("p", class("error"), text(f.Code, ": ", f.Message))
}

func isNull(v json.RawMessage) bool { return len(v) == 0 || string(v) == "null" }

// hidden returns a hidden input.
func hidden(name html.Name, value string) html.Item {
	return el("input", attr("type", "hidden"), attr("name", name), exactly("value", value))
}
