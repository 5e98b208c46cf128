package cel

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode"
	"unicode/utf8"
)

func lowered(message string) string {
	first, size := utf8.DecodeRuneInString(message)
	return strings.Join(strings.Fields(string(unicode.ToLower(first))+message[size:]), " ")
}

func oneString(of func(string) string) native {
	return func(_ *frame, _ *node, args []any) (any, error) {
		if s, ok := args[0].(string); ok {
			return of(s), nil
		}
		return nil, errOverload
	}
}

func twoStrings(of func(a, b string) bool) native {
	return func(_ *frame, _ *node, args []any) (any, error) {
		if a, b, ok := pair[string](args); ok {
			return of(a, b), nil
		}
		return nil, errOverload
	}
}

// A regex is a compiled regular expression. Matching takes at most time proportional to the length
// of the text times the number of instructions.
type regex struct {
	*regexp.Regexp
	instructions int
}

// compileRegex compiles an expression that is not too large.
func compileRegex(text string) (*regex, error) {
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, err
	}
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return nil, err
	}
	if len(prog.Inst) > maxNodes {
		return nil, fmt.Errorf("a regular expression of %d steps, and %d at most are taken", len(prog.Inst), maxNodes)
	}
	compiled, err := regexp.Compile(text)
	return &regex{compiled, len(prog.Inst)}, err
}

func matches(f *frame, n *node, args []any) (any, error) {
	text, pattern, ok := pair[string](args)
	if !ok {
		return nil, errOverload
	}
	r := n.regex
	if r == nil {
		err := f.spend(len(pattern))
		if err == nil {
			r, err = compileRegex(pattern)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := f.spend((len(text)/scanned + 1) * (r.instructions/4 + 1)); err != nil {
		return nil, err
	}
	return r.MatchString(text), nil
}

func size(f *frame, _ *node, args []any) (any, error) {
	switch v := args[0].(type) {
	case string:
		return int64(utf8.RuneCountInString(v)), nil
	case octets:
		return int64(len(v)), nil
	case list:
		return int64(len(v)), nil
	case *object:
		return int64(len(v.members())), nil
	}
	return nil, errOverload
}

func errRange(i int64) error { return fmt.Errorf("index out of range: %d", i) }

// ints returns the ints behind the first values, and whether all are.
func ints(args []any) (all []int64, ok bool) {
	for _, a := range args {
		i, ok := a.(int64)
		if !ok {
			return nil, false
		}
		all = append(all, i)
	}
	return all, true
}

func charAt(_ *frame, _ *node, args []any) (any, error) {
	s, ok := args[0].(string)
	at, whole := ints(args[1:])
	if !ok || !whole {
		return nil, errOverload
	}
	runes := []rune(s)
	switch i := at[0]; {
	case i < 0 || i > int64(len(runes)):
		return nil, errRange(i)
	case i == int64(len(runes)):
		return "", nil
	default:
		return string(runes[i]), nil
	}
}

// search returns two texts and a place, which is nil when there is none.
func search(args []any) (s, part string, from []int64, err error) {
	s, part, ok := pair[string](args)
	from, whole := ints(args[2:])
	switch {
	case !ok || !whole:
		return "", "", nil, errOverload
	case len(from) > 0 && from[0] < 0:
		return "", "", nil, errRange(from[0])
	}
	return s, part, from, nil
}

func indexOf(_ *frame, _ *node, args []any) (any, error) {
	s, part, from, err := search(args)
	if err != nil {
		return nil, err
	}
	start := int64(0)
	if len(from) > 0 {
		start = from[0]
	}
	length := int64(utf8.RuneCountInString(s))
	switch {
	case part == "":
		return min(start, length), nil
	case start >= length:
		return int64(-1), nil
	}
	skipped := byteAt(s, start)
	n := strings.Index(s[skipped:], part)
	if n < 0 {
		return int64(-1), nil
	}
	return start + int64(utf8.RuneCountInString(s[skipped:skipped+n])), nil
}

func lastIndexOf(_ *frame, _ *node, args []any) (any, error) {
	s, part, from, err := search(args)
	if err != nil {
		return nil, err
	}
	length := int64(utf8.RuneCountInString(s))
	if len(from) > 0 {
		switch {
		case part == "":
			return min(from[0], length), nil
		case from[0] >= length:
			return int64(-1), nil
		}
		s = s[:min(byteAt(s, from[0])+len(part), len(s))]
	}
	if n := strings.LastIndex(s, part); n >= 0 {
		return int64(utf8.RuneCountInString(s[:n])), nil
	}
	return int64(-1), nil
}

// byteAt returns where a character of a text begins; its length, if there are fewer.
func byteAt(s string, character int64) int {
	for i := range s {
		if character == 0 {
			return i
		}
		character--
	}
	return len(s)
}

func substring(_ *frame, _ *node, args []any) (any, error) {
	s, ok := args[0].(string)
	at, whole := ints(args[1:])
	if !ok || !whole {
		return nil, errOverload
	}
	length := int64(utf8.RuneCountInString(s))
	start, end := at[0], length
	if len(at) > 1 {
		end = at[1]
		if start > end {
			return nil, fmt.Errorf("a part of a text from %d to %d", start, end)
		}
	}
	for _, i := range []int64{start, end} {
		if i < 0 || i > length {
			return nil, errRange(i)
		}
	}
	return s[byteAt(s, start):byteAt(s, end)], nil
}

func split(f *frame, _ *node, args []any) (any, error) {
	s, sep, ok := pair[string](args)
	limit, whole := ints(args[2:])
	if !ok || !whole {
		return nil, errOverload
	}
	n := -1
	if len(limit) > 0 {
		n = int(max(min(limit[0], int64(len(s))+1), -1))
	}
	if err := f.spend(strings.Count(s, sep)); err != nil {
		return nil, err
	}
	parts := strings.SplitN(s, sep, n)
	all := make(list, len(parts))
	for i, p := range parts {
		all[i] = p
	}
	return all, nil
}

// ofASCII changes the letters of ASCII in a text.
func ofASCII(s string, change func(rune) rune) string {
	return strings.Map(func(r rune) rune {
		if r > unicode.MaxASCII {
			return r
		}
		return change(r)
	}, s)
}

func lowerASCII(s string) string { return ofASCII(s, unicode.ToLower) }

func upperASCII(s string) string { return ofASCII(s, unicode.ToUpper) }

// quoted are the characters that quote writes as an escape.
var quoted = strings.NewReplacer("\a", `\a`, "\b", `\b`, "\f", `\f`, "\n", `\n`, "\r", `\r`, "\t", `\t`, "\v", `\v`, `\`, `\\`, `"`, `\"`)

func quote(s string) string {
	return `"` + quoted.Replace(strings.ToValidUTF8(s, string(utf8.RuneError))) + `"`
}
