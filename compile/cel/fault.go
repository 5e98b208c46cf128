package cel

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	lib "cel.dev/cel-go/cel"
	"cel.dev/cel-go/common"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/internal/spell"
)

func fault(source string, start, end int, format string, args ...any) *compile.PredicateError {
	return &compile.PredicateError{Start: min(start, len(source)), End: min(end, len(source)), Message: fmt.Sprintf(format, args...)}
}

// firstFault returns the first of the library's errors, in our words.
func (t *typing) firstFault(source string, issues *lib.Issues) error {
	all := issues.Errors()
	first := slices.MinFunc(all, func(a, b *common.Error) int {
		return offset(source, a.Location) - offset(source, b.Location)
	})
	start, end := token(source, offset(source, first.Location))
	if name := quoted(first.Message, 0); source[start:end] == "has" && strings.HasPrefix(first.Message, undefinedField) {
		if n := strings.Index(source[end:], "."+name); n >= 0 { // it stands at the macro
			start, end = end+n+1, end+n+1+len(name)
		}
	}
	return fault(source, start, end, "%s", t.words(first.Message, source[start:end], strings.HasPrefix(source[end:], "(")))
}

// offset returns a location of the library, whose columns count characters, in bytes.
func offset(source string, at common.Location) int {
	pos := 0
	for range at.Line() - 1 {
		n := strings.IndexByte(source[pos:], '\n')
		if n < 0 {
			break
		}
		pos += n + 1
	}
	for range at.Column() {
		_, size := utf8.DecodeRuneInString(source[pos:])
		pos += size
	}
	return max(pos, 0)
}

// token returns the word or sign at a place. An error about a call stands at its parenthesis and
// means the name before it, one about a member at its dot and means the name behind it.
func token(source string, start int) (int, int) {
	rest := source[start:]
	switch {
	case strings.HasPrefix(rest, "("):
		for start > 0 {
			r, size := utf8.DecodeLastRuneInString(source[:start])
			if !isName(r) {
				break
			}
			start -= size
		}
	case strings.HasPrefix(rest, ".") && len(rest) > 1 && isName(rune(rest[1])):
		start++
	}
	return start, start + wordLen(source[start:])
}

// wordLen returns how long the name or operator at the start of a text is, one character at least.
func wordLen(text string) int {
	for _, part := range []func(rune) bool{isName, isOperator} {
		if n := strings.IndexFunc(text, func(r rune) bool { return !part(r) }); n > 0 {
			return n
		} else if n < 0 {
			return len(text)
		}
	}
	_, size := utf8.DecodeRuneInString(text)
	return size
}

func isOperator(r rune) bool { return strings.ContainsRune("=!<>&|", r) }

func isName(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// undefinedField begins the message about a member that an object never has.
const undefinedField = "undefined field"

// words returns a message of the library in ours, about a token and whether it is called.
func (t *typing) words(message, token string, called bool) string {
	part := func(n int) string { return quoted(message, n) }
	switch {
	case strings.HasPrefix(message, "Syntax error:"):
		return syntaxWords(message, token)
	case strings.HasPrefix(message, undefinedField):
		return t.noMember(part(0))
	case strings.HasPrefix(message, "undeclared reference") && called:
		return fmt.Sprintf("there is no function %q%s", token, meant(token, maps.Keys(t.checker.base.Functions())))
	case strings.HasPrefix(message, "undeclared reference"):
		return t.noName(part(0))
	case strings.HasPrefix(message, "found no matching overload"):
		return noOverload(part(0), part(1))
	case strings.Contains(message, "cannot be range of a comprehension"):
		return fmt.Sprintf("%s has no elements to go through%s", part(0), asMap(part(0)))
	case strings.HasPrefix(message, "invalid int literal"):
		return "a whole number beyond 64 bits; with .0 behind it it is the nearest double"
	case strings.HasSuffix(message, "does not support field selection"):
		return fmt.Sprintf("%s has no members", part(0))
	}
	return lowered(message)
}

// quoted returns the n-th part of a message that stands in quotes.
func quoted(message string, n int) string {
	parts := strings.Split(message, "'")
	if i := 2*n + 1; i < len(parts) {
		return parts[i]
	}
	return ""
}

func syntaxWords(message, token string) string {
	switch {
	case token == "":
		return "the condition ends too soon"
	case strings.Contains(message, "token recognition") && strings.ContainsAny(token, `"'`):
		return "a string that does not end"
	case strings.Contains(message, "token recognition") || strings.Contains(message, " input "):
		return fmt.Sprintf("unexpected %q", token)
	}
	return lowered(strings.TrimPrefix(message, "Syntax error: "))
}

// noMember says that an object never has a member of this name.
func (t *typing) noMember(name string) string {
	for _, o := range t.order {
		if f, asked := o.fields[name]; asked && f == nil {
			return fmt.Sprintf("%s has no member %q%s", o.cel, name, meant(name, o.schema.Names()))
		}
	}
	return fmt.Sprintf("there is no member %q", name)
}

// noName says that there is neither a variable nor a function of this name.
func (t *typing) noName(name string) string {
	names := slices.Sorted(maps.Keys(t.vars))
	cure := meant(name, slices.Values(names))
	if cure == "" {
		cure = fmt.Sprintf("; the condition is over %s", strings.Join(names, " and "))
	}
	return fmt.Sprintf("there is no %q%s", name, cure)
}

func meant(name string, names iter.Seq[string]) string {
	if near, ok := spell.Nearest(name, names); ok {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return ""
}

// noOverload says that a function or an operator, as in _>_, does not take values of these
// types, as in (string, int).
func noOverload(function, of string) string {
	name := strings.Trim(strings.ReplaceAll(function, "_", " "), " ")
	if function == "_[_]" || function == "_?_:_" {
		name = strings.ReplaceAll(function, "_", "")
	}
	cure := asMap(of)
	if strings.Contains(of, "int") && strings.Contains(of, "double") {
		cure = "; double(…) makes a double of an int"
	}
	return fmt.Sprintf("%q does not take %s%s", strings.TrimPrefix(name, "@"), of, cure)
}

// asMap returns the cure for an object in the place of a map.
func asMap(of string) string {
	if strings.Contains(of, "{") {
		return "; dyn(…) makes a map of an object"
	}
	return ""
}

// runtimeWords returns what the library says of an evaluation in our words.
func runtimeWords(err error) string {
	m := err.Error()
	switch {
	case strings.Contains(m, "cost limit exceeded"):
		return fmt.Sprintf("the condition takes more than %d steps", maxCost)
	case strings.HasPrefix(m, "no such key: "):
		return fmt.Sprintf("there is no member %q; has(…) asks for one", strings.TrimPrefix(m, "no such key: "))
	case strings.HasPrefix(m, "no such overload"):
		return "values of types that do not go together; double(…) makes a double of an int, string(…) a string"
	}
	return lowered(m)
}

func lowered(message string) string {
	first, size := utf8.DecodeRuneInString(message)
	return strings.Join(strings.Fields(string(unicode.ToLower(first))+message[size:]), " ")
}
