// Package terminal is what the commands write for people with: tables, colours, and bars that show how
// far something has come.
package terminal
