// Package terminal formats the output of the commands: tables and colours.
package terminal
