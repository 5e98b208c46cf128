package process

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/plc-lang/plc/tool/internal/driver"
)

// checkPlace refuses a placeholder where its value would be run: the program, and
// what an interpreter takes as code. It knows the common interpreters only.
func checkPlace(command []string, i int) error {
	if i == 0 {
		return errors.New("a param cannot choose the program; write its name")
	}
	for head := i - 1; head >= 0; head-- {
		flag := codeFlagOf(command[head:], i-head)
		if flag != "" {
			return fmt.Errorf("after %s a param would be run as code; pass it on standard input, or as an argument of the code: "+
				`[sh, -c, 'echo "$1"', sh, "{name}"], or name it in allowCode`, flag)
		}
	}
	return nil
}

// codeFlagOf returns the flag by which the interpreter that command begins with takes its argument
// i as code, or a part of it; "" when it does not, or is none.
func codeFlagOf(command []string, i int) string {
	kind, known := interpreters[programName(command[0])]
	if !known {
		return ""
	}
	if flag, _, _ := strings.Cut(command[i], "{"); strings.HasPrefix(flag, "-") && kind.isCode(strings.TrimRight(flag, "=:")) && kind.reaches(command[1:i], kind.free) {
		return strings.TrimRight(flag, "=:")
	}
	for k := 1; k < i; k++ {
		if kind.isCode(command[k]) && kind.reaches(command[1:k], kind.free) && kind.reaches(command[k+1:i], 0) {
			return command[k]
		}
	}
	if kind.operand > 0 && kind.isOperand(command[1:i+1]) {
		return programName(command[0])
	}
	return ""
}

// interpreter describes how a program takes code.
type interpreter struct {
	letters string   // of short flags before code, at the end of several: -lc
	inside  string   // such letters that need not be the last: -cx
	words   []string // longer flags, in lower case
	values  []string // flags that take the next argument
	free    int      // how many other arguments the flag may stand behind: su ada -c
	slash   bool     // flags begin with / as well
	// operand is the number of the operand that is code or a program, from 1; 0 if there is none.
	// Flags do not count. With more, all operands after it are code as well. With assigns,
	// assignments of variables may come first, and do not count either.
	operand int
	more    bool
	assigns bool
}

// awk and sed take their first operand as code, unless a flag gives it.
var (
	awk = interpreter{letters: "e", words: []string{"--source"}, values: []string{"-v", "-F", "-f"}, operand: 1}
	sed = interpreter{letters: "e", words: []string{"--expression"}, values: []string{"-f", "-l"}, operand: 1}
)

var shell = interpreter{
	letters: "c", inside: "c", words: []string{"--command"},
	values: []string{"-o", "+o", "-O", "+O", "--rcfile", "--init-file", "-C", "--init-command"},
}

// runner is a program that hands a command line to a shell.
var runner = interpreter{letters: "c", inside: "c", words: []string{"--command", "--call", "--session-command"}, free: 1}

var npx = interpreter{letters: "c", words: []string{"--call"}, values: []string{"-p", "--package", "-w", "--workspace"}}

// interpreters are the programs that are known, without .exe and a version.
var interpreters = map[string]interpreter{
	"sh": shell, "bash": shell, "rbash": shell, "dash": shell, "ash": shell, "zsh": shell, "ksh": shell, "mksh": shell, "fish": shell,
	"csh": shell, "tcsh": shell, "nu": shell, "xonsh": shell, "busybox": {letters: "c", inside: "c", free: 1},
	"su": runner, "runuser": runner, "flock": runner, "npx": npx, "pnpx": npx, "npm": runner, "script": runner, "sg": runner,
	"cmd":        {letters: "ck", words: []string{"/c", "/k", "/r"}, slash: true},
	"powershell": {letters: "ceE", words: []string{"-command", "-encodedcommand", "-c", "-ec"}, values: []string{"-executionpolicy", "-ExecutionPolicy", "-version", "-Version"}},
	"pwsh":       {letters: "ceE", words: []string{"-command", "-encodedcommand", "-c", "-ec"}, values: []string{"-executionpolicy", "-ExecutionPolicy", "-version", "-Version"}},
	"python":     {letters: "cm", values: []string{"-W", "-X", "-Q"}},
	"pypy":       {letters: "cm", values: []string{"-W", "-X"}},
	"perl":       {letters: "eEMm", values: []string{"-I"}},
	"ruby":       {letters: "e", values: []string{"-I", "-r", "-C", "-E"}},
	"node":       {letters: "ep", words: []string{"--eval", "--print"}, values: []string{"-r", "--require", "--import", "-C", "--loader"}},
	"nodejs":     {letters: "ep", words: []string{"--eval", "--print"}, values: []string{"-r", "--require", "--import", "-C"}},
	"deno":       {words: []string{"eval"}},
	"bun":        {letters: "ep", words: []string{"--eval", "--print"}, values: []string{"-r", "--preload"}},
	"php":        {letters: "rBRE", words: []string{"--run", "--process-begin", "--process-code", "--process-end"}, values: []string{"-d", "-c", "-z"}},
	"lua":        {letters: "e", values: []string{"-l"}}, "luajit": {letters: "e", values: []string{"-l"}},
	"ipython": {letters: "c", words: []string{"--command"}}, "tsx": {letters: "ep", words: []string{"--eval", "--print"}},
	"r": {letters: "e"}, "julia": {letters: "eE", words: []string{"--eval", "--print"}, values: []string{"-L", "-p", "-t"}},
	"elixir": {letters: "e", words: []string{"--eval"}}, "groovy": {letters: "e"},
	"emacs": {words: []string{"--eval", "-eval", "--execute", "-execute"}, values: []string{"-l", "--load"}},
	"awk":   awk, "gawk": awk, "mawk": awk, "nawk": awk, "sed": sed, "gsed": sed,
	"find":  {words: []string{"-exec", "-execdir", "-ok", "-okdir"}, free: 99},
	"env":   {letters: "S", words: []string{"--split-string"}, values: []string{"-u", "-C"}, operand: 1, assigns: true},
	"xargs": {values: []string{"-I", "-n", "-P", "-L", "-d", "-a", "-s", "-E"}, operand: 1},
	"sudo":  {values: []string{"-u", "-g", "-h", "-p", "-C", "-D", "-R", "-T"}, operand: 1, assigns: true}, "doas": {values: []string{"-u", "-C"}, operand: 1},
	"nohup": {operand: 1}, "setsid": {operand: 1}, "nice": {values: []string{"-n"}, operand: 1},
	"timeout": {values: []string{"-k", "-s"}, operand: 2}, "chroot": {operand: 2},
	"ssh":  {values: strings.Fields("-B -b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w"), operand: 2, more: true},
	"eval": {operand: 1, more: true}, "watch": {values: []string{"-n"}, operand: 1, more: true},
	"rscript": {letters: "e", words: []string{"--eval"}}, "osascript": {letters: "e"}, "tclsh": {letters: "c"},
}

// programName returns the name of a program without its folder, .exe and a version.
func programName(element string) string {
	name := path.Base(strings.ReplaceAll(element, `\`, "/"))
	return strings.TrimRight(strings.TrimSuffix(strings.ToLower(name), ".exe"), "0123456789.")
}

// isCode reports whether what follows a flag is code.
func (n interpreter) isCode(flag string) bool {
	if slices.Contains(n.words, strings.ToLower(flag)) {
		return true
	}
	if len(flag) < 2 || flag[0] != '-' || flag[1] == '-' || slices.Contains(n.values, flag) {
		return false
	}
	return strings.ContainsAny(flag[len(flag)-1:], n.letters) || n.inside != "" && strings.ContainsAny(flag, n.inside) && len(flag) < 6
}

// reaches reports whether the interpreter still looks for flags, or for the code, behind these
// arguments: no more of them than free are files to run, or code.
func (n interpreter) reaches(args []string, free int) bool {
	for i, a := range args {
		option := strings.HasPrefix(a, "-") || strings.HasPrefix(a, "+") || n.slash && strings.HasPrefix(a, "/")
		if !option && !(i > 0 && n.takesNext(args[i-1])) {
			free--
		}
	}
	return free >= 0
}

// isOperand reports whether the last of these arguments is the operand that is code, or one behind
// it. There is none when a flag gives the code, or a file of code.
func (n interpreter) isOperand(args []string) bool {
	count := 0
	for i, a := range args {
		switch {
		case strings.HasPrefix(a, "-"):
			name, _, _ := strings.Cut(a, "=")
			if n.isCode(name) || n.codeInFile(name) {
				return false
			}
		case i > 0 && n.takesNext(args[i-1]), n.assigns && count == 0 && isAssignment(a):
		default:
			count++
		}
	}
	last := args[len(args)-1]
	if strings.HasPrefix(last, "-") || len(args) > 1 && n.takesNext(args[len(args)-2]) {
		return false
	}
	return count == n.operand || n.more && count > n.operand
}

// codeInFile reports whether a flag names a file of code.
func (n interpreter) codeInFile(flag string) bool {
	return flag == "--file" || n.takesNext("-f") && len(flag) > 1 && flag[1] == 'f'
}

// isAssignment reports whether an argument begins as the assignment of a variable.
func isAssignment(a string) bool {
	name, _, ok := strings.Cut(a, "=")
	return ok && name != "" && !strings.ContainsAny(name, "{}$/ ")
}

// takesNext reports whether a flag takes the next argument, also as the last of several: -euo.
func (n interpreter) takesNext(flag string) bool {
	if len(flag) > 2 && strings.ContainsAny(flag[:1], "-+") && flag[1] != '-' {
		flag = flag[:1] + flag[len(flag)-1:]
	}
	return slices.Contains(n.values, flag)
}

// mayBeCode reports whether all params of an argument are named in allowCode.
func (a *Activity) mayBeCode(t driver.Template) bool {
	return !slices.ContainsFunc(t.Names(), func(name string) bool { return !slices.Contains(a.allowCode, name) })
}
