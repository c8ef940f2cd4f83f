package terminal

import (
	"io"

	"k8s.io/component-base/term"
)

// Output is a writer that remembers its first failure, so that a command fails if its result could not be written, even
// if a part of the command has ignored the failure.
type Output struct {
	io.Writer
	Err error // of the first write that failed
}

// Write implements io.Writer.
func (o *Output) Write(data []byte) (int, error) {
	n, err := o.Writer.Write(data)
	if o.Err == nil {
		o.Err = err
	}
	return n, err
}

// unwrapped returns the writer in an Output, or the writer itself.
func unwrapped(w io.Writer) io.Writer {
	if o, ok := w.(*Output); ok {
		return o.Writer
	}
	return w
}

// Size returns the size of the terminal that w writes to. It returns an error if w is not a terminal.
func Size(w io.Writer) (columns, rows int, err error) { return term.TerminalSize(unwrapped(w)) }
