// Package terminal formats the output of the commands: tables, colours, and text without terminal escape sequences.
package terminal

import (
	"io"
	"os"

	"golang.org/x/term"
)

// Colour is the colour of a text. It adds no information to the text.
type Colour string

// The colours, as terminals number them.
const (
	Plain   Colour = ""
	Heading Colour = "1"  // bold
	Bad     Colour = "31" // red
	Warned  Colour = "33" // yellow
	Good    Colour = "32" // green
)

// Painter adds colours if it is true.
type Painter bool

// PainterFor returns a painter that adds colours on terminals that support them, unless the user has disabled colours.
func PainterFor(w io.Writer) Painter {
	return Painter(OnTerminal(w) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb")
}

// Paint returns a text in a colour. The text is escaped.
func (p Painter) Paint(c Colour, text string) Safe {
	text = Escape(text)
	if !p || c == Plain || text == "" {
		return Safe(text)
	}
	return Safe("\x1b[" + string(c) + "m" + text + "\x1b[0m")
}

// OnTerminal reports whether the writer is a terminal.
func OnTerminal(w io.Writer) bool {
	file, ok := unwrapped(w).(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}
