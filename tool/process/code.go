package process

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/plc-lang/plc/tool/internal/driver"
)

// checkPlace refuses a placeholder where its value would or might be run. It knows the programs of
// runners only: for these it accepts what it knows to be an argument, and refuses all else.
func checkPlace(command []string, i int) error {
	if i == 0 {
		return errors.New("a param cannot choose the program; write its name")
	}
	const cure = "; pass it on standard input, or as an argument after the code or script: " +
		`[sh, -c, 'echo "$1"', sh, "{name}"], or name the param in allowCode`
	role, by := roleOf(command, i)
	for head := 1; head < i && role == roleArgument; head++ {
		if startsCode(command[head:], i-head) {
			role, by = roleCode, programName(command[head])
		}
	}
	switch role {
	case roleArgument:
		return nil
	case roleProgram:
		return fmt.Errorf("%s would run this as a program; write the program's name, or name the param in allowCode", by)
	case roleUnclear:
		return fmt.Errorf("%s might run this as code"+cure, by)
	}
	return fmt.Errorf("%s would run this as code"+cure, by)
}

// startsCode reports whether argument i is code if a program that is not known starts this command:
// docker exec box sh -c CODE.
func startsCode(command []string, i int) bool {
	r, args := runnerOf(command)
	first := len(command) - len(args)
	if r == nil || r.all || r.launches() || i < first {
		return false
	}
	role, _ := roleOf(command, i)
	if role != roleUnclear {
		return role == roleCode
	}
	if i > first {
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
	code   []string // flags that take code, or a name of code
	file   []string // flags that take a file of code
	attach []string // flags that take no value, or one that is attached

	skip int  // how many operands come before the one that is run, if no flag gives the code
	then role // of this operand
	all  bool // all that follow it are code, too

	ends  bool // no flags follow the code of a flag
	first bool // the code of a flag is the first operand, not the next argument
	late  bool // flags may follow operands
	env   bool // assignments of variables may come before the operand
	fold  bool // the case of flags does not matter

	stdin bool     // it runs its standard input if it gets no code
	shell bool     // its code is a command line
	never []string // names of code that runs its arguments
}

// programName returns the name of a program without its folder, .exe and a version; "" if the name
// is likely to be that of somebody's own program.
func programName(element string) string {
	file := strings.ReplaceAll(element, `\`, "/")
	name := strings.TrimRight(strings.TrimSuffix(strings.ToLower(path.Base(file)), ".exe"), "0123456789.")
	switch {
	case strings.HasPrefix(name, "python"): // python3-dbg
		return "python"
	case strings.Contains(file, "/") && path.Base(path.Dir(file)) != "bin" && slices.Contains(words("eval r script time watch"), name):
		return ""
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

// roleOf returns the role of argument i of a command, and the name of the program that it has this
// role for.
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

// roleInFind returns what roleOf does for find, whose -exec starts a program.
func roleInFind(command []string, i int) (role, string) {
	for k := i - 1; k > 0; k-- {
		switch {
		case !slices.Contains([]string{"-exec", "-execdir", "-ok", "-okdir"}, command[k]):
		case k == i-1:
			return roleProgram, command[k]
		default:
			return roleOf(command[k+1:], i-k-1)
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
		case flags && a == "--":
			flags, parts[i].role = false, roleFlag
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
			if of == roleCode && slices.Contains(r.never, value) {
				return parts
			}
			parts[i] = part{of, value}
			flags = flags && !(of == roleCode && r.ends)
		case a == "":
			parts[i].role = roleFlag // no program takes it for its script; sed -i '' on a Mac
		case r.env && isAssignment(a), operands < r.skip:
			parts[i].role = roleArgument
			if !r.env {
				operands++
			}
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

// flag returns the role of what a flag takes: roleUnclear if the flag is unknown, roleFlag if it
// takes nothing or something that must not be a param. It takes the next argument, or the value
// that is attached to it.
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
		if attached && (next || of == roleCode || slices.Contains(r.attach, name)) {
			return of, false, value
		}
		return roleUnclear, false, ""
	}
	of = roleFlag
	for k, letter := range a[1:] { // several short flags: -lc
		short := a[:1] + string(letter)
		kind, next := r.known(short)
		attached := a[1+k+len(string(letter)):]
		switch {
		case kind == roleUnclear, r.fold, next && r.first && (attached != "" || of == roleCode):
			return roleUnclear, false, ""
		case slices.Contains(r.attach, short):
			return of, false, ""
		case next:
			return kind, attached == "", attached
		case kind == roleCode:
			of = roleCode
		}
	}
	return of, false, ""
}

// known returns what a flag takes, and whether it is the next argument.
func (r *runner) known(name string) (of role, next bool) {
	switch {
	case slices.Contains(r.flags, name), slices.Contains(r.attach, name):
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

// isAssignment reports whether an argument begins as the assignment of a variable.
func isAssignment(a string) bool {
	name, _, ok := strings.Cut(a, "=")
	return ok && name != "" && !strings.ContainsAny(name, "{}$/ ")
}

// stdinIsCode returns the name of the program that runs standard input as code, or might do so; ""
// if there is none. It knows the programs of runners only.
func stdinIsCode(command []string) string {
	if len(command) == 0 {
		return ""
	}
	name := programName(command[0])
	r, args := runnerOf(command)
	switch {
	case r == nil, len(args) == 1 && (args[0] == "--version" || args[0] == "--help"):
		return ""
	case name == "xargs":
		return argsAreCode(command)
	}
	given := false
	for i, p := range r.roles(args) {
		switch {
		case p.role == roleProgram:
			return stdinIsCode(args[i:])
		case p.role == roleScript && isStdin(p.text), p.role == roleUnclear && (r.stdin || r.launches()):
			return name
		case p.role == roleUnclear:
			return ""
		case p.role == roleCode && r.shell:
			if by := stdinIsCode(strings.Fields(p.text)); by != "" {
				return by
			}
		}
		given = given || p.role == roleCode || p.role == roleScript
	}
	if r.stdin && !given {
		return name
	}
	return ""
}

// isStdin reports whether a file is standard input.
func isStdin(file string) bool {
	return slices.Contains(words("- /dev/stdin /dev/fd/0 /proc/self/fd/0"), file)
}

// argsAreCode returns the name of the program that runs arguments from xargs as code, or might do
// so; "" if there is none.
func argsAreCode(command []string) string {
	const arg = "{}"
	all, token := append(slices.Clone(command), arg), ""
	for i, a := range command[:len(command)-1] {
		switch text, long := strings.CutPrefix(a, "--replace="); {
		case long:
			token = text
		case a == "-I":
			token = command[i+1]
		case strings.HasPrefix(a, "-I"):
			token = a[2:]
		default:
			continue
		}
		all = slices.Clone(command)
		for k := i + 1; k < len(all) && token != ""; k++ {
			all[k] = strings.ReplaceAll(all[k], token, arg)
		}
		break
	}
	for i, a := range all {
		if role, by := roleOf(all, i); i > 0 && strings.Contains(a, arg) && role != roleArgument && len(command) > 1 {
			return by
		}
	}
	return ""
}

// mayBeCode reports whether all params of an argument are named in allowCode.
func (a *Activity) mayBeCode(t driver.Template) bool {
	return !slices.ContainsFunc(t.Names(), func(name string) bool { return !slices.Contains(a.allowCode, name) })
}
