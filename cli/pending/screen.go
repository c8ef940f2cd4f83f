package pending

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"k8s.io/component-base/term"

	"github.com/taint-manager/taint-manager/cli/terminal"
	"github.com/taint-manager/taint-manager/internal/foresight"
	"github.com/taint-manager/taint-manager/taint"
)

// Control sequences of terminals.
const (
	otherScreen = "\x1b[?1049h\x1b[?25l" // and hides the cursor
	ownScreen   = "\x1b[?25h\x1b[?1049l"
	home        = "\x1b[H"
	restOfLine  = "\x1b[K"
	restBelow   = "\x1b[J"
)

// howToEnd ends the headline while the screen is shown.
const howToEnd = " Ctrl-C ends this."

// screen shows the table on the terminal's alternate screen. At the end it prints the last one on the normal screen.
type screen struct {
	w     io.Writer
	wide  bool
	begun bool
}

func (s *screen) show(now *foresight.Pending, _ following) error {
	var text strings.Builder
	if !s.begun {
		s.begun = true
		text.WriteString(otherScreen)
	}
	columns, rows, _ := term.TerminalSize(s.w)
	text.WriteString(home)
	for _, line := range frame(now, s.wide, terminal.PainterFor(s.w), columns, rows) {
		text.WriteString(line + restOfLine + "\r\n")
	}
	text.WriteString(restBelow)
	_, err := io.WriteString(s.w, text.String())
	return err
}

func (s *screen) end(last *foresight.Pending) error {
	var text strings.Builder
	text.WriteString(ownScreen)
	for _, line := range frame(last, s.wide, terminal.PainterFor(s.w), 0, 0) {
		text.WriteString(strings.TrimSuffix(line, howToEnd) + "\n")
	}
	_, err := io.WriteString(s.w, text.String())
	return err
}

// frame returns the lines for that many columns and rows; 0 means no limit.
func frame(now *foresight.Pending, wide bool, p terminal.Painter, columns, rows int) []string {
	lines := []string{terminal.Escape(headline(now)), ""}
	if len(now.Pods) > 0 {
		lines = slices.AppendSeq(lines, table(now, wide).Lines(p, columns))
	} else if len(now.Incomplete) == 0 {
		lines = append(lines, terminal.Escape(emptyMessage(now)))
	}
	var notes []string
	for _, n := range now.All() {
		notes = append(notes, wrapped(terminal.Escape("Note: "+n+"."), columns)...)
	}
	if room := rows - 2 - len(notes); rows > 0 && len(lines) > room {
		room = max(room, 4)
		hidden := len(lines) - room + 1
		lines = append(lines[:min(room-1, len(lines))], fmt.Sprintf("... and %d more", hidden))
	}
	for i := range lines {
		if i == 0 || len(now.Pods) == 0 {
			lines[i], _ = terminal.Fit(lines[i], columns, columns)
		}
	}
	if len(notes) > 0 {
		lines = append(append(lines, ""), notes...)
	}
	if rows > 0 && len(lines) > rows-1 {
		lines = lines[:max(1, rows-1)]
	}
	return lines
}

// headline returns the number of scheduled evictions, and the time of the answer.
func headline(now *foresight.Pending) string {
	states := map[string]int{}
	var order []string
	for i := range now.Pods {
		state := now.Pods[i].State
		if states[state] == 0 {
			order = append(order, state)
		}
		states[state]++
	}
	var counts []string
	for _, state := range order {
		counts = append(counts, fmt.Sprintf("%d %s", states[state], state))
	}
	if len(counts) == 0 {
		counts = []string{"nothing"}
	}
	return fmt.Sprintf("%s  Pending%s: %s.%s", taint.Stamp(now.At.Truncate(1e9)), now.Focus.Words(now.OnNodes),
		strings.Join(counts, ", "), howToEnd)
}

// wrapped breaks a text into lines between words; 0 columns means no limit.
func wrapped(text string, columns int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		switch {
		case line == "":
			line = word
		case columns > 0 && len([]rune(line))+1+len([]rune(word)) > columns:
			lines = append(lines, line)
			line = word
		default:
			line += " " + word
		}
	}
	return append(lines, line)
}
