package loop

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/schemas"
)

// Output returns the JSON in a model's final text, which may be in a code fence. It returns an
// error if there is none or it doesn't meet schema; a nil schema allows anything.
func Output(text string, schema json.RawMessage) (json.RawMessage, error) {
	v := []byte(text)
	if jsonscan.Check(v, jsonscan.Limits{}) != nil {
		v = []byte(objectIn(text))
	}
	if len(v) == 0 {
		return nil, errors.New("the answer is not JSON")
	}
	if schema == nil {
		return jsonscan.Compact(nil, v), nil
	}
	s, err := schemas.Compile(schema, nil)
	if err != nil {
		return nil, fmt.Errorf("the schema of the output is none: %w", err)
	}
	if err := s.Validate(v); err != nil {
		return nil, fmt.Errorf("the answer breaks the schema of the output: %w", err)
	}
	return jsonscan.Compact(nil, v), nil
}
