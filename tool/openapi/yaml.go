package openapi

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"

	"github.com/tidwall/gjson"
	"go.yaml.in/yaml/v4"

	"github.com/plc-lang/plc/internal/jsonscan"
)

// asJSON is a document as JSON. YAML keeps the digits of its numbers; names are text,
// whatever they look like (200), and dates are too.
func asJSON(text []byte) ([]byte, error) {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if bytes.HasPrefix(bytes.TrimLeft(text, " \t\r\n"), []byte("{")) {
		return text, nil
	}
	var doc yaml.Node
	if err := yaml.Load(text, &doc); err != nil {
		return nil, err
	}
	if len(doc.Content) == 0 {
		return nil, errors.New("there is nothing in the document")
	}
	w := &jsonWriter{}
	w.write(doc.Content[0], 0)
	return w.out, w.err
}

// jsonWriter writes a document of YAML.
type jsonWriter struct {
	out []byte
	err error
}

func (w *jsonWriter) fail(n *yaml.Node, format string, args ...any) {
	if w.err == nil {
		w.err = fmt.Errorf("line %d: %s", n.Line, fmt.Sprintf(format, args...))
	}
}

func (w *jsonWriter) write(n *yaml.Node, depth int) {
	switch {
	case w.err != nil:
	case depth > jsonscan.DefaultMaxDepth:
		w.fail(n, "nested more than %d deep", jsonscan.DefaultMaxDepth)
	case len(w.out) > maxBytes:
		w.fail(n, "with its aliases written out it has more than %d bytes", maxBytes)
	case n.Kind == yaml.AliasNode:
		w.write(n.Alias, depth+1)
	case n.Kind == yaml.ScalarNode:
		w.scalar(n)
	case n.Kind == yaml.SequenceNode:
		w.out = append(w.out, '[')
		for i, e := range n.Content {
			if i > 0 {
				w.out = append(w.out, ',')
			}
			w.write(e, depth+1)
		}
		w.out = append(w.out, ']')
	default:
		w.members(n, depth)
	}
}

func (w *jsonWriter) members(n *yaml.Node, depth int) {
	w.out = append(w.out, '{')
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if key.Kind != yaml.ScalarNode || key.ShortTag() == "!!merge" {
			w.fail(key, "a name is a text; << is not read")
			return
		}
		if i > 0 {
			w.out = append(w.out, ',')
		}
		w.out = append(gjson.AppendJSONString(w.out, key.Value), ':')
		w.write(n.Content[i+1], depth+1)
	}
	w.out = append(w.out, '}')
}

func (w *jsonWriter) scalar(n *yaml.Node) {
	switch tag := n.ShortTag(); tag {
	case "!!null":
		w.out = append(w.out, "null"...)
	case "!!bool":
		b, err := strconv.ParseBool(n.Value)
		if err != nil {
			w.fail(n, "%s is not true or false", n.Value)
		}
		w.out = strconv.AppendBool(w.out, b)
	case "!!int", "!!float":
		if jsonscan.Check([]byte(n.Value), jsonscan.Limits{}) == nil {
			w.out = append(w.out, n.Value...)
			return
		}
		var v float64 // 0x1F, 1_000, .5
		if err := n.Decode(&v); err != nil || v != v || v > 1e300 || v < -1e300 {
			w.fail(n, "%s is no number of JSON", n.Value)
			return
		}
		w.out = strconv.AppendFloat(w.out, v, 'f', -1, 64)
	default:
		w.out = gjson.AppendJSONString(w.out, n.Value)
	}
}
