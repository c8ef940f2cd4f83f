package answer

import (
	"fmt"

	"github.com/taint-manager/taint-manager/cli/terminal"
)

// Column is a column of a table about things of one kind.
type Column[T any] struct {
	heading string
	cell    func(T) terminal.Cell
}

// Texts returns a column of texts.
func Texts[T any](heading string, text func(T) string) Column[T] {
	return Column[T]{heading, func(thing T) terminal.Cell { return terminal.Text(text(thing)) }}
}

// Painted returns a column of texts with colours.
func Painted[T any](heading string, text func(T) string, colour func(T) terminal.Colour) Column[T] {
	return Column[T]{heading, func(thing T) terminal.Cell { return terminal.Painted(text(thing), colour(thing)) }}
}

// Numbers returns a column of numbers.
func Numbers[T any](heading string, number func(T) int) Column[T] {
	return Column[T]{heading, func(thing T) terminal.Cell { return terminal.Text(fmt.Sprint(number(thing))) }}
}

// TableOf returns a table with a row for each thing. Its cells are made when they are written.
func TableOf[T any](list []T, columns ...Column[T]) *terminal.Table {
	var headings []string
	for _, c := range columns {
		headings = append(headings, c.heading)
	}
	made := terminal.NewTable(headings...)
	for _, thing := range list {
		made.AddRow(func() []terminal.Cell {
			cells := make([]terminal.Cell, len(columns))
			for i, c := range columns {
				cells[i] = c.cell(thing)
			}
			return cells
		})
	}
	return made
}
