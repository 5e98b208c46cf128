package openapi

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/tool/internal/driver"
)

// The bounds of a document.
const (
	maxBytes   = 32 << 20
	maxFollow  = 16      // references to references
	maxSchemas = 500     // of the params of one operation, and of its result: the nearest
	maxWritten = 300_000 // of all selected operations together: if each refers to everything, each gets fewer schemas
)

// Document is an OpenAPI document.
type Document struct {
	top        map[string]gjson.Result // the members of the document; searching the document each time would be slow
	schemes    gjson.Result            // the security schemes
	components map[string]gjson.Result // by their references
	operations []*operation
	sum        string // a digest of the text
	doubt      error
}

// Read reads a document, JSON or YAML. It returns an error if the text is not an OpenAPI document
// of version 3, or refers to other documents for its paths. It costs a few passes over the text.
func Read(text []byte) (*Document, error) {
	if len(text) > maxBytes {
		return nil, fmt.Errorf("the document has more than %d bytes", maxBytes)
	}
	text, err := asJSON(text)
	if err != nil {
		return nil, err
	}
	if err := jsonscan.Check(text, jsonscan.Limits{}); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(text)
	d := &Document{top: map[string]gjson.Result{}, sum: hex.EncodeToString(sum[:])}
	gjson.ParseBytes(text).ForEach(func(name, v gjson.Result) bool {
		d.top[name.Str] = v
		return true
	})
	d.schemes = d.top["components"].Get("securitySchemes")
	version := d.top["openapi"]
	if !strings.HasPrefix(version.Str, "3.") {
		return nil, fmt.Errorf("it is no OpenAPI document of version 3.0 or 3.1: its member \"openapi\" is %s", cmp.Or(driver.Head([]byte(version.Raw), 40), "missing"))
	}
	d.readComponents()
	if err := d.readOperations(); err != nil {
		return nil, err
	}
	if err := d.examine(text); err != nil {
		d.doubt = errors.New(driver.Head([]byte(err.Error()), 300))
	}
	return d, nil
}

// readComponents indexes the components, since most references lead to them.
func (d *Document) readComponents() {
	d.components = map[string]gjson.Result{}
	d.top["components"].ForEach(func(kind, all gjson.Result) bool {
		all.ForEach(func(name, v gjson.Result) bool {
			if ref := "#/components/" + kind.Str + "/" + name.Str; !strings.ContainsAny(name.Str, "~/%") {
				d.components[ref] = v
			}
			return true
		})
		return true
	})
}

// Doubt returns an error if the document could be read but does not conform to OpenAPI, else nil.
func (d *Document) Doubt() error { return d.doubt }

// Operations returns the names of the operations, in the order of the document.
func (d *Document) Operations() []string {
	names := make([]string, len(d.operations))
	for i, op := range d.operations {
		names[i] = op.name
	}
	return names
}

// at returns the value that a reference leads to.
func (d *Document) at(ref string) gjson.Result {
	if v, ok := d.components[ref]; ok {
		return v
	}
	pointer, ok := strings.CutPrefix(ref, "#/")
	if !ok {
		return gjson.Result{}
	}
	var v gjson.Result
	for i, token := range strings.Split(pointer, "/") {
		if plain, err := url.PathUnescape(token); err == nil {
			token = plain
		}
		token = jsonscan.UnescapePointer(token)
		if i == 0 {
			v = d.top[token]
		} else {
			v = member(v, token)
		}
	}
	return v
}

// member returns a member of an object, or an element of a list by its index.
func member(v gjson.Result, name string) (found gjson.Result) {
	i := 0
	v.ForEach(func(key, value gjson.Result) bool {
		if v.IsObject() && key.Str == name || v.IsArray() && fmt.Sprint(i) == name {
			found = value
		}
		i++
		return !found.Exists()
	})
	return found
}

// follow returns a value, or the value that it refers to.
func (d *Document) follow(v gjson.Result) gjson.Result {
	for range maxFollow {
		ref := v.Get("$ref")
		if ref.Type != gjson.String {
			return v
		}
		v = d.at(ref.Str)
	}
	return gjson.Result{}
}

// lost returns a reference that leads nowhere, in a value or in a value that it refers to; "" if
// there is none.
func (d *Document) lost(v gjson.Result) string {
	ref := ""
	for range maxFollow {
		next := v.Get("$ref")
		if next.Type != gjson.String {
			break
		}
		if ref, v = next.Str, d.at(next.Str); !v.Exists() {
			return ref
		}
	}
	if v.Get("$ref").Type == gjson.String { // too many references to references
		return ref
	}
	return ""
}
