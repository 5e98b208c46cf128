//go:build unix

package mcp

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// Pools of a cache share a server while its tools stay the same; who has one whose tools have
// changed keeps it.
func TestCache(t *testing.T) {
	var k Cache
	t.Cleanup(k.Close)
	told := make(chan string, 9)
	pool := func(s Server) *Pool {
		return k.Open(t.Context(), []Server{s}, &Options{Environ: os.Environ(), OnChanged: func(server string) { told <- server }})
	}
	pid := func(p *Pool) string {
		out, err := call(t, p, "pid", `{}`)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	pools := make([]*Pool, 8)
	var all sync.WaitGroup
	for i := range pools {
		all.Go(func() { pools[i] = pool(stdio("good")) })
	}
	all.Wait()
	first := pid(pools[0])
	for _, p := range pools {
		if got := pid(p); got != first {
			t.Errorf("two pools have the servers %s and %s", first, got)
		}
	}
	if pid(pool(stdio("good", "OTHER=1"))) == first {
		t.Error("a server with another environment is the same one")
	}
	lock, err := pools[0].Lock()
	if err != nil {
		t.Fatal(err)
	}
	locked := func() *Pool {
		return k.Open(t.Context(), []Server{stdio("good")}, &Options{Environ: os.Environ(), Lock: lock})
	}
	if got := pid(locked()); got != first {
		t.Errorf("the server with the tools of a lock is %s, and %s runs", got, first)
	}
	lock.servers["test"] = lock.servers["test"][1:]
	if got := pid(locked()); got == first {
		t.Error("a server with other tools than those of a lock is the same one")
	}
	if _, err := call(t, pools[0], "grow", `{}`); err != nil {
		t.Fatal(err)
	}
	if got := <-told; got != "test" {
		t.Errorf("told that %q has changed", got)
	}
	next := pool(stdio("good"))
	if got := pid(next); got == first {
		t.Error("a server whose tools have changed is the same one")
	}
	if _, err := call(t, pools[1], "echo", `{}`); err == nil || failed(t, err).Code != "changed" {
		t.Errorf("the changed tool of the old server: %v", err)
	}
	if _, err := call(t, next, "echo", `{}`); err != nil {
		t.Error(err)
	}
}

// A server that failed is tried again, and nothing is kept of it.
func TestCacheTriesAgain(t *testing.T) {
	var k Cache
	t.Cleanup(k.Close)
	marker := filepath.Join(t.TempDir(), "server")
	s := stdio("good")
	s.Command = marker
	if p := k.Open(t.Context(), []Server{s}, &Options{Environ: os.Environ()}); p.Servers()[0].Err() == nil || len(k.all) != 0 {
		t.Fatal("a program that is not there has tools")
	}
	if err := os.Symlink(os.Args[0], marker); err != nil {
		t.Skip(err)
	}
	if p := k.Open(t.Context(), []Server{s}, &Options{Environ: os.Environ(), TryAgain: time.Hour}); p.Servers()[0].Err() == nil {
		t.Error("a server that failed is not left alone")
	}
	if p := k.Open(t.Context(), []Server{s}, &Options{Environ: os.Environ()}); p.Servers()[0].Err() != nil {
		t.Error(p.Servers()[0].Err())
	}
}
