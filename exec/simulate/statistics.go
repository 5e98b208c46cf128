package simulate

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// z standard deviations on each side of the mean hold 95 % of a normal distribution.
const z = 1.959964

// Share is a proportion of runs with its 95 % confidence interval.
type Share struct {
	Runs  int     `json:"runs"` // runs to which it applies
	Of    int     `json:"of"`
	Share float64 `json:"share"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// Percent formats a share in percent, as 0 or 100 only if it is exactly that.
func Percent(share float64) string {
	switch text := fmt.Sprintf("%.1f %%", 100*share); {
	case share > 0 && text == "0.0 %":
		return "below 0.1 %"
	case share < 1 && text == "100.0 %":
		return "above 99.9 %"
	default:
		return text
	}
}

// shareOf returns a share with Wilson's interval, which holds for shares near 0 and 1 as well.
func shareOf(k, n int) Share {
	if n == 0 {
		return Share{High: 1}
	}
	p, m := float64(k)/float64(n), float64(n)
	middle := (p + z*z/(2*m)) / (1 + z*z/m)
	half := z / (1 + z*z/m) * math.Sqrt(p*(1-p)/m+z*z/(4*m*m))
	s := Share{Runs: k, Of: n, Share: p, Low: middle - half, High: middle + half}
	if k == 0 {
		s.Low = 0
	}
	if k == n {
		s.High = 1
	}
	return s
}

// Gain is the difference of two proportions of the same runs, with its 95 % confidence interval.
type Gain struct {
	More  int     `json:"more"` // runs to which it applies now, and did not before
	Fewer int     `json:"fewer"`
	Gain  float64 `json:"gain"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// gainOf returns the difference with the interval of Agresti and Min for pairs, which has a width
// even when no run came out differently.
func gainOf(more, fewer, n int) Gain {
	if n == 0 {
		return Gain{Low: -1, High: 1}
	}
	b, c, m := float64(more)+0.5, float64(fewer)+0.5, float64(n)+2
	middle := (b - c) / m
	half := z / m * math.Sqrt(b+c-(b-c)*(b-c)/m)
	return Gain{more, fewer, float64(more-fewer) / float64(n), max(-1, middle-half), min(1, middle+half)}
}

// Spread describes the values of a number in several runs.
type Spread struct {
	Runs        int          `json:"runs"`
	Mean        float64      `json:"mean"`
	Percentiles []Percentile `json:"percentiles"` // 50, 90, 95 and 99; none without runs
}

// Percentile is a percentile with its 95 % confidence interval. Low or High is nil if there are too
// few runs.
type Percentile struct {
	P     float64  `json:"p"`
	Value float64  `json:"value"`
	Low   *float64 `json:"low"`
	High  *float64 `json:"high"`
}

// Percentile returns the value of percentile p, or 0 if the spread does not have it.
func (s *Spread) Percentile(p float64) float64 {
	for i := range s.Percentiles {
		if s.Percentiles[i].P == p {
			return s.Percentiles[i].Value
		}
	}
	return 0
}

// spreadOf describes values. It sorts them.
func spreadOf(values []float64) Spread {
	s := Spread{Runs: len(values), Percentiles: []Percentile{}}
	if len(values) == 0 {
		return s
	}
	slices.Sort(values)
	for _, v := range values {
		s.Mean += v
	}
	s.Mean /= float64(len(values))
	for _, p := range []float64{50, 90, 95, 99} {
		s.Percentiles = append(s.Percentiles, percentileOf(values, p))
	}
	return s
}

// percentileOf returns a percentile of sorted values. The number of values below the percentile of
// all possible runs is binomial, which gives the ranks of the interval.
func percentileOf(sorted []float64, p float64) Percentile {
	n := float64(len(sorted))
	share := p / 100
	half := z * math.Sqrt(n*share*(1-share))
	at := func(rank float64) *float64 {
		i := int(rank) - 1
		if i < 0 || i >= len(sorted) {
			return nil
		}
		return &sorted[i]
	}
	return Percentile{p, valueAt(sorted, share), copied(at(math.Floor(n*share - half))), copied(at(math.Ceil(n*share+half) + 1))}
}

// valueAt returns the smallest of sorted values that at least this share of them does not exceed.
func valueAt(sorted []float64, share float64) float64 {
	return sorted[max(0, int(math.Ceil(share*float64(len(sorted))-1e-9))-1)]
}

// copied returns a pointer to a copy, which does not keep the values of all runs in memory.
func copied(x *float64) *float64 {
	if x == nil {
		return nil
	}
	y := *x
	return &y
}

// Bin is a bar of a histogram: the runs that took from From to below To seconds.
type Bin struct {
	From      float64 `json:"from"`
	To        float64 `json:"to"`
	Runs      int     `json:"runs"`
	Completed int     `json:"completed"` // of these
}

// mostBins is the maximum number of bars.
const mostBins = 20

// histogramOf counts runs by their time, in bars of one width, which is 1, 2 or 5 times a power of
// ten seconds.
func histogramOf(runs []*played) []Bin {
	if len(runs) == 0 {
		return []Bin{}
	}
	least, most := runs[0].took, runs[0].took
	for _, r := range runs {
		least, most = min(least, r.took), max(most, r.took)
	}
	width := binWidth(most - least)
	first := int64(least / width)
	bins := make([]Bin, int64(most/width)-first+1)
	for i := range bins {
		from := time.Duration(first+int64(i)) * width
		bins[i].From, bins[i].To = from.Seconds(), (from + width).Seconds()
	}
	for _, r := range runs {
		b := &bins[int64(r.took/width)-first]
		b.Runs++
		if r.succeeded() {
			b.Completed++
		}
	}
	return bins
}

// binWidth returns the width of bars, of which at most mostBins cover this much.
func binWidth(all time.Duration) time.Duration {
	for unit := time.Microsecond; ; unit *= 10 {
		for _, times := range []time.Duration{1, 2, 5} {
			if w := times * unit; all/w < mostBins-1 { // the values may begin and end within a bar
				return w
			}
		}
	}
}
