package simulate

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"time"
)

// The colors are those of drawings of graphs. They can be told apart by color-blind readers and in
// grayscale.
const (
	paper     = "#ffffff"
	ink       = "#1f2933"
	faint     = "#5b6672"
	good      = "#3b73b9"
	bad       = "#e3a05c"
	markColor = "#c2185b"
	font      = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono','Liberation Mono',monospace"
)

// The places of the picture, in pixels.
const (
	width   = 720.0
	height  = 360.0
	left    = 64.0
	right   = 24.0
	top     = 84.0
	bottom  = 56.0
	tallest = height - top - bottom
)

// SVG writes the histogram of how long runs took as a self-contained picture with this title. Bars
// show the runs that completed separately from the others.
func (r *Report) SVG(w io.Writer, title string) error {
	p := &picture{report: r}
	p.printf(`<svg xmlns="http://www.w3.org/2000/svg" role="img" width="%g" height="%g" viewBox="0 0 %g %g" font-family="%s" font-size="12" fill="%s">`+"\n", width, height, width, height, font, ink)
	p.printf(`<title>%s</title><rect width="100%%" height="100%%" rx="6" fill="%s"/>`+"\n", escaped(title), paper)
	p.printf(`<text x="20" y="32" font-size="15" font-weight="600">%s</text>`+"\n", escaped(title))
	s := &r.Succeeded
	p.printf(`<text x="20" y="52" fill="%s">%s, %s completed (%s to %s)</text>`+"\n", faint, runs(r), Percent(s.Share), Percent(s.Low), Percent(s.High))
	p.legend()
	if len(r.Histogram) > 0 {
		p.bars()
		p.mark(50, height-18)
		p.mark(95, height-4)
	}
	p.printf("</svg>\n")
	_, err := w.Write(p.out.Bytes())
	return err
}

// runs says how many runs the report is about.
func runs(r *Report) string {
	if r.Stopped {
		return fmt.Sprintf("%d of %d runs", r.Runs, r.Planned)
	}
	return fmt.Sprintf("%d runs", r.Runs)
}

// picture is a histogram that is being drawn.
type picture struct {
	report *Report
	out    bytes.Buffer
}

func (p *picture) printf(format string, args ...any) { fmt.Fprintf(&p.out, format, args...) }

func (p *picture) legend() {
	x := width - 250
	for _, key := range []struct{ color, text string }{{good, "completed"}, {bad, "did not complete"}} {
		p.printf(`<rect x="%g" y="62" width="12" height="12" fill="%s"/><text x="%g" y="72" fill="%s">%s</text>`+"\n", x, key.color, x+18, faint, key.text)
		x += 100
	}
}

// bars draws the histogram and its axes.
func (p *picture) bars() {
	bins := p.report.Histogram
	most := 0
	for _, b := range bins {
		most = max(most, b.Runs)
	}
	wide := (width - left - right) / float64(len(bins))
	base := height - bottom
	for i, b := range bins {
		x, y := left+float64(i)*wide, base
		for _, part := range []struct {
			color string
			runs  int
		}{{good, b.Completed}, {bad, b.Runs - b.Completed}} {
			if part.runs == 0 {
				continue
			}
			h := tallest * float64(part.runs) / float64(most)
			y -= h
			p.printf(`<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"><title>%s to %s: %d of %d runs completed</title></rect>`+"\n",
				x+0.5, y, max(wide-1, 0.5), h, part.color, text(b.From), text(b.To), b.Completed, b.Runs)
		}
		if every := (len(bins) + 4) / 5; i%every == 0 {
			p.printf(`<text x="%.1f" y="%g" fill="%s" text-anchor="middle">%s</text>`+"\n", x, base+18, faint, text(b.From))
		}
	}
	p.printf(`<path d="M%g %gH%g" stroke="%s"/><text x="%g" y="%g" fill="%s" text-anchor="end">%d</text>`+"\n", left, base, width-right, faint, left-8, top+10, faint, most)
	p.printf(`<text x="%g" y="%g" fill="%s" text-anchor="end">0</text>`+"\n", left-8, base, faint)
}

// mark draws where a percentile is, with its label at y.
func (p *picture) mark(percentile, y float64) {
	bins := p.report.Histogram
	from, to := bins[0].From, bins[len(bins)-1].To
	value := p.report.Took.All.Percentile(percentile)
	x := left + (width-left-right)*(value-from)/(to-from)
	p.printf(`<path d="M%.1f %gV%g" stroke="%s" stroke-dasharray="4 3"/><text x="%.1f" y="%g" fill="%s" text-anchor="middle">p%g %s</text>`+"\n",
		x, top, height-bottom, markColor, min(max(x, left+30), width-right-30), y, markColor, percentile, text(value))
}

// text formats a number of seconds as a duration.
func text(seconds float64) string {
	return time.Duration(seconds * float64(time.Second)).Round(time.Microsecond).String()
}

// escaped makes a text safe in XML.
func escaped(s string) string {
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(s)) // a buffer takes all
	return b.String()
}
