package lang

import (
	"fmt"
	"strings"
	"testing"

	"github.com/plc-lang/plc/diag"
)

func BenchmarkParseRead(b *testing.B) {
	tests := []struct{ name, text string }{
		{"reference", "†state.userProfileData"},
		{"index", "†state.users[0].name"},
		{"or", "†state.cache || †input.value"},
		{"literal", "†input.lang || 'en'"},
		{"nested", "(†state.a || †state.b) && (†input.c || 'x')"},
	}
	for _, n := range []int{10, 100, 10_000} {
		tests = append(tests,
			struct{ name, text string }{fmt.Sprint("segments/", n), "†state" + strings.Repeat(".segment", n)},
			struct{ name, text string }{fmt.Sprint("operands/", n), "†state.a" + strings.Repeat(" || †state.b", n)})
	}
	for _, test := range tests {
		b.Run(test.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(test.text)))
			s := source{text: test.text}
			for b.Loop() {
				if _, f := s.read(0, len(s.text), false); f != nil {
					b.Fatal(f.Message)
				}
			}
		})
	}
}

func BenchmarkReadText(b *testing.B) {
	for _, test := range []struct{ name, token string }{
		{"plain", `"no reference in here, only some text of the usual length"`},
		{"escaped", `"no \"reference\" in here,\nonly some text of the usual length"`},
		{"reference", `"†state.userProfileData"`},
		{"reference-escaped", `"\u2020state.userProfileData"`},
		{"templates", `"Hello †{input.name}, you are †{input.age}."`},
	} {
		b.Run(test.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(test.token)))
			src := []byte(test.token)
			span := diag.Span{End: int32(len(src))}
			for b.Loop() {
				if _, faults := readText(src, span, nil); len(faults) > 0 {
					b.Fatal(faults[0].Message)
				}
			}
		})
	}
}
