package server

import (
	"flag"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/plc-lang/plc/cmd/plc/internal/runner"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/journal/sqlite"
)

var (
	pagesRuns = flag.Int("pages.runs", 300, "how many runs there are when the first page is measured")
	pagesTime = flag.Duration("pages.time", 4*time.Second, "how long a page is measured that shows a run as it goes on")
)

// The first page, with its scripts and its style, stays below 60 KB, however many runs there are.
func TestFirstPage(t *testing.T) {
	g := newRig(t, Options{})
	store, err := sqlite.Open(g.store, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	var making sync.WaitGroup
	numbers := make(chan int)
	for range 16 {
		making.Go(func() {
			for i := range numbers {
				id := exec.NewID()
				r, err := store.Create(t.Context(), id, &journal.Given{
					Plan: journal.Text{Name: "plan.json", Bytes: []byte(`[{"_tool": "double", "n": 1}]`)}, Labels: map[string]string{runner.Label: frontend, startedBy: "ada", "n": strconv.Itoa(i)},
				})
				if err != nil {
					t.Error(err)
					continue
				}
				for _, kind := range []exec.EventType{exec.RunStarted, exec.RunFinished} {
					r.Append(&exec.Event{Type: kind, Run: id, Time: time.Now(), Status: exec.Completed})
				}
				if err := r.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for i := range *pagesRuns {
		numbers <- i
	}
	close(numbers)
	making.Wait()
	var took []time.Duration
	size := 0
	for range 20 {
		size = 0
		began := time.Now()
		for _, path := range []string{"/", "/static/style.css", "/static/runs.js", "/static/page.js", "/static/link.js", "/static/hub.js"} {
			status, _, text := g.send(g.admin, "GET", path, nil)
			if status != http.StatusOK {
				t.Fatalf("%s: %d", path, status)
			}
			size += len(text)
		}
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	t.Logf("%d runs: %d bytes, %s (median of %d), %s at most", *pagesRuns, size, took[len(took)/2], len(took), took[len(took)-1])
	if size > 60_000 {
		t.Errorf("%d bytes", size)
	}
	// The limit is 200 ms for people; a machine that does much else gets more.
	if most := 2 * time.Second; took[len(took)/2] > most {
		t.Errorf("%s, which is more than %s", took[len(took)/2], most)
	}
}

// A page keeps up with a run of 2,000 calls of which 50 events come a second.
func TestBrowserKeepsUp(t *testing.T) {
	g := newRig(t, Options{})
	var plan []object
	for chain := range 100 {
		for i := range 20 {
			c := object{"_id": fmt.Sprintf("c%d-%d", chain, i), "_tool": "slow"}
			if i > 0 {
				c["_dependsOn"] = []string{fmt.Sprintf("c%d-%d", chain, i-1)}
			}
			plan = append(plan, c)
		}
	}
	run := g.want(201, "POST", "/v1/runs", object{"plan": plan})["run"].(string)
	done, ended := make(chan bool), make(chan int)
	g.drive("speed.mjs", func(what, _ string) string {
		if what == "go" {
			go func() {
				n := 0
				defer func() { ended <- n }()
				ticker := time.NewTicker(60 * time.Millisecond) // of a call come three events
				defer ticker.Stop()
				for {
					select {
					case <-ticker.C:
						g.gate <- struct{}{}
						n++
					case <-done:
						return
					}
				}
			}()
			return ""
		}
		close(done)
		return strconv.Itoa(<-ended)
	}, run, strconv.FormatInt(pagesTime.Milliseconds(), 10))
	g.want(200, "POST", "/v1/runs/"+run+"/cancel", object{})
}
