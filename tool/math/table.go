package math

import (
	"math"
	"math/big"
)

// operations returns the tools.
func operations() []operation {
	return []operation{
		{"add", "a b", "a + b", exact(func(x []*big.Rat) *big.Rat { return add(x[0], x[1]) })},
		{"subtract", "a b", "a - b", exact(func(x []*big.Rat) *big.Rat { return sub(x[0], x[1]) })},
		{"multiply", "a b", "a * b", exact(func(x []*big.Rat) *big.Rat { return mul(x[0], x[1]) })},
		{"divide", "a b", "a / b", func(x []*big.Rat) (*big.Rat, error) { return div(x[0], x[1]) }},
		{"power", "base exponent", "base to the power of exponent", power},
		{"sqrt", "a", "the square root", func(x []*big.Rat) (*big.Rat, error) { return root(x[0]) }},
		{"negate", "a", "-a", exact(func(x []*big.Rat) *big.Rat { return times(-1, x[0]) })},
		{"inverse", "a", "1 / a", func(x []*big.Rat) (*big.Rat, error) { return div(rat(1), x[0]) }},
		{"floor", "a", "the greatest whole number that is not greater", exact(func(x []*big.Rat) *big.Rat { return floor(x[0]) })},
		{"round", "a", "the nearest whole number; of two the greater", exact(func(x []*big.Rat) *big.Rat { return floor(add(x[0], big.NewRat(1, 2))) })},
		{"reminder", "a b", "what is left of a when it is divided by b; it has the sign of b", remainder},
		{"remindar", "a b", "what is left of a when it is divided by b; it has the sign of b", remainder},
		{"sum_consecutive_number", "from to", "the sum of the whole numbers from one up to, and without, another", consecutive},
		{"max", "a b", "the greater one", exact(func(x []*big.Rat) *big.Rat {
			if x[0].Cmp(x[1]) < 0 {
				return x[1]
			}
			return x[0]
		})},
		{"min", "a b", "the smaller one", exact(func(x []*big.Rat) *big.Rat {
			if x[0].Cmp(x[1]) > 0 {
				return x[1]
			}
			return x[0]
		})},
		{"gcd", "a b", "the greatest common divisor", func(x []*big.Rat) (*big.Rat, error) { return divisor(x, false) }},
		{"lcm", "a b", "the least common multiple", func(x []*big.Rat) (*big.Rat, error) { return divisor(x, true) }},
		{"log", "a", "the logarithm to the base of 2", float(func(x []float64) float64 { return math.Log2(x[0]) })},
		{"factorial", "n", "n!", whole(func(x []int64) (*big.Int, error) { return new(big.Int).MulRange(1, x[0]), nil })},
		{"combination", "n k", "how many ways there are to choose k of n", whole(binomial)},
		{"permutation", "n k", "how many ways there are to choose k of n in order; the greater one is n", whole(func(x []int64) (*big.Int, error) {
			n, k := max(x[0], x[1]), min(x[0], x[1])
			return new(big.Int).MulRange(n-k+1, n), nil
		})},
		{"count_interval", "last first", "how many whole numbers there are from first to last", exact(func(x []*big.Rat) *big.Rat { return add(sub(x[0], x[1]), rat(1)) })},
		{"union_prob", "p q both", "p + q - both", exact(func(x []*big.Rat) *big.Rat { return sub(add(x[0], x[1]), x[2]) })},
		{"negate_prob", "p", "1 - p", exact(func(x []*big.Rat) *big.Rat { return sub(rat(1), x[0]) })},

		{"sine", "angle", "the sine of an angle in radians", float(func(x []float64) float64 { return math.Sin(x[0]) })},
		{"cosine", "angle", "the cosine of an angle in radians", float(func(x []float64) float64 { return math.Cos(x[0]) })},
		{"tangent", "angle", "the tangent of an angle in radians", float(func(x []float64) float64 { return math.Tan(x[0]) })},
		{"degree_to_radians", "angle", "degrees in radians", circular(func(x []*big.Rat) *big.Rat { return mul(x[0], big.NewRat(1, 180)) })},
		{"radians_to_degree", "angle", "radians in degrees", float(func(x []float64) float64 { return x[0] * 180 / math.Pi })},

		{"speed", "distance time", "distance / time", func(x []*big.Rat) (*big.Rat, error) { return div(x[0], x[1]) }},
		{"speed_in_still_water", "downstream upstream", "the speed of a boat in still water", exact(func(x []*big.Rat) *big.Rat { return half(add(x[0], x[1])) })},
		{"stream_speed", "downstream upstream", "the speed of the stream", exact(func(x []*big.Rat) *big.Rat { return half(sub(x[0], x[1])) })},
		{"speed_ratio_steel_to_stream", "a b", "(a + b) / (a - b)", func(x []*big.Rat) (*big.Rat, error) { return div(add(x[0], x[1]), sub(x[0], x[1])) }},

		{"combined_work", "a b", "the time that two take together, of the times that each takes alone", work(add)},
		{"find_work", "a b", "the time that one takes alone, of the times that both take together and the other alone", work(func(a, b *big.Rat) *big.Rat { d := sub(a, b); return d.Abs(d) })},

		{"percent", "percent number", "so many percent of a number", exact(func(x []*big.Rat) *big.Rat { return mul(mul(x[0], big.NewRat(1, 100)), x[1]) })},
		{"from_percent", "percent", "percent / 100", exact(func(x []*big.Rat) *big.Rat { return mul(x[0], big.NewRat(1, 100)) })},
		{"to_percent", "ratio", "ratio * 100", exact(func(x []*big.Rat) *big.Rat { return times(100, x[0]) })},
		{"gain_percent", "percent", "100 + percent", exact(func(x []*big.Rat) *big.Rat { return add(rat(100), x[0]) })},
		{"loss_percent", "percent", "100 - percent", exact(func(x []*big.Rat) *big.Rat { return sub(rat(100), x[0]) })},
		{"negate_percent", "percent", "100 - percent", exact(func(x []*big.Rat) *big.Rat { return sub(rat(100), x[0]) })},
		{"p_after_gain", "percent price", "the price after a gain", exact(percent(1))},
		{"price_after_gain", "percent price", "the price after a gain", exact(percent(1))},
		{"p_after_loss", "percent price", "the price after a loss", exact(percent(-1))},
		{"price_after_loss", "percent price", "the price after a loss", exact(percent(-1))},
		{"original_price_before_gain", "percent price", "the price before a gain", before(1)},
		{"original_price_before_loss", "percent price", "the price before a loss", before(-1)},

		{"circle_area", "radius", "the area of a circle", circular(func(x []*big.Rat) *big.Rat { return mul(x[0], x[0]) })},
		{"circumface", "radius", "the circumference of a circle", circular(func(x []*big.Rat) *big.Rat { return times(2, x[0]) })},
		{"circle_arc", "degrees radius", "the length of an arc of a circle", circular(func(x []*big.Rat) *big.Rat { return mul(mul(x[0], x[1]), big.NewRat(1, 180)) })},
		{"circle_sector_area", "radius degrees", "the area of a sector of a circle", circular(func(x []*big.Rat) *big.Rat { return mul(mul(mul(x[0], x[0]), x[1]), big.NewRat(1, 360)) })},
		{"semi_circle_perimiter", "radius", "the perimeter of half a circle", func(x []*big.Rat) (*big.Rat, error) { return plusPi(times(2, x[0]), x[0]) }},
		{"square_area", "edge", "the area of a square", exact(func(x []*big.Rat) *big.Rat { return mul(x[0], x[0]) })},
		{"square_perimeter", "edge", "the perimeter of a square", exact(func(x []*big.Rat) *big.Rat { return times(4, x[0]) })},
		{"square_edge_by_area", "area", "the edge of a square", func(x []*big.Rat) (*big.Rat, error) { return root(x[0]) }},
		{"square_edge_by_perimeter", "perimeter", "the edge of a square", exact(func(x []*big.Rat) *big.Rat { return mul(x[0], big.NewRat(1, 4)) })},
		{"square_edge_by_parameter", "perimeter", "the edge of a square", exact(func(x []*big.Rat) *big.Rat { return mul(x[0], big.NewRat(1, 4)) })},
		{"rectangle_area", "length width", "the area of a rectangle", exact(func(x []*big.Rat) *big.Rat { return mul(x[0], x[1]) })},
		{"rectangle_perimeter", "length width", "the perimeter of a rectangle", exact(func(x []*big.Rat) *big.Rat { return times(2, add(x[0], x[1])) })},
		{"diagonal", "length width", "the diagonal of a rectangle", func(x []*big.Rat) (*big.Rat, error) { return root(add(mul(x[0], x[0]), mul(x[1], x[1]))) }},
		{"side_by_diagonal", "diagonal side", "the other side of a rectangle", func(x []*big.Rat) (*big.Rat, error) { return root(sub(mul(x[0], x[0]), mul(x[1], x[1]))) }},
		{"triangle_area", "base height", "the area of a triangle", exact(func(x []*big.Rat) *big.Rat { return half(mul(x[0], x[1])) })},
		{"triangle_perimeter", "a b c", "the perimeter of a triangle", exact(func(x []*big.Rat) *big.Rat { return add(add(x[0], x[1]), x[2]) })},
		{"triangle_area_three_edges", "a b c", "the area of a triangle of three edges", heron},
		{"rhombus_area", "a b", "the area of a rhombus of two diagonals", exact(func(x []*big.Rat) *big.Rat { return half(mul(x[0], x[1])) })},
		{"rhombus_perimeter", "edge", "the perimeter of a rhombus", exact(func(x []*big.Rat) *big.Rat { return times(4, x[0]) })},
		{"quadrilateral_area", "diagonal a b", "the area of a quadrilateral: a diagonal, and the heights on it", exact(func(x []*big.Rat) *big.Rat { return half(mul(x[0], add(x[1], x[2]))) })},
		{"trapezium_area", "height a b", "the area of a trapezium: its height, and the sides that are parallel", exact(func(x []*big.Rat) *big.Rat { return half(mul(x[0], add(x[1], x[2]))) })},
		{"volume_cube", "edge", "the volume of a cube", exact(func(x []*big.Rat) *big.Rat { return mul(x[0], mul(x[0], x[0])) })},
		{"surface_cube", "edge", "the surface of a cube", exact(func(x []*big.Rat) *big.Rat { return times(6, mul(x[0], x[0])) })},
		{"cube_edge_by_volume", "volume", "the edge of a cube", float(func(x []float64) float64 { return math.Cbrt(x[0]) })},
		{"volume_rectangular_prism", "a b c", "the volume of a box", exact(func(x []*big.Rat) *big.Rat { return mul(x[0], mul(x[1], x[2])) })},
		{"surface_rectangular_prism", "a b c", "the surface of a box", exact(func(x []*big.Rat) *big.Rat {
			return times(2, add(add(mul(x[0], x[1]), mul(x[1], x[2])), mul(x[0], x[2])))
		})},
		{"volume_cylinder", "radius height", "the volume of a cylinder", circular(func(x []*big.Rat) *big.Rat { return mul(mul(x[0], x[0]), x[1]) })},
		{"surface_cylinder", "radius height", "the surface of a cylinder", circular(func(x []*big.Rat) *big.Rat { return times(2, mul(x[0], add(x[0], x[1]))) })},
		{"volume_cone", "radius height", "the volume of a cone", circular(func(x []*big.Rat) *big.Rat { return mul(mul(mul(x[0], x[0]), x[1]), big.NewRat(1, 3)) })},
		{"surface_cone", "radius height", "the surface of a cone", cone},
		{"volume_sphere", "radius", "the volume of a sphere", circular(func(x []*big.Rat) *big.Rat {
			return mul(mul(x[0], mul(x[0], x[0])), big.NewRat(4, 3))
		})},
		{"surface_sphere", "radius", "the surface of a sphere", circular(func(x []*big.Rat) *big.Rat { return times(4, mul(x[0], x[0])) })},
	}
}
