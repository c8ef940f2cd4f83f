package cli

import (
	"io"
	"os"

	"golang.org/x/term"
)

// colour is what a text is painted with. It says nothing that the text does not say.
type colour string

const (
	plain   colour = ""
	heading colour = "1"  // bold
	bad     colour = "31" // red
	warned  colour = "33" // yellow
	good    colour = "32" // green
)

// painter paints where colours are wanted.
type painter bool

// painterFor paints on terminals that can show it, unless the user wants no colours.
func painterFor(w io.Writer) painter {
	return painter(onTerminal(w) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb")
}

func (p painter) paint(c colour, text string) string {
	if !p || c == plain || text == "" {
		return text
	}
	return "\x1b[" + string(c) + "m" + text + "\x1b[0m"
}

func onTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}
