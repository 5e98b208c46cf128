package process

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/plc-lang/plc/tool/internal/driver"
)

// checkPlace refuses a placeholder where its value would be run: the program, and
// what an interpreter takes as code. It knows the common interpreters only.
func checkPlace(command []string, i int) error {
	if i == 0 {
		return errors.New("a param cannot choose the program; write its name")
	}
	for head := i - 1; head >= 0; head-- {
		switch flag := codeFlagOf(command[head:], i-head); {
		case flag == "":
		case interpreters[flag].launches:
			return fmt.Errorf("after %s a param would be run as a program; write the program's name, or name the param in allowCode", flag)
		default:
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
	if flag := kind.attached(command[i]); flag != "" && kind.reaches(command[1:i], kind.free) {
		return flag
	}
	for k := 1; k < i; k++ {
		values := 0
		if kind.takesNext(command[k]) { // bash -euoc pipefail CODE
			values = 1
		}
		if kind.isCode(command[k]) && kind.reaches(command[1:k], kind.free) && kind.reaches(command[k+1:i], values) {
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
	files   []string // those of values that name a file of code
	free    int      // how many other arguments the flag may stand behind: su - ada -c
	slash   bool     // flags begin with / as well
	ends    bool     // behind the code of a flag there are no more flags: sh -c CODE -c
	// operand is the number of the operand that is code or a program, from 1; 0 if there is none.
	// Flags do not count. With more, all operands after it are code as well. With assigns,
	// assignments of variables may come first, and do not count either.
	operand  int
	more     bool
	assigns  bool
	launches bool // operand is a program, and what follows are its arguments
	stdin    bool // standard input is code if no file or flag has any
	run      bool // "run" may stand before the file
}

// awk and sed take their first operand as code, unless a flag gives it.
var (
	awk = interpreter{letters: "e", words: []string{"--source"}, operand: 1, files: []string{"-f", "--file", "-E", "--exec"},
		values: strings.Fields("-v --assign -F --field-separator -f --file -E --exec -i --include -l --load -W")}
	sed = interpreter{letters: "e", words: []string{"--expression"}, operand: 1, files: []string{"-f", "--file"},
		values: strings.Fields("-f --file -l --line-length")}
)

var shell = interpreter{
	letters: "c", inside: "c", words: []string{"--command"}, ends: true, stdin: true,
	values: strings.Fields("-o +o -O +O --rcfile --init-file"),
}

// Programs that hand a command line to a shell.
var (
	su     = interpreter{letters: "c", inside: "c", words: []string{"--command", "--session-command"}, free: 2, values: strings.Fields("-s --shell -g --group -G --supp-group -w --whitelist-environment -u --user")}
	flock  = interpreter{letters: "c", inside: "c", words: []string{"--command"}, free: 1, operand: 2, launches: true, values: strings.Fields("-w --wait --timeout -E --conflict-exit-code")}
	record = interpreter{letters: "c", inside: "c", words: []string{"--command"}, free: 1, values: strings.Fields("-E --echo -I --log-in -O --log-out -B --log-io -T --log-timing -m --logging-format -o --output-limit")}
	npm    = interpreter{letters: "c", words: []string{"--call"}, free: 1, values: strings.Fields("-w --workspace --prefix --package")}
	npx    = interpreter{letters: "c", words: []string{"--call"}, operand: 1, values: strings.Fields("-p --package -w --workspace")}
)

var powershell = interpreter{
	letters: "ceE", words: []string{"-command", "-encodedcommand", "-c", "-ec"}, ends: true, stdin: true, files: []string{"-file", "-File", "-f"},
	values: strings.Fields("-executionpolicy -ExecutionPolicy -version -Version -file -File -f -workingdirectory -WorkingDirectory"),
}

var node = interpreter{
	letters: "ep", words: []string{"--eval", "--print"}, stdin: true,
	values: strings.Fields("-r --require --import -C --conditions --loader --experimental-loader --env-file --input-type --title --icu-data-dir --openssl-config --diagnostic-dir --redirect-warnings"),
}

// interpreters are the programs that are known, without .exe and a version.
var interpreters = map[string]interpreter{
	"sh": shell, "bash": shell, "rbash": shell, "dash": shell, "ash": shell, "zsh": shell, "ksh": shell, "mksh": shell,
	"fish": {letters: "cC", words: []string{"--command", "--init-command"}, ends: true, stdin: true},
	"csh":  shell, "tcsh": shell, "nu": shell, "xonsh": shell,
	"su": su, "runuser": su, "flock": flock, "npx": npx, "pnpx": npx, "bunx": npx, "npm": npm, "script": record,
	"sg":         {letters: "c", free: 2, operand: 2},
	"cmd":        {letters: "ck", words: []string{"/c", "/k", "/r"}, slash: true, ends: true, stdin: true},
	"powershell": powershell, "pwsh": powershell,
	"python":  {letters: "cm", values: strings.Fields("-W -X -Q --check-hash-based-pycs"), ends: true, stdin: true},
	"pypy":    {letters: "cm", values: []string{"-W", "-X"}, ends: true, stdin: true},
	"ipython": {letters: "cm", words: []string{"--command"}, ends: true, stdin: true},
	"perl":    {letters: "eEMm", values: []string{"-I"}, stdin: true},
	"ruby":    {letters: "e", values: []string{"-I", "-r", "-C", "-E"}, stdin: true},
	"node":    node, "nodejs": node, "tsx": node,
	"deno": {words: []string{"eval"}, stdin: true, run: true},
	"bun":  {letters: "ep", words: []string{"--eval", "--print"}, values: []string{"-r", "--preload"}, stdin: true, run: true},
	"php":  {letters: "rBRE", words: []string{"--run", "--process-begin", "--process-code", "--process-end"}, values: []string{"-d", "-c", "-z", "-f", "--file"}, files: []string{"-f", "--file"}, stdin: true},
	"lua":  {letters: "e", values: []string{"-l"}, stdin: true}, "luajit": {letters: "e", values: []string{"-l"}, stdin: true},
	"r":       {letters: "e", values: []string{"-f", "--file", "-g", "--gui", "-d", "--debugger"}, files: []string{"-f", "--file"}, stdin: true},
	"rscript": {letters: "e", words: []string{"--eval"}},
	"julia":   {letters: "eE", words: []string{"--eval", "--print"}, values: strings.Fields("-L --load -p --procs -t --threads -J --sysimage -C --cpu-target -H --home"), stdin: true},
	"elixir":  {letters: "e", words: []string{"--eval"}, values: strings.Fields("-r -S -pr -pa -pz")}, "groovy": {letters: "e"},
	"osascript": {letters: "e", values: []string{"-l"}, stdin: true}, "tclsh": {letters: "c", values: []string{"-encoding"}, stdin: true},
	"emacs": {words: []string{"--eval", "-eval", "--execute", "-execute"}, values: []string{"-l", "--load"}, free: 99},
	"awk":   awk, "gawk": awk, "mawk": awk, "nawk": awk, "sed": sed, "gsed": sed,
	"find": {words: []string{"-exec", "-execdir", "-ok", "-okdir"}, free: 99},
	"env":  {letters: "S", words: []string{"--split-string"}, values: strings.Fields("-u --unset -C --chdir -a --argv0"), operand: 1, assigns: true, launches: true},
	"xargs": {values: strings.Fields("-I -n --max-args -P --max-procs -L -d --delimiter -a --arg-file -s --max-chars -E --process-slot-var"),
		operand: 1, launches: true},
	"sudo": {values: strings.Fields("-u --user -g --group -h --host -p --prompt -C --close-from -D --chdir -R --chroot -T --command-timeout -r --role -t --type -U --other-user"),
		operand: 1, assigns: true, launches: true},
	"doas":  {values: []string{"-u", "-C"}, operand: 1, launches: true},
	"nohup": {operand: 1, launches: true}, "setsid": {operand: 1, launches: true}, "busybox": {operand: 1, launches: true},
	"nice":    {values: []string{"-n", "--adjustment"}, operand: 1, launches: true},
	"timeout": {values: strings.Fields("-k --kill-after -s --signal"), operand: 2, launches: true},
	"chroot":  {values: []string{"--userspec", "--groups"}, operand: 2, launches: true},
	"ssh":     {values: strings.Fields("-B -b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w"), operand: 2, more: true},
	"eval":    {operand: 1, more: true}, "watch": {values: strings.Fields("-n --interval -q --equexit"), operand: 1, more: true},
}

// programName returns the name of a program without its folder, .exe and a version.
func programName(element string) string {
	name := path.Base(strings.ReplaceAll(element, `\`, "/"))
	return strings.TrimRight(strings.TrimSuffix(strings.ToLower(name), ".exe"), "0123456789.")
}

// isCode reports whether what follows a flag is code, also when the flag is abbreviated (--expr).
func (n interpreter) isCode(flag string) bool {
	lower := strings.ToLower(flag)
	if slices.ContainsFunc(n.words, func(word string) bool { return word == lower || isAbbreviation(lower, word) }) {
		return true
	}
	if len(flag) < 2 || flag[0] != '-' && (flag[0] != '+' || n.inside == "") || flag[1] == '-' || slices.Contains(n.values, flag) {
		return false
	}
	return strings.ContainsAny(flag[len(flag)-1:], n.letters) || n.inside != "" && strings.ContainsAny(flag, n.inside) && isLetters(flag[1:])
}

// isLetters reports whether a text may be a cluster of short flags.
func isLetters(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r > unicode.MaxASCII || !unicode.IsLetter(r) })
}

// attached returns the flag that the code in an argument is attached to, as in -e{code},
// --eval=f({x}) and /c{code}; "" if there is none.
func (n interpreter) attached(arg string) string {
	literal, _, _ := strings.Cut(arg, "{")
	name, _, _ := strings.Cut(literal, "=")
	name, _, _ = strings.Cut(name, ":")
	lower := strings.ToLower(literal)
	for _, word := range n.words {
		if (word == strings.ToLower(name) || isAbbreviation(strings.ToLower(name), word)) && len(literal) > len(name) || n.slash && strings.HasPrefix(lower, word) {
			return word
		}
	}
	if len(literal) < 2 || literal[0] != '-' || literal[1] == '-' {
		return ""
	}
	for _, letter := range literal[1:] {
		switch flag := "-" + string(letter); {
		case strings.ContainsRune(n.letters, letter):
			return flag
		case slices.Contains(n.values, flag):
			return ""
		}
	}
	return ""
}

// isOption reports whether an argument is a flag.
func (n interpreter) isOption(arg string) bool {
	return strings.HasPrefix(arg, "-") && arg != "-" || strings.HasPrefix(arg, "+") || n.slash && strings.HasPrefix(arg, "/")
}

// reaches reports whether the interpreter still looks for flags, or for the code, behind these
// arguments: no more of them than free are files to run, or code.
func (n interpreter) reaches(args []string, free int) bool {
	for i, a := range args {
		value := i > 0 && (n.takesNext(args[i-1]) || !n.ends && n.isCode(args[i-1]) || n.mayTake(args[i-1], a))
		if !value && !n.isOption(a) {
			free--
		}
	}
	return free >= 0
}

// mayTake reports whether an argument may be the value of an unknown flag before it: whether it
// does not look like a file.
func (n interpreter) mayTake(flag, arg string) bool {
	return len(flag) > 2 && n.isOption(flag) && !strings.ContainsAny(flag, "=:") && !strings.ContainsAny(arg, "./\\ ")
}

// isOperand reports whether the last of these arguments is the operand that is code, or one behind
// it. There is none when a flag gives the code, or a file of code.
func (n interpreter) isOperand(args []string) bool {
	operands, code := n.operands(args)
	if code || len(operands) == 0 || operands[len(operands)-1] != len(args)-1 {
		return false
	}
	return len(operands) == n.operand || n.more && len(operands) > n.operand
}

// operands returns which arguments are operands, and whether a flag among the arguments gives the
// code or a file of code. All that follows "--" are operands.
func (n interpreter) operands(args []string) (operands []int, code bool) {
	flags := true
	for i, a := range args {
		switch {
		case flags && a == "--":
			flags = false
		case flags && n.isOption(a):
			name, _, _ := strings.Cut(a, "=")
			code = code || n.isCode(name) || n.namesFile(name)
		case flags && i > 0 && n.takesNext(args[i-1]), n.assigns && len(operands) == 0 && isAssignment(a):
		default:
			operands = append(operands, i)
			if n.launches && len(operands) >= n.operand {
				flags = false
			}
		}
	}
	return operands, code
}

// namesFile reports whether a flag names a file of code, which may be attached to it.
func (n interpreter) namesFile(flag string) bool {
	return slices.ContainsFunc(n.files, func(f string) bool {
		cluster := len(f) == 2 && len(flag) > 2 && flag[1] != '-' && strings.HasSuffix(flag, f[1:]) && isLetters(flag[1:])
		return flag == f || len(f) == 2 && strings.HasPrefix(flag, f) || cluster || isAbbreviation(flag, f)
	})
}

// isAssignment reports whether an argument begins as the assignment of a variable.
func isAssignment(a string) bool {
	name, _, ok := strings.Cut(a, "=")
	return ok && name != "" && !strings.ContainsAny(name, "{}$/ ")
}

// takesNext reports whether a flag takes the next argument, also as the last of several (-euo) and
// when it is abbreviated (--unse).
func (n interpreter) takesNext(flag string) bool {
	if slices.Contains(n.values, flag) {
		return true
	}
	if len(flag) < 3 || flag[0] != '-' && flag[0] != '+' {
		return false
	}
	if flag[1] == '-' {
		return slices.ContainsFunc(n.values, func(v string) bool { return isAbbreviation(flag, v) })
	}
	for i, letter := range flag[1:] {
		if slices.Contains(n.values, flag[:1]+string(letter)) {
			// A shell takes the value from the next argument also inside a cluster: -oc.
			return i == len(flag)-2 || n.inside != "" && n.ends
		}
	}
	return false
}

// isAbbreviation reports whether a flag may be a long one that is abbreviated.
func isAbbreviation(flag, long string) bool {
	return len(flag) > 2 && strings.HasPrefix(flag, "--") && strings.HasPrefix(long, flag)
}

// stdinIsCode returns the name of the program that runs standard input as code, or "". It knows
// the common interpreters, and the common programs that start others.
func stdinIsCode(command []string) string {
	for len(command) > 0 {
		name := programName(command[0])
		kind, known := interpreters[name]
		if !known {
			return ""
		}
		args := command[1:]
		operands, code := kind.operands(args)
		switch {
		case name == "env" && slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, "-S") || strings.HasPrefix(a, "--s") }):
			return stdinIsCode(split(args))
		case name == "xargs":
			return argsAreCode(command)
		case kind.launches && !code && len(operands) >= kind.operand:
			command = args[operands[kind.operand-1]:]
			continue
		case name == "ssh" && len(operands) == 1, kind.readsFile(args), kind.stdin && kind.readsStdin(args, operands, code):
			return name
		}
		return ""
	}
	return ""
}

// split returns the command that env -S splits one of its arguments into.
func split(args []string) []string {
	for i, a := range args {
		switch {
		case a == "-S" || a == "--split-string":
			return strings.Fields(strings.Join(args[i+1:], " "))
		case strings.HasPrefix(a, "-S"), strings.HasPrefix(a, "--split-string="):
			_, text, _ := strings.Cut(strings.Replace(a, "-S", "=", 1), "=")
			return strings.Fields(strings.Join(append([]string{text}, args[i+1:]...), " "))
		}
	}
	return nil
}

// isStdin reports whether an argument stands for standard input.
func isStdin(arg string) bool { return slices.Contains([]string{"-", "/dev/stdin", "/dev/fd/0"}, arg) }

// readsFile reports whether a flag gives standard input as the file of code.
func (n interpreter) readsFile(args []string) bool {
	for i, a := range args {
		name, attached, _ := strings.Cut(a, "=")
		if n.namesFile(name) && (isStdin(attached) || len(a) > 2 && isStdin(a[2:]) || i+1 < len(args) && isStdin(args[i+1])) {
			return true
		}
	}
	return false
}

// readsStdin reports whether the code comes from standard input.
func (n interpreter) readsStdin(args []string, operands []int, code bool) bool {
	if n.run && len(operands) > 0 && args[operands[0]] == "run" {
		operands = operands[1:]
	}
	for i, a := range args {
		if i > 0 && isStdin(a) && slices.Contains(n.words, strings.ToLower(args[i-1])) { // powershell -Command -
			return true
		}
	}
	switch {
	case code:
		return false
	case len(operands) == 0, isStdin(args[operands[0]]):
		return true
	}
	return n.inside != "" && slices.ContainsFunc(args[:operands[0]], func(a string) bool { // sh -s, -es
		return len(a) > 1 && a[0] == '-' && isLetters(a[1:]) && strings.Contains(a, "s")
	})
}

// argsAreCode returns the name of the program that runs arguments from xargs as code, or "".
func argsAreCode(command []string) string {
	all := append(slices.Clone(command), "{}")
	for i, a := range command[:len(command)-1] {
		token := command[i+1]
		name, attached, long := strings.Cut(a, "=")
		switch long = long && name == "--replace"; {
		case long:
			token = attached
		case a != "-I" && strings.HasPrefix(a, "-I"):
			token = a[2:]
		}
		if (strings.HasPrefix(a, "-I") || long) && token != "" {
			all = slices.Clone(command)
			for k := i + 1; k < len(all); k++ {
				all[k] = strings.ReplaceAll(all[k], token, "{}")
			}
			break
		}
	}
	for i := 1; i < len(all); i++ {
		for head := i - 1; head >= 0 && strings.Contains(all[i], "{}"); head-- {
			if codeFlagOf(all[head:], i-head) != "" {
				return programName(all[head])
			}
		}
	}
	return ""
}

// mayBeCode reports whether all params of an argument are named in allowCode.
func (a *Activity) mayBeCode(t driver.Template) bool {
	return !slices.ContainsFunc(t.Names(), func(name string) bool { return !slices.Contains(a.allowCode, name) })
}
