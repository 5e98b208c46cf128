package plc_test

import (
	"context"
	"fmt"
	"time"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/journal/memory"
	"github.com/plc-lang/plc/tool"
)

// What a server needs: it starts runs, tells what happens in them, takes the answers of people, and
// ends them. Requests come to whichever process is there; all that they share is the store.
func Example_server() {
	ctx := context.Background()
	sleep := tool.Func("sleep", "Sleeps for long.", func(ctx context.Context, _ struct{}) (bool, error) {
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-time.After(time.Minute):
			return true, nil
		}
	})
	store := memory.New()
	defer store.Close()
	eng := plc.New(plc.Config{Store: store, Tools: []*tool.Tool{tool.Func("words", "The words of a text.", words), sleep}})
	defer eng.Close()

	// POST /runs: a run that has to ask pauses.
	res, err := eng.Run(ctx, plc.Spec{
		Plan:      plc.Text(`{"calls": [{"_tool": "words", "text": "the cat", "_outputPath": "†state.words"}], "output": "†state.words"}`),
		Approvals: plc.Approvals{Calls: plc.ApproveAll},
	})
	check(err)
	fmt.Println(res.Status)

	// GET /runs/{run}/questions, and POST of the answer, which names what was shown.
	questions, err := eng.Questions(ctx, res.Run)
	check(err)
	for _, q := range questions {
		fmt.Println(q.Path, q.Tool, string(q.Params))
		check(eng.Answer(ctx, res.Run, journal.Answer{Instance: q.Instance, Path: q.Path, Answer: exec.Answer{Approved: true, Digest: q.Digest}}))
	}

	// POST /runs/{run}/resume.
	res, err = eng.Resume(ctx, res.Run, plc.Change{})
	check(err)
	fmt.Println(res.Status, string(res.Output))

	// GET /runs/{run}/events, as server-sent events whose ids are the numbers: a client that comes
	// back says which one it saw last.
	for entry, err := range eng.Events(ctx, res.Run, 5) {
		check(err)
		e, err := entry.Event()
		check(err)
		fmt.Println(entry.Seq, e.Type)
	}

	// DELETE /runs/{run} of a run that goes on, in this process or another.
	p, err := eng.Prepare(ctx, plc.Spec{Plan: plc.Text(`{"calls": [{"_tool": "sleep"}]}`)})
	check(err)
	r, err := p.Begin(ctx)
	check(err)
	done := make(chan *exec.Result)
	go func() {
		res, err := r.Do(ctx)
		check(err)
		check(r.Close())
		done <- res
	}()
	for entry, err := range eng.Events(ctx, r.ID(), 0) {
		check(err)
		if e, err := entry.Event(); err == nil && e.Type == exec.CallStarted {
			check(eng.Cancel(ctx, r.ID(), "no longer needed"))
			break
		}
	}
	res = <-done
	fmt.Println(res.Status, res.Reason)

	// GET /runs.
	runs, err := eng.Runs(ctx, journal.Filter{Limit: 10})
	check(err)
	for _, r := range runs {
		fmt.Println(r.Status, r.Calls)
	}
	// Output:
	// paused
	// words words {"text":"the cat"}
	// completed ["the","cat"]
	// 6 callStarted
	// 7 callReturned
	// 8 write
	// 9 callCompleted
	// 10 runFinished
	// cancelled the run was cancelled: no longer needed
	// cancelled map[uncertain:1]
	// completed map[completed:1]
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
