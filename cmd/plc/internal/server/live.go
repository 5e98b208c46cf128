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

// What a stream for pages may hold, and how often it looks.
const (
	liveRuns  = 50
	listAgain = time.Second     // at the lists of runs
	liveAgain = 2 * time.Second // at a run that has ended
)

// A happening is what a page is told of an event.
type happening struct {
	Run string `json:"run"`
	Seq int64  `json:"seq"`
}

// live streams what happens in several runs, and that a list of runs has changed, to the pages of
// a browser. Each value run of the query is the id of a run and the number of the last event that
// is known of it, as in ID:12. With list=runs or list=waiting the stream has the digests of that
// list.
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

// liveRun sends what happens in a run, until the browser is gone. A run that has ended may go on.
func (s *Server) liveRun(ctx context.Context, run string, after int64, send func(any) bool) {
	for ctx.Err() == nil {
		for entry, err := range s.opts.Engine.Events(ctx, run, after) {
			if err != nil {
				break
			}
			if !send(&happening{run, entry.Seq}) {
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
				continue // a store that can't be read now is asked again
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

// waitingRuns returns a filter that admits the runs which may wait for a person.
func waitingRuns() journal.Filter {
	return journal.Filter{Status: []exec.Status{exec.Paused, exec.Running}}
}

// listDigest returns a text that changes with what a list of runs shows.
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

// waitsForPerson reports whether a run has a question that is open, or waits for its plan to be
// approved as a whole. A run whose plan has been approved does not.
func (s *Server) waitsForPerson(ctx context.Context, sum *journal.Summary) bool {
	if plc.WaitsForPlan(sum) {
		return !s.opts.Engine.PlanApproved(ctx, sum)
	}
	return sum.Questions > 0
}
