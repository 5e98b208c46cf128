package crosscheck

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// judge is a schema as the JSON Schema library has it, used directly and not through plc.
type judge struct{ *jsonschema.Schema }

func newJudge(schema string) (judge, error) {
	c := jsonschema.NewCompiler()
	for name := range jsonschema.Formats { // they are annotations
		c.Formats[name] = func(any) bool { return true }
	}
	if err := c.AddResource("mem:///schema.json", strings.NewReader(schema)); err != nil {
		return judge{}, err
	}
	s, err := c.Compile("mem:///schema.json")
	return judge{s}, err
}

// admits reports whether a value is valid; numbers keep their text.
func (j judge) admits(value string) bool {
	d := json.NewDecoder(strings.NewReader(value))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		panic(fmt.Sprintf("%s: %v", value, err)) // our makers write JSON
	}
	return j.Validate(v) == nil
}
