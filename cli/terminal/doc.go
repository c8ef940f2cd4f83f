// Package terminal formats the output of the commands: tables, colours and progress bars.
package terminal
