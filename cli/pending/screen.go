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

// onScreen shows the table on the terminal's alternate screen, until the context ends. Then it prints the last one, as
// it was, on the normal screen.
func (o *options) onScreen(ctx context.Context, cmd *cobra.Command, of following) error {
	w := cmd.OutOrStdout()
	draw := func(begin, lineEnd, end, hint string, now *foresight.Pending) error {
		columns, rows, _ := terminal.Size(w)
		text := o.output.Text(cmd, func(t *answer.Text) { writeFrame(t, now, columns, hint) })
		_, err := io.WriteString(w, begin+strings.Join(frame(text, rows), lineEnd)+lineEnd+end)
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

// writeFrame writes the answer with its time and its notes, whose lines are as long as the terminal is wide; 0 means no
// limit.
func writeFrame(t *answer.Text, now *foresight.Pending, columns int, hint string) {
	paragraph := func(text string) {
		runes := []rune(terminal.Escape(text))
		for line := range slices.Chunk(runes, cmp.Or(columns, len(runes))) {
			t.WriteString(string(line) + "\n")
		}
	}
	paragraph(taint.Stamp(now.At.Truncate(1e9)) + now.Focus.Words(now.OnNodes) + "." + hint)
	for _, n := range now.All() {
		paragraph("Note: " + n + ".")
	}
	if len(now.Pods) == 0 && len(now.Incomplete) == 0 {
		paragraph(emptyMessage(now))
	}
	write(t, now)
}

// frame returns the lines of a text that fit the rows of a terminal; 0 means no limit.
func frame(text string, rows int) []string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if most := max(1, rows-1); rows > 0 && len(lines) > most {
		return append(lines[:most-1], "…")
	}
	return lines
}
