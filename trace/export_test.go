package trace_test

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/internal/tracetest"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/trace"
)

// many returns a plan of n calls that take no time.
func many(n int) string {
	calls := make([]string, n)
	for i := range calls {
		calls[i] = fmt.Sprintf(`{"_tool":"a","_id":"c%d"}`, i)
	}
	return "[" + strings.Join(calls, ",") + "]"
}

// answers returns a collector that answers the first requests so, and takes the others.
func answers(t *testing.T, first ...func(w http.ResponseWriter, r *http.Request)) (*tracetest.Collector, *atomic.Int32) {
	var n atomic.Int32
	return tracetest.New(t, func(w http.ResponseWriter, r *http.Request) bool {
		i := int(n.Add(1)) - 1
		if i < len(first) {
			first[i](w, r)
		}
		return i < len(first)
	}), &n
}

func status(code int) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

// Whatever the collector does, the run ends as it would; what was lost is told, and no more.
func TestBadCollectors(t *testing.T) {
	hangUp := func(w http.ResponseWriter, _ *http.Request) {
		c, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			_ = c.Close()
		}
	}
	for _, c := range []struct {
		name  string
		first []func(http.ResponseWriter, *http.Request)
		lost  string // "" is nothing
		asked int32
	}{
		{"takes all", nil, "", 1},
		{"refuses", []func(http.ResponseWriter, *http.Request){status(401)}, "2 of 2 spans were not sent: http://HOST: status 401 Unauthorized", 1},
		{"leads elsewhere", []func(http.ResponseWriter, *http.Request){func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
		}}, "2 of 2 spans were not sent: http://HOST: status 307 Temporary Redirect", 1},
		{"hangs up", []func(http.ResponseWriter, *http.Request){hangUp, hangUp, hangUp, hangUp}, "2 of 2 spans were not sent: http://HOST: EOF", -1},
		{"is busy at the end", []func(http.ResponseWriter, *http.Request){status(503)}, "2 of 2 spans were not sent: http://HOST: status 503 Service Unavailable", 1},
		{"rejects one", []func(http.ResponseWriter, *http.Request){func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(`{"partialSuccess":{"rejectedSpans":"1","errorMessage":"no"}}`))
		}}, "1 of 2 spans were not sent: the collector rejected them", 1},
		{"rejects more than there are", []func(http.ResponseWriter, *http.Request){func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(`{"partialSuccess":{"rejectedSpans":99}}`))
		}}, "2 of 2 spans were not sent: the collector rejected them", 1},
		{"says nonsense", []func(http.ResponseWriter, *http.Request){func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(`{"partialSuccess":[`))
		}}, "", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			collector, asked := answers(t, c.first...)
			endpoint := strings.Replace(collector.URL, "http://", "http://user:s3cret@", 1) + "?key=s3cret"
			res, lost := traced(t, program(t, many(1), map[string]tool.Activity{"a": gives(`1`)}), &trace.Config{Endpoint: endpoint, Headers: map[string]string{"Key": "s3cret"}}, &exec.Options{})
			if res.Status != exec.Completed {
				t.Errorf("the run is %s: %s", res.Status, res.Reason)
			}
			host := strings.TrimSuffix(strings.TrimPrefix(collector.URL, "http://"), "/v1/traces")
			if got := text(lost); got != strings.ReplaceAll(c.lost, "HOST", host) {
				t.Errorf("lost %q", got)
			}
			if n := asked.Load(); c.asked >= 0 && n != c.asked {
				t.Errorf("%d requests", n)
			}
		})
	}
}

func text(lost *trace.Lost) string {
	if lost == nil {
		return ""
	}
	return lost.Error()
}

// What may pass is tried again while the run goes on.
func TestTriedAgain(t *testing.T) {
	collector, asked := answers(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(http.StatusTooManyRequests)
	})
	tr := trace.New(&trace.Config{Endpoint: collector.URL})
	prog := program(t, many(600), map[string]tool.Activity{"a": gives(`1`)}) // more than a request holds
	if _, err := exec.Run(t.Context(), prog, &exec.Options{OnEvent: tr.Event}); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(20 * time.Second); len(collector.Spans(t)) == 0 && time.Now().Before(end); {
		time.Sleep(5 * time.Millisecond)
	}
	if lost := tr.Close(); lost != nil {
		t.Error(lost)
	}
	if n := len(collector.Spans(t)); n != 601 || asked.Load() != 3 {
		t.Errorf("%d spans in %d requests", n, asked.Load())
	}
}

// A collector that never answers holds nothing up but the end, and that for a few seconds; what
// does not fit is dropped and counted.
func TestStuckCollector(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pipe := &stuck{held: make(chan struct{})}
		tr := trace.New(&trace.Config{Endpoint: "http://collector/v1/traces", Timeout: time.Hour, Client: &http.Client{Transport: pipe}})
		at := time.Now()
		tr.Event(&exec.Event{Type: exec.RunStarted, Run: "R", Time: at})
		for i := range 20_000 {
			tr.Event(&exec.Event{Type: exec.CallSkipped, Run: "R", Call: fmt.Sprint("c", i), Time: at})
			if i == 1000 {
				<-pipe.held // the first request is on its way, and hangs
			}
		}
		tr.Event(&exec.Event{Type: exec.RunFinished, Run: "R", Time: at})
		if time.Since(at) != 0 {
			t.Errorf("the run was held up for %v", time.Since(at))
		}
		lost := tr.Close()
		if took := time.Since(at); took > 6*time.Second {
			t.Errorf("the end took %v", took)
		}
		if lost == nil || lost.Of != 20_001 || lost.Spans != 20_001 || lost.Dropped < 3000 || lost.Dropped > 4000 || !strings.Contains(lost.Error(), "the collector did not take them in time") {
			t.Errorf("%+v", lost)
		}
	})
}

// stuck is a transport whose requests end with their context.
type stuck struct {
	held chan struct{}
	once atomic.Bool
}

func (s *stuck) RoundTrip(r *http.Request) (*http.Response, error) {
	if !s.once.Swap(true) {
		close(s.held)
	}
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// A collector that is not there.
func TestNoCollector(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	_, lost := traced(t, program(t, many(3), map[string]tool.Activity{"a": gives(`1`)}), &trace.Config{Endpoint: "http://" + l.Addr().String()}, &exec.Options{})
	if got := text(lost); !strings.HasPrefix(got, "4 of 4 spans were not sent: http://"+l.Addr().String()+": dial tcp") {
		t.Error(got)
	}
}

// Spans that wait are sent now and then, not only when they fill a request.
func TestSentNowAndThen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sent := make(chan struct{}, 8)
		tr := trace.New(&trace.Config{Endpoint: "http://collector/", Client: &http.Client{Transport: counts(sent)}})
		tr.Event(&exec.Event{Type: exec.RunStarted, Run: "R", Time: time.Now()})
		tr.Event(&exec.Event{Type: exec.CallSkipped, Run: "R", Call: "c", Time: time.Now()})
		time.Sleep(6 * time.Second)
		synctest.Wait()
		if len(sent) != 1 {
			t.Errorf("%d requests", len(sent))
		}
		if lost := tr.Close(); lost != nil {
			t.Error(lost)
		}
	})
}

type counts chan struct{}

func (c counts) RoundTrip(*http.Request) (*http.Response, error) {
	c <- struct{}{}
	return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Header: http.Header{}}, nil
}

// Nothing is kept of calls that have ended, and making spans is cheap.
func BenchmarkEvents(b *testing.B) {
	tr := trace.New(&trace.Config{Endpoint: "http://collector/", Client: &http.Client{Transport: swallows{}}})
	defer tr.Close()
	at := time.Now()
	tr.Event(&exec.Event{Type: exec.RunStarted, Run: "R", Time: at})
	b.ReportAllocs()
	for b.Loop() {
		tr.Event(&exec.Event{Type: exec.CallStarted, Run: "R", Call: "c", Tool: "t", Key: "k", Attempt: 1, Time: at})
		tr.Event(&exec.Event{Type: exec.CallReturned, Run: "R", Call: "c", Tool: "t", Attempt: 1, Time: at})
		tr.Event(&exec.Event{Type: exec.CallCompleted, Run: "R", Call: "c", Tool: "t", Status: exec.Completed, Attempt: 1, Time: at})
	}
}

type swallows struct{}

func (swallows) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Header: http.Header{}}, nil
}
