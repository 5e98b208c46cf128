//go:build linux

package sqlite

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/journal/internal/record"

	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/internal/effort"
)

// acked is what was told to be on disk when so many changes had been made.
type acked struct {
	changes int
	run     string
	events  int64
	answer  bool // the answer to its question
}

// A store is opened after a cut at each change of its files: it opens, the events of
// each run are a beginning of what was appended, and whatever was acknowledged is there.
func TestPowerCut(t *testing.T) {
	dir := memoryDir(t)
	path := filepath.Join(dir, "runs.db")
	rec := recordFile(t, path)
	appended, acks := recordedRuns(t, rec)
	changes := rec.log.changes
	step, draws := effort.Of(140, 47), 1
	if *torture {
		step, draws = 1, 3
	}
	tried := 0
	for n := 0; n <= len(changes); n++ {
		if n%step != 0 && n != len(changes) {
			continue
		}
		for how := range losses {
			for draw := range draws {
				if draw > 0 && how != tornWrite && how != someLost {
					continue
				}
				files := image(changes[:n], how, rand.New(rand.NewPCG(uint64(n), uint64(draw))))
				dir := filepath.Join(dir, "cut")
				if err := os.Mkdir(dir, 0o700); err != nil {
					t.Fatal(err)
				}
				checkCut(t, restore(t, dir, files), n, appended, acks)
				if t.Failed() {
					t.Fatalf("at change %d of %d, loss %d, draw %d", n, len(changes), how, draw)
				}
				if err := os.RemoveAll(dir); err != nil {
					t.Fatal(err)
				}
				tried++
			}
		}
	}
	t.Logf("%d boundaries, %d cuts", len(changes), tried)
}

// recordedRuns writes runs to a store whose file layer is recorded: new ones, resumed ones,
// small and large events, checkpoints in between, and the end of the store.
func recordedRuns(t *testing.T, rec *recorder) (appended map[string][]string, acks []acked) {
	appended = map[string][]string{}
	for session := range 2 {
		s, err := Open(rec.path, &Options{vfs: rec.name()})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.writer.conn.ExecContext(t.Context(), "PRAGMA wal_autocheckpoint = 12"); err != nil {
			t.Fatal(err)
		}
		for n := range 3 {
			name := fmt.Sprint("r", n)
			r, err := s.resume(ctx, name)
			if session == 0 {
				r, err = s.create(ctx, name, &journal.Given{Plan: journal.Text{Name: "plan", Bytes: fmt.Append(nil, n%2)}})
			}
			if err != nil {
				t.Fatal(err)
			}
			acks = append(acks, acked{changes: rec.log.len(), run: name, events: int64(len(appended[name]))})
			for i := range 12 {
				events := 1 + i%4
				var seq int64
				for range events {
					e := at(exec.CallReturned, fmt.Sprint(session, i), value(fmt.Sprintf(`"%0*d"`, 1+(i*i*i*7)%9000, i)))
					text, err := record.Encode(e)
					if err != nil {
						t.Fatal(err)
					}
					seq = r.Append(e)
					appended[name] = append(appended[name], text)
				}
				if i%3 != 1 {
					sync1(t, r, seq)
					acks = append(acks, acked{changes: rec.log.len(), run: name, events: seq})
				}
			}
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
			acks = append(acks, acked{changes: rec.log.len(), run: name, events: int64(len(appended[name]))})
			acks = answer(t, rec, s, name, session, appended, acks)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return appended, acks
}

// answer asks in the first session and answers in the second, while nobody holds the run.
func answer(t *testing.T, rec *recorder, s *Store, name string, session int, appended map[string][]string, acks []acked) []acked {
	if session == 0 {
		r := resume(t, s, name)
		e := at(exec.ApprovalAsked, "q", digest("d"))
		text, _ := record.Encode(e)
		appended[name] = append(appended[name], text)
		sync1(t, r, r.Append(e))
		acks = append(acks, acked{changes: rec.log.len(), run: name, events: int64(len(appended[name]))})
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		return acks
	}
	if err := s.Answer(ctx, name, "", "q", exec.Answer{Approved: true, Digest: "d"}); err != nil {
		t.Fatal(err)
	}
	return append(acks, acked{changes: rec.log.len(), run: name, answer: true})
}

func checkCut(t *testing.T, path string, n int, appended map[string][]string, acks []acked) {
	t.Helper()
	s, err := Open(path, nil)
	if err != nil {
		t.Error(err)
		return
	}
	defer s.Close()
	for _, a := range acks {
		if a.changes > n {
			break
		}
		sum, err := s.Summary(ctx, a.run)
		if err != nil {
			t.Errorf("acknowledged: %v", err)
			return
		}
		if sum.Events < a.events {
			t.Errorf("%s: %d events were acknowledged, %d are there", a.run, a.events, sum.Events)
		}
		if a.answer && sum.Questions > 0 {
			t.Errorf("%s: an answer was acknowledged and is not there", a.run)
		}
	}
	runs, err := s.Runs(ctx, journal.Filter{})
	if err != nil {
		t.Error(err)
	}
	for _, sum := range runs {
		got := bodies(t, s, sum.Run)
		if len(got) > len(appended[sum.Run]) || !slices.Equal(got, appended[sum.Run][:len(got)]) || int64(len(got)) != sum.Events {
			t.Errorf("%s: %d events, which are no beginning of what was appended; its row says %d", sum.Run, len(got), sum.Events)
		}
		r, err := s.resume(ctx, sum.Run)
		if err != nil {
			t.Error(err)
			continue
		}
		if past, err := r.Past(""); err != nil || len(got) > 0 && past == nil {
			t.Errorf("%s: its past is %v, %v", sum.Run, past, err)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}
