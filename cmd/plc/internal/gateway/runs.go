package gateway

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/cmd/plc/internal/runner"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/journal"
)

// frontend is the label of runs that a gateway began, and continues.
const frontend = "mcp"

const (
	// StartedBy is the label of a run with the name of the caller who began it.
	StartedBy = "by"

	// FolderLabel is the label of a run with the folder of the gateway that began it.
	FolderLabel = "folder"
)

// pollEvery is the interval at which the state of a run is read for a client that waits for it.
const pollEvery = 500 * time.Millisecond

// State says how far a run is.
type State struct {
	Run      string         `json:"run,omitempty" jsonschema:"its id; left out when nothing ran"`
	Status   string         `json:"status" jsonschema:"running, completed, failed, paused, cancelled, rejected, interrupted, undoing, undone, undoneInPart, or invalid: the plan has errors"`
	Reason   string         `json:"reason,omitempty"`
	Calls    map[string]int `json:"calls,omitempty" jsonschema:"how many calls have each status; left out when all completed"`
	Waiting  []string       `json:"waiting,omitempty" jsonschema:"calls that wait for a person"`
	Answer   string         `json:"answer,omitempty" jsonschema:"how a person answers; tell your user"`
	Failed   []string       `json:"failed,omitempty"`
	Output   *View          `json:"output,omitempty"`
	Findings []string       `json:"findings,omitempty"`
	More     int            `json:"more,omitempty" jsonschema:"findings left out"`

	waits      bool     // it waits for a person
	asksFor    []string // the tools of the catalogue whose calls wait, quoted
	asksOthers bool     // calls of other tools wait as well
	sum        *journal.Summary
}

// ToRun holds the params of the tool run.
type ToRun struct {
	Planned
	Wait *float64 `json:"wait,omitempty" jsonschema:"seconds, at most 300; 20 if left out"`
}

// Which names a run.
type Which struct {
	Run  string   `json:"run"`
	Wait *float64 `json:"wait,omitempty" jsonschema:"seconds, at most 300; 0 if left out"`
}

func (g *Gateway) run(ctx context.Context, req *mcp.CallToolRequest, in ToRun) (*mcp.CallToolResult, *State, error) {
	wait, err := seconds(in.Wait, 20)
	if err != nil {
		return nil, nil, err
	}
	if run := req.Params.RequestState; run != "" {
		return g.again(ctx, req, run, wait)
	}
	x := exchangeOf(ctx)
	spec, asText := g.spec(x.caller, in.Planned)
	id, ledger := exec.NewID(), &x.session.ledger
	if err := ledger.lend(id, &spec.Limits); err != nil {
		return nil, nil, errors.Join(err, g.notePlan(ctx, "run", in.Planned, &Checked{Findings: []string{err.Error()}}))
	}
	begun := false
	defer func() {
		if !begun {
			ledger.release(id)
		}
	}()
	spec.Labels = map[string]string{runner.Label: frontend, FolderLabel: g.opts.Folder, plc.SessionLabel: x.session.id}
	if x.caller.Name != "" {
		spec.Labels[StartedBy] = x.caller.Name
	}
	p, err := g.opts.Engine.Prepare(ctx, spec)
	if err != nil {
		return nil, nil, err
	}
	c, err := verdict(p, asText)
	if err != nil {
		return nil, nil, err
	}
	if !c.OK {
		return nil, &State{Status: "invalid", Findings: c.Findings, More: c.More}, g.notePlan(ctx, "run", in.Planned, c)
	}
	r, err := g.begin(ctx, ledger, p, c, id)
	if err != nil {
		return nil, nil, err
	}
	begun = true
	if x.knowsTasks() {
		wait = min(wait, soon)
	}
	g.await(ctx, req, r, wait)
	state, err := g.state(ctx, r.ID)
	if err != nil {
		return nil, nil, err
	}
	state.Findings, state.More = c.Findings, c.More
	if x.knowsTasks() && (state.waits || g.runs.Job(r.ID) != nil) {
		t, _ := g.task(x, state)
		x.task = &t
		return nil, state, nil
	}
	return g.answer(ctx, req, state, wait)
}

// begin begins a run with this id, which may use what the ledger has reserved for it.
func (g *Gateway) begin(ctx context.Context, l *ledger, p *plc.Plan, c *Checked, id string) (*runner.Job, error) {
	return g.runs.Begin("", func(of context.Context) (*plc.Run, error) {
		run, err := p.BeginAs(of, id)
		if err != nil {
			return nil, err
		}
		if err := g.note(ctx, Noted{Tool: "run", Run: run.ID(), OK: &c.OK, Findings: c.Findings}); err != nil {
			return nil, errors.Join(err, run.Close())
		}
		g.ledgers.Store(id, l)
		return run, nil
	})
}

// again responds to a call with the client's answer to a request to open the page of a run.
func (g *Gateway) again(ctx context.Context, req *mcp.CallToolRequest, run string, wait time.Duration) (*mcp.CallToolResult, *State, error) {
	before, err := g.state(ctx, run)
	if err != nil {
		return nil, nil, err
	}
	if res, ok := req.Params.InputResponses[before.invitationKey()].(*mcp.ElicitResult); ok && res.Action != "accept" {
		wait = 0
	}
	state, err := g.next(ctx, req, before, nil, time.Now().Add(wait))
	return nil, state, err
}

// await waits for the end of a run, or for a time, and notifies the client of calls that end.
func (g *Gateway) await(ctx context.Context, req *mcp.CallToolRequest, r *runner.Job, wait time.Duration) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	tell := func(ended int) {
		if token := req.Params.GetProgressToken(); token != nil {
			// If the client is gone, ctx ends.
			_ = req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
				ProgressToken: token, Progress: float64(ended + 1), Message: fmt.Sprintf("run %s: %d calls have ended", r.ID, ended),
			})
		}
	}
	for {
		ended, more := r.Progress()
		tell(ended)
		select {
		case <-r.Done:
			return
		case <-timer.C:
			return
		case <-ctx.Done():
			return
		case <-more:
		}
	}
}

func seconds(s *float64, unset float64) (time.Duration, error) {
	if s == nil {
		s = &unset
	}
	if *s < 0 || *s > 300 {
		return 0, fmt.Errorf("wait is %v, and has to be from 0 to 300 seconds", *s)
	}
	return time.Duration(*s * float64(time.Second)), nil
}

func (g *Gateway) status(ctx context.Context, req *mcp.CallToolRequest, in Which) (*mcp.CallToolResult, *State, error) {
	wait, err := seconds(in.Wait, 0)
	if err != nil {
		return nil, nil, err
	}
	if begun := req.Params.RequestState; begun != "" {
		return g.again(ctx, req, begun, wait)
	}
	before, err := g.state(ctx, in.Run)
	if err != nil {
		return nil, nil, err
	}
	if round, state, err := g.answer(ctx, req, before, wait); round != nil || err != nil || state != before {
		return round, state, err
	}
	state, err := g.next(ctx, req, before, nil, time.Now().Add(wait))
	return nil, state, err
}

// summary returns the summary of a run that the caller began.
func (g *Gateway) summary(ctx context.Context, id string) (*journal.Summary, error) {
	sum, err := g.opts.Engine.Summary(ctx, id)
	if err == nil && !exchangeOf(ctx).caller.began(sum) {
		err = &journal.MissingError{Run: id}
	}
	var missing *journal.MissingError
	if errors.As(err, &missing) {
		return nil, fmt.Errorf("there is no run %q that an agent began; run gives the id of a run", id)
	}
	return sum, err
}

// state returns how far a run is, from its record.
func (g *Gateway) state(ctx context.Context, id string) (*State, error) {
	sum, err := g.summary(ctx, id)
	if err != nil {
		return nil, err
	}
	s := &State{Run: id, Status: string(sum.Status), Reason: cmp.Or(g.runs.Problem(id), sum.Reason), Calls: map[string]int{}, sum: sum}
	if runner.Left(sum) {
		s.Status = string(journal.Interrupted)
	}
	if g.runs.Job(id) != nil && sum.Status == exec.Pending { // its first event is not in the store yet
		s.Status = string(exec.Running)
	}
	for status, n := range sum.Calls {
		s.Calls[string(status)] = n
	}
	questions, err := g.opts.Engine.Questions(ctx, id)
	if err != nil {
		return nil, err
	}
	for _, q := range questions {
		s.Waiting = append(s.Waiting, fmt.Sprintf("%s (%s): %s", q.Path, q.Tool, q.Reason))
		if _, known := g.tools.Lookup(q.Tool); !known { // the plan defines it, and has chosen its name
			s.asksOthers = true
		} else if name := strconv.Quote(q.Tool); !slices.Contains(s.asksFor, name) {
			s.asksFor = append(s.asksFor, name)
		}
	}
	if len(s.Waiting) > 0 {
		s.Reason = "" // says the same
	}
	s.waits = len(s.Waiting) > 0 || plc.WaitsForPlan(sum) && !g.opts.Engine.PlanApproved(ctx, sum)
	if s.waits {
		s.Answer = g.opts.Approve(id)
	}
	if len(s.Calls) == 1 && s.Calls[string(exec.Completed)] > 0 && s.Status == string(exec.Completed) {
		s.Calls = nil
	}
	if sum.Finished.IsZero() {
		return s, nil
	}
	res, err := g.recorded(ctx, id)
	if err != nil {
		return nil, err
	}
	for _, c := range res.Calls {
		if c.Error != nil {
			text := fmt.Sprintf("%s (%s): %s: %s", c.ID, c.Tool, c.Error.Code, c.Error.Message)
			if c.Handled {
				text += " (the plan handles it)"
			}
			s.Failed = append(s.Failed, text)
		}
	}
	s.Output, err = view(string(gave(res)), "", 0, g.opts.MaxBytes)
	return s, err
}

// recorded returns the result of a run that has ended, from its record.
func (g *Gateway) recorded(ctx context.Context, id string) (*exec.Result, error) {
	again, err := g.opts.Engine.Replay(ctx, id, plc.Source{}, nil)
	if err != nil {
		return nil, err
	}
	return again.Result, nil
}

// gave returns the result of a run: its output, or its state if the plan has no output.
func gave(res *exec.Result) json.RawMessage {
	if len(res.Output) > 0 && strings.TrimSpace(string(res.Output)) != "null" {
		return res.Output
	}
	return res.State
}

// Wanted names the part of a result that the tool result returns.
type Wanted struct {
	Run   string `json:"run"`
	Path  string `json:"path,omitempty" jsonschema:"JSON Pointer, as in /hits/0/url"`
	State bool   `json:"state,omitempty" jsonschema:"of the state, not the output"`
	From  int    `json:"from,omitempty" jsonschema:"first member, element or byte"`
}

func (g *Gateway) result(ctx context.Context, _ *mcp.CallToolRequest, in Wanted) (*mcp.CallToolResult, *View, error) {
	sum, err := g.summary(ctx, in.Run)
	if err != nil {
		return nil, nil, err
	}
	if sum.Finished.IsZero() {
		return nil, nil, fmt.Errorf("the run is %s: it has no result yet", sum.Status)
	}
	res, err := g.recorded(ctx, in.Run)
	if err != nil {
		return nil, nil, err
	}
	doc := gave(res)
	if in.State {
		doc = res.State
	}
	v, err := view(string(doc), in.Path, in.From, g.opts.MaxBytes)
	return nil, v, err
}

// Cancelled names a run to cancel.
type Cancelled struct {
	Run    string `json:"run"`
	Reason string `json:"reason,omitempty"`
}

// Ended says how a cancelled run ended; a run that had already ended does not change.
type Ended struct {
	Run    string `json:"run"`
	Status string `json:"status"`
}

func (g *Gateway) cancel(ctx context.Context, _ *mcp.CallToolRequest, in Cancelled) (*mcp.CallToolResult, *Ended, error) {
	sum, err := g.summary(ctx, in.Run)
	if err == nil {
		err = g.note(ctx, Noted{Tool: "cancel", Run: in.Run})
	}
	if err != nil {
		return nil, nil, err
	}
	if sum.Finished.IsZero() || runner.Left(sum) || g.runs.Job(in.Run) != nil {
		if err := g.runs.Cancel(ctx, in.Run, cmp.Or(in.Reason, "the agent cancelled it")); err != nil {
			return nil, nil, err
		}
	}
	sum, err = g.summary(ctx, in.Run)
	if err != nil {
		return nil, nil, err
	}
	return nil, &Ended{in.Run, string(sum.Status)}, nil
}
