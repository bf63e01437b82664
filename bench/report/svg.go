package report

import (
	"fmt"
	"html"
	"html/template"
	"math"
	"strings"
)

// Sizes of a picture, in CSS pixels.
const (
	width   = 720
	labels  = 296 // of bars: where they begin
	barEnd  = width - 104
	barStep = 30
	barSize = 16
)

// svg is a picture being drawn.
type svg struct {
	strings.Builder
	height int
}

func (s *svg) add(format string, a ...any) { fmt.Fprintf(s, format, a...) }

func (s *svg) text(x, y float64, class, anchor, text string) {
	s.add(`<text x="%.1f" y="%.1f" class="%s" text-anchor="%s">%s</text>`, x, y, class, anchor, html.EscapeString(text))
}

func (s *svg) line(x1, y1, x2, y2 float64, class string) {
	s.add(`<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" class="%s"/>`, x1, y1, x2, y2, class)
}

// picture is the whole of it, for a page. Everything in it was escaped.
func (s *svg) picture(title string) template.HTML {
	return template.HTML(fmt.Sprintf(`<svg viewBox="0 0 %d %d" role="img" aria-label="%s">%s</svg>`,
		width, s.height, html.EscapeString(title), s.String()))
}

// SVG draws the chart.
func (c Chart) SVG() template.HTML {
	s := &svg{}
	switch {
	case c.Bars != nil:
		c.Bars.draw(s)
	case c.Stack != nil:
		c.Stack.draw(s)
	case c.Lines != nil:
		c.Lines.draw(s)
	}
	return s.picture(c.Title)
}

func (b *Bars) draw(s *svg) {
	top := b.Bound
	for _, i := range b.Items {
		top = max(top, i.Spread.Max())
	}
	x := func(v float64) float64 { return labels + (barEnd-labels)*v/max(top, 1e-9) }
	for n, i := range b.Items {
		y := float64(n*barStep + 6)
		class := "bar"
		if i.Ours {
			class = "bar ours"
		}
		s.text(labels-10, y+barSize-4, "label", "end", i.Label)
		cell := Fig(i.Spread, b.Unit).String()
		s.add(`<g><title>%s: %s</title>`, html.EscapeString(i.Label), html.EscapeString(cell))
		s.add(`<path d="%s" class="%s"/>`, rounded(labels, y, x(i.Spread.Median())-labels, barSize), class)
		if len(i.Spread) > 1 {
			mid := y + barSize/2
			s.line(x(i.Spread.Min()), mid, x(i.Spread.Max()), mid, "whisker")
			s.line(x(i.Spread.Min()), mid-3, x(i.Spread.Min()), mid+3, "whisker")
			s.line(x(i.Spread.Max()), mid-3, x(i.Spread.Max()), mid+3, "whisker")
		}
		s.add(`</g>`)
		s.text(x(max(i.Spread.Median(), i.Spread.Max()))+8, y+barSize-4, "value", "start", amount(i.Spread.Median(), b.Unit))
	}
	end := float64(len(b.Items)*barStep + 6)
	s.line(labels, 0, labels, end, "axis")
	s.height = int(end) + 4
	if b.Bound > 0 {
		s.line(x(b.Bound), 0, x(b.Bound), end, "bound")
		s.text(x(b.Bound), end+14, "tick", "middle", "target "+amount(b.Bound, b.Unit))
		s.height += 18
	}
}

// rounded is a bar with a round end and a square foot.
func rounded(x, y, w, h float64) string {
	w = max(w, 1)
	r := min(4, w)
	return fmt.Sprintf("M%.1f %.1fh%.1fa%.1f %.1f 0 0 1 %.1f %.1fv%.1fa%.1f %.1f 0 0 1 %.1f %.1fh%.1fz",
		x, y, w-r, r, r, r, r, h-2*r, r, r, -r, r, -(w - r))
}

func (k *Stack) draw(s *svg) {
	y := legend(s, k.Parts)
	top := 0.0
	for _, i := range k.Items {
		sum := 0.0
		for _, v := range i.Values {
			sum += v
		}
		top = max(top, sum)
	}
	for _, i := range k.Items {
		s.text(labels-10, y+barSize-4, "label", "end", i.Label)
		at, sum := float64(labels), 0.0
		for n, v := range i.Values {
			w := (barEnd - labels) * v / max(top, 1e-9)
			s.add(`<g><title>%s, %s: %s</title><rect x="%.1f" y="%.1f" width="%.1f" height="%d" class="fill%d"/></g>`,
				html.EscapeString(i.Label), html.EscapeString(k.Parts[n]), html.EscapeString(amount(v, k.Unit)), at, y, max(w-2, 0), barSize, n%5)
			at += w
			sum += v
		}
		s.text(at+6, y+barSize-4, "value", "start", amount(sum, k.Unit))
		y += barStep
	}
	s.line(labels, 24, labels, y-6, "axis")
	s.height = int(y)
}

// legend names colours along the top and returns where the picture begins.
func legend(s *svg, names []string) float64 {
	x := 2.0
	for i, n := range names {
		s.add(`<rect x="%.1f" y="4" width="10" height="10" rx="2" class="fill%d"/>`, x, i%5)
		s.text(x+15, 13, "tick", "start", n)
		x += 15 + 7*float64(len(n)) + 18
	}
	return 30
}

func (l *Lines) draw(s *svg) {
	const left, right, bottom, tall = 62, width - 14, 250, 220
	y0 := 14.0
	if len(l.Series) > 1 {
		var names []string
		for _, r := range l.Series {
			names = append(names, r.Label)
		}
		y0 = legend(s, names) + 14
	}
	low, high, top := math.Inf(1), math.Inf(-1), 0.0
	for _, r := range l.Series {
		for _, p := range r.Points {
			low, high, top = min(low, p[0]), max(high, p[0]), max(top, p[1])
		}
	}
	if low > high {
		low, high = 0, 1
	}
	step := nice(top / 4)
	top = max(math.Ceil(top/step), 1) * step
	x := func(v float64) float64 { return left + (right-left)*(v-low)/max(high-low, 1e-9) }
	y := func(v float64) float64 { return y0 + tall*(1-v/top) }
	if len(l.Shade) == 2 {
		s.add(`<rect x="%.1f" y="%.1f" width="%.1f" height="%d" class="shade"/>`, x(l.Shade[0]), y0, x(l.Shade[1])-x(l.Shade[0]), tall)
	}
	for v := 0.0; v <= top*1.001; v += step {
		s.line(left, y(v), right, y(v), "grid")
		s.text(left-6, y(v)+4, "tick", "end", number(v))
	}
	s.text(2, y0-8, "tick", "start", l.YUnit)
	marks := l.Ticks
	if marks == nil {
		for v, d := math.Ceil(low/nice((high-low)/6))*nice((high-low)/6), nice((high-low)/6); v <= high*1.0001 && d > 0; v += d {
			marks = append(marks, XTick{v, number(v)})
		}
	}
	for _, m := range marks {
		if m.At >= low && m.At <= high {
			s.line(x(m.At), y(0), x(m.At), y(0)+4, "axis")
			s.text(x(m.At), y(0)+17, "tick", "middle", m.Label)
		}
	}
	s.line(left, y(0), right, y(0), "axis")
	s.text(right, y(0)+32, "tick", "end", l.XUnit)
	for n, r := range l.Series {
		var path strings.Builder
		for i, p := range r.Points {
			fmt.Fprintf(&path, "%c%.1f %.1f", "ML"[min(i, 1)], x(p[0]), y(p[1]))
		}
		s.add(`<path d="%s" class="stroke%d"/>`, path.String(), n%5)
		for _, p := range r.Points {
			s.add(`<circle cx="%.1f" cy="%.1f" r="7" class="hit"><title>%s at %s: %s</title></circle>`,
				x(p[0]), y(p[1]), html.EscapeString(r.Label), html.EscapeString(amount(p[0], l.XUnit)), html.EscapeString(amount(p[1], l.YUnit)))
		}
	}
	s.height = int(y0) + bottom + 16
}

// nice is a step of 1, 2 or 5 times a power of ten, at least v.
func nice(v float64) float64 {
	if v <= 0 || math.IsInf(v, 0) || math.IsNaN(v) {
		return 1
	}
	unit := math.Pow(10, math.Floor(math.Log10(v)))
	for _, f := range []float64{1, 2, 5} {
		if v <= f*unit*1.0001 {
			return f * unit
		}
	}
	return 10 * unit
}
