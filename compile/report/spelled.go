package report

import (
	"encoding/json"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/plc-lang/plc/internal/jsonscan"
)

// appendNumber appends a number. A tool is given its text, so that one which is spelled in another
// way than a manifest spells it has its text as well.
func appendNumber(dst []byte, text string) []byte {
	if string(jsonscan.Canonical(nil, []byte(text))) == text {
		return append(dst, text...)
	}
	return append(append(append(dst, `{"`+spelled+`":`...), jsonscan.Quote(text)...), '}')
}

// spelled is the name of the only member of an object that stands for a number.
const spelled = "†spelled"

// escaped returns the name of a member, with one more dagger if it is spelled with any number of
// daggers. So no object of a plan looks like one that stands for a number.
func escaped(name string) string {
	if strings.HasPrefix(name, "†") && "†"+strings.TrimLeft(name, "†") == spelled {
		return "†" + name
	}
	return name
}

// Spelled returns a value in the form that manifests have for params of tools: a number that is not
// spelled canonically, such as 5.00, differs from the number 5.
func Spelled(raw json.RawMessage) (dst json.RawMessage) {
	lex := jsonscan.Lexer{Text: raw}
	last := 0 // where the last string begins in dst
	for {
		switch lex.Next() {
		case jsonscan.EOF, jsonscan.Invalid:
			return dst
		case jsonscan.Number:
			dst = appendNumber(dst, string(raw[lex.Start:lex.Pos]))
			continue
		case jsonscan.String:
			last = len(dst)
		case jsonscan.Colon:
			var name string
			if json.Unmarshal(dst[last:], &name) == nil && escaped(name) != name {
				dst = jsonscan.AppendQuoted(dst[:last], escaped(name))
			}
		}
		dst = append(dst, raw[lex.Start:lex.Pos]...)
	}
}

// appendUnspelled appends the value that Spelled was given, without its white space.
func appendUnspelled(dst []byte, v gjson.Result) []byte {
	switch {
	case isSpelled(v):
		v.ForEach(func(_, number gjson.Result) bool { dst = append(dst, number.Str...); return false })
		return dst
	case v.IsObject():
		dst = append(dst, '{')
		v.ForEach(func(name, v gjson.Result) bool {
			own := name.String()
			if rest, ok := strings.CutPrefix(own, "†"); ok && strings.TrimLeft(rest, "†") == strings.TrimPrefix(spelled, "†") {
				own = rest
			}
			dst = appendUnspelled(appendMember(dst, own, ""), v)
			return true
		})
		return append(dst, '}')
	case v.IsArray():
		dst = append(dst, '[')
		for i, e := range v.Array() {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendUnspelled(dst, e)
		}
		return append(dst, ']')
	}
	return append(dst, v.Raw...)
}

// isSpelled reports whether a value of a manifest stands for a number.
func isSpelled(v gjson.Result) (is bool) {
	if v.IsObject() {
		v.ForEach(func(name, _ gjson.Result) bool { is = name.String() == spelled; return false })
	}
	return is
}

// Shown returns the manifest for people to read: numbers stand as they are spelled in the plan.
func (m Manifest) Shown() json.RawMessage {
	return appendShown(nil, "", gjson.ParseBytes(m))
}

// appendShown appends a value at a path of a manifest as Shown returns it.
func appendShown(dst []byte, path string, v gjson.Result) []byte {
	switch {
	case hasSpelled(path):
		return appendUnspelled(dst, v)
	case !v.IsObject():
		return append(dst, v.Raw...)
	}
	dst = append(dst, '{')
	v.ForEach(func(name, v gjson.Result) bool {
		dst = appendShown(appendMember(dst, name.String(), ""), path+"/"+jsonscan.EscapePointer(name.String()), v)
		return true
	})
	return append(dst, '}')
}

// hasSpelled reports whether the values at a path of a manifest, a JSON Pointer, are as Spelled
// returns them.
func hasSpelled(path string) bool {
	tokens := strings.Split(strings.TrimPrefix(path, "/"), "/")
	if len(tokens) > 2 && tokens[0] == "programs" {
		tokens = tokens[2:]
	}
	switch tokens[0] {
	case "calls":
		return len(tokens) > 2 && tokens[2] == "call"
	case "initial", "instances", "lines", "output":
		return true
	}
	return false
}
