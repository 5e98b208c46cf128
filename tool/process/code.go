package process

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/plc-lang/plc/tool/internal/driver"
)

// checkCode returns an error, and the index of its element, if the value of a placeholder would or
// might be run as code. It knows only the programs in runners; for these it accepts only places
// that are known to be plain arguments. open marks the elements with placeholders; may reports
// whether the placeholders of an element are allowed to be code.
func checkCode(command []string, open []bool, may func(int) bool) (int, error) {
	for i := range command {
		if !open[i] || may(i) {
			continue
		}
		if i == 0 {
			return i, errors.New("a param cannot choose the program; write its name")
		}
		if err := checkPlace(command, i); err != nil {
			return i, err
		}
		// If a param is not given, its argument is left out and the next ones move up.
		for k := 1; k < i; k++ {
			if !open[k] {
				continue
			}
			rest := slices.Delete(slices.Clone(command), k, k+1)
			if err := checkPlace(rest, i-1); err != nil {
				return i, fmt.Errorf("without the argument %q, %w", command[k], err)
			}
		}
	}
	return 0, nil
}

// checkPlace does what checkCode does for one element.
func checkPlace(command []string, i int) error {
	const cure = "; pass it on standard input, or as an argument after the code or script: " +
		`[sh, -c, 'echo "$1"', sh, "{name}"], or list the param in allowCode`
	role, by := roleOf(command, i)
	for head := 1; head < i && role == roleArgument; head++ {
		if startsCode(command[head:], i-head) {
			role, by = roleUnclear, programName(command[head])
		}
	}
	switch role {
	case roleArgument:
		return nil
	case roleProgram:
		return fmt.Errorf("%s would run this as a program; write the program's name, or list the param in allowCode", by)
	case roleUnclear:
		return fmt.Errorf("%s might run this as code"+cure, by)
	}
	return fmt.Errorf("%s would run this as code"+cure, by)
}

// startsCode reports whether argument i is code when an unknown program starts the command, as in
// docker exec box sh -c CODE.
func startsCode(command []string, i int) bool {
	if programName(command[0]) == "find" {
		role, _ := roleInFind(command, i)
		return role != roleArgument
	}
	r, args := runnerOf(command)
	first := len(command) - len(args)
	if r == nil || r.all || r.launches() || i < first {
		return false
	}
	role, _ := roleOf(command, i)
	switch {
	case role != roleUnclear:
		return role == roleCode
	case len(r.code) == 0: // any of its flags may take code
		return slices.ContainsFunc(command[first:i], func(a string) bool { return strings.HasPrefix(a, "-") || strings.HasPrefix(a, "/") })
	case i > first:
		if before, _, _ := r.flag(command[i-1]); before == roleCode {
			return true
		}
	}
	own, _, _ := r.flag(command[i])
	return own == roleCode
}

// A role is what an argument is to the program that gets it.
type role int

const (
	roleUnclear  role = iota // it may be code
	roleArgument             // it is not run
	roleFlag                 // a flag or its value, which must not be a param
	roleScript               // the file, or what else names the code
	roleCode                 // code
	roleProgram              // the program that is started; its arguments follow
)

// A runner describes how a program runs code or another program.
type runner struct {
	flags  []string // that take no value
	values []string // flags that take the next argument, which must not be a param
	data   []string // flags that take the next argument, which may be a param
	code   []string // flags that take code, or the name of code, like -m
	file   []string // flags that take a file of code
	attach []string // flags with an optional attached value
	stuck  []string // flags with an attached value
	digits []string // flags with optional attached digits; others may follow in the same argument

	skip int  // operands before the code, script or program, if no flag gives it
	then role // of the next operand
	all  bool // later operands are code too

	ends  bool // no flags follow the code or the file of a flag
	first bool // the code of a flag is the first operand, not the next argument
	late  bool // flags may follow operands
	env   bool // assignments of variables may come before the operand
	fold  bool // the case of flags does not matter

	stdin bool     // it runs its standard input if it gets no code
	shell bool     // its code is a command line
	never []string // modules that run their arguments, with those below them
}

// programName returns the name of a program without its folder, .exe, .cmd and a version; "" if it
// is probably a local program, such as ./script.
func programName(element string) string {
	file := strings.ReplaceAll(element, `\`, "/")
	name := strings.TrimRight(strings.TrimSuffix(strings.TrimSuffix(strings.ToLower(path.Base(file)), ".exe"), ".cmd"), "0123456789.-")
	switch {
	case strings.HasPrefix(name, "python"): // python3-dbg
		return "python"
	case strings.Contains(file, "/") && path.Base(path.Dir(file)) != "bin" && slices.Contains(words("eval r script time watch"), name):
		return ""
	}
	if digit := strings.IndexAny(name, "0123456789"); digit > 1 && runners[name] == nil { // perl5.36-x86_64-linux-gnu
		return strings.TrimRight(name[:digit], "-")
	}
	return name
}

// runnerOf returns the runner that a command begins with, and its arguments; nil if it is unknown.
func runnerOf(command []string) (*runner, []string) {
	name := programName(command[0])
	if len(command) > 1 {
		if r := runners[name+" "+command[1]]; r != nil {
			return r, command[2:]
		}
	}
	return runners[name], command[1:]
}

// launches reports whether it starts another program that its arguments name.
func (r *runner) launches() bool { return r.then == roleProgram }

// roleOf returns the role of argument i of a command, and the name of the program for which it has
// this role.
func roleOf(command []string, i int) (role, string) {
	name := programName(command[0])
	if name == "find" {
		return roleInFind(command, i)
	}
	r, args := runnerOf(command)
	if r == nil {
		return roleArgument, name
	}
	i -= len(command) - len(args)
	roles := r.roles(args)
	if k := slices.IndexFunc(roles, func(p part) bool { return p.role == roleProgram }); k >= 0 && k < i {
		return roleOf(args[k:], i-k)
	}
	if i < 0 || roles[i].role == roleFlag {
		return roleUnclear, name
	}
	return roles[i].role, name
}

// execs are the arguments of find after which a program follows.
var execs = words("-exec -execdir -ok -okdir")

// roleInFind returns what roleOf does for find, whose -exec starts a program.
func roleInFind(command []string, i int) (role, string) {
	if strings.HasPrefix(command[i], "-") {
		return roleUnclear, "find" // it may be -exec
	}
	for k := i - 1; k > 0; k-- {
		switch {
		case !slices.Contains(execs, command[k]):
		case k == i-1:
			return roleProgram, command[k]
		default:
			return roleOf(command[k+1:], i-k-1)
		}
	}
	for k := i + 1; k < len(command)-1; k++ { // the files that are found may be code
		if !slices.Contains(execs, command[k]) {
			continue
		}
		started := slices.Clone(command[k+1:])
		for n, a := range started {
			if strings.Trim(a, "{}") == "" && a != "" {
				if role, by := roleOf(started, n); n == 0 || role != roleArgument {
					return roleUnclear, by
				}
			}
		}
	}
	return roleArgument, "find"
}

// A part is an argument with its role. Its text is that of a flag's value, if it is attached.
type part struct {
	role role
	text string
}

// roles returns the roles of arguments. If one is unclear, so are all that follow.
func (r *runner) roles(args []string) []part {
	parts := make([]part, len(args))
	for i, a := range args {
		parts[i].text = a
	}
	rest := func(from int, with role) []part {
		for i := from; i < len(parts); i++ {
			parts[i].role = with
		}
		return parts
	}
	flags, given, operands := true, false, 0
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case flags && (a == "--" || a == "-" && r.first):
			flags, parts[i].role = false, roleFlag
		case flags && a == "-" && r.env: // the same as -i
			parts[i].role = roleFlag
		case flags && r.isFlag(a):
			of, next, value := r.flag(a)
			if of == roleUnclear {
				return parts
			}
			given = given || of == roleCode || of == roleScript
			switch {
			case next && i+1 == len(args):
				return parts
			case next:
				parts[i].role = roleFlag
				i++
				value = args[i]
			case of == roleCode && r.first:
				of = roleFlag
			}
			module, _, _ := strings.Cut(value, ".")
			if of == roleCode && slices.Contains(r.never, module) {
				return parts
			}
			if next && of != roleArgument && strings.HasPrefix(value, "-") && value != "-" {
				return parts // it may be the next flag: node -p -e CODE
			}
			parts[i] = part{of, value}
			flags = flags && !(r.ends && (of == roleCode || of == roleScript))
		case a == "":
			parts[i].role = roleFlag // no program takes it for its script; sed -i '' on a Mac
		case r.env && isAssignment(a):
			parts[i].role = roleFlag // a variable such as PATH or BASH_ENV chooses what runs
		case operands < r.skip:
			parts[i].role = roleArgument
			operands++
		case given && !r.first:
			parts[i].role = roleArgument
			if !r.late {
				return rest(i, roleArgument)
			}
		case given:
			parts[i].role = roleCode
			return rest(i+1, roleArgument)
		case r.then == roleUnclear:
			return parts
		case r.all:
			return rest(i, roleCode)
		default:
			parts[i].role, given = r.then, true
			if !r.late {
				return rest(i+1, roleArgument)
			}
		}
	}
	return parts
}

// isFlag reports whether an argument is a flag.
func (r *runner) isFlag(a string) bool {
	return len(a) > 1 && a[0] == '-' || r.first && strings.HasPrefix(a, "+")
}

// flag returns the role of the value of a flag: roleUnclear if the flag is unknown, roleFlag if it
// takes none or one that must not be a param. next reports whether the value is the next argument;
// if not, value is the attached one.
func (r *runner) flag(a string) (of role, next bool, value string) {
	if !r.isFlag(a) {
		return roleUnclear, false, ""
	}
	if r.fold {
		a = strings.ToLower(a)
	}
	if of, next := r.known(a); of != roleUnclear {
		return of, next, ""
	}
	if strings.HasPrefix(a, "--") {
		name, value, attached := strings.Cut(a, "=")
		of, next := r.known(name)
		switch {
		case attached && (next || of == roleCode || slices.Contains(r.attach, name)):
			return of, false, value
		case attached && !r.env && len(r.file) == 0: // it takes nothing else
			return roleFlag, false, ""
		}
		return roleUnclear, false, ""
	}
	of = roleFlag
	for rest := a[1:]; rest != ""; { // several short flags: -lc
		_, n := utf8.DecodeRuneInString(rest)
		short := a[:1] + rest[:n]
		rest = rest[n:]
		kind, next := r.known(short)
		switch {
		case slices.Contains(r.digits, short):
			rest = strings.TrimLeft(rest, "0123456789")
		case rest != "" && slices.Contains(r.stuck, short), slices.Contains(r.attach, short):
			return of, false, ""
		case kind == roleUnclear, r.fold, next && r.first && (rest != "" || of == roleCode):
			return roleUnclear, false, ""
		case next:
			return kind, rest == "", rest
		case kind == roleCode:
			of = roleCode
		}
	}
	return of, false, ""
}

// known returns what a flag takes, and whether it is the next argument.
func (r *runner) known(name string) (of role, next bool) {
	switch {
	case slices.Contains(r.flags, name), slices.Contains(r.attach, name), slices.Contains(r.digits, name):
		return roleFlag, false
	case slices.Contains(r.values, name):
		return roleFlag, true
	case slices.Contains(r.data, name):
		return roleArgument, true
	case slices.Contains(r.code, name):
		return roleCode, !r.first
	case slices.Contains(r.file, name):
		return roleScript, true
	}
	return roleUnclear, false
}

// isAssignment reports whether an argument begins like the assignment of a variable.
func isAssignment(a string) bool {
	name, _, ok := strings.Cut(a, "=")
	return ok && name != "" && !strings.ContainsAny(name, "{}$/ ")
}

// stdinIsCode returns the name of the program that runs standard input as code, or might do so; ""
// if there is none. It knows only the programs in runners.
func stdinIsCode(command []string) string {
	for len(command) > 0 && (command[0] == "exec" || command[0] == "command") {
		command = command[1:]
	}
	if len(command) == 0 {
		return ""
	}
	name := programName(command[0])
	if name == "find" {
		return startedByFind(command)
	}
	r, args := runnerOf(command)
	if r == nil || len(args) == 1 && (args[0] == "--version" || args[0] == "--help") {
		return ""
	}
	given := false
	for i, p := range r.roles(args) {
		switch {
		case p.role == roleProgram && name == "xargs": // its arguments are standard input
			if known, _ := runnerOf(args[i:]); known != nil || programName(args[i]) == "find" {
				return programName(args[i])
			}
			return ""
		case p.role == roleProgram:
			return stdinIsCode(args[i:])
		case p.role == roleScript && isStdin(p.text), p.role == roleUnclear && (r.stdin || r.launches() || len(r.file) > 0):
			return name
		case p.role == roleUnclear:
			return ""
		case p.role == roleCode && r.all:
			return stdinIsCode(strings.Fields(strings.Join(args[i:], " ")))
		case p.role == roleCode && r.shell:
			for _, command := range shellCommands(p.text) {
				if by := stdinIsCode(command); by != "" {
					return by
				}
			}
		}
		given = given || p.role == roleCode || p.role == roleScript
	}
	if r.stdin && !given {
		return name
	}
	return ""
}

// shellCommands returns the possible commands in the code of a shell: the words between its
// operators, without words before a program that only set variables or belong to the language.
func shellCommands(code string) (all [][]string) {
	for part := range strings.FieldsFuncSeq(code, func(c rune) bool { return strings.ContainsRune(";&|\n(){}`!", c) }) {
		command := strings.Fields(part)
		for len(command) > 0 && (strings.Contains(command[0], "=") || slices.Contains(words("then do else elif if while until time exec command builtin $"), command[0])) {
			command = command[1:]
		}
		if len(command) > 0 {
			all = append(all, command)
		}
	}
	return all
}

// startedByFind does what stdinIsCode does, for the programs that find starts.
func startedByFind(command []string) string {
	if slices.Contains(command, "-files0-from") && slices.ContainsFunc(command, func(a string) bool { return slices.Contains(execs, a) }) {
		return "find"
	}
	for k, a := range command[1:] {
		if !slices.Contains(execs, a) {
			continue
		}
		started := command[k+2:]
		if end := slices.IndexFunc(started, func(a string) bool { return a == ";" || a == "+" }); end >= 0 {
			started = started[:end]
		}
		if by := stdinIsCode(started); by != "" {
			return by
		}
	}
	return ""
}

// isStdin reports whether a file is standard input.
func isStdin(file string) bool {
	return slices.Contains(words("- /dev/stdin /dev/fd/0 /proc/self/fd/0 php:/stdin"), path.Clean(file))
}

// dashAt returns the index of the "--" after which arguments may begin with a dash, or the length
// of the command. A "--" before a known program is not for that program: env -- find {p}.
func dashAt(command []string) int {
	known := func(a string) bool { return runners[programName(a)] != nil || programName(a) == "find" }
	for i, a := range command {
		if i > 0 && a == "--" && !slices.ContainsFunc(command[i+1:], known) {
			return i
		}
	}
	return len(command)
}

// mayBeCode reports whether all params of an argument are named in allowCode.
func (a *Activity) mayBeCode(t driver.Template) bool {
	return !slices.ContainsFunc(t.Names(), func(name string) bool { return !slices.Contains(a.allowCode, name) })
}
