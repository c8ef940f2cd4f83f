// Package usage describes in one sentence what is wrong with a command line, and what to write instead: an unknown
// command or flag, or a value that a flag does not accept. Its errors are of the type [Error].
package usage
