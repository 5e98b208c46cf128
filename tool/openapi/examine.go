package openapi

import (
	_ "embed" // the schemas of documents
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/tidwall/gjson"

	"github.com/plc-lang/plc/schemas"
)

// The schemas of documents that the OpenAPI Initiative publishes, without their descriptions:
// https://spec.openapis.org/oas/3.0/schema/2021-09-28 and
// https://spec.openapis.org/oas/3.1/schema/2025-11-23. They do not check the schemas in a document.
var (
	//go:embed openapi-3.0.json
	text30 []byte
	//go:embed openapi-3.1.json
	text31 []byte

	schema30 = sync.OnceValues(func() (*schemas.Schema, error) { return schemas.Compile(text30, nil) })
	schema31 = sync.OnceValues(func() (*schemas.Schema, error) { return schemas.Compile(text31, nil) })
)

// maxExamined is the maximum size of a document that is validated.
const maxExamined = 4 << 20

// examine returns an error if the document does not conform to OpenAPI. It does not check a large
// document. Errors in an operation are reported only where the operation is used.
func (d *Document) examine(text []byte) error {
	if len(text) > maxExamined {
		return nil
	}
	standard := schema31
	if strings.HasPrefix(d.top["openapi"].Str, "3.0") {
		standard = schema30
	}
	s, err := standard()
	if err != nil {
		return err
	}
	var broken *schemas.ValidationError
	if err := s.Validate(text); errors.As(err, &broken) {
		return broken
	}
	var lost error
	references(gjson.ParseBytes(text), func(ref string) bool {
		if strings.HasPrefix(ref, "#") && ref != "#" && !d.at(ref).Exists() {
			lost = fmt.Errorf("the reference %q leads nowhere", ref)
		}
		return lost == nil
	})
	if lost != nil {
		return lost
	}
	return d.sameIDs()
}

// references yields the references in a value, except those in examples and in parts that the
// standard leaves open. It returns false if it was stopped.
func references(v gjson.Result, yield func(string) bool) bool {
	goesOn := true
	v.ForEach(func(name, value gjson.Result) bool {
		switch {
		case v.IsObject() && name.Str == "$ref" && value.Type == gjson.String:
			goesOn = yield(value.Str)
		case v.IsObject() && (strings.HasPrefix(name.Str, "x-") || strings.Contains(" example examples default enum const ", " "+name.Str+" ")):
		case value.IsObject() || value.IsArray():
			goesOn = references(value, yield)
		}
		return goesOn
	})
	return goesOn
}

// sameIDs returns an error if two operations have the same id.
func (d *Document) sameIDs() error {
	at := map[string]*operation{}
	for _, op := range d.operations {
		id := op.raw.Get("operationId").Str
		if id == "" {
			continue
		}
		if first := at[id]; first != nil {
			return fmt.Errorf("%s %s and %s %s have one id, %q", first.method, first.path, op.method, op.path, id)
		}
		at[id] = op
	}
	return nil
}
