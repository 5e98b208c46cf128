package simulate

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/exec/plantest"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/standin"
)

// simulator runs a program. It is immutable, so that several runs may go on at once.
type simulator struct {
	prog *compile.Program
	opts Options
}

// alteration changes one call. The zero value changes nothing.
type alteration struct {
	call    string // its path, without the items of loops; "" for none
	sure    bool   // its attempts never fail, nor take longer than they may
	instant bool   // its attempts take no time
}

// played is the result of a run.
type played struct {
	status  exec.Status
	reason  string
	took    time.Duration
	calls   map[string]*tally // by path, without the items of loops
	effects map[string]*standing
	asked   int  // how often somebody was asked for approval
	refused bool // somebody did not approve a call
	waits   bool
	tokens  float64
	cost    float64
}

// tally counts the attempts of a call in a run.
type tally struct {
	tool             string
	attempts, failed int
	spent            time.Duration // of all attempts together
}

// standing counts the effects of a tool in a run.
type standing struct{ made, undone, stand, unknown int }

// failed reports whether any attempt failed.
func (p *played) failed() bool {
	for _, t := range p.calls {
		if t.failed > 0 {
			return true
		}
	}
	return false
}

// attempts returns the number of attempts.
func (p *played) attempts() (n int) {
	for _, t := range p.calls {
		n += t.attempts
	}
	return n
}

// play runs the program once.
func (s *simulator) play(ctx context.Context, run int, change alteration) (*played, error) {
	p := &played{calls: map[string]*tally{}, effects: map[string]*standing{}}
	o := plantest.Options{Exec: s.opts.Exec, World: s.opts.World, Results: s.opts.Results, Undo: s.opts.Undo, Stop: ctx.Err, Brief: true}
	o.Exec.Seed = mixed(mixed(s.opts.Seed) + uint64(run) + 1)
	o.Reply = func(path string, q *exec.Question) (exec.Answer, bool) {
		if q.Kind != exec.ApprovalQuestion {
			return exec.Answer{}, false
		}
		p.asked++
		if answer, ok := s.opts.Answers[stem(path)]; ok {
			p.refused = p.refused || !answer.Approved
			return answer, true
		}
		return exec.Answer{Approved: true}, true
	}
	o.Stand = func(a *exec.Attempt, of *plantest.Attempt, answer func() standin.Answer) standin.Answer {
		return s.attempt(p, run, change, a, of, answer)
	}
	out, err := plantest.Run(s.prog, &o)
	if err != nil {
		return nil, fmt.Errorf("run %d: %w", run+1, err)
	}
	p.status, p.reason, p.took, p.waits = out.Status, out.Reason, out.Took, len(out.Questions) > 0
	p.stand(out.Effects)
	return p, nil
}

// attempt returns the answer to an attempt, and counts the attempt.
func (s *simulator) attempt(p *played, run int, change alteration, a *exec.Attempt, of *plantest.Attempt, answer func() standin.Answer) standin.Answer {
	call := stem(of.Call)
	l := drawn(s.opts.Seed, run, site{of.Call, of.Fallback, of.Number})
	b := s.behaviour(call, of)
	ans := answer()
	if b.Takes.Said() {
		ans.After = b.Takes.draw(l.takes)
	}
	altered := change.call == call
	switch {
	case altered && change.sure:
		ans = s.surely(ans, a, of)
	case l.fails < b.Fails:
		f := b.failure(l.how)
		switch {
		case !f.Worked:
			ans.Result = tool.Result{}
		case ans.Result.Value == nil: // see standin.Answer.Worked
			ans.Result.Value = json.RawMessage("null")
		}
		if ans.Err, ans.Lost = &f.Error, false; f.After > 0 {
			ans.After = f.After
		}
	case b.Only && (ans.Err != nil || ans.Lost):
		after := ans.After
		ans = s.surely(ans, a, of)
		ans.After = after
	}
	if altered && change.instant {
		ans.After = 0
	}
	t := p.calls[call]
	if t == nil {
		t = &tally{tool: of.Tool}
		p.calls[call] = t
	}
	t.attempts++
	t.spent += min(ans.After, a.Timeout)
	if ans.Err != nil || ans.Lost || ans.After > a.Timeout {
		t.failed++
	}
	if a.Call.Rare != nil && !of.Fallback {
		p.tokens, p.cost = p.tokens+a.Call.Tokens, p.cost+a.Call.Cost
		ans.Result.Usage = tool.Usage{Tokens: int64(a.Call.Tokens), Cost: a.Call.Cost}
	}
	return ans
}

// surely returns the answer of an attempt that does not fail.
func (s *simulator) surely(ans standin.Answer, a *exec.Attempt, of *plantest.Attempt) standin.Answer {
	if ans.Err != nil && s.opts.Results != nil {
		ans.Result, _ = s.opts.Results(&exec.Trial{Instance: a.Instance, Path: of.Call, Call: a.Call, Request: a.Request})
	}
	ans.Err, ans.Lost, ans.After = nil, false, min(ans.After, a.Timeout)
	return ans
}

// behaviour returns how the attempts of a call behave.
func (s *simulator) behaviour(call string, of *plantest.Attempt) *Behaviour {
	if of.Fallback {
		call += "/fallback"
	}
	if b := s.opts.Calls[call]; b != nil {
		return b
	}
	if b := s.opts.Tools[of.Tool]; b != nil {
		return b
	}
	return &Behaviour{}
}

// stand counts the effects of a run.
func (p *played) stand(effects []plantest.Effect) {
	for i := range effects {
		e := &effects[i]
		s := p.effects[e.Tool]
		if s == nil {
			s = &standing{}
			p.effects[e.Tool] = s
		}
		s.made++
		if e.Undone() {
			s.undone++
		}
		if e.Stands {
			s.stand++
		}
		if !e.Known {
			s.unknown++
		}
	}
}

// stem returns the path of a call without the items of loops and the attempts of delegates.
func stem(path string) string {
	if !strings.ContainsAny(path, "[#") {
		return path
	}
	parts := strings.Split(path, "/")
	for i, p := range parts {
		p, _, _ = strings.Cut(p, "[")
		parts[i], _, _ = strings.Cut(p, "#")
	}
	return strings.Join(parts, "/")
}
