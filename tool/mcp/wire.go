package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/tidwall/gjson"

	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/tool/internal/driver"
)

const (
	// maxMessage bounds a message of a server, in bytes.
	maxMessage = 64 << 20

	// rawKey is the member of a result's _meta that holds the text of the result as the server sent
	// it.
	rawKey = "plc/raw"

	// unusable is the code of the error that replaces an answer that is not usable JSON.
	unusable = -32097
)

// errNoise is the error for text that is not a message of the protocol.
var errNoise = errors.New("not a message of the protocol")

// faithful changes a message of a server so that the SDK reads it without loss. To the results of
// tools/list and tools/call it adds the text of the whole result in _meta, and from results of
// calls it removes the values, which the SDK would decode. To a question it adds the text of its
// schema, which has the order of the fields. An answer that is not usable JSON becomes an error for
// the request, which quotes its beginning without the secrets that hide knows. For a text that is
// not a message, faithful returns errNoise.
func faithful(message []byte, hide hider) ([]byte, error) {
	message = bytes.TrimSpace(bytes.TrimPrefix(message, []byte("\ufeff")))
	if len(message) == 0 || message[0] != '{' || !bytes.Contains(message, []byte(`"jsonrpc"`)) {
		return nil, errNoise
	}
	if jsonscan.Check(message, jsonscan.Limits{MaxBytes: maxMessage}) != nil {
		id := gjson.GetBytes(message, "id")
		if id.Type != gjson.Number && id.Type != gjson.String || jsonscan.Check([]byte(id.Raw), jsonscan.Limits{}) != nil {
			return nil, fmt.Errorf("a message is not usable JSON: %w", hide.unusable(message))
		}
		text := fmt.Sprintf("the answer is not usable JSON: %v", hide.unusable(message))
		return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%s}}`, id.Raw, unusable, quote(text)), nil
	}
	clean := hide.cleanJSON(message) // before the SDK cuts values and quotes them in errors
	if gjson.GetBytes(clean, "id").Raw != gjson.GetBytes(message, "id").Raw {
		clean = message
	}
	if gjson.GetBytes(message, "method").Str == "elicitation/create" {
		params := gjson.GetBytes(message, "params")
		return withText(clean, "params", params.Get("requestedSchema").Raw, nil), nil
	}
	result := gjson.GetBytes(message, "result")
	switch {
	case !result.IsObject():
		return clean, nil
	case result.Get("tools").IsArray(), result.Get("inputRequests").IsObject():
		return withText(clean, "result", result.Raw, nil), nil
	case result.Get("content").Exists() || result.Get("structuredContent").Exists():
		return withText(clean, "result", result.Raw, []string{"content", "structuredContent"}), nil
	}
	return clean, nil
}

// shownBytes is the maximum number of bytes of an unreadable message that are shown.
const shownBytes = 200

// A hider removes the secrets of a server from its output before that is cut or quoted.
type hider struct {
	text  func(string) string                   // nil if there are no secrets
	value func(json.RawMessage) json.RawMessage // does the same for a JSON value, or for text that should be one
}

// clean returns a text without secrets.
func (h hider) clean(text []byte) []byte {
	if h.text == nil {
		return text
	}
	return []byte(h.text(string(text)))
}

// cleanJSON returns JSON, or what should be JSON, without secrets.
func (h hider) cleanJSON(text []byte) []byte {
	if h.value == nil {
		return text
	}
	return h.value(text)
}

// head returns the beginning of a text without secrets, safe to show.
func (h hider) head(text []byte, n int) string { return driver.Head(h.clean(text), n) }

// unusable returns an error that says why a message is not usable JSON, and how it begins.
func (h hider) unusable(message []byte) error {
	message = h.cleanJSON(message)
	err := jsonscan.Check(message, jsonscan.Limits{MaxBytes: maxMessage})
	if err == nil { // a secret made it unusable
		err = errors.New("a text in it is not quoted as JSON needs it")
	}
	return fmt.Errorf("%w; it begins with %q", err, h.head(message, shownBytes))
}

// withText returns a message with a text added to the _meta of its result or params, from which it
// removes some members.
func withText(message []byte, member, text string, without []string) []byte {
	dropped := map[string]bool{"_meta": true}
	for _, name := range without {
		dropped[name] = true
	}
	var out []byte
	gjson.ParseBytes(message).ForEach(func(key, value gjson.Result) bool {
		out = append(out, byte(','))
		out = append(append(out, key.Raw...), ':')
		if key.Str != member || !value.IsObject() {
			out = append(out, value.Raw...)
			return true
		}
		out = append(out, `{"_meta":{"`+rawKey+`":`...)
		out = append(append(out, quote(text)...), '}')
		value.ForEach(func(key, value gjson.Result) bool {
			if !dropped[key.Str] {
				out = append(append(append(append(out, ','), key.Raw...), ':'), value.Raw...)
			}
			return true
		})
		out = append(out, '}')
		return true
	})
	out[0] = '{'
	return append(out, '}')
}

// raw returns the result as the server sent it, which faithful has put into its _meta.
func raw(meta map[string]any) gjson.Result {
	text, _ := meta[rawKey].(string)
	return gjson.Parse(text)
}

// quote returns a JSON string.
func quote(text string) []byte { return gjson.AppendJSONString(nil, text) }
