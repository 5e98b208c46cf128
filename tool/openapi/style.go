package openapi

import (
	"net/url"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/plc-lang/plc/internal/jsonscan"
)

// escape escapes a text so that it is always read as one value.
type escape func(string) string

// scalar returns a value as text: a string as it is, anything else as compact JSON.
func scalar(v gjson.Result) string {
	if v.Type == gjson.String {
		return v.Str
	}
	return string(jsonscan.Compact(nil, []byte(v.Raw)))
}

// pairs returns the members of an object, or the elements of a list without names. It leaves out
// null.
func pairs(v gjson.Result) (all [][2]string) {
	v.ForEach(func(key, value gjson.Result) bool {
		if value.Type != gjson.Null {
			all = append(all, [2]string{key.Str, scalar(value)})
		}
		return true
	})
	return all
}

// joined returns a value as one text: elements, or names and values, are separated by separator,
// and a name is separated from its value by assign.
func joined(v gjson.Result, esc escape, separator, assign string) string {
	if !v.IsObject() && !v.IsArray() {
		return esc(scalar(v))
	}
	var parts []string
	for _, p := range pairs(v) {
		text := esc(p[1])
		if v.IsObject() {
			text = esc(p[0]) + assign + text
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, separator)
}

// simple returns a value in a path or a header (OpenAPI "simple"; RFC 6570 §3.2.2).
func (p parameter) simple(v gjson.Result, esc escape) string {
	switch {
	case p.asJSON:
		return esc(string(jsonscan.Compact(nil, []byte(v.Raw))))
	case p.explode:
		return joined(v, esc, ",", "=")
	}
	return joined(v, esc, ",", ",")
}

// inPath returns a value as a part of a path, in the styles "simple", "label" and "matrix".
func (p parameter) inPath(v gjson.Result) string {
	esc := escape(url.PathEscape)
	switch {
	case p.style == "label" && p.explode:
		return "." + joined(v, esc, ".", "=")
	case p.style == "label":
		return "." + p.simple(v, esc)
	case p.style != "matrix":
		return p.simple(v, esc)
	case !p.explode || !v.IsArray() && !v.IsObject():
		return ";" + esc(p.name) + "=" + p.simple(v, esc)
	case v.IsObject():
		return ";" + joined(v, esc, ";", "=")
	}
	return ";" + esc(p.name) + "=" + joined(v, esc, ";"+esc(p.name)+"=", "")
}

// inQuery returns the pairs of a query, and of a cookie or a form.
func (p parameter) inQuery(v gjson.Result) []string {
	esc := escape(url.QueryEscape)
	name := esc(p.name)
	single := !v.IsArray() && !v.IsObject()
	switch {
	case p.asJSON:
		return []string{name + "=" + p.simple(v, esc)}
	case single:
		return []string{name + "=" + esc(scalar(v))}
	case len(pairs(v)) == 0:
		return nil
	case p.style == "deepObject" && v.IsObject():
		return deep(p.name, v)
	case p.explode && v.IsObject():
		return strings.Split(joined(v, esc, "&", "="), "&")
	case p.explode:
		return strings.Split(name+"="+joined(v, esc, "&"+name+"=", ""), "&")
	}
	separator := map[string]string{"spaceDelimited": "%20", "pipeDelimited": "%7C"}[p.style]
	if separator == "" {
		separator = ","
	}
	return []string{name + "=" + joined(v, esc, separator, separator)}
}

// deep returns the pairs name[member]=value of an object, and of objects in it.
func deep(name string, v gjson.Result) (all []string) {
	v.ForEach(func(key, value gjson.Result) bool {
		inner := name + "[" + key.Str + "]"
		switch {
		case value.IsObject():
			all = append(all, deep(inner, value)...)
		case value.IsArray():
			for _, e := range pairs(value) {
				all = append(all, url.QueryEscape(inner)+"="+url.QueryEscape(e[1]))
			}
		case value.Type != gjson.Null:
			all = append(all, url.QueryEscape(inner)+"="+url.QueryEscape(scalar(value)))
		}
		return true
	})
	return all
}
