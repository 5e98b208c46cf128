package cel

import "strings"

// overload is one of the ways to call a function or an operator.
type overload struct {
	method bool // with a target, the first of takes
	takes  []*typ
	gives  *typ
	vars   int // type variables in it
}

// function has the ways to call a function or an operator.
type function struct {
	name      string
	overloads []overload
	call      native
}

const (
	numbers  = "(double, double) double; (int, int) int; (uint, uint) uint"
	ordered  = "(bool, bool) bool; (int, int) bool; (int, double) bool; (int, uint) bool; (uint, uint) bool; (uint, double) bool; (uint, int) bool; (double, double) bool; (double, int) bool; (double, uint) bool; (string, string) bool; (bytes, bytes) bool; (timestamp, timestamp) bool; (duration, duration) bool"
	extremum = "(double) double; (int) int; (uint) uint; " + numbers + "; (int, uint) dyn; (int, double) dyn; (double, int) dyn; (double, uint) dyn; (uint, int) dyn; (uint, double) dyn; (list(double)) double; (list(int)) int; (list(uint)) uint"
	sized    = "(bytes) int; (list(A)) int; (map(A, B)) int; (string) int"
	sortable = "(list(int)) list(int); (list(uint)) list(uint); (list(double)) list(double); (list(bool)) list(bool); (list(duration)) list(duration); (list(timestamp)) list(timestamp); (list(string)) list(string); (list(bytes)) list(bytes)"
	bitPairs = "(int, int) int; (uint, uint) uint"
	shifts   = "(int, int) int; (uint, int) uint"
	sign     = "(double) double; (int) int; (uint) uint"
	toDouble = "(double) double"
	isDouble = "(double) bool"
	ofTime   = "(timestamp) int"
	ofBoth   = "(timestamp) int; (duration) int"
	twoTexts = "(string, string) bool"
	aText    = "(string) string"
)

// declarations are the operators and functions of conditions. Methods have a dot before their
// name. The overloads are in the order of the reference implementation: the first that fits gives
// a type to what has none yet, such as the elements of [].
var declarations = []struct {
	name, takes string
	call        native
}{
	{"!", "(bool) bool", not},
	{"-_", "(double) double; (int) int", negate},
	{"+", "(bytes, bytes) bytes; (double, double) double; (duration, duration) duration; (duration, timestamp) timestamp; (timestamp, duration) timestamp; (int, int) int; (list(A), list(A)) list(A); (string, string) string; (uint, uint) uint", add},
	{"-", "(double, double) double; (duration, duration) duration; (int, int) int; (timestamp, duration) timestamp; (timestamp, timestamp) duration; (uint, uint) uint", subtract},
	{"*", numbers, multiply},
	{"/", numbers, divide},
	{"%", "(int, int) int; (uint, uint) uint", modulo},
	{"<", ordered, ordering(func(c int) bool { return c < 0 })},
	{"<=", ordered, ordering(func(c int) bool { return c <= 0 })},
	{">", ordered, ordering(func(c int) bool { return c > 0 })},
	{">=", ordered, ordering(func(c int) bool { return c >= 0 })},
	{"==", "(dyn, dyn) bool", func(f *frame, _ *node, args []any) (any, error) { return f.equal(args[0], args[1]) }},
	{"!=", "(dyn, dyn) bool", func(f *frame, _ *node, args []any) (any, error) {
		same, err := f.equal(args[0], args[1])
		return !same, err
	}},
	{"in", "(dyn, dyn) bool", contains},
	{"[]", "(list(A), int) A; (map(A, B), A) B", nil},

	{"size", sized, size},
	{".size", sized, size},
	{"type", "(A) type(A)", func(_ *frame, _ *node, args []any) (any, error) { return typeName(nameOf(args[0])), nil }},
	{"dyn", "(A) dyn", func(_ *frame, _ *node, args []any) (any, error) { return args[0], nil }},
	{"bool", "(bool) bool; (string) bool", toBool},
	{"bytes", "(bytes) bytes; (string) bytes", toBytes},
	{"double", "(double) double; (int) double; (string) double; (uint) double", toDoubleValue},
	{"duration", "(duration) duration; (string) duration", toDuration},
	{"int", "(int) int; (double) int; (duration) int; (string) int; (timestamp) int; (uint) int", toInt},
	{"string", "(string) string; (bool) string; (bytes) string; (double) string; (duration) string; (int) string; (timestamp) string; (uint) string", toString},
	{"timestamp", "(timestamp) timestamp; (int) timestamp; (string) timestamp", toTimestamp},
	{"uint", "(uint) uint; (double) uint; (int) uint; (string) uint", toUint},
	{"matches", twoTexts, matches},
	{".matches", twoTexts, matches},
	{".contains", twoTexts, twoStrings(strings.Contains)},
	{".startsWith", twoTexts, twoStrings(strings.HasPrefix)},
	{".endsWith", twoTexts, twoStrings(strings.HasSuffix)},
	{".getDate", ofTime, timePart},
	{".getDayOfMonth", ofTime, timePart},
	{".getDayOfWeek", ofTime, timePart},
	{".getDayOfYear", ofTime, timePart},
	{".getFullYear", ofTime, timePart},
	{".getMonth", ofTime, timePart},
	{".getHours", ofBoth, timePart},
	{".getMinutes", ofBoth, timePart},
	{".getSeconds", ofBoth, timePart},
	{".getMilliseconds", ofBoth, timePart},

	{".charAt", "(string, int) string", charAt},
	{".indexOf", "(string, string) int; (string, string, int) int", indexOf},
	{".lastIndexOf", "(string, string) int; (string, string, int) int", lastIndexOf},
	{".lowerAscii", aText, oneString(lowerASCII)},
	{".upperAscii", aText, oneString(upperASCII)},
	{".trim", aText, oneString(strings.TrimSpace)},
	{"strings.quote", aText, oneString(quote)},
	{".split", "(string, string) list(string); (string, string, int) list(string)", split},
	{".substring", "(string, int) string; (string, int, int) string", substring},
	{".reverse", "(string) string; (list(A)) list(A)", reverse},

	{".slice", "(list(A), int, int) list(A)", slice},
	{".flatten", "(list(list(A))) list(A); (list(dyn), int) list(dyn)", flatten},
	{".sort", sortable, sortList},
	{"lists.range", "(int) list(int)", listRange},

	{"math.greatest", extremum, extremeOf(1)},
	{"math.least", extremum, extremeOf(-1)},
	{"math.abs", sign, abs},
	{"math.sign", sign, signum},
	{"math.sqrt", "(double) double; (int) double; (uint) double", sqrt},
	{"math.ceil", toDouble, ofDouble(ceil)},
	{"math.floor", toDouble, ofDouble(floor)},
	{"math.round", toDouble, ofDouble(round)},
	{"math.trunc", toDouble, ofDouble(trunc)},
	{"math.isNaN", isDouble, ofDouble(isNaN)},
	{"math.isInf", isDouble, ofDouble(isInf)},
	{"math.isFinite", isDouble, ofDouble(isFinite)},
	{"math.bitAnd", bitPairs, bitwise},
	{"math.bitOr", bitPairs, bitwise},
	{"math.bitXor", bitPairs, bitwise},
	{"math.bitNot", "(int) int; (uint) uint", bitwise},
	{"math.bitShiftLeft", shifts, shift},
	{"math.bitShiftRight", shifts, shift},
}

// native does what a function or an operator does, with values of any types: dyn may be all of
// them. The node is that of the call.
type native func(f *frame, n *node, args []any) (any, error)

// refused reports whether a function of CEL is not there: one call may cost the product of the
// sizes of two values.
func refused(name string) bool {
	return name == "replace" || name == "join" || name == "distinct" || name == "format"
}

// functions reads the declarations.
func functions() map[string]*function {
	all := make(map[string]*function, len(declarations))
	for _, d := range declarations {
		name, method := strings.CutPrefix(d.name, ".")
		f := all[name]
		if f == nil {
			f = &function{name: name, call: d.call}
			all[name] = f
		}
		for text := range strings.SplitSeq(d.takes, "; ") {
			o := overload{method: method}
			vars := map[string]*typ{}
			takes, rest := readTypes(text[1:], vars)
			o.takes = takes
			o.gives, _ = readType(rest[1:], vars)
			o.vars = len(vars)
			f.overloads = append(f.overloads, o)
		}
	}
	return all
}

// readTypes reads types up to a closing bracket, and returns what is behind it.
func readTypes(text string, vars map[string]*typ) (all []*typ, rest string) {
	for {
		t, more := readType(text, vars)
		all = append(all, t)
		if more[0] == ')' {
			return all, more[1:]
		}
		text = more[2:] // ", "
	}
}

// readType reads a type at the start of a text. Names of one letter are variables, which are
// numbered from -1 down.
func readType(text string, vars map[string]*typ) (*typ, string) {
	n := nameLen(text)
	name, rest := text[:n], text[n:]
	switch {
	case len(name) == 1:
		if vars[name] == nil {
			vars[name] = &typ{kind: varKind, id: -1 - len(vars)}
		}
		return vars[name], rest
	case simple[name] != nil:
		return simple[name], rest
	}
	args, rest := readTypes(rest[1:], vars)
	kinds := map[string]typeKind{"list": listKind, "map": mapKind, "type": typeOfKind}
	return compound(kinds[name], args...), rest
}

// instance returns the types of an overload with variables of its own.
func (o *overload) instance(u *unifier) (takes []*typ, gives *typ) {
	if o.vars == 0 {
		return o.takes, o.gives
	}
	own := make([]*typ, o.vars)
	for i := range own {
		own[i] = u.fresh()
	}
	takes = make([]*typ, len(o.takes))
	for i, t := range o.takes {
		takes[i] = withVars(t, own)
	}
	return takes, withVars(o.gives, own)
}

func withVars(t *typ, own []*typ) *typ {
	if t.kind == varKind {
		return own[-1-t.id]
	}
	if len(t.args) == 0 {
		return t
	}
	args := make([]*typ, len(t.args))
	for i, a := range t.args {
		args[i] = withVars(a, own)
	}
	return compound(t.kind, args...)
}
