// Package hint adds the next step to an error of the command line, which prints it on a line of its own. The message of
// the error does not contain it, so that logs and notes keep one line. It is pure.
package hint

import (
	"errors"
	"fmt"
)

// Error is an error with a next step.
type Error struct {
	Err  error
	Next string // whole sentences
}

// Error returns the message without the next step.
func (e Error) Error() string { return e.Err.Error() }

// Unwrap returns the wrapped error.
func (e Error) Unwrap() error { return e.Err }

// Add returns the error with a next step, which has the form of [fmt.Sprintf].
func Add(err error, format string, values ...any) error {
	return Error{err, fmt.Sprintf(format, values...)}
}

// Of returns the next step of an error, or of an error that it wraps; empty if there is none.
func Of(err error) string {
	found, _ := errors.AsType[Error](err)
	return found.Next
}
