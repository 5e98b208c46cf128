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
	b.Run("checked", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := s.ValidateChecked(small); err != nil {
				b.Fatal(err)
			}
		}
	})
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

// Schemas as tools have them.
const (
	benchUser = `{"type":"object","properties":{"id":{"type":"integer"},"name":{"type":"string"},"email":{"type":"string","format":"email"},
		"roles":{"type":"array","items":{"enum":["admin","user","guest"]}},"address":{"type":"object","properties":{"street":{"type":"string"},
		"city":{"type":"string"},"zip":{"type":"string","pattern":"^[0-9]{5}$"}},"required":["city"]}},"required":["id","name"],"additionalProperties":false}`
	benchUserIn = `{"type":"object","properties":{"id":{"type":"number"},"name":{"type":["string","null"]},"roles":{"type":"array","items":{"type":"string"}},
		"address":{"type":"object","properties":{"city":{"type":"string"},"zip":{"type":"string","minLength":5,"maxLength":5}}}},"required":["id"]}`
	benchShapes = `{"oneOf":[{"type":"object","properties":{"kind":{"const":"circle"},"r":{"type":"number","minimum":0}},"required":["kind","r"]},
		{"type":"object","properties":{"kind":{"const":"square"},"side":{"type":"number","minimum":0}},"required":["kind","side"]},
		{"type":"object","properties":{"kind":{"const":"text"},"text":{"type":"string"}},"required":["kind","text"]}]}`
	benchTree   = `{"$defs":{"n":{"type":"object","properties":{"v":{"type":"integer"},"kids":{"type":"array","items":{"$ref":"#/$defs/n"}}},"required":["v"],"additionalProperties":false}},"$ref":"#/$defs/n"}`
	benchTreeIn = `{"$defs":{"n":{"type":"object","properties":{"v":{"type":"number"},"kids":{"type":"array","items":{"$ref":"#/$defs/n"}}}}},"$ref":"#/$defs/n"}`
)

func BenchmarkAssignable(b *testing.B) {
	for _, test := range []struct {
		name, from, to string
		want           schemas.Verdict
	}{
		{"scalar", `{"type":"integer","minimum":1}`, `{"type":"number"}`, schemas.Yes},
		{"scalarNo", `{"type":"string"}`, `{"type":"integer"}`, schemas.No},
		{"enum", `{"enum":["red","green"]}`, `{"enum":["red","green","blue"]}`, schemas.Yes},
		{"list", `{"type":"array","items":{"type":"string"}}`, `{"type":"array","items":{"type":["string","null"]}}`, schemas.Yes},
		{"tool", toolSchema, `{"type":"object","properties":{"path":{"type":"string"},"limit":{"type":["integer","null"]},"mode":{"type":"string"}},"required":["path"]}`, schemas.Yes},
		{"user", benchUser, benchUserIn, schemas.Yes},
		{"userNo", benchUserIn, benchUser, schemas.No},
		{"union", benchShapes, benchShapes + " ", schemas.Yes},
		{"tree", benchTree, benchTreeIn, schemas.Yes},
		{"treeNo", benchTreeIn, benchTree, schemas.No},
		{"pattern", `{"type":"string","pattern":"^[a-z]+@[a-z]+\\.com$"}`, `{"type":"string","pattern":"^[^@]+@[^@]+$"}`, schemas.Yes},
	} {
		from, to := mustCompile(b, test.from), mustCompile(b, test.to)
		b.Run(test.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if a := schemas.Assignable(from, to, nil); a.Verdict != test.want {
					b.Fatal(a)
				}
			}
		})
	}
}

func BenchmarkRelation(b *testing.B) {
	var r schemas.Relation
	from, to := mustCompile(b, benchUser), mustCompile(b, benchUserIn)
	b.ReportAllocs()
	for b.Loop() {
		r.Assignable(from, to)
	}
}

// Objects with more and more members: the work grows as the schemas do.
func BenchmarkAssignableMembers(b *testing.B) {
	for _, n := range []int{10, 100, 1000} {
		doc := `{"type":"object","properties":{`
		for i := range n {
			doc += fmt.Sprintf(`"member%d":{"type":"string","maxLength":%d},`, i, i)
		}
		doc = doc[:len(doc)-1] + `},"additionalProperties":false`
		from, to := mustCompile(b, doc+`,"required":["member1"]}`), mustCompile(b, doc+`}`)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if a := schemas.Assignable(from, to, nil); a.Verdict != schemas.Yes {
					b.Fatal(a)
				}
			}
		})
	}
}

func BenchmarkAt(b *testing.B) {
	s := mustCompile(b, benchUser)
	b.ReportAllocs()
	for b.Loop() {
		s.At(schemas.Step{Name: "address"}, schemas.Step{Name: "city"})
	}
}

func BenchmarkSample(b *testing.B) {
	s := mustCompile(b, benchUser)
	b.ReportAllocs()
	for seed := uint64(0); b.Loop(); seed++ {
		if _, err := schemas.Sample(s, seed); err != nil {
			b.Fatal(err)
		}
	}
}
