package terminal

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// Progress draws a progress bar on a terminal. It draws nothing if there is no terminal, or if the operation is short.
type Progress struct {
	w     io.Writer // nil: nothing is drawn
	label string
	total int64 // 0: unknown
	done  int64
	next  time.Time // when to draw again
	drawn bool
}

const (
	drawAfter = 500 * time.Millisecond
	drawEvery = 100 * time.Millisecond
	barWidth  = 30
)

// NewProgress returns a progress at 0; a total of 0 means unknown.
func NewProgress(w io.Writer, label string, total int64) *Progress {
	p := &Progress{label: Escape(label), total: total, next: time.Now().Add(drawAfter)}
	if OnTerminal(w) {
		p.w = w
	}
	return p
}

// Add counts n more.
func (p *Progress) Add(n int64) {
	p.done += n
	if p.w == nil || time.Now().Before(p.next) {
		return
	}
	p.next = time.Now().Add(drawEvery)
	p.drawn = true
	_, _ = fmt.Fprintf(p.w, "\r\x1b[K%s", p)
}

// Left sets how much is left to do.
func (p *Progress) Left(n int64) { p.total = p.done + n }

// Write counts the bytes.
func (p *Progress) Write(b []byte) (int, error) {
	p.Add(int64(len(b)))
	return len(b), nil
}

// End removes the bar.
func (p *Progress) End() {
	if p.drawn {
		_, _ = fmt.Fprint(p.w, "\r\x1b[K")
	}
}

func (p *Progress) String() string {
	if p.total <= 0 {
		return fmt.Sprintf("%s: %d", p.label, p.done)
	}
	part := min(float64(p.done)/float64(p.total), 1)
	full := int(part * barWidth)
	return fmt.Sprintf("%s [%s%s] %3.0f %%", p.label, strings.Repeat("=", full), strings.Repeat(" ", barWidth-full),
		part*100)
}
