package model

import (
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plc-lang/plc/tool"
)

// A stream that says nothing for too long is given up; one that says seldom that it is still
// there is not.
func TestSilentStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		e := newEvents(t.Context(), &transport{}, r)
		go func() {
			for range 5 {
				time.Sleep(longestSilence - time.Second)
				io.WriteString(w, ": still there\n\n")
			}
		}()
		began := time.Now()
		text, err := io.ReadAll(e)
		var te *tool.Error
		if !errors.As(err, &te) || te.Code != "timeout" || te.Permanent || te.Uncertain || len(text) != 5*len(": still there\n\n") {
			t.Errorf("%q, %v", text, err)
		}
		if took, want := time.Since(began), 6*longestSilence-5*time.Second; took != want {
			t.Errorf("it took %v, want %v", took, want)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
}

// Nothing is closed under who takes his time between two lines.
func TestSlowReaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		e := newEvents(t.Context(), &transport{}, r)
		go func() {
			io.WriteString(w, "data: 1\n")
			io.WriteString(w, "data: 2\n")
			w.Close()
		}()
		buf := make([]byte, 100)
		for _, want := range []string{"data: 1\n", "data: 2\n"} {
			n, err := e.Read(buf)
			if got := string(buf[:n]); got != want || err != nil {
				t.Errorf("read %q, %v", got, err)
			}
			time.Sleep(3 * longestSilence)
		}
		if _, err := e.Read(buf); err != io.EOF {
			t.Errorf("after the end: %v", err)
		}
	})
}
