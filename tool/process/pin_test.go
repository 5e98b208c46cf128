//go:build unix

package process

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/plc-lang/plc/tool"
)

func script(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
}

// A pinned program is the file that was found first, whatever comes to stand earlier in PATH.
func TestPinKeepsThePath(t *testing.T) {
	early, late := t.TempDir(), t.TempDir()
	t.Setenv("PATH", early+":"+late+":"+os.Getenv("PATH"))
	script(t, filepath.Join(late, "mytool"), "echo 1")
	a, err := New(Config{Command: []string{"mytool"}})
	if err != nil {
		t.Fatal(err)
	}
	a.Pin()
	script(t, filepath.Join(early, "mytool"), "echo 2")
	if got, err := a.Call(context.Background(), &tool.Request{}); err != nil || string(got.Value) != "1" {
		t.Errorf("got %s, %v", got.Value, err)
	}
}

// A program or a script that appears after the pinning is not run.
func TestPinRefusesWhatAppears(t *testing.T) {
	for _, test := range []struct{ command, file string }{{"sh", "late.sh"}, {"latetool", "latetool"}, {"./late", "late"}} {
		dir := t.TempDir()
		t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
		a, err := New(Config{Command: []string{test.command, "late.sh"}, Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		a.Pin()
		if pins := a.Place().Pins; len(pins) == 0 || (pins[0].SHA256 == "") != (test.command == test.file || test.command == "./late") {
			t.Errorf("%s: %v", test.command, pins)
		}
		script(t, filepath.Join(dir, test.file), "echo 2")
		var fault *tool.Error
		if got, err := a.Call(context.Background(), &tool.Request{}); !errors.As(err, &fault) {
			t.Errorf("%s: got %s, %v", test.command, got.Value, err)
		}
	}
}

// A file that is named in a part of an argument is pinned.
func TestPinInAnArgument(t *testing.T) {
	for _, args := range [][]string{
		{"true", "--file=f"}, {"true", "-ff"}, {"true", "--x=sub/f"}, {"true", "-Csub", "-ff"},
		{"true", "-cp", "g:f"}, {"true", "-cp", "f:g"}, {"true", "-javaagent:f=opt"}, {"true", "@f"}, {"true", "--data=@f"}, {"true", "-d@f"},
		{"true", "file:f"}, {"true", "file://DIR/f"}, {"true", "--x=g,f"}, {"true", "-Wl,f"}, {"true", "--set", "a=b=f"}, {"true", "f:main"}, {"true", "-ff:main"}, {"true", "-xff"}, {"true", "-xvzff"}, {"true", "file:f#main"}, {"true", "f?x=1"}, {"true", "main#f"},
	} {
		dir := t.TempDir()
		if err := os.Mkdir(filepath.Join(dir, "sub"), 0o700); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"f", "sub/f"} {
			script(t, filepath.Join(dir, name), "echo 1")
		}
		for i := range args {
			args[i] = strings.ReplaceAll(args[i], "DIR", dir)
		}
		a, err := New(Config{Command: args, Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		a.Pin()
		if err := a.unchanged(); err != nil {
			t.Error(err)
		}
		for _, name := range []string{"f", "sub/f"} {
			script(t, filepath.Join(dir, name), "echo 2")
		}
		if err := a.unchanged(); err == nil {
			t.Errorf("%q: the change is not seen", args)
		}
	}
}

// The folder of a program is the folder that a link leads to.
func TestPlaceBehindALink(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"good", "evil"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	link := filepath.Join(dir, "work")
	if err := os.Symlink("good", link); err != nil {
		t.Fatal(err)
	}
	a, err := New(Config{Command: []string{"./run"}, Dir: link})
	if err != nil {
		t.Fatal(err)
	}
	before := a.Place()
	if err := errors.Join(os.Remove(link), os.Symlink("evil", link)); err != nil {
		t.Fatal(err)
	}
	if after := a.Place(); after.Dir == before.Dir || filepath.Base(after.Dir) != "evil" {
		t.Errorf("%s, before %s", after.Dir, before.Dir)
	}
}

// A file that is named in a folder to which a launcher changes is pinned there.
func TestPinInAnotherFolder(t *testing.T) {
	for _, args := range [][]string{
		{"env", "-C", "sub", "./f"}, {"env", "-Csub", "./f"}, {"env", "--chdir=sub", "./f"}, {"env", "-C", "sub", "sh", "f"},
		{"env", "-C", "sub/deep", "../f"}, {"env", "-C", "sub", "env", "-C", "deep", "../f"},
	} {
		dir := t.TempDir()
		if err := os.MkdirAll(filepath.Join(dir, "sub", "deep"), 0o700); err != nil {
			t.Fatal(err)
		}
		script(t, filepath.Join(dir, "sub", "f"), "echo 1")
		script(t, filepath.Join(dir, "f"), "echo 3")
		a, err := New(Config{Command: args, Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		a.Pin()
		if got, err := a.Call(context.Background(), &tool.Request{}); err != nil || string(got.Value) != "1" {
			t.Errorf("%q: got %s, %v", args, got.Value, err)
		}
		script(t, filepath.Join(dir, "sub", "f"), "echo 2")
		if got, err := a.Call(context.Background(), &tool.Request{}); err == nil {
			t.Errorf("%q: got %s", args, got.Value)
		}
	}
}

// Programs that a known program starts are pinned where PATH leads to them.
func TestPinWhatLaunchersStart(t *testing.T) {
	for _, args := range [][]string{
		{"env", "mytool"}, {"env", "A=1", "mytool"}, {"timeout", "5", "mytool"}, {"nice", "-n", "5", "mytool"}, {"xargs", "-a", "list", "mytool"},
		{"nice", "timeout", "-k", "1", "5", "mytool"}, {"env", "PATH=EARLY:LATE:/bin:/usr/bin", "mytool"}, {"find", "list", "-exec", "mytool", ";"},
	} {
		for name, change := range map[string]func(early, late string){
			"another content": func(_, late string) { script(t, filepath.Join(late, "mytool"), "echo 2") },
			"another place":   func(early, _ string) { script(t, filepath.Join(early, "mytool"), "echo 1") },
			"nothing": func(_, late string) {
				if err := os.Chmod(filepath.Join(late, "mytool"), 0o600); err != nil {
					t.Fatal(err)
				}
			},
		} {
			dir, early, late := t.TempDir(), t.TempDir(), t.TempDir()
			command := slices.Clone(args)
			for i := range command {
				command[i] = strings.NewReplacer("EARLY", early, "LATE", late).Replace(command[i])
			}
			script(t, filepath.Join(late, "mytool"), "echo 1")
			script(t, filepath.Join(dir, "list"), "")
			cfg := Config{Command: command, Dir: dir, Stdin: "none", Output: "text"}
			if !strings.HasPrefix(command[1], "PATH=") {
				cfg.Env = map[string]string{"PATH": early + ":" + late + ":" + os.Getenv("PATH")}
			}
			a, err := New(cfg)
			if err != nil {
				t.Fatal(err)
			}
			a.Pin()
			if got, err := a.Call(context.Background(), &tool.Request{}); err != nil || string(got.Value) != `"1"` {
				t.Errorf("%q: got %s, %v", args, got.Value, err)
			}
			if !slices.ContainsFunc(a.Place().Pins, func(p tool.Pin) bool { return p.File == filepath.Join(late, "mytool") }) {
				t.Errorf("%q: the pins are %v", args, a.Place().Pins)
			}
			change(early, late)
			var fault *tool.Error
			if got, err := a.Call(context.Background(), &tool.Request{}); !errors.As(err, &fault) || fault.Code != "changed-program" {
				t.Errorf("%q, %s: got %s, %v", args, name, got.Value, err)
			}
		}
	}
}
