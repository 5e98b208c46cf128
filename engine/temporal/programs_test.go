package temporal

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// A worker does not keep the programs of all runs, and does not give up one that is used.
func TestShelf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &programs{}
		used := p.take(&p.made, "used")
		for range 2 * mostPrograms {
			x := p.take(&p.made, digest([]byte(time.Now().String())))
			time.Sleep(time.Millisecond)
			p.give(x)
		}
		if len(p.made) != mostPrograms || p.take(&p.made, "used") != used {
			t.Errorf("%d programs", len(p.made))
		}
		time.Sleep(2 * idle)
		p.take(&p.made, "new")
		if len(p.made) != 2 {
			t.Errorf("%d programs after a while", len(p.made))
		}
	})
}

// What prevented that a program was compiled does not do so for ever.
func TestCompiledLater(t *testing.T) {
	p := &programs{}
	if _, _, err := p.open(t.Context(), "d", func() (string, error) { return "", errors.New("away") }); err == nil {
		t.Fatal("there was no bundle")
	}
	bundle := string(mustJSON(t, bundleOf(t, plans["chain"])))
	if _, _, err := p.open(t.Context(), "d", func() (string, error) { return bundle, nil }); err == nil {
		t.Error("compiled without the functions")
	}
	p.config.Tools = (&world{}).tools()
	_, release, err := p.open(t.Context(), "d", func() (string, error) { return bundle, nil })
	if err != nil {
		t.Fatal(err)
	}
	release()
	_, release, err = p.open(t.Context(), "d", func() (string, error) { return "", errors.New("asked again") })
	if err != nil {
		t.Fatal(err)
	}
	release()
}
