package sqlite

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/journal/internal/record"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/tool"
)

// program compiles a plan of n effectful calls that take no time: in a chain, or all beside each
// other.
func program(b *testing.B, n int, chain bool, called func()) *compile.Program {
	b.Helper()
	var plan strings.Builder
	plan.WriteString(`[{"_tool":"e","v":{"n":0},"_outputPath":"†state.x0"}`)
	for i := 1; i < n; i++ {
		from := 0
		if chain {
			from = i - 1
		}
		fmt.Fprintf(&plan, `,{"_tool":"e","v":"†state.x%d","_outputPath":"†state.x%d"}`, from, i)
	}
	plan.WriteString("]")
	type in struct {
		V map[string]int `json:"v"`
	}
	e := tool.Func("e", "", func(_ context.Context, p in) (map[string]int, error) {
		called()
		return p.V, nil
	})
	e.Definition.Effects = tool.Effects{ReadOnly: tool.No, Independent: tool.Yes}
	doc, findings := lang.Parse(diag.NewFile("plan.json", []byte(plan.String())), nil)
	prog, more := compile.Compile(doc, &compile.Options{Run: true, Catalogue: tool.NewCatalogue(e)})
	if err := append(findings, more...).Err(); err != nil {
		b.Fatal(err)
	}
	return prog
}

func run(b *testing.B, s *Store, name string, prog *compile.Program, o exec.Options) {
	b.Helper()
	r := create(b, s, name)
	o.ID, o.Record = name, r
	res, err := exec.Run(b.Context(), prog, &o)
	if err != nil || res.Status != exec.Completed {
		b.Fatal(err, res)
	}
	if err := r.Close(); err != nil {
		b.Fatal(err)
	}
}

// A chain of effectful calls can be no faster than a commit for each; "commits" is how
// much slower it is. What it is compared with commits an event of the same size.
func BenchmarkChain(b *testing.B) {
	const n = 1000
	s := open(b)
	prog := program(b, n, true, func() {})
	var chain, bare time.Duration
	for i := 0; b.Loop(); i++ {
		start := time.Now()
		run(b, s, fmt.Sprint("run", i), prog, exec.Options{})
		chain += time.Since(start)
		start = time.Now()
		commits(b, s, fmt.Sprint("bare", i), n, 1)
		bare += time.Since(start)
	}
	b.ReportMetric(float64(chain)/float64(bare), "×commits")
	b.ReportMetric(float64(chain.Microseconds())/float64(b.N*n), "µs/call")
}

// commits are n commits of so many events each, with nothing else to do.
func commits(b *testing.B, s *Store, name string, n, events int) {
	b.Helper()
	id, err := insertOnly(s, name)
	if err != nil {
		b.Fatal(err)
	}
	body, err := record.Encode(at(exec.CallStarted, "call", value(`{"n":0}`)))
	if err != nil {
		b.Fatal(err)
	}
	for i := range n {
		err := s.write(b.Context(), func(tx *tx) error {
			for k := range events {
				if err := tx.run(tx.events[len(tx.events)-1].stmt, record.EventID(id, int64(i*events+k+1)), "", "call", "callStarted", 0, body, nil, 0); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}

func insertOnly(s *Store, name string) (id int64, err error) {
	err = s.write(context.Background(), func(tx *tx) error {
		id, err = insertRun(tx, name, &journal.Given{}, nil)
		return err
	})
	return id, err
}

// A fan of effectful calls, 64 at once: "batched" is how much slower it is than as many events, in
// as few commits as there can be.
func BenchmarkFan(b *testing.B) {
	const n, parallel = 1000, 64
	s := open(b)
	prog := program(b, n, false, func() {})
	var fan, batched time.Duration
	for i := 0; b.Loop(); i++ {
		start := time.Now()
		run(b, s, fmt.Sprint("run", i), prog, exec.Options{MaxParallel: parallel})
		fan += time.Since(start)
		start = time.Now()
		commits(b, s, fmt.Sprint("bare", i), (n+parallel-1)/parallel, 4*parallel)
		batched += time.Since(start)
	}
	b.ReportMetric(float64(fan)/float64(batched), "×batched")
	b.ReportMetric(float64(fan.Microseconds())/float64(b.N*n), "µs/call")
}

// How long a run of 10,000 calls takes to make its next one, when it is resumed.
func BenchmarkResume(b *testing.B) {
	const n = 10_000
	s := open(b)
	r := create(b, s, "r1")
	if _, err := exec.Run(b.Context(), program(b, n, true, func() {}), &exec.Options{ID: "r1", Record: r}); err != nil {
		b.Fatal(err)
	}
	if err := r.Close(); err != nil {
		b.Fatal(err)
	}
	var called time.Time
	prog := program(b, n+1, true, func() { called = time.Now() })
	var first, past time.Duration
	for b.Loop() {
		start := time.Now()
		r := resume(b, s, "r1")
		if _, err := r.Past(""); err != nil {
			b.Fatal(err)
		}
		past += time.Since(start)
		start = time.Now()
		res, err := exec.Run(b.Context(), prog, &exec.Options{ID: "r1", Record: readOnce{r}})
		if err != nil || res.Status != exec.Completed {
			b.Fatal(err, res.Reason)
		}
		first += called.Sub(start)
		if err := r.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(past.Seconds()*1000/float64(b.N), "ms/past")
	b.ReportMetric(first.Seconds()*1000/float64(b.N), "ms/first")
}

// readOnce is a record whose new events are not kept, so that each resume finds the same.
type readOnce struct{ *Run }

func (readOnce) Append(*exec.Event) int64 { return 1 }
func (readOnce) Sync(int64) error         { return nil }

// The list of 100,000 runs.
func BenchmarkRuns(b *testing.B) {
	s := reopen(b, filepath.Join(b.TempDir(), "runs.db"))
	err := s.write(b.Context(), func(tx *tx) error {
		for i := range 100_000 {
			if _, err := insertRun(tx, fmt.Sprint("run", i), &journal.Given{Plan: journal.Text{Name: "plan.json"}}, nil); err != nil {
				return err
			}
		}
		_, err := tx.exec(`UPDATE runs SET status = 'completed', calls = '{"completed":12}' WHERE id % 100 <> 0`)
		for id := range int64(100_000) {
			if err == nil {
				err = tx.seal(id + 1)
			}
		}
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	for _, f := range []struct {
		name string
		journal.Filter
		want int
	}{{"all", journal.Filter{}, 100_000}, {"newest", journal.Filter{Limit: 20}, 20}, {"pending", journal.Filter{Status: []exec.Status{exec.Pending}}, 1000}} {
		b.Run(f.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				runs, err := s.Runs(ctx, f.Filter)
				if err != nil || len(runs) != f.want {
					b.Fatal(len(runs), err)
				}
			}
		})
	}
}
