package crosscheck

import (
	"fmt"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/cuecontext"
	"cuelang.org/go/encoding/json"
	"cuelang.org/go/encoding/jsonschema"
)

// opinion is what CUE says of a pair of schemas.
type opinion int

const (
	unread opinion = iota // it can't read one of the two, or panics
	cueNo
	cueYes
)

// askCUE answers whether to subsumes from, by CUE. Every pair has a context of its
// own, because a context keeps all that it has ever seen.
func askCUE(from, to string) (o opinion) {
	defer func() {
		if recover() != nil {
			o = unread
		}
	}()
	ctx := cuecontext.New()
	narrow, err := importCUE(ctx, from)
	if err != nil {
		return unread
	}
	wide, err := importCUE(ctx, to)
	if err != nil {
		return unread
	}
	if wide.Subsume(narrow, cue.Raw()) != nil {
		return cueNo
	}
	return cueYes
}

// importCUE turns a JSON Schema into CUE; what it would have to leave out is an error.
func importCUE(ctx *cue.Context, schema string) (cue.Value, error) {
	expr, err := json.Extract("schema.json", []byte(schema))
	if err != nil {
		return cue.Value{}, fmt.Errorf("not JSON: %w", err)
	}
	file, err := jsonschema.Extract(ctx.BuildExpr(expr), &jsonschema.Config{Strict: true})
	if err != nil {
		return cue.Value{}, fmt.Errorf("not a schema for CUE: %w", err)
	}
	v := ctx.BuildFile(file)
	return v, v.Err()
}
