package driver

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Template is text with placeholders: `{name}` stands for a param, `{{` and `}}`
// for the braces themselves. The zero Template is the empty text. It is immutable.
type Template struct {
	parts []part
}

// part is a run of text, or a placeholder.
type part struct {
	text string // of a placeholder the name
	slot bool
}

// ParseTemplate reads a template. A name is letters, digits, `_`, `-`, `.` and `$`;
// any other brace is an error with its place, so that a misspelt placeholder never becomes text.
func ParseTemplate(text string) (Template, error) {
	var t Template
	for i := 0; i < len(text); {
		switch {
		case strings.HasPrefix(text[i:], "{{"), strings.HasPrefix(text[i:], "}}"):
			t.addText(text[i : i+1])
			i += 2
		case text[i] == '{':
			name := placeholder(text[i+1:])
			if name == "" {
				return Template{}, fmt.Errorf("the { at byte %d begins no placeholder like {name}; %s", i, asText(text, "{{"))
			}
			t.parts = append(t.parts, part{name, true})
			i += len(name) + len("{}")
		case text[i] == '}':
			return Template{}, fmt.Errorf("the } at byte %d ends no placeholder; %s", i, asText(text, "}}"))
		default:
			n := strings.IndexAny(text[i:], "{}")
			if n < 0 {
				n = len(text) - i
			}
			t.addText(text[i : i+n])
			i += n
		}
	}
	return t, nil
}

// asText returns the end of an error message that says how to write literal braces. It shows the
// whole corrected text only if the text has no placeholder and no doubled brace, since otherwise it
// is unclear which braces are literal.
func asText(text, doubled string) string {
	for i := range len(text) {
		if text[i] == '{' && placeholder(text[i+1:]) != "" {
			return "write " + doubled + " for a brace"
		}
	}
	if strings.Contains(text, "{{") || len(text) > longText {
		return "write " + doubled + " for a brace"
	}
	return "for braces as text write " + Escape(text)
}

// longText is the maximum length, in bytes, of a text that an error repeats.
const longText = 80

// placeholder returns the name up to the closing brace, "" if there is none.
func placeholder(text string) string {
	name, _, closed := strings.Cut(text, "}")
	if !closed || strings.ContainsFunc(name, func(r rune) bool { return !nameRune(r) }) {
		return ""
	}
	return name
}

func nameRune(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("_-.$", r))
}

// addText appends text, joining it with text before it.
func (t *Template) addText(text string) {
	if n := len(t.parts); n > 0 && !t.parts[n-1].slot {
		t.parts[n-1].text += text
		return
	}
	t.parts = append(t.parts, part{text, false})
}

// String returns the template as it is written.
func (t Template) String() string {
	var b strings.Builder
	for _, p := range t.parts {
		if p.slot {
			b.WriteString("{" + p.text + "}")
		} else {
			b.WriteString(Escape(p.text))
		}
	}
	return b.String()
}

// Escape returns the template of a text that has no placeholders.
func Escape(text string) string {
	return strings.NewReplacer("{", "{{", "}", "}}").Replace(text)
}

// Names returns the placeholders, each as often as it occurs.
func (t Template) Names() []string {
	var names []string
	for _, p := range t.parts {
		if p.slot {
			names = append(names, p.text)
		}
	}
	return names
}

// Literal reports whether there are no placeholders.
func (t Template) Literal() bool {
	return !slices.ContainsFunc(t.parts, func(p part) bool { return p.slot })
}

// Only returns the name of the placeholder that is the whole template, "" if it is
// anything else.
func (t Template) Only() string {
	if len(t.parts) == 1 && t.parts[0].slot {
		return t.parts[0].text
	}
	return ""
}

// StartsOpen reports whether the first byte comes from a param.
func (t Template) StartsOpen() bool { return len(t.parts) > 0 && t.parts[0].slot }

// Fill returns the text with each placeholder replaced by its value. If a placeholder has no value,
// it returns no text, and missing is the first such placeholder.
func (t Template) Fill(value func(name string) (text string, ok bool)) (text, missing string) {
	if len(t.parts) == 1 && !t.parts[0].slot {
		return t.parts[0].text, ""
	}
	var b strings.Builder
	for _, p := range t.parts {
		s := p.text
		if p.slot {
			var ok bool
			if s, ok = value(p.text); !ok {
				return "", p.text
			}
		}
		b.WriteString(s)
	}
	return b.String(), ""
}

// SortedNames returns the placeholders of all templates, each once, in order.
func SortedNames(templates ...Template) []string {
	var names []string
	for _, t := range templates {
		names = append(names, t.Names()...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}
