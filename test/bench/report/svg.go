package report

import (
	"fmt"
	"html"
	"strings"
)

// The picture's dimensions, in pixels.
const (
	pictureWidth = 860
	margin       = 20
	barsLeft     = 190
	barsMost     = 480
	barHeight    = 13
	barStep      = 17
	lineStep     = 21
	workStep     = 34
)

// style follows the reader's choice of light or dark.
const style = `<style>
  svg { background: #fff; color: #16202b }
  text { fill: currentColor; font: 12px sans-serif }
  .work { font-size: 15px; font-weight: bold } .what { font-weight: bold } .soft { fill: #55606c }
  .ours { fill: #1f6fb5 } .floor { fill: #8a94a0 } .original { fill: #c8762b }
  .yes { fill: #24733a } .no { fill: #b3261e; font-weight: bold }
  @media (prefers-color-scheme: dark) {
    svg { background: #0f151c; color: #e4e9ee }
    .soft { fill: #9aa6b2 } .ours { fill: #5aa7e8 } .floor { fill: #7b8692 } .original { fill: #e0974f }
    .yes { fill: #6cc785 } .no { fill: #ff8a80 }
  }
</style>
`

// SVG draws the medians as bars. Each row has a scale of its own, and the verdicts on its targets.
func SVG(s Summary) []byte {
	var p picture
	work := ""
	for _, row := range s.Rows {
		if row.Work != work {
			work = row.Work
			p.y += workStep
			p.text(margin, "work", upper(work))
		}
		p.row(row)
	}
	p.y += workStep
	p.text(margin, "soft", fmt.Sprintf("%s, %d cores, medians of %d rounds. Each row has a scale of its own.",
		s.Machine.Date, s.Machine.Cores, s.Rounds))
	head := fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" aria-label="taint-manager beside plain workers and the original controller: bars for each figure that docs/reference/bench.md has as a table">`,
		pictureWidth, p.y+margin)
	return []byte(head + "\n" + style + p.body.String() + "</svg>\n")
}

// picture is drawn from the top down.
type picture struct {
	body strings.Builder
	y    int
}

func (p *picture) text(x int, class, text string) {
	fmt.Fprintf(&p.body, "<text x=\"%d\" y=\"%d\" class=\"%s\">%s</text>\n", x, p.y, class, html.EscapeString(text))
}

// row draws a line of words and a bar for each subject.
func (p *picture) row(r Row) {
	p.y += lineStep
	fmt.Fprintf(&p.body, "<text x=\"%d\" y=\"%d\"><tspan class=\"what\">%s</tspan>", margin, p.y,
		html.EscapeString(r.What))
	for _, t := range r.Targets {
		if t.Bound != None {
			class, text := r.remark(t)
			fmt.Fprintf(&p.body, "<tspan dx=\"12\" class=\"%s\">%s</tspan>", class, html.EscapeString(text))
		}
	}
	p.body.WriteString("</text>\n")
	most := 0.0
	for _, result := range r.Results {
		most = max(most, result.Rounds.Median())
	}
	for _, result := range r.Results {
		p.bar(r, result, most)
	}
	p.y += barStep - barHeight
}

// remark describes the verdict on a target.
func (r Row) remark(t Target) (class, text string) {
	v := r.Judge(t)
	text = "target: " + t.text(r.Unit)
	if t.Of != "" {
		text = fmt.Sprintf("%s of %s, target: %s", number(v.Median), t.Of, t.text(r.Unit))
	}
	if v.Met {
		return "yes", "✓ " + text
	}
	return "no", "✗ " + text
}

func (p *picture) bar(r Row, result Result, most float64) {
	p.y += barStep
	figure, width := result.Rounds.Median(), 0.0
	if most > 0 {
		width = max(0, figure/most*barsMost)
	}
	p.text(margin, "", result.Subject)
	fmt.Fprintf(&p.body, "<rect x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\" rx=\"2\" class=\"%s\"/>\n",
		barsLeft, p.y-barHeight+2, max(width, 1), barHeight, class(result.Subject))
	p.text(barsLeft+int(width)+8, "", number(figure)+" "+r.Unit)
}

// class returns the CSS class of a subject's colour.
func class(subject string) string {
	switch subject {
	case Baseline:
		return "floor"
	case Original, OriginalDefault:
		return "original"
	}
	return "ours"
}

func upper(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
