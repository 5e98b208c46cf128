package tool

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/schemas"
)

type place struct {
	City  string  `json:"city" jsonschema:"where"`
	Units string  `json:"units,omitempty"`
	Near  *place2 `json:"near,omitempty"`
}

type place2 struct{ X, Y float64 }

func call(t *testing.T, tl *Tool, params string) (Result, error) {
	t.Helper()
	return tl.Activity.Call(t.Context(), &Request{Params: json.RawMessage(params)})
}

func TestFunc(t *testing.T) {
	type out struct {
		Text string `json:"text"`
	}
	tl := Func("weather", "The weather <of> a city.", func(_ context.Context, in place) (out, error) {
		return out{in.City + " <&> †" + in.Units}, nil
	})
	if got, want := tl.Definition.Signature(), "weather(city: string, near?: {X: number, Y: number} | null, units?: string) → {text: string}"; got != want {
		t.Errorf("signature %s, want %s", got, want)
	}
	if d := tl.Definition; !d.Closed || d.Description != "The weather <of> a city." || d.Effects.Declared() || tl.Source != "go" || tl.Driver != "go" {
		t.Errorf("%+v", d)
	}
	res, err := call(t, tl, `{"city": "Paris"}`)
	if err != nil || string(res.Value) != `{"text":"Paris <&> †"}` {
		t.Errorf("%s, %v", res.Value, err)
	}
}

// A function learns the idempotency key of its call, also below a context of its own.
func TestRequestOf(t *testing.T) {
	tl := Func("pay", "", func(ctx context.Context, _ struct{}) (string, error) {
		ctx, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		return RequestOf(ctx).Key, nil
	})
	res, err := tl.Activity.Call(t.Context(), &Request{Params: json.RawMessage("{}"), Key: "k1"})
	if err != nil || string(res.Value) != `"k1"` {
		t.Errorf("%s, %v", res.Value, err)
	}
	if got := RequestOf(t.Context()); got != nil {
		t.Errorf("a request out of nowhere: %+v", got)
	}
}

func TestFuncOfNothing(t *testing.T) {
	tl := Func("f", "", func(context.Context, struct{}) (struct{}, error) { return struct{}{}, nil })
	if got := tl.Definition.Signature(); got != "f() → null" {
		t.Error(got)
	}
	for _, params := range []string{`{}`, ``} {
		if res, err := call(t, tl, params); err != nil || res.Value != nil {
			t.Errorf("%q: %s, %v", params, res.Value, err)
		}
	}
}

func TestFuncChooses(t *testing.T) {
	tl := Func("f", "", func(_ context.Context, in struct{ N int }) (Chosen[[]int], error) {
		return Chosen[[]int]{"many", []int{in.N}}, nil
	})
	if got := tl.Definition.Signature(); got != "f(N: integer) → integer[] | null" && got != "f(N: integer) → null | integer[]" {
		t.Error(got)
	}
	if res, err := call(t, tl, `{"N": 3}`); err != nil || string(res.Value) != "[3]" || res.Outcome != "many" {
		t.Errorf("%+v, %v", res, err)
	}
}

func TestFuncFails(t *testing.T) {
	declined := &Error{Code: "declined", RetryAfter: time.Second}
	in := Func("in", "", func(context.Context, place) (int, error) { return 1, nil })
	fails := Func("fails", "", func(context.Context, struct{}) (int, error) { return 0, declined })
	panics := Func("panics", "", func(context.Context, struct{}) (int, error) { panic("at the disco") })
	nan := Func("nan", "", func(context.Context, struct{}) (float64, error) { return math.NaN(), nil })
	for _, c := range []struct {
		about  string
		tool   *Tool
		params string
		code   string
		text   string
	}{
		{"an unknown member", in, `{"city": "x", "town": "y"}`, "params", "town"},
		{"a wrong type", in, `{"city": 5}`, "params", "city"},
		{"an error keeps its code", fails, `{}`, "declined", ""},
		{"a panic", panics, `{}`, "panic", "at the disco"},
		{"a result that is no JSON", nan, `{}`, "result", "NaN"},
	} {
		_, err := call(t, c.tool, c.params)
		var e *Error
		if !errors.As(err, &e) || e.Code != c.code || !strings.Contains(e.Message, c.text) {
			t.Errorf("%s: %v, want %s with %q", c.about, err, c.code, c.text)
		}
		if e != nil && e.Permanent != (e != declined) {
			t.Errorf("%s: permanent is %v", c.about, e.Permanent)
		}
	}
	_, err := call(t, panics, `{}`)
	if stack := errors.Unwrap(err); stack == nil || !strings.Contains(stack.Error(), "TestFuncFails") {
		t.Errorf("no stack of the panic: %v", stack)
	}
}

func TestFuncOfAMistake(t *testing.T) {
	type tagged struct {
		A int `jsonschema:"minimum=3"`
	}
	for about, f := range map[string]func(){
		"no name":               func() { Func("", "", func(context.Context, struct{}) (int, error) { return 0, nil }) },
		"a tag of another kind": func() { Func("f", "", func(context.Context, tagged) (int, error) { return 0, nil }) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", about)
				}
			}()
			f()
		}()
	}
}

type (
	color   string
	bytes2  []byte
	octet   byte
	numbers map[string]float64
	base    struct {
		ID   int `json:"id"`
		Note string
	}
	tree struct {
		Value int             `json:"value"`
		Left  *tree           `json:"left"`
		Kids  []tree          `json:"kids,omitempty"`
		Named map[string]tree `json:"named,omitempty"`
	}
	forest map[string]forest
	upper  struct{ s string }
	ptr    struct{ N int }
)

func (u upper) MarshalText() ([]byte, error)  { return []byte(strings.ToUpper(u.s)), nil }
func (u *upper) UnmarshalText(b []byte) error { u.s = string(b); return nil }
func (p *ptr) MarshalJSON() ([]byte, error)   { return []byte("[1]"), nil }

type everything struct {
	Bool     bool
	Int      int
	I8       int8
	U64      uint64
	F32      float32
	Str      string
	Named    color `json:"named,omitempty"`
	Bytes    []byte
	Bytes2   bytes2
	Octets   []octet
	Fixed    [3]byte
	Raw      json.RawMessage
	RawPtr   *json.RawMessage
	Any      any
	Number   json.Number
	Time     time.Time
	TimePtr  *time.Time
	Duration time.Duration
	Map      map[string]int
	IntMap   map[int8][]string
	Nested   map[string]map[string]*base
	Slice    [][]string
	Ptr      **int
	Addr     netip.Addr
	Upper    upper
	UpperPtr *upper
	UpperMap map[string]upper
	PtrVal   ptr
	PtrPtr   *ptr
	Numbers  numbers
	Skip     func() `json:"-"`
	Big      *big.Int
	BigVal   big.Int
}

type (
	embeds      struct{ base }
	embedsNamed struct {
		Base base `json:"base"`
	}
	embedsTagged struct {
		base2 `json:"inner"`
	}
	base2           struct{ A int }
	embedsPointer   struct{ *Base3 }
	Base3           struct{ B int }
	embedsColor     struct{ Color2 }
	Color2          string
	embedsIrregular struct {
		embedsTagged
		X int
	}
	quoted struct {
		N int `json:",string"`
	}
	omits struct {
		O int   `json:"o,omitzero"`
		P []int `json:"p,omitempty"`
	}
)

// special returns generators for types that rapid can't make by itself.
func special() rapid.MakeConfig {
	types := map[reflect.Type]*rapid.Generator[any]{}
	add := func(values ...any) {
		types[reflect.TypeOf(values[0])] = rapid.SampledFrom(values)
	}
	add(json.RawMessage(`null`), json.RawMessage(`1`), json.RawMessage(`{"a": []}`), json.RawMessage(`"x"`))
	add(json.Number(""), json.Number("0"), json.Number("-1.5"), json.Number("1e300"))
	add(time.Unix(0, 0).UTC(), time.Unix(4e9, 5))
	add(netip.Addr{}, netip.MustParseAddr("::1"))
	add(upper{"x"}, upper{})
	add(ptr{})
	add(big.Int{}, *big.NewInt(5))
	add(func() {})
	add(tree{}, tree{Kids: []tree{{}}, Left: &tree{Value: 1}, Named: map[string]tree{"a": {}}})
	add(forest{}, forest(nil), forest{"a": {"b": nil}})
	types[reflect.TypeFor[any]()] = rapid.SampledFrom([]any{nil, 1, "x", []int{1}, map[string]any{"a": nil}})
	finite := rapid.Float64Range(-1e300, 1e300)
	return rapid.MakeConfig{Types: types, Kinds: map[reflect.Kind]*rapid.Generator[any]{
		reflect.Float64: finite.AsAny(),
		reflect.Float32: rapid.Float32Range(-1e30, 1e30).AsAny(),
	}}
}

// meets checks that what encoding/json makes of any value of a type meets the
// schema of the type.
func meets[T any](t *testing.T) {
	t.Run(reflect.TypeFor[T]().String(), func(t *testing.T) {
		raw, err := schemaOf(reflect.TypeFor[T]())
		if err != nil {
			t.Fatal(err)
		}
		s, err := schemas.Compile(raw, nil)
		if err != nil {
			t.Fatal(err)
		}
		values := rapid.MakeCustom[T](special())
		rapid.Check(t, func(r *rapid.T) {
			text, err := jsonscan.Marshal(values.Draw(r, "value"))
			if err != nil {
				r.Fatal(err)
			}
			if err := s.Validate(text); err != nil {
				r.Fatalf("%s: %v\nschema %s", text, err, raw)
			}
		})
	})
}

func TestSchemasOfTypes(t *testing.T) {
	meets[everything](t)
	meets[*everything](t)
	meets[tree](t)
	meets[[]tree](t)
	meets[map[string]*tree](t)
	meets[forest](t)
	meets[embeds](t)
	meets[embedsNamed](t)
	meets[embedsTagged](t)
	meets[embedsPointer](t)
	meets[embedsColor](t)
	meets[embedsIrregular](t)
	meets[struct{ In embedsTagged }](t)
	meets[quoted](t)
	meets[omits](t)
	meets[[]byte](t)
	meets[time.Duration](t)
	meets[map[int][]*bool](t)
	meets[Chosen[int]](t)
}

// A recursive type keeps its own fields: only what is inside of it is anything.
func TestSchemaOfRecursiveType(t *testing.T) {
	tl := Func("f", "", func(context.Context, tree) (int, error) { return 0, nil })
	if got, want := tl.Definition.Signature(), "f(value: integer, left: any, kids?: any[] | null, named?: object | null) → integer"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// Schemas say what they can: the wrong value is refused.
func TestSchemasOfTypesRefuse(t *testing.T) {
	for _, c := range []struct {
		of    reflect.Type
		value string
	}{
		{reflect.TypeFor[everything](), `{}`},
		{reflect.TypeFor[base](), `{"id": "x", "Note": ""}`},
		{reflect.TypeFor[base](), `{"id": 1, "Note": "", "more": 1}`},
		{reflect.TypeFor[[]byte](), `[1]`},
		{reflect.TypeFor[json.Number](), `"1"`},
		{reflect.TypeFor[time.Time](), `1`},
		{reflect.TypeFor[map[string]int](), `{"a": "x"}`},
		{reflect.TypeFor[upper](), `1`},
		{reflect.TypeFor[tree](), `{"value": "x", "left": null}`},
	} {
		raw, err := schemaOf(c.of)
		if err != nil {
			t.Fatal(err)
		}
		s, err := schemas.Compile(raw, nil)
		if err != nil {
			t.Fatal(err)
		}
		if s.Validate(json.RawMessage(c.value)) == nil {
			t.Errorf("%s: %s is taken; schema %s", c.of, c.value, raw)
		}
	}
}

// Of two fields of one name encoding/json writes neither.
func TestSchemaOfFieldsOfOneName(t *testing.T) {
	twice := reflect.StructOf([]reflect.StructField{
		{Name: "A", Type: reflect.TypeFor[int](), Tag: `json:"x"`},
		{Name: "B", Type: reflect.TypeFor[int](), Tag: `json:"x"`},
	})
	raw, err := schemaOf(twice)
	if err != nil {
		t.Fatal(err)
	}
	if string(raw) != `{"type":"object"}` {
		t.Errorf("%s", raw)
	}
}
