package answer

import (
	"fmt"

	"github.com/taint-manager/taint-manager/cli/terminal"
)

// Column is a column of a table about things of one kind.
type Column[T any] struct {
	terminal.Column
	cell func(T) terminal.Cell
}

// Texts returns a column of texts.
func Texts[T any](heading string, text func(T) string) Column[T] {
	return Painted(heading, text, func(T) terminal.Colour { return terminal.Plain })
}

// Painted returns a column of texts with colours.
func Painted[T any](heading string, text func(T) string, colour func(T) terminal.Colour) Column[T] {
	return Column[T]{
		terminal.Column{Heading: heading},
		func(thing T) terminal.Cell { return terminal.Painted(text(thing), colour(thing)) },
	}
}

// Numbers returns a column of numbers.
func Numbers[T any](heading string, number func(T) int) Column[T] {
	return Texts(heading, func(thing T) string { return fmt.Sprint(number(thing)) }).Gives(terminal.Stays)
}

// Gives returns the column with another way to give way.
func (c Column[T]) Gives(way terminal.Give) Column[T] {
	c.Give = way
	return c
}

// Unless returns the column, to be left out if all its cells have this value.
func (c Column[T]) Unless(said string) Column[T] {
	c.Said = said
	return c
}

// TableOf returns a table with a row for each thing. Its cells are made when they are written.
func TableOf[T any](list []T, columns ...Column[T]) *terminal.Table {
	described := make([]terminal.Column, len(columns))
	for i, c := range columns {
		described[i] = c.Column
	}
	made := terminal.NewTable(described...)
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
