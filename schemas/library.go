package schemas

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

const resourceName = "mem:///schema"

func compileLibrary(doc json.RawMessage, pointer string) (lib *jsonschema.Schema, err error) {
	defer func() {
		if r := recover(); r != nil {
			lib, err = nil, &SchemaError{Pointer: pointer, Message: fmt.Sprint(r)}
		}
	}()
	if !json.Valid(doc) {
		return nil, &SchemaError{Message: "not JSON"}
	}
	c := jsonschema.NewCompiler()
	c.LoadURL = func(s string) (io.ReadCloser, error) {
		return nil, fmt.Errorf("%s is outside the document, and nothing is fetched", s)
	}
	if err := c.AddResource(resourceName, bytes.NewReader(doc)); err != nil {
		return nil, &SchemaError{Message: err.Error()}
	}
	lib, err = c.Compile(resourceName + "#" + (&url.URL{Path: pointer}).EscapedPath())
	if err != nil {
		return nil, &SchemaError{Pointer: pointer, Message: err.Error()}
	}
	return lib, nil
}

func validateLibrary(lib *jsonschema.Schema, raw json.RawMessage) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = &ValidationError{[]Violation{{Message: fmt.Sprint(r)}}}
		}
	}()
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return &ValidationError{[]Violation{{Message: "not JSON: " + err.Error()}}}
	}
	err = lib.Validate(v)
	ve, ok := err.(*jsonschema.ValidationError)
	if !ok {
		if err != nil {
			return &ValidationError{[]Violation{{Message: err.Error()}}}
		}
		return nil
	}
	out := &ValidationError{}
	collect(ve, out)
	return out
}

func collect(ve *jsonschema.ValidationError, out *ValidationError) {
	if len(ve.Causes) == 0 && len(out.Violations) < 20 {
		_, frag, _ := strings.Cut(ve.AbsoluteKeywordLocation, "#")
		out.Violations = append(out.Violations, Violation{ve.InstanceLocation, frag, ve.Message})
	}
	for _, c := range ve.Causes {
		collect(c, out)
	}
}
