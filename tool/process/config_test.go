package process

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestConfigJSON(t *testing.T) {
	for text, want := range map[string]Config{
		`["wc", "-l"]`: {Command: []string{"wc", "-l"}},
		`{"command": ["a"], "dir": "d", "env": {"K": "v"}, "inheritEnv": ["X"], "stdin": "none", "output": "lines",
		  "allowDash": ["p"], "okExit": [1], "maxOutput": 1, "maxStderr": 2, "grace": "1500ms"}`: {
			Command: []string{"a"}, Dir: "d", Env: map[string]string{"K": "v"}, InheritEnv: []string{"X"},
			Stdin: "none", Output: "lines", AllowDash: []string{"p"}, OKExit: []int{1}, MaxOutput: 1, MaxStderr: 2,
			Grace: 1500 * time.Millisecond,
		},
	} {
		var got Config
		if err := json.Unmarshal([]byte(text), &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{`{"comand": ["a"]}`, `{"command": "a b"}`, `{"command": ["a"], "grace": "soon"}`, `[1]`, `3`} {
		var got Config
		if err := json.Unmarshal([]byte(text), &got); err == nil {
			t.Errorf("%s is taken: %+v", text, got)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	for _, c := range []struct {
		cfg  Config
		want string
	}{
		{Config{}, "command is empty"},
		{Config{Command: []string{""}}, "command is empty"},
		{Config{Command: []string{"{program}"}}, "cannot choose the program"},
		{Config{Command: []string{"awk", "{print $1}"}}, "command[1]"},
		{Config{Command: []string{"a", "\x00"}}, "NUL"},
		{Config{Command: []string{"sh", "-c", "echo {name}"}}, "run as code"},
		{Config{Command: []string{"bash", "-o", "pipefail", "-c", "{p}"}}, "run as code"},
		{Config{Command: []string{"bash", "-euo", "pipefail", "-c", "{p}"}}, "run as code"},
		{Config{Command: []string{"julia", "-e", "{p}"}}, "run as code"},
		{Config{Command: []string{"bash", "-c", "-e", "{p}"}}, "run as code"},
		{Config{Command: []string{"awk", "{p}"}}, "after awk a param would be run as code"},
		{Config{Command: []string{"awk", "-F", ",", "{p}", "a.csv"}}, "after awk a param would be run as code"},
		{Config{Command: []string{"gawk", "-e", "{p}"}}, "run as code"},
		{Config{Command: []string{"sed", "-n", "s/{p}/x/"}}, "after sed a param would be run as code"},
		{Config{Command: []string{"sed", "-e", "{p}", "a"}}, "run as code"},
		{Config{Command: []string{"perl", "-M{p}", "a.pl"}}, "run as code"},
		{Config{Command: []string{"python3", "-m", "{p}"}}, "run as code"},
		{Config{Command: []string{"find", ".", "-name", "x", "-exec", "{p}", ";"}}, "run as code"},
		{Config{Command: []string{"env", "A=1", "{p}"}}, "run as a program"},
		{Config{Command: []string{"sudo", "-u", "ada", "{p}"}}, "run as a program"},
		{Config{Command: []string{"timeout", "5", "{p}"}}, "run as a program"},
		{Config{Command: []string{"nohup", "xargs", "-n", "1", "{p}"}}, "run as a program"},
		{Config{Command: []string{"ssh", "-p", "22", "host", "ls", "{p}"}}, "run as code"},
		{Config{Command: []string{"ssh", "host", "A=1 {p}"}}, "run as code"},
		{Config{Command: []string{"awk", "x={p}"}}, "run as code"},
		{Config{Command: []string{"watch", "A=1 {p}"}}, "run as code"},
		{Config{Command: []string{"bash", "-cx", "{p}"}}, "run as code"},
		{Config{Command: []string{"env", "A=1", "bash", "--norc", "-lc", "{p}"}}, "run as code"},
		{Config{Command: []string{"python3", "-c{p}"}}, "run as code"},
		{Config{Command: []string{"python3", "-W", "ignore", "-c", "{p}"}}, "run as code"},
		{Config{Command: []string{"node", "--eval={p}"}}, "run as code"},
		{Config{Command: []string{"node", "-p", "{p}"}}, "run as code"},
		{Config{Command: []string{"su", "-", "ada", "-c", "{p}"}}, "run as code"},
		{Config{Command: []string{"flock", "/tmp/lock", "-c", "{p}"}}, "run as code"},
		{Config{Command: []string{"npx", "-p", "cowsay", "-c", "{p}"}}, "run as code"},
		{Config{Command: []string{"cmd.exe", "/c", "{p}"}}, "run as code"},
		{Config{Command: []string{"php", "-r", "{p}"}}, "run as code"},
		{Config{Command: []string{"deno", "eval", "{p}"}}, "run as code"},
		{Config{Command: []string{"/usr/bin/env", "bash", "-e", "-lc", "{script}"}}, "run as code"},
		{Config{Command: []string{"python3.12", "-c", "print('{x}')"}}, "run as code"},
		{Config{Command: []string{"node", "--eval", "{x}"}}, "run as code"},
		{Config{Command: []string{`C:\Windows\cmd.exe`, "-c", "{x}"}}, "run as code"},
		{Config{Command: []string{"sed", "-e", "s/a/b/", "-e", "{p}"}}, "run as code"},
		{Config{Command: []string{"sed", "-es/{p}/b/"}}, "run as code"},
		{Config{Command: []string{"sed", "-ne", "p", "-e", "{p}"}}, "run as code"},
		{Config{Command: []string{"sed", "--line-length", "5", "{p}"}}, "run as code"},
		{Config{Command: []string{"sed", "--line", "5", "{p}"}}, "run as code"},
		{Config{Command: []string{"sed", "--", "{p}"}}, "run as code"},
		{Config{Command: []string{"awk", "--assign", "x=1", "{p}"}}, "run as code"},
		{Config{Command: []string{"perl", "-e", "1", "-e", "{p}"}}, "run as code"},
		{Config{Command: []string{"perl", "-eprint {p}"}}, "run as code"},
		{Config{Command: []string{"perl", "-ne{p}"}}, "run as code"},
		{Config{Command: []string{"ruby", "-Ilib", "-e", "1", "-e", "{p}"}}, "run as code"},
		{Config{Command: []string{"node", "--eval=f({p})"}}, "run as code"},
		{Config{Command: []string{"node", "-e", "1", "--print", "{p}"}}, "run as code"},
		{Config{Command: []string{"cmd", "/c{p}"}}, "run as code"},
		{Config{Command: []string{"env", "--unset", "A", "{p}"}}, "run as a program"},
		{Config{Command: []string{"env", "-uA", "{p}"}}, "run as a program"},
		{Config{Command: []string{"timeout", "--kill-after", "1", "5", "{p}"}}, "run as a program"},
		{Config{Command: []string{"nice", "--adjustment", "5", "{p}"}}, "run as a program"},
		{Config{Command: []string{"xargs", "--max-args", "1", "{p}"}}, "run as a program"},
		{Config{Command: []string{"sudo", "--user", "ada", "{p}"}}, "run as a program"},
		{Config{Command: []string{"sudo", "-uada", "{p}"}}, "run as a program"},
		{Config{Command: []string{"chroot", "--userspec", "a:b", "/", "{p}"}}, "run as a program"},
		{Config{Command: []string{"flock", "--timeout", "5", "/tmp/lock", "-c", "{p}"}}, "run as code"},
		{Config{Command: []string{"flock", "/tmp/lock", "{p}"}}, "run as a program"},
		{Config{Command: []string{"flock", "-w5", "/tmp/lock", "{p}"}}, "run as a program"},
		{Config{Command: []string{"bash", "-euxvhs", "a"}, Stdin: "{p}"}, "bash would run it as code"},
		{Config{Command: []string{"su", "--shell", "/bin/sh", "ada", "-c", "{p}"}}, "run as code"},
		{Config{Command: []string{"busybox", "{p}"}}, "run as a program"},
		{Config{Command: []string{"npx", "-p", "a", "{p}"}}, "run as code"},
		{Config{Command: []string{"sh"}, Stdin: "{p}"}, "sh would run it as code"},
		{Config{Command: []string{"sh"}}, "sh would run its standard input"},
		{Config{Command: []string{"bash", "-es", "a"}, Stdin: "{p}"}, "bash would run it as code"},
		{Config{Command: []string{"bash", "--norc", "-"}, Stdin: "request"}, "bash would run its standard input"},
		{Config{Command: []string{"python3", "-"}, Stdin: "{p}"}, "python would run it as code"},
		{Config{Command: []string{"python3", "-W", "ignore"}, Stdin: "print({p})"}, "python would run it as code"},
		{Config{Command: []string{"perl", "-w", "/dev/stdin"}, Stdin: "{p}"}, "perl would run it as code"},
		{Config{Command: []string{"deno", "run", "-"}, Stdin: "{p}"}, "deno would run it as code"},
		{Config{Command: []string{"pwsh", "-Command", "-"}, Stdin: "{p}"}, "pwsh would run it as code"},
		{Config{Command: []string{"sed", "-f", "-", "a.txt"}, Stdin: "{p}"}, "sed would run it as code"},
		{Config{Command: []string{"awk", "--file=/dev/stdin", "a.txt"}, Stdin: "{p}"}, "awk would run it as code"},
		{Config{Command: []string{"env", "A=1", "timeout", "-k", "1", "5", "sh"}, Stdin: "{p}"}, "sh would run it as code"},
		{Config{Command: []string{"sudo", "-u", "ada", "python3"}, Stdin: "{p}"}, "python would run it as code"},
		{Config{Command: []string{"ssh", "-p", "22", "host"}, Stdin: "{p}"}, "ssh would run it as code"},
		{Config{Command: []string{"xargs", "-n", "1", "sh", "-c"}, Stdin: "{p}"}, "sh would run it as code"},
		{Config{Command: []string{"xargs", "-I", "%", "sh", "-c", "echo %"}, Stdin: "{p}"}, "sh would run it as code"},
		{Config{Command: []string{"xargs", "env"}, Stdin: "{p}"}, "env would run it as code"},
		{Config{Command: []string{"bash", "-euoc", "pipefail", "{p}"}}, "run as code"},
		{Config{Command: []string{"bash", "-co", "pipefail", "--", "{p}"}}, "run as code"},
		{Config{Command: []string{"bash", "-ceuxvh", "{p}"}}, "run as code"},
		{Config{Command: []string{"bash", "+c", "{p}"}}, "run as code"},
		{Config{Command: []string{"sed", "--expr={p}", "a"}}, "run as code"},
		{Config{Command: []string{"su", "--comm={p}"}}, "run as code"},
		{Config{Command: []string{"sg", "-", "grp", "-c", "{p}"}}, "run as code"},
		{Config{Command: []string{"node", "--unhandled-rejections", "strict", "-e", "{p}"}}, "run as code"},
		{Config{Command: []string{"emacs", "--batch", "a.el", "--ev", "{p}"}}, "run as code"},
		{Config{Command: []string{"fish", "-C", "{p}"}}, "run as code"},
		{Config{Command: []string{"sed", "-nf", "-", "a"}, Stdin: "{p}"}, "sed would run it as code"},
		{Config{Command: []string{"env", "-S", "sh"}, Stdin: "{p}"}, "sh would run it as code"},
		{Config{Command: []string{"xargs", "--replace=X", "sh", "-c", "X"}, Stdin: "{p}"}, "sh would run it as code"},
		{Config{Command: []string{"a"}, Stdin: "parms"}, "stdin"},
		{Config{Command: []string{"a"}, Stdin: "{"}, "stdin"},
		{Config{Command: []string{"a"}, Output: "yaml"}, "output"},
		{Config{Command: []string{"a", "{x}"}, AllowDash: []string{"y"}}, "allowDash"},
		{Config{Command: []string{"a"}, OKExit: []int{-1}}, "okExit"},
		{Config{Command: []string{"a"}, MaxOutput: -1}, "negative"},
		{Config{Command: []string{"a"}, Env: map[string]string{"A=B": "x"}}, "env"},
		{Config{Command: []string{"a"}, Env: map[string]string{"A": "x\x00"}}, "env"},
	} {
		if _, err := New(c.cfg); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.cfg, err, c.want)
		}
	}
}

// What looks like code but is an argument of a script stays allowed.
func TestNewAllowsArgumentsOfScripts(t *testing.T) {
	for _, command := range [][]string{
		{"sh", "-c", `echo "$1"`, "sh", "{name}"},
		{"python3", "fetch.py", "-c", "{city}"},
		{"npx", "eslint", "-c", "{config}"},
		{"flock", "/tmp/lock", "grep", "-c", "{word}"},
		{"bash", "-o", "pipefail", "-c", `grep "$1" x | wc -l`, "sh", "{word}"},
		{"node", "-r", "./hook.js", "main.js", "-e", "{word}"},
		{"grep", "-e", "{pattern}"},
		{"awk", "-v", "words={words}", "{{ print }}"},
		{"awk", "-f", "a.awk", "{file}"},
		{"sed", "-n", "$=", "{file}"},
		{"sed", "--quiet", "-e", "p", "-e", "q", "{file}"},
		{"sed", "-i.bak", "s/a/b/", "{file}"},
		{"sh", "run.sh", "{job}"},
		{"sudo", "--non-interactive", "-u", "ada", "ls", "{folder}"},
		{"timeout", "--foreground", "5", "ls", "{folder}"},
		{"env", "--ignore-environment", "A=1", "ls", "-u", "{folder}"},
		{"flock", "--timeout", "5", "/tmp/lock", "ls", "{folder}"},
		{"node", "--no-warnings", "main.js", "-e", "{word}"},
		{"xargs", "-I", "%", "grep", "{word}", "%"},
		{"xargs", "grep", "-c", "{word}"},
		{"timeout", "5", "sh", "run.sh"},
		{"ssh", "host", "cat"},
		{"python3", "-m", "tool"},
		{"python3", "-c", "import sys; print(sys.stdin.read())"},
		{"grep", "-f", "-", "bash"},
	} {
		if _, err := New(Config{Command: command}); err != nil {
			t.Errorf("%q: %v", command, err)
		}
	}
}

func TestParams(t *testing.T) {
	a, err := New(Config{Command: []string{"p", "{b}", "--x={a}{b}", "{{c}}"}, Stdin: "{text}"})
	if err != nil {
		t.Fatal(err)
	}
	if got := a.Params(); !slices.Equal(got, []string{"a", "b", "text"}) {
		t.Errorf("params %q", got)
	}
}

func TestEnvironment(t *testing.T) {
	got := environment(Config{
		Environ:    []string{"PATH=/bin", "HOME=/h", "LC_TIME=C", "AWS_KEY=s", "AWS_ID=i", "SECRET=x", "PATHOLOGY=y"},
		InheritEnv: []string{"AWS_*"},
		Env:        map[string]string{"B": "2", "A": "1"},
	})
	want := []string{"PATH=/bin", "HOME=/h", "LC_TIME=C", "AWS_KEY=s", "AWS_ID=i", "A=1", "B=2"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// A param may be an argument of a program that another program starts, or a file for an
// interpreter.
func TestNewTakesArguments(t *testing.T) {
	for _, command := range [][]string{
		{"awk", "-v", "n={p}", "END {{ print n }}"},
		{"awk", "-f", "count.awk", "{p}"},
		{"awk", "END {{ print NR }}", "{p}"},
		{"sed", "-n", "$=", "{p}"},
		{"sed", "-e", "s/a/b/", "{p}"},
		{"sed", "--file=a.sed", "{p}"},
		{"perl", "-Mstrict", "a.pl", "{p}"},
		{"python3", "-m", "json.tool", "{p}"},
		{"find", "{p}", "-name", "x", "-exec", "rm", "{{}}", ";"},
		{"env", "A={p}", "printenv"},
		{"env", "A=1", "grep", "{p}"},
		{"timeout", "{p}", "sleep", "1"},
		{"xargs", "-n", "1", "rm", "{p}"},
		{"nice", "-n", "5", "make", "{p}"},
	} {
		if _, err := New(Config{Command: command}); err != nil {
			t.Errorf("%q: %v", command, err)
		}
	}
}
