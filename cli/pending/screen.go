package pending

import (
	"context"
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

// onScreen shows the table on the terminal's alternate screen, until the context ends. Then it prints the last one, as
// it was, on the normal screen.
func onScreen(ctx context.Context, of following, w io.Writer, wide bool) error {
	draw := func(begin, lineEnd, end, hint string, now *foresight.Pending) error {
		var text strings.Builder
		columns, rows, _ := term.TerminalSize(w)
		text.WriteString(begin)
		for _, line := range frame(now, wide, terminal.PainterFor(w), columns, rows, hint) {
			text.WriteString(line + lineEnd)
		}
		_, err := io.WriteString(w, text.String()+end)
		return err
	}
	var last *foresight.Pending
	begin := otherScreen
	err := each(ctx, of, func(now *foresight.Pending) (bool, error) {
		err := draw(begin+home, restOfLine+"\r\n", restBelow, howToEnd, now)
		last, begin = now, ""
		return false, err
	})
	if err != nil {
		return err
	}
	return draw(ownScreen, "\n", "", "", last)
}

// frame returns the lines for that many columns and rows; 0 means no limit. The first one ends with a hint.
func frame(now *foresight.Pending, wide bool, p terminal.Painter, columns, rows int, hint string) []string {
	wrapped := func(text string) []string { return terminal.Wrap(terminal.Escape(text), columns) }
	var notes []string
	for _, n := range now.All() {
		notes = append(notes, wrapped("Note: "+n+".")...)
	}
	if len(notes) > 0 {
		notes = slices.Insert(notes, 0, "")
	}
	lines := append(wrapped(title(now)+hint), "")
	switch {
	case len(now.Pods) > 0:
		room := 0
		if rows > 0 {
			room = max(rows-1-len(lines)-len(notes), 2)
		}
		lines = append(lines, tableLines(now, wide, p, columns, room)...)
	case len(now.Incomplete) == 0:
		lines = append(lines, wrapped(emptyMessage(now))...)
	}
	lines = append(lines, notes...)
	if rows > 0 && len(lines) > rows-1 {
		lines = lines[:max(1, rows-1)]
	}
	return lines
}

// tableLines returns the lines of the table, at most room; 0 means no limit. A table that is longer is folded, and ends
// early.
func tableLines(now *foresight.Pending, wide bool, p terminal.Painter, columns, room int) []string {
	list := table(now, wide).Rows(podsOf(now))
	lines := slices.Collect(list.Lines(p, columns))
	if room > 0 && len(lines) > room {
		list = table(now, wide).Folded(podsOf(now))
		lines = slices.Collect(list.Lines(p, columns))
	}
	if room == 0 || len(lines) <= room {
		return lines
	}
	hidden := min(len(lines)+1-room, len(list.Rows)) // with a line about these
	list.Rows = list.Rows[:len(list.Rows)-hidden]
	return append(slices.Collect(list.Lines(p, columns)), fmt.Sprintf("... and %d more", hidden))
}

// title has the time of the answer and its headline.
func title(now *foresight.Pending) string {
	counts := "nothing is scheduled."
	if len(now.Pods) > 0 {
		counts = headline(now)
	}
	return fmt.Sprintf("%s%s  %s", taint.Stamp(now.At.Truncate(1e9)), now.Focus.Words(now.OnNodes), counts)
}
