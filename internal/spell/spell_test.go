package spell

import (
	"fmt"
	"slices"
	"testing"
)

func TestNearest(t *testing.T) {
	members := []string{"_tool", "_id", "_outputPath", "_outputMethod", "_output", "_errorPath", "_retry", "_when"}
	for _, c := range []struct{ word, want string }{
		{"_outputpath", "_outputPath"},
		{"_ouptutPath", "_outputPath"},
		{"_output_path", "_outputPath"},
		{"_otuput", "_output"},
		{"_tol", "_tool"},
		{"_tools", "_tool"},
		{"_dI", "_id"},
		{"_Tool", "_tool"},
		{"_tool", ""},
		{"_xyz", ""},
		{"", ""},
		{"_", ""},
	} {
		if got, ok := Nearest(c.word, slices.Values(members)); got != c.want || ok != (c.want != "") {
			t.Errorf("%q: %q %v, want %q", c.word, got, ok, c.want)
		}
	}
}

func TestNearestDoesNotDependOnTheOrder(t *testing.T) {
	words := []string{"getB", "getA", "getC"}
	a, _ := Nearest("getX", slices.Values(words))
	slices.Reverse(words)
	if b, _ := Nearest("getX", slices.Values(words)); a != "getA" || b != "getA" {
		t.Errorf("%q and %q, want getA", a, b)
	}
}

func TestDistance(t *testing.T) {
	var r table
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"a", "", 1}, {"", "abc", 3}, {"abc", "abc", 0}, {"abc", "acb", 1},
		{"kitten", "sitting", 3}, {"abcd", "badc", 2}, {"ca", "abc", 3},
	} {
		if got := r.distance([]byte(c.a), []byte(c.b), 10); got != c.want {
			t.Errorf("%q to %q: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

func BenchmarkNearest(b *testing.B) {
	names := make([]string, 10_000)
	for i := range names {
		names[i] = fmt.Sprintf("fetchThing%04d", i)
	}
	for _, word := range []string{"fetchThnig0420", "sendMail", "featchStrings99"} {
		b.Run(word, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Nearest(word, slices.Values(names))
			}
		})
	}
}

func TestClosest(t *testing.T) {
	names := []string{"user", "order", "orders", "use", "total", "user", "currency"}
	for _, c := range []struct {
		word   string
		most   int
		want   string
		others int
	}{
		{"usr", 3, "[use user order]", 3},
		{"ORDERS", 1, "[orders]", 5},
		{"", 2, "[use user]", 4},
		{"zzz", 9, "[use user order total orders currency]", 0},
	} {
		if got, others := Closest(c.word, slices.Values(names), c.most); fmt.Sprint(got) != c.want || others != c.others {
			t.Errorf("%q: %v and %d others, want %s and %d", c.word, got, others, c.want, c.others)
		}
	}
}
