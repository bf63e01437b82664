package report

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Text is the report as Markdown that reads as well on a terminal.
func (r *Report) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Benchmarks\n\n%s.\nTook %s. Figures are medians (least..greatest) of rounds in which all took turns.\n", r.Machine, r.Took)
	for _, s := range r.Sections {
		s.text(&b)
	}
	return b.String()
}

func (s *Section) text(b *strings.Builder) {
	fmt.Fprintf(b, "\n## %s: %s\n\n%s\n", s.Name, s.Title, s.About)
	if s.Failed != "" {
		fmt.Fprintf(b, "\nFAILED: %s\n", s.Failed)
	}
	for _, t := range s.Tables {
		b.WriteByte('\n')
		t.text(b)
	}
	if len(s.Targets) > 0 {
		b.WriteByte('\n')
	}
	for _, t := range s.Targets {
		verdict := t.Verdict()
		if verdict == "missed" {
			verdict = "MISSED"
		}
		fmt.Fprintf(b, "- %s: %s, %s: %s\n", t.What, t.Cell(), t.Limit(), verdict)
	}
	for _, n := range s.Notes {
		fmt.Fprintf(b, "- %s\n", n)
	}
	for _, m := range s.Missing {
		fmt.Fprintf(b, "- not measured: %s\n", m)
	}
}

func (t *Table) text(b *strings.Builder) {
	lines := [][]string{append([]string{t.Title}, t.Columns...)}
	for _, r := range t.Rows {
		line := []string{r.Label}
		for _, c := range r.Cells {
			line = append(line, c.String())
		}
		lines = append(lines, line)
	}
	widths := make([]int, len(lines[0]))
	for _, l := range lines {
		for i, c := range l {
			widths[i] = max(widths[i], utf8.RuneCountInString(c))
		}
	}
	for n, l := range lines {
		for i, c := range l {
			fmt.Fprintf(b, "| %s%s ", c, strings.Repeat(" ", widths[i]-utf8.RuneCountInString(c)))
		}
		b.WriteString("|\n")
		if n == 0 {
			for _, w := range widths {
				b.WriteString("|" + strings.Repeat("-", w+2))
			}
			b.WriteString("|\n")
		}
	}
}
