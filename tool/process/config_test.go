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
		{Config{Command: []string{"sh", "-c", "echo {name}"}}, "run this as code"},
		{Config{Command: []string{"bash", "-o", "pipefail", "-c", "{p}"}}, "run this as code"},
		{Config{Command: []string{"bash", "-euo", "pipefail", "-c", "{p}"}}, "run this as code"},
		{Config{Command: []string{"julia", "-e", "{p}"}}, "run this as code"},
		{Config{Command: []string{"bash", "-c", "-e", "{p}"}}, "run this as code"},
		{Config{Command: []string{"awk", "{p}"}}, "awk would run this as code"},
		{Config{Command: []string{"awk", "-F", ",", "{p}", "a.csv"}}, "awk would run this as code"},
		{Config{Command: []string{"gawk", "-e", "{p}"}}, "run this as code"},
		{Config{Command: []string{"sed", "-n", "s/{p}/x/"}}, "sed would run this as code"},
		{Config{Command: []string{"sed", "-e", "{p}", "a"}}, "run this as code"},
		{Config{Command: []string{"perl", "-M{p}", "a.pl"}}, "run this as code"},
		{Config{Command: []string{"python3", "-m", "{p}"}}, "run this as code"},
		{Config{Command: []string{"find", ".", "-name", "x", "-exec", "{p}", ";"}}, "run this as a program"},
		{Config{Command: []string{"env", "A=1", "{p}"}}, "run this as a program"},
		{Config{Command: []string{"sudo", "-u", "ada", "{p}"}}, "run this as a program"},
		{Config{Command: []string{"timeout", "5", "{p}"}}, "run this as a program"},
		{Config{Command: []string{"nohup", "xargs", "-n", "1", "{p}"}}, "run this as a program"},
		{Config{Command: []string{"ssh", "-p", "22", "host", "ls", "{p}"}}, "run this as code"},
		{Config{Command: []string{"ssh", "host", "A=1 {p}"}}, "run this as code"},
		{Config{Command: []string{"awk", "x={p}"}}, "run this as code"},
		{Config{Command: []string{"watch", "A=1 {p}"}}, "run this as code"},
		{Config{Command: []string{"bash", "-cx", "{p}"}}, "run this as code"},
		{Config{Command: []string{"env", "A=1", "bash", "--norc", "-lc", "{p}"}}, "run this as code"},
		{Config{Command: []string{"python3", "-c{p}"}}, "run this as code"},
		{Config{Command: []string{"python3", "-W", "ignore", "-c", "{p}"}}, "run this as code"},
		{Config{Command: []string{"node", "--eval={p}"}}, "run this as code"},
		{Config{Command: []string{"node", "-p", "{p}"}}, "run this as code"},
		{Config{Command: []string{"su", "-", "ada", "-c", "{p}"}}, "run this as code"},
		{Config{Command: []string{"flock", "/tmp/lock", "-c", "{p}"}}, "run this as code"},
		{Config{Command: []string{"npx", "-p", "cowsay", "-c", "{p}"}}, "run this as code"},
		{Config{Command: []string{"cmd.exe", "/c", "{p}"}}, "run this as code"},
		{Config{Command: []string{"php", "-r", "{p}"}}, "run this as code"},
		{Config{Command: []string{"deno", "eval", "{p}"}}, "run this as code"},
		{Config{Command: []string{"/usr/bin/env", "bash", "-e", "-lc", "{script}"}}, "run this as code"},
		{Config{Command: []string{"python3.12", "-c", "print('{x}')"}}, "run this as code"},
		{Config{Command: []string{"node", "--eval", "{x}"}}, "run this as code"},
		{Config{Command: []string{`C:\Windows\cmd.exe`, "-c", "{x}"}}, "run this as code"},
		{Config{Command: []string{"sed", "-e", "s/a/b/", "-e", "{p}"}}, "run this as code"},
		{Config{Command: []string{"sed", "-es/{p}/b/"}}, "run this as code"},
		{Config{Command: []string{"sed", "-ne", "p", "-e", "{p}"}}, "run this as code"},
		{Config{Command: []string{"sed", "--line-length", "5", "{p}"}}, "run this as code"},
		{Config{Command: []string{"sed", "--line", "5", "{p}"}}, "run this as code"},
		{Config{Command: []string{"sed", "--", "{p}"}}, "run this as code"},
		{Config{Command: []string{"awk", "--assign", "x=1", "{p}"}}, "run this as code"},
		{Config{Command: []string{"perl", "-e", "1", "-e", "{p}"}}, "run this as code"},
		{Config{Command: []string{"perl", "-eprint {p}"}}, "run this as code"},
		{Config{Command: []string{"perl", "-ne{p}"}}, "run this as code"},
		{Config{Command: []string{"ruby", "-Ilib", "-e", "1", "-e", "{p}"}}, "run this as code"},
		{Config{Command: []string{"node", "--eval=f({p})"}}, "run this as code"},
		{Config{Command: []string{"node", "-e", "1", "--print", "{p}"}}, "run this as code"},
		{Config{Command: []string{"cmd", "/c{p}"}}, "run this as code"},
		{Config{Command: []string{"env", "--unset", "A", "{p}"}}, "run this as a program"},
		{Config{Command: []string{"env", "-uA", "{p}"}}, "run this as a program"},
		{Config{Command: []string{"timeout", "--kill-after", "1", "5", "{p}"}}, "run this as a program"},
		{Config{Command: []string{"nice", "--adjustment", "5", "{p}"}}, "run this as a program"},
		{Config{Command: []string{"xargs", "--max-args", "1", "{p}"}}, "run this as a program"},
		{Config{Command: []string{"sudo", "--user", "ada", "{p}"}}, "run this as a program"},
		{Config{Command: []string{"sudo", "-uada", "{p}"}}, "run this as a program"},
		{Config{Command: []string{"chroot", "--userspec", "a:b", "/", "{p}"}}, "might run this as code"},
		{Config{Command: []string{"flock", "--timeout", "5", "/tmp/lock", "-c", "{p}"}}, "run this as code"},
		{Config{Command: []string{"flock", "/tmp/lock", "{p}"}}, "run this as a program"},
		{Config{Command: []string{"flock", "-w5", "/tmp/lock", "{p}"}}, "run this as a program"},
		{Config{Command: []string{"bash", "-euxvhs", "a"}, Stdin: "{p}"}, "bash may run it as code"},
		{Config{Command: []string{"su", "--shell", "/bin/sh", "ada", "-c", "{p}"}}, "run this as code"},
		{Config{Command: []string{"busybox", "{p}"}}, "run this as a program"},
		{Config{Command: []string{"npx", "-p", "a", "{p}"}}, "run this as a program"},
		{Config{Command: []string{"sh"}, Stdin: "{p}"}, "sh may run it as code"},
		{Config{Command: []string{"sh"}}, "sh may run its standard input"},
		{Config{Command: []string{"bash", "-es", "a"}, Stdin: "{p}"}, "bash may run it as code"},
		{Config{Command: []string{"bash", "--norc", "-"}, Stdin: "request"}, "bash may run its standard input"},
		{Config{Command: []string{"python3", "-"}, Stdin: "{p}"}, "python may run it as code"},
		{Config{Command: []string{"python3", "-W", "ignore"}, Stdin: "print({p})"}, "python may run it as code"},
		{Config{Command: []string{"perl", "-w", "/dev/stdin"}, Stdin: "{p}"}, "perl may run it as code"},
		{Config{Command: []string{"deno", "run", "-"}, Stdin: "{p}"}, "deno may run it as code"},
		{Config{Command: []string{"pwsh", "-Command", "-"}, Stdin: "{p}"}, "pwsh may run it as code"},
		{Config{Command: []string{"sed", "-f", "-", "a.txt"}, Stdin: "{p}"}, "sed may run it as code"},
		{Config{Command: []string{"awk", "--file=/dev/stdin", "a.txt"}, Stdin: "{p}"}, "awk may run it as code"},
		{Config{Command: []string{"env", "A=1", "timeout", "-k", "1", "5", "sh"}, Stdin: "{p}"}, "sh may run it as code"},
		{Config{Command: []string{"sudo", "-u", "ada", "python3"}, Stdin: "{p}"}, "python may run it as code"},
		{Config{Command: []string{"ssh", "-p", "22", "host"}, Stdin: "{p}"}, "ssh may run it as code"},
		{Config{Command: []string{"xargs", "-n", "1", "sh", "-c"}, Stdin: "{p}"}, "sh may run it as code"},
		{Config{Command: []string{"xargs", "-I", "%", "sh", "-c", "echo %"}, Stdin: "{p}"}, "sh may run it as code"},
		{Config{Command: []string{"xargs", "env"}, Stdin: "{p}"}, "env may run it as code"},
		{Config{Command: []string{"bash", "-euoc", "pipefail", "{p}"}}, "run this as code"},
		{Config{Command: []string{"bash", "-co", "pipefail", "--", "{p}"}}, "run this as code"},
		{Config{Command: []string{"bash", "-ceuxvh", "{p}"}}, "run this as code"},
		{Config{Command: []string{"bash", "+c", "{p}"}}, "run this as code"},
		{Config{Command: []string{"sed", "--expr={p}", "a"}}, "run this as code"},
		{Config{Command: []string{"su", "--comm={p}"}}, "run this as code"},
		{Config{Command: []string{"sg", "-", "grp", "-c", "{p}"}}, "run this as code"},
		{Config{Command: []string{"node", "--unhandled-rejections", "strict", "-e", "{p}"}}, "run this as code"},
		{Config{Command: []string{"emacs", "--batch", "a.el", "--ev", "{p}"}}, "run this as code"},
		{Config{Command: []string{"fish", "-C", "{p}"}}, "run this as code"},
		{Config{Command: []string{"sed", "-nf", "-", "a"}, Stdin: "{p}"}, "sed may run it as code"},
		{Config{Command: []string{"env", "-S", "sh"}, Stdin: "{p}"}, "env may run it as code"},
		{Config{Command: []string{"xargs", "--replace=X", "sh", "-c", "X"}, Stdin: "{p}"}, "sh may run it as code"},
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

// Of an interpreter, and of a program that starts others, only what is known to be an argument may
// be a param.
func TestNewRefusesCode(t *testing.T) {
	for _, command := range [][]string{
		{"pwsh", "-Command", "Get-Item", "{p}"},
		{"pwsh", "-ep", "bypass", "-c", "{p}"},
		{"pwsh", "-WindowStyle", "hidden", "-c", "{p}"},
		{"powershell", "-wd", ".", "-CommandWithArgs", "{p}"},
		{"powershell.exe", "x.ps1", "{p}"},
		{"cmd", "/c", "dir", "{p}"},
		{"nu", "--commands", "{p}"},
		{"nu", "-e", "{p}"},
		{"deno", "repl", "--eval", "{p}"},
		{"deno", "run", "data:{p}"},
		{"bun", "run", "-e", "{p}"},
		{"bun", "exec", "{p}"},
		{"bun", "x", "{p}"},
		{"ipython", "--c={p}"},
		{"gawk", "-Wsource={p}"},
		{"php", "-S", "{p}"},
		{"php", "-t", "{p}"},
		{"php", "-F", "{p}"},
		{"julia", "-O", "3", "-e", "{p}"},
		{"groovy", "-cp", "x", "-e", "{p}"},
		{"elixir", "--rpc-eval", "a", "{p}"},
		{"elixir", "--name", "x", "-e", "{p}"},
		{"osascript", "-s", "o", "-e", "{p}"},
		{"python3", "-m", "timeit", "{p}"},
		{"python3", "-mpdb", "{p}"},
		{"python3-dbg", "-c", "{p}"},
		{"python3", "{p}"},
		{"python3", "-i", "{p}"},
		{"npm", "exec", "{p}"},
		{"npm", "x", "eslint", "-c", "{p}"},
		{"npm", "-c", "{p}"},
		{"runuser", "-u", "a", "{p}"},
		{"env", "-P", "/bin", "{p}"},
		{"env", "-L", "ada", "{p}"},
		{"sed", "-i", "", "{p}"},
		{"sudo", "-a", "x", "{p}"},
		{"sudo", "-c", "x", "{p}"},
		{"sudo", "-s", "{p}"},
		{"su", "--shell={p}"},
		{"lua", "-e", "1", "{p}"},
		{"lua", "-e{p}"},
		{"sh", "-c", "--", "{p}"},
		{"python3", "-m", "inspect", "{p}"}, {"python3", "-m", "pickle", "{p}"},
		{"sh", "-s", "{p}"},
		{"bash", "--rcfile", "{p}"},
		{"bash", "-o{p}", "-c", "x"},
		{"perl", "-I{p}", "a.pl"},
		{"perl", "-pi.bak", "-e", "{p}"},
		{"node", "--unknown", "x", "{p}"},
		{"awk", "-i", "{p}", "1"},
		{"sed", "p", "a", "-e", "{p}"},
		{"sed", "-n", "-f", "{p}"},
		{"find", ".", "-exec", "env", "{p}", ";"},
		{"find", ".", "-exec", "sh", "{p}", ";"},
		{"docker", "exec", "box", "sh", "-c", "{p}"},
		{"kubectl", "exec", "pod", "--", "bash", "-lc", "{p}"},
		{"docker", "exec", "box", "python3", "-c{p}"},
		{"docker", "exec", "box", "sed", "{p}"},
		{"flock", "/lock", "-c", "{p}"},
		{"timeout", "-x", "5", "ls", "{p}"},
		{"time", "node", "{p}"},
		{"xargs", "-n", "1", "sh", "{p}"},
		{"bash", "-", "{p}"},
		{"bash", "-o", "pipefail", "-", "{p}"},
		{"env", "-", "{p}"},
		{"find", "{p}", "-exec", "sh", "{{}}", ";"},
		{"find", ".", "-name", "{p}", "-exec", "{{}}", ";"},
		{"find", ".", "-e{p}", "y", ";"},
		{"npm", "run", "x", "--script-shell={p}"},
		{"python3", "-m", "pydoc", "{p}"},
		{"npx.cmd", "{p}"},
		{"npx", "ts-node", "-e", "{p}"},
		{"awk", "-F", "{sep}", "CODE", "{p}"},
		{"env", "-u", "{v}", "ls", "{p}"},
		{"sudo", "-u", "{who}", "ls", "{p}"},
		{"flock", "{lock}", "make", "{p}"},
		{"xargs", "-I", "{p}", "rm"},
		{"perl", "-ne", "CODE", "{p}"},
		{"perl", "-pi.bak", "-e", "CODE", "{p}"},
		{"perl", "-lne", "CODE", "-e", "{p}"},
		{"perl", "-0ne", "CODE", "-e", "{p}"},
		{"ruby", "-W0e", "1", "-e", "{p}"},
		{"node", "-p", "-e", "{p}"},
		{"perl", "-F", "-e", "CODE", "-e", "{p}"},
		{"julia", "--project", "-L", "a.jl", "-e", "{p}"},
		{"sed", "-i", ".bak", "s/{p}/x/", "a"},
		{"env", "BASH_ENV={p}", "bash", "a.sh"},
		{"env", "-C", "{p}", "./run.sh"},
		{"chroot", "{p}", "ls"},
		{"docker", "exec", "box", "pwsh", "-Command", "{p}"},
		{"docker", "exec", "box", "su", "ada", "-c", "{p}"},
		{"docker", "exec", "box", "cmd", "/c", "{p}"},
		{"docker", "exec", "box", "lua", "-e", "{p}"},
		{"docker", "exec", "box", "emacs", "--eval", "{p}"},
		{"docker", "exec", "box", "find", ".", "-exec", "{p}", ";"},
		{"deno", "test", "{p}"},
		{"bun", "test", "--preload", "{p}"},
		{"tsx", "watch", "{p}"},
		{"node", "inspect", "{p}"},
		{"npm", "install", "{p}"},
		{"npm", "explore", "x", "--", "{p}"},
		{"pnpm", "{p}"},
		{"python3", "-m", "idlelib.run", "{p}"},
		{"python3", "-m", "pytest", "{p}"},
		{"zsh-5.9", "-c", "{p}"},
		{"perl5.36-x86_64-linux-gnu", "-e", "{p}"},
		{"node-18", "-e", "{p}"},
		{"xargs", "-a", "{p}", "sh", "-c"},
	} {
		_, err := New(Config{Command: command, Stdin: "none"})
		if err == nil || !strings.Contains(err.Error(), "run this as") {
			t.Errorf("%q: %v", command, err)
		}
		if _, err := New(Config{Command: command, Stdin: "none", AllowCode: []string{"p"}}); err != nil {
			t.Errorf("%q with allowCode: %v", command, err)
		}
	}
}

// A program that runs its standard input gets no params there.
func TestNewRefusesCodeOnStdin(t *testing.T) {
	for _, command := range [][]string{
		{"su", "ada"},
		{"sg", "grp", "-c", "sh"},
		{"flock", "/lock", "-c", "sh"},
		{"flock", "/lock", "sh"},
		{"sudo", "-s"},
		{"sudo", "-i"},
		{"ssh", "host", "sh"},
		{"watch", "sh"},
		{"sh", "-c", "sh"},
		{"sh", "-c", "cd . && bash"}, {"sh", "-c", "set -e\nbash"}, {"sh", "-c", "(bash)"}, {"sh", "-c", "VAR=1 bash"}, {"sh", "-c", "sh; true"},
		{"sh", "-c", "if true; then bash; fi"},
		{"npx", "node"},
		{"npm", "exec", "node"},
		{"python3", "-i", "x.py"},
		{"python3", "-m", "code"},
		{"script", "-q", "/dev/null"},
		{"/usr/bin/script", "-q", "/dev/null"},
		{"bash", "/proc/self/fd/0"},
		{"cmd", "/k"},
		{"pwsh", "-NoProfile"},
		{"pwsh", "-NoProfile", "-Command", "-"},
		{"sed", "-f/dev/stdin", "a"},
		{"sed", "-f", "a.sed", "-f", "-", "a"},
		{"php", "-f", "-"},
		{"stdbuf", "-oL", "python3"},
		{"sh", "-c", "exec sh"},
		{"bash", "-"},
		{"env", "-", "sh"},
		{"npx"},
		{"find", "-files0-from", "-", "-exec", "{{}}", ";"},
		{"sh", "/dev//stdin"},
		{"php", "php://stdin"},
		{"gawk", "-D", "1"},
		{"sed", "--fi=-", "f"},
		{"find", ".", "-exec", "sh", ";"},
		{"pwsh", "-File", "-"},
		{"node", "-p", "--no-warnings"},
		{"xargs", "-0I", "%", "sh", "-c", "%"},
		{"xargs", "-i%", "sh", "-c", "%"},
		{"xargs", "timeout"},
		{"xargs", "perl", "-e", "CODE"},
		{"xargs", "sed", "-n", "p"},
		{"xargs", "find"},
		{"xargs", "perl", "-Ilib", "-w"},
		{"python3", "-m", "asyncio"},
	} {
		for _, stdin := range []string{"", "request", "{p}"} {
			_, err := New(Config{Command: command, Stdin: stdin})
			if err == nil || !strings.Contains(err.Error(), "as code") {
				t.Errorf("%q with stdin %q: %v", command, stdin, err)
			}
		}
		if _, err := New(Config{Command: command, Stdin: "none"}); err != nil {
			t.Errorf("%q with stdin none: %v", command, err)
		}
	}
}

// What looks like code but is an argument of code, of a script or of another program is allowed.
func TestNewAllowsArguments(t *testing.T) {
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
		{"awk", "-v", "n={p}", "END {{ print n }}"},
		{"awk", "-f", "count.awk", "{p}"},
		{"awk", "END {{ print NR }}", "{p}"},
		{"sed", "-n", "$=", "{p}"},
		{"sed", "-e", "s/a/b/", "{p}"},
		{"sed", "--file=a.sed", "{p}"},
		{"perl", "-Mstrict", "a.pl", "{p}"},
		{"python3", "-m", "json.tool", "{p}"},
		{"find", "{p}", "-name", "x", "-exec", "rm", "{{}}", ";"},
		{"env", "A=1", "grep", "{p}"},
		{"timeout", "{p}", "sleep", "1"},
		{"xargs", "-n", "1", "rm", "{p}"},
		{"nice", "-n", "5", "make", "{p}"},
		{"pwsh", "-NoProfile", "-File", "x.ps1", "-Name", "{p}"},
		{"bash", "-euo", "pipefail", "-c", "CODE", "sh", "{p}"},
		{"bash", "-lc", "CODE", "sh", "{p}"},
		{"python3", "-uB", "fetch.py", "{p}"},
		{"python3", "-m", "tool", "-c", "{p}"},
		{"python3", "-X", "dev", "fetch.py", "{p}"},
		{"deno", "run", "--allow-net", "a.ts", "{p}"},
		{"bun", "run", "a.ts", "{p}"},
		{"node", "--env-file=.env", "main.js", "{p}"},
		{"kubectl", "get", "node", "{p}"},
		{"./script", "{p}"},
		{"node", "--max-old-space-size=4096", "main.js", "{p}"},
		{"deno", "run", "--allow-read=.", "a.ts", "{p}"},
		{"npm", "run", "build", "{p}"},
		{"find", "{p}", "-exec", "grep", "word", "{{}}", ";"},
		{"env", "-", "ls", "{p}"},
		{"docker", "run", "img", "python", "main.py", "{p}"},
		{"docker", "exec", "box", "sh", "-c", "CODE", "sh", "{p}"},
		{"sed", "-i.bak", "-e", "s/a/b/", "{p}"},
		{"sed", "-n", "s/a/b/p", "{p}", "{q}"},
		{"awk", "-F{p}", "CODE", "{q}"},
		{"sed", "--in-place", "s/a/b/", "{p}"},
		{"perl", "-l", "a.pl", "{p}"},
		{"ssh", "host", "python3", "fetch.py"},
		{"sudo", "-u", "ada", "ls", "{p}", "{q}"},
		{"ssh", "{p}", "uptime"},
		{"nice", "-n", "{p}", "make"},
		{"timeout", "-k", "5", "-s", "INT", "10", "ls", "{p}"},
		{"npm", "run", "build", "--", "{p}"},
		{"find", ".", "-exec", "sh", "-c", "CODE", "sh", "{p}", ";"},
		{"Rscript", "--vanilla", "a.R", "{p}"},
		{"git", "log", "-c", "{p}"},
		{"sh", "-c", "CODE"},
		{"python3", "--version"},
		{"bash", "--version"},
		{"node", "main.js"},
		{"timeout", "5", "sh", "run.sh"},
		{"sudo", "-n", "python3", "fetch.py"},
		{"sh", "-c", "cat"}, {"sh", "-c", "set -e; sort | head -1"}, {"sh", "-c", "A=1 wc -l && true"},
		{"ssh", "host", "cat"},
		{"env"},
		{"xargs", "rm"},
		{"find", ".", "-name", "x"},
		{"awk", "CODE"},
		{"sed", "p"},
		{"npm", "run", "build"},
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
