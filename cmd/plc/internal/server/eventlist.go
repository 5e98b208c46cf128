package server

import (
	"net/http"
	"strconv"

	"github.com/plc-lang/plc/cmd/plc/internal/server/html"
	"github.com/plc-lang/plc/exec"
)

// eventsOnPage is the maximum number of events on a page.
const eventsOnPage = 200

// eventShown is an event with its number in the record.
type eventShown struct {
	seq int64
	*exec.Event
}

// eventsPage shows a page of the events of a run.
func (s *Server) eventsPage(w http.ResponseWriter, r *http.Request) {
	sum, err := s.find(r)
	var after int64
	if text := r.URL.Query().Get("after"); err == nil && text != "" {
		if after, err = strconv.ParseInt(text, 10, 64); err != nil || after < 0 {
			err = badf(http.StatusBadRequest, "after is the number of an event")
		}
	}
	var shown []eventShown
	more := false
	if err == nil {
		for entry, failed := range s.opts.Engine.EventsSoFar(r.Context(), sum.Run, after) {
			if more = failed == nil && len(shown) == eventsOnPage; more || failed != nil {
				err = failed
				break
			}
			e, failed := entry.Event()
			if failed != nil {
				err = failed
				break
			}
			shown = append(shown, eventShown{entry.Seq, e})
		}
	}
	if err != nil {
		fail(w, r, err)
		return
	}
	show(w, http.StatusOK, viewOf(r, "Events").events(sum.Run, after, shown, more))
}

func (v view) events(run string, after int64, shown []eventShown, more bool) []byte {
	from := func(after int64) html.URL {
		return path("runs", run, "events").With("after", strconv.FormatInt(max(after, 0), 10))
	}
	pages := html.Join(
		when(after > 0, a(from(after-eventsOnPage), text("Before"))), text(" "),
		when(more, a(from(after+eventsOnPage), text("Next"))))
	cols := columns{"Event", "Time", "Type", "Call", "Detail"}
	rows := html.Each(shown, func(e eventShown) html.Item {
		return cols.row(html.Item{}, a(place{run: run, at: e.seq}.url(), text(e.seq)), moment(stamp(e.Time)), text(e.Type),
			when(e.Call != "", a(place{run: run}.callURL(e.Instance, e.Call), named(e.Call, e.Instance))), e.detail(run))
	})
	if len(shown) == 0 {
		rows = cols.note(text("There are no events here."))
	}
	return v.whole(el("main",
		el("h1", text("Events of run "), a(path("runs", run), text(run))),
		words("p", "The number of an event leads to the run as it was after it."),
		el("p", pages), cols.table(rows), el("p", pages)), html.Module(path("static", "page.js")))
}

// detail shows the contents of an event other than its type and its call.
func (e eventShown) detail(run string) html.Item {
	var whole html.URL // the URL of its whole value
	if e.Call != "" {
		whole = place{run: run, at: e.seq}.callURL(e.Instance, e.Call)
	}
	return html.Join(
		when(e.Status != "", el("p", status(string(e.Status)))),
		when(e.Attempt > 0, el("p", text("attempt ", e.Attempt))),
		when(e.Fallback, words("p", "its fallback")),
		when(e.Outcome != "", el("p", text("outcome ", e.Outcome))),
		when(e.Path != "", el("p", el("code", text(e.Path)), text(" "), text(e.Method))),
		e.answer(),
		failure(e.Error),
		when(e.Reason != "", el("p", text(e.Reason))),
		when(!isNull(e.Value), value(e.Value, bytesInRow, whole)))
}

func (e eventShown) answer() html.Item {
	if e.Answer == nil {
		return html.Item{}
	}
	return el("p", text(answered(e.Answer), " ", by(e.Answer.By)))
}
