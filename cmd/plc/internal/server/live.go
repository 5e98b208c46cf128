package server

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/journal"
)

// The bounds of a stream for pages, and how often it looks for changes.
const (
	liveRuns  = 50
	listAgain = time.Second     // at the lists of runs
	liveAgain = 2 * time.Second // at a run that has ended
)

// A pageEvent tells a page about an event of a run.
type pageEvent struct {
	Run string `json:"run"`
	Seq int64  `json:"seq"`
}

// live streams the events of several runs, and changes of lists of runs, to the pages of a browser.
// Each value run of the query is the id of a run and the number of the last event that the page
// has, as in ID:12. With list=runs or list=waiting the stream has the digests of that list.
func (s *Server) live(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	q := r.URL.Query()
	lines := make(chan []byte)
	send := func(v any) bool {
		text, _ := json.Marshal(v) // of our own types
		select {
		case lines <- fmt.Appendf(nil, "data: %s\n\n", text):
			return true
		case <-ctx.Done():
			return false
		}
	}
	if len(q["run"]) > liveRuns {
		problem(w, r, http.StatusBadRequest, "a stream has at most "+strconv.Itoa(liveRuns)+" runs")
		return
	}
	for _, at := range q["run"] {
		run, number, _ := strings.Cut(at, ":")
		after, err := strconv.ParseInt(number, 10, 64)
		if err != nil || after < 0 {
			problem(w, r, http.StatusBadRequest, "a run is given with the number of an event, as in ID:12")
			return
		}
		go s.liveRun(ctx, run, after, send)
	}
	if len(q["list"]) > 0 {
		go s.liveLists(ctx, q["list"], send)
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	s.pump(w, r, nil, lines)
}

// liveRun sends the events of a run until the browser is gone. It does not stop when the run ends,
// since the run may be continued.
func (s *Server) liveRun(ctx context.Context, run string, after int64, send func(any) bool) {
	for ctx.Err() == nil {
		for entry, err := range s.opts.Engine.Events(ctx, run, after) {
			if err != nil {
				break
			}
			if !send(&pageEvent{run, entry.Seq}) {
				return
			}
			after = entry.Seq
		}
		for sleep(ctx, liveAgain) {
			if sum, err := s.opts.Engine.Summary(ctx, run); err == nil && sum.Events > after {
				break
			}
		}
	}
}

func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// A listUpdate tells a page about a list of runs.
type listUpdate struct {
	List   string `json:"list"`
	Digest string `json:"digest"`
	Read   int64  `json:"read"` // when the list was read, in Unix microseconds; a page that is newer ignores the update
}

// liveLists sends the digests of lists of runs when they change: of the newest runs, or of those
// that wait for a person.
func (s *Server) liveLists(ctx context.Context, lists []string, send func(any) bool) {
	was := map[string]string{}
	for {
		for _, list := range lists {
			f := journal.Filter{Limit: runsOnPage}
			if list == "waiting" {
				f = waitingRuns()
			}
			read := time.Now().UnixMicro()
			runs, err := s.opts.Engine.Runs(ctx, f)
			if err != nil {
				continue // try again if the store can't be read now
			}
			now := s.listDigest(ctx, list, runs)
			if was[list] != now && !send(&listUpdate{list, now, read}) {
				return
			}
			was[list] = now
		}
		if !sleep(ctx, listAgain) {
			return
		}
	}
}

// waitingRuns returns a filter for the runs that may wait for a person.
func waitingRuns() journal.Filter {
	return journal.Filter{Status: []exec.Status{exec.Paused, exec.Running}}
}

// listDigest returns a text that changes when a list of runs would show something else.
func (s *Server) listDigest(ctx context.Context, list string, runs []*journal.Summary) string {
	h := fnv.New64a()
	for _, sum := range runs {
		if list != "waiting" {
			fmt.Fprintln(h, sum.Run, sum.Questions, plc.WaitsForPlan(sum), sum.Status, sum.Calls)
		} else if s.waitsForPerson(ctx, sum) {
			fmt.Fprintln(h, sum.Run, sum.Questions)
		}
	}
	return strconv.FormatUint(h.Sum64(), 36)
}

// waitsForPerson reports whether a run has an open question, or waits for its plan to be approved
// as a whole. It is false for a run whose plan has just been approved.
func (s *Server) waitsForPerson(ctx context.Context, sum *journal.Summary) bool {
	if plc.WaitsForPlan(sum) {
		return !s.opts.Engine.PlanApproved(ctx, sum)
	}
	return sum.Questions > 0
}
