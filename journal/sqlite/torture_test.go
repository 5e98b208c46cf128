package sqlite

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/plc-lang/plc/internal/effort"
	"github.com/plc-lang/plc/journal"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/tool"
)

// torture is set by make torture.
var torture = flag.Bool("torture", false, "try thousands of kills, all power cuts, more broken files")

// A run is killed at any moment, and resumed, until it completes. Its tools write what they
// did to the world, a ledger, which is compared with the record.

const chains = 40 // of four calls each

// torturePlan has four calls in each chain: one that looks, one that may not be done twice, one
// that may, and a pure one.
func torturePlan() string {
	var b strings.Builder
	b.WriteString("[")
	for i := range chains {
		if i > 0 {
			b.WriteString(",\n")
		}
		fmt.Fprintf(&b, `{"_id":"look%d","_tool":"look","v":"%d","_outputPath":"†state.look%[1]d"},
			{"_id":"charge%[1]d","_tool":"charge","v":"†state.look%[1]d","_outputPath":"†state.charge%[1]d"},
			{"_id":"put%[1]d","_tool":"put","v":"†state.charge%[1]d","_outputPath":"†state.put%[1]d"},
			{"_id":"pure%[1]d","_tool":"pure","v":"†state.put%[1]d","_outputPath":"†state.pure%[1]d"}`, i, i)
	}
	return b.String() + "]"
}

// ledger is the world.
type ledger struct{ path string }

// entry is what a tool did.
type entry struct{ call, key string }

// write appends an entry of 64 bytes: where a write is cut off by a kill, that is between two
// pages of memory, so that these are whole.
func (l *ledger) write(e entry) error {
	f, err := os.OpenFile(l.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := fmt.Fprintf(f, "%-30s %s\n", e.call, e.key); err != nil {
		return err
	}
	return f.Sync()
}

func (l *ledger) entries() ([]entry, error) {
	text, err := os.ReadFile(l.path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	var all []entry
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		if f := strings.Fields(lines.Text()); len(f) == 2 {
			all = append(all, entry{f[0], f[1]})
		}
	}
	return all, err
}

// tortureProgram compiles the plan over tools that write to the ledger.
func tortureProgram(l *ledger) (*compile.Program, error) {
	make := func(name string, effects tool.Effects) *tool.Tool {
		type in struct {
			V string `json:"v"`
		}
		t := tool.Func(name, "", func(context.Context, in) (string, error) { return "", nil })
		t.Definition.Effects = effects
		t.Activity = tool.ActivityFunc(func(ctx context.Context, req *tool.Request) (tool.Result, error) {
			time.Sleep(rand.N(2 * time.Millisecond))
			if err := l.write(entry{req.Call, req.Key}); err != nil {
				return tool.Result{}, err
			}
			time.Sleep(rand.N(2 * time.Millisecond))
			return tool.Result{Value: fmt.Appendf(nil, "%q", "of "+req.Call)}, nil
		})
		return t
	}
	doc, findings := lang.Parse(diag.NewFile("plan.json", []byte(torturePlan())), nil)
	prog, more := compile.Compile(doc, &compile.Options{Run: true, Catalogue: tool.NewCatalogue(
		make("look", tool.Effects{ReadOnly: tool.Yes}),
		make("charge", tool.Effects{ReadOnly: tool.No, Independent: tool.Yes}),
		make("put", tool.Effects{ReadOnly: tool.No, Idempotent: tool.Yes, Independent: tool.Yes}),
		make("pure", tool.Effects{Pure: tool.Yes}),
	)})
	return prog, append(findings, more...).Err()
}

const childFlag = "-journal.child"

// child runs or resumes a run in this process: -journal.child STORE RUN LEDGER. It reports
// false when this is a test.
func child(args []string) bool {
	if len(args) != 5 || args[1] != childFlag {
		return false
	}
	if err := runChild(args[2], args[3], &ledger{args[4]}); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	return true
}

func runChild(path, name string, l *ledger) error {
	s, err := Open(path, nil)
	if err != nil {
		return err
	}
	var missing *journal.MissingError
	r, err := s.resume(ctx, name)
	if errors.As(err, &missing) {
		r, err = s.create(ctx, name, &journal.Given{Plan: journal.Text{Name: "plan.json", Bytes: []byte(torturePlan())}})
	}
	if err != nil {
		return err
	}
	prog, err := tortureProgram(l)
	if err != nil {
		return err
	}
	res, err := exec.Run(context.Background(), prog, &exec.Options{ID: name, Record: r, MaxParallel: 8, OnFailure: exec.Continue, Approver: l.decide})
	if err != nil {
		return err
	}
	if res.Status != exec.Completed {
		return fmt.Errorf("the run %s: %s", res.Status, res.Reason)
	}
	return s.Close()
}

// decide answers about a call whose answer was lost, as a person would who looks at the
// world: it was done, or may be done now. It knows nothing of every third call, and skips it.
func (l *ledger) decide(_ context.Context, q *exec.Question) (exec.Answer, error) {
	if q.Kind != exec.UncertainQuestion || !strings.HasPrefix(q.Path, "charge") {
		return exec.Answer{}, fmt.Errorf("asked about %s: %s", q.Path, q.Reason)
	}
	var n int
	fmt.Sscanf(q.Path, "charge%d", &n)
	if n%3 == 0 {
		return exec.Answer{Skip: true}, nil
	}
	all, err := l.entries()
	if err != nil {
		return exec.Answer{}, err
	}
	for _, e := range all {
		if e.call == q.Path {
			return exec.Answer{Result: json.RawMessage(`"found"`)}, nil
		}
	}
	return exec.Answer{Approved: true}, nil
}

// lane is a run that is killed again and again.
type lane struct {
	store, run string
	ledger     *ledger
	kills      int
	seen       map[string]string // what calls have returned, as the record says
	done       map[string]int    // how often they were made by then
}

func TestKills(t *testing.T) {
	dir := t.TempDir()
	kills, lanes := effort.Of(12, 40), 2
	if *torture {
		kills, lanes = 1500, 2
	}
	var wg sync.WaitGroup
	for n := range lanes {
		wg.Go(func() {
			runs, all := 0, 0
			for ; all < kills && !t.Failed(); runs++ {
				l := &lane{
					store: filepath.Join(dir, "runs.db"), run: fmt.Sprintf("lane%d-%d", n, runs),
					ledger: &ledger{filepath.Join(dir, fmt.Sprintf("ledger%d-%d", n, runs))},
					seen:   map[string]string{}, done: map[string]int{},
				}
				l.untilDone(t)
				all += l.kills
			}
			t.Logf("%d runs, %d kills", runs, all)
		})
	}
	wg.Wait()
}

func (l *lane) untilDone(t *testing.T) {
	for !t.Failed() {
		killed := l.once(t)
		if rand.N(2) == 0 || !killed {
			l.look(t)
		}
		if !killed {
			l.checkEnd(t)
			return
		}
		l.kills++
	}
}

// once runs the run until it is killed, or has completed.
func (l *lane) once(t *testing.T) (killed bool) {
	var out bytes.Buffer
	cmd := osexec.Command(os.Args[0], childFlag, l.store, l.run, l.ledger.path)
	cmd.Stdout, cmd.Stderr = io.Writer(&out), &out
	if err := cmd.Start(); err != nil {
		t.Error(err)
		return false
	}
	life := rand.N(time.Duration(1+l.kills) * 40 * time.Millisecond) // longer each time, so that it ends on a slow machine too
	kill := time.AfterFunc(life, func() { cmd.Process.Kill() })
	err := cmd.Wait()
	if !kill.Stop() && err != nil && out.Len() == 0 {
		return true
	}
	if err != nil {
		t.Errorf("%s: %v\n%s", l.run, err, out.Bytes())
	}
	return false
}

// look compares the record with what it was and with the world.
func (l *lane) look(t *testing.T) {
	s, err := Open(l.store, nil)
	if err != nil {
		t.Error(err)
		return
	}
	defer s.Close()
	r, err := s.resume(ctx, l.run) // nothing is left of who was killed
	var missing *journal.MissingError
	if errors.As(err, &missing) && len(l.seen) == 0 {
		return
	}
	if err != nil {
		t.Error(err)
		return
	}
	past, err := r.Past("")
	if err != nil {
		t.Error(err)
	}
	count := map[string]int{}
	entries, err := l.ledger.entries()
	if err != nil {
		t.Error(err)
	}
	for _, e := range entries {
		count[e.call]++
		if c := past[e.call]; strings.HasPrefix(e.call, "charge") && c == nil {
			t.Errorf("%s: %s was made, and the record knows of no intent", l.run, e.call)
		}
	}
	for call, was := range l.seen {
		c := past[call]
		if c == nil || c.Returned == nil || string(c.Returned.Value) != was {
			t.Errorf("%s: the result %s of %s is lost: %+v", l.run, was, call, c)
		}
		if count[call] != l.done[call] {
			t.Errorf("%s: %s had a result, and was made again", l.run, call)
		}
	}
	for call, c := range past {
		if c.Returned != nil {
			l.seen[call], l.done[call] = string(c.Returned.Value), count[call]
		}
	}
}

// checkEnd checks the world when the run has completed.
func (l *lane) checkEnd(t *testing.T) {
	entries, err := l.ledger.entries()
	if err != nil {
		t.Error(err)
	}
	keys := map[string]string{}
	count := map[string]int{}
	for _, e := range entries {
		if was := keys[e.call]; was != "" && was != e.key {
			t.Errorf("%s: %s was made with the keys %s and %s", l.run, e.call, was, e.key)
		}
		keys[e.call] = e.key
		count[e.call]++
	}
	for n := range chains {
		charge, put := count[fmt.Sprint("charge", n)], count[fmt.Sprint("put", n)]
		if charge > 1 {
			t.Errorf("%s: charge%d was made %d times", l.run, n, charge)
		}
		if n%3 != 0 && (charge != 1 || put < 1) {
			t.Errorf("%s: charge%d was made %d times, put%d %d times", l.run, n, charge, n, put)
		}
	}
}
