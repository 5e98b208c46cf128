package schemas_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/plc-lang/plc/schemas"
)

const toolSchema = `{"type": "object", "properties": {
	"path": {"type": "string", "minLength": 1},
	"limit": {"type": "integer", "minimum": 0},
	"mode": {"enum": ["read", "write"]}
}, "required": ["path"], "additionalProperties": false}`

func mustCompile(t testing.TB, doc string) *schemas.Schema {
	t.Helper()
	s, err := schemas.Compile([]byte(doc), nil)
	if err != nil {
		t.Fatalf("%s: %v", doc, err)
	}
	return s
}

func BenchmarkValidate(b *testing.B) {
	s := mustCompile(b, toolSchema)
	small := json.RawMessage(`{"path": "/tmp/x", "limit": 10, "mode": "read"}`)
	b.Run("small", func(b *testing.B) { benchmarkValidate(b, s, small, true) })
	b.Run("invalid", func(b *testing.B) {
		benchmarkValidate(b, s, json.RawMessage(`{"path": "", "limit": 10}`), false)
	})
	b.Run("any", func(b *testing.B) { benchmarkValidate(b, schemas.Any(), small, true) })
	list := mustCompile(b, `{"type": "array", "items": `+toolSchema+`}`)
	for _, n := range []int{10, 1000, 100_000} {
		value := "[" + string(bytes.Repeat(append(small, ','), n))
		b.Run(fmt.Sprint("list", n), func(b *testing.B) {
			benchmarkValidate(b, list, json.RawMessage(value[:len(value)-1]+"]"), true)
		})
	}
}

func benchmarkValidate(b *testing.B, s *schemas.Schema, value json.RawMessage, valid bool) {
	b.ReportAllocs()
	b.SetBytes(int64(len(value)))
	for b.Loop() {
		if err := s.Validate(value); (err == nil) != valid {
			b.Fatal(err)
		}
	}
}

func BenchmarkCompile(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		mustCompile(b, toolSchema)
	}
}
