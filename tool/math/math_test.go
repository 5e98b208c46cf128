package math_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"sync"
	"testing"

	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/math"
)

var catalogue = sync.OnceValue(func() *tool.Catalogue { return tool.NewCatalogue(math.Tools()...) })

// call calls a tool with numbers in the order of its params.
func call(t *testing.T, name string, numbers ...string) (string, error) {
	t.Helper()
	found, ok := catalogue().Lookup(name)
	if !ok {
		t.Fatalf("there is no tool %q", name)
	}
	var members []string
	for i, param := range found.Definition.Positional() {
		members = append(members, fmt.Sprintf("%q: %s", param, numbers[i]))
	}
	result, err := found.Activity.Call(t.Context(), &tool.Request{Params: json.RawMessage("{" + strings.Join(members, ",") + "}")})
	return string(result.Value), err
}

func TestCalculate(t *testing.T) {
	for _, c := range []struct{ name, numbers, want string }{
		{"add", "0.1 0.2", "0.3"},
		{"add", "9007199254740993 1", "9007199254740994"},
		{"subtract", "1 3", "-2"},
		{"multiply", "1e20 1e20", "10000000000000000000000000000000000000000"},
		{"divide", "1 8", "0.125"},
		{"divide", "1 3", "0.3333333333333333333333333333333333"},
		{"divide", "10 -4", "-2.5"},
		{"power", "2 10", "1024"},
		{"power", "2 -2", "0.25"},
		{"power", "2 0.5", "1.4142135623730951"},
		{"power", "0 0", "1"},
		{"sqrt", "2.25", "1.5"},
		{"sqrt", "2", "1.4142135623730951"},
		{"floor", "-1.5", "-2"},
		{"round", "2.5", "3"},
		{"reminder", "-7 3", "2"},
		{"reminder", "7.5 2", "1.5"},
		{"gcd", "12 18", "6"},
		{"lcm", "4 6", "12"},
		{"lcm", "0 6", "0"},
		{"gcd", "1.75 5.6", "0.35"},
		{"gcd", "1.5 2", "0.5"},
		{"gcd", "-12 18", "6"},
		{"gcd", "0 0", "0"},
		{"lcm", "3 2.7", "27"},
		{"lcm", "27 0.09", "27"},
		{"max", "1 2", "2"},
		{"min", "1 2", "1"},
		{"log", "8", "3"},
		{"factorial", "20", "2432902008176640000"},
		{"factorial", "0", "1"},
		{"combination", "5 2", "10"},
		{"combination", "2 5", "0"},
		{"permutation", "5 2", "20"},
		{"permutation", "2 5", "20"},
		{"permutation", "5 0", "1"},
		{"permutation", "5 5", "120"},
		{"circle_area", "1", "3.141592653589793"},
		{"degree_to_radians", "180", "3.141592653589793"},
		{"triangle_area_three_edges", "3 4 5", "6"},
		{"diagonal", "3 4", "5"},
		{"volume_cone", "1 3", "3.141592653589793"},
		{"p_after_gain", "20 100", "120"},
		{"original_price_before_gain", "20 120", "100"},
		{"original_price_before_loss", "20 80", "100"},
		{"stream_speed", "10 6", "2"},
		{"speed_in_still_water", "10 6", "8"},
		{"quadrilateral_area", "10 3 5", "40"},
		{"trapezium_area", "10 3 5", "40"},
		{"circle_arc", "180 2", "6.283185307179586"},
		{"circle_sector_area", "2 90", "3.141592653589793"},
		{"semi_circle_perimiter", "1", "5.141592653589793"},
		{"surface_cone", "3 4", "75.39822368615503"},
		{"side_by_diagonal", "5 3", "4"},
		{"square_edge_by_parameter", "20", "5"},
		{"union_prob", "0.5 0.5 0.25", "0.75"},
		{"count_interval", "20 10", "11"},
		{"sum_consecutive_number", "1 5", "10"},
		{"sum_consecutive_number", "5 1", "0"},
		{"remindar", "7 3", "1"},
		{"p_after_loss", "20 100", "80"},
		{"combined_work", "10 15", "6"},
		{"combined_work", "0.1 15", "6"},
		{"find_work", "6 10", "15"},
	} {
		got, err := call(t, c.name, strings.Fields(c.numbers)...)
		if err != nil || got != c.want {
			t.Errorf("%s(%s) is %s (%v), want %s", c.name, c.numbers, got, err, c.want)
		}
	}
}

// TestPublished wants a tool for each operation that MathQA names, but for choose, which is a
// combination, and the name of a tool of the language.
func TestPublished(t *testing.T) {
	const published = `add subtract multiply divide log sqrt factorial gcd lcm power max min remindar reminder negate inverse
		round floor sine cosine tangent radians_to_degree degree_to_radians sum_consecutive_number circle_area circumface
		circle_arc semi_circle_perimiter circle_sector_area rectangle_perimeter rectangle_area square_perimeter square_area
		trapezium_area rhombus_perimeter rhombus_area quadrilateral_area volume_cone volume_rectangular_prism volume_cube
		volume_sphere volume_cylinder surface_cone surface_cylinder surface_cube surface_rectangular_prism surface_sphere
		side_by_diagonal cube_edge_by_volume diagonal square_edge_by_perimeter square_edge_by_parameter square_edge_by_area
		triangle_perimeter triangle_area triangle_area_three_edges union_prob negate_prob combination permutation
		count_interval percent p_after_gain p_after_loss price_after_gain price_after_loss from_percent gain_percent
		loss_percent negate_percent original_price_before_gain original_price_before_loss to_percent speed combined_work
		find_work speed_ratio_steel_to_stream speed_in_still_water stream_speed`
	for _, name := range strings.Fields(published) {
		if _, ok := catalogue().Lookup(name); !ok {
			t.Errorf("there is no tool %q", name)
		}
	}
}

// TestNoNameOfTheLanguage checks that plans with these tools can use all tools of the language.
func TestNoNameOfTheLanguage(t *testing.T) {
	for _, m := range math.Tools() {
		if tool.IsReserved(m.Definition.Name) {
			t.Errorf("%s is a tool of the language", m.Definition.Name)
		}
	}
}

func TestUndefined(t *testing.T) {
	for _, c := range []struct{ name, numbers string }{
		{"divide", "1 0"}, {"inverse", "0"}, {"reminder", "1 0"}, {"speed", "1 0"}, {"power", "0 -1"}, {"power", "-1 0.5"}, {"power", "10 1e300"},
		{"sqrt", "-1"}, {"log", "0"}, {"log", "-1"}, {"factorial", "-1"}, {"factorial", "1.5"}, {"factorial", "1e9"}, {"combination", "1e12 2"},
		{"original_price_before_loss", "100 5"}, {"triangle_area_three_edges", "1 1 5"},
	} {
		got, err := call(t, c.name, strings.Fields(c.numbers)...)
		var failure *tool.Error
		if !errors.As(err, &failure) || failure.Code != "undefined" || !failure.Permanent {
			t.Errorf("%s(%s) is %s (%v), want a failure for good", c.name, c.numbers, got, err)
		}
	}
}

// Every result is a number that a plan can hold.
func TestText(t *testing.T) {
	huge := new(big.Rat).SetFrac(new(big.Int).Exp(big.NewInt(10), big.NewInt(100), nil), big.NewInt(1))
	for _, c := range []struct {
		r    *big.Rat
		want string
	}{
		{big.NewRat(0, 1), "0"}, {big.NewRat(-5, 2), "-2.5"}, {big.NewRat(2, 3), "0.6666666666666666666666666666666667"},
		{huge, "1e+100"}, {new(big.Rat).Inv(huge), "1e-100"}, {new(big.Rat).Inv(big.NewRat(7, 1)), "0.1428571428571428571428571428571429"},
	} {
		got := math.Text(c.r)
		if got != c.want || !json.Valid([]byte(got)) {
			t.Errorf("%s is written %s, want %s", c.r, got, c.want)
		}
	}
}

// Every tool takes as many numbers as it says.
func TestTools(t *testing.T) {
	for _, m := range math.Tools() {
		numbers := make([]string, len(m.Definition.Required))
		for i := range numbers {
			numbers[i] = fmt.Sprint(5 - i)
		}
		if got, err := call(t, m.Definition.Name, numbers...); err != nil || !json.Valid([]byte(got)) {
			t.Errorf("%s(%s) is %s (%v)", m.Definition.Name, strings.Join(numbers, ", "), got, err)
		}
		if m.Definition.Effects.Pure != tool.Yes || !m.Definition.Closed {
			t.Errorf("%s is not pure, or takes more", m.Definition.Name)
		}
	}
}

func BenchmarkTools(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		math.Tools()
	}
}
