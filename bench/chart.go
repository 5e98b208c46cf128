package main

import (
	"fmt"
	"html"
	"math"
	"strings"
)

// Bars is a chart of the measurements of several systems on one shape.
type Bars struct {
	Title string
	Bars  []Bar
}

// Bar is the measurement of one system, in microseconds a node.
type Bar struct {
	Name  string
	Value float64
	Ours  bool
}

// barsOf are the systems of which something was measured.
func barsOf(title string, timings []*Timing) Bars {
	b := Bars{Title: title + ": µs a node"}
	for _, t := range timings {
		if t.Absent == nil {
			b.Bars = append(b.Bars, Bar{t.label(timings[0].Shape), t.PerNode(t.Run).Median(), t.System.Name == "plc" || t.System.Name == inPostgres})
		}
	}
	return b
}

// The layout of the chart, in pixels.
const (
	chartWidth = 760
	barLeft    = 220 // where the bars begin
	barWidth   = 460 // of the longest one
	barHeight  = 18
	titleSpace = 40
)

// chart draws bars on one logarithmic scale, as SVG that follows the reader's light or
// dark.
func chart(all []Bars) string {
	least, most := math.Inf(1), math.Inf(-1)
	height := titleSpace
	for _, g := range all {
		height += titleSpace + len(g.Bars)*barHeight
		for _, bar := range g.Bars {
			least, most = min(least, bar.Value), max(most, bar.Value)
		}
	}
	from, to := math.Floor(math.Log10(least)), math.Ceil(math.Log10(most))
	x := func(v float64) float64 { return barLeft + barWidth*(math.Log10(v)-from)/max(1, to-from) }
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">
<style>text{fill:#24292f}.grid{stroke:#d0d7de}.bar{fill:#8c959f}.ours{fill:#0969da}.paper{fill:#fff}@media(prefers-color-scheme:dark){text{fill:#c9d1d9}.grid{stroke:#30363d}.bar{fill:#6e7681}.ours{fill:#58a6ff}.paper{fill:#0d1117}}</style>
<rect class="paper" width="100%%" height="100%%"/>
`, chartWidth, height)
	y := titleSpace / 2
	for _, g := range all {
		fmt.Fprintf(&b, "<text x=\"10\" y=\"%d\" font-weight=\"bold\">%s</text>\n", y+12, html.EscapeString(g.Title))
		y += titleSpace / 2
		for e := from; e <= to; e++ {
			fmt.Fprintf(&b, "<line class=\"grid\" x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\"/>\n", x(math.Pow(10, e)), y, x(math.Pow(10, e)), y+len(g.Bars)*barHeight)
		}
		for _, bar := range g.Bars {
			class := "bar"
			if bar.Ours {
				class = "ours"
			}
			fmt.Fprintf(&b, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text><rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\"/><text x=\"%.1f\" y=\"%d\">%s</text>\n",
				barLeft-8, y+13, html.EscapeString(bar.Name), class, barLeft, y+3, max(1, x(bar.Value)-barLeft), barHeight-6, x(bar.Value)+6, y+13, number(bar.Value))
		}
		y += len(g.Bars)*barHeight + titleSpace/2
	}
	b.WriteString("</svg>\n")
	return b.String()
}
