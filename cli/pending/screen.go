package pending

import (
	"cmp"
	"context"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/taint-manager/taint-manager/cli/answer"
	"github.com/taint-manager/taint-manager/cli/terminal"
	"github.com/taint-manager/taint-manager/internal/foresight"
	"github.com/taint-manager/taint-manager/taint"
)

// Control sequences of terminals.
const (
	otherScreen = "\x1b[?1049h\x1b[?25l\x1b[?7l" // hides the cursor, and cuts long lines
	ownScreen   = "\x1b[?7h\x1b[?25h\x1b[?1049l"
	home        = "\x1b[H"
	restOfLine  = "\x1b[K"
	restBelow   = "\x1b[J"
)

// onScreen shows the table on the terminal's alternate screen, until the context ends. Then it prints the last table on
// the normal screen.
func (o *options) onScreen(ctx context.Context, cmd *cobra.Command, of following) error {
	w := cmd.OutOrStdout()
	draw := func(begin, lineEnd, end, hint string, now *foresight.Pending) error {
		columns, rows, _ := terminal.Size(w)
		last := footer(now, columns, hint)
		text := o.output.Text(cmd, func(t *answer.Text) { writeFrame(t, now, columns, last) })
		_, err := io.WriteString(w, begin+strings.Join(frame(text, len(last), rows), lineEnd)+lineEnd+end)
		return err
	}
	var last *foresight.Pending
	begin := otherScreen
	err := each(ctx, of, func(now *foresight.Pending) (bool, error) {
		err := draw(begin+home, restOfLine+"\r\n", restBelow, " Ctrl-C ends this.", now)
		last, begin = now, ""
		return false, err
	})
	if err != nil {
		return err
	}
	return draw(ownScreen, "\n", "", "", last)
}

// writeFrame writes the answer, and then the last lines.
func writeFrame(t *answer.Text, now *foresight.Pending, columns int, last []string) {
	if len(now.Pods) == 0 {
		last = slices.Concat(wrapped(emptyMessage(now), columns), last)
	}
	write(t, now)
	for _, line := range last {
		t.WriteString(line + "\n")
	}
}

// footer returns the lines below the table: the notes, and the time of the answer.
func footer(now *foresight.Pending, columns int, hint string) (lines []string) {
	for _, n := range now.All() {
		lines = append(lines, wrapped("Note: "+n+".", columns)...)
	}
	at := taint.Stamp(now.At.Truncate(1e9)) + now.Focus.Words(now.OnNodes) + "." + hint
	return append(lines, wrapped(at, columns)...)
}

// wrapped returns the lines of a text, which are as long as the terminal is wide; 0 means no limit.
func wrapped(text string, columns int) (lines []string) {
	runes := []rune(terminal.Escape(text))
	for line := range slices.Chunk(runes, cmp.Or(columns, len(runes))) {
		lines = append(lines, string(line))
	}
	return lines
}

// frame returns the lines of a text that fit the rows of a terminal; 0 means no limit. A text that is too long is cut
// before the footer, which keeps less than half of the rows.
func frame(text string, footer, rows int) []string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	most := max(1, rows-1)
	if rows == 0 || len(lines) <= most {
		return lines
	}
	last := min(footer, (most-1)/2)
	return slices.Concat(lines[:most-1-last], []string{"…"}, lines[len(lines)-last:])
}
