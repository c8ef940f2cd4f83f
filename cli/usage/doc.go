// Package usage says in one sentence what is wrong with a command line, and what to write instead: a command or flag that
// does not exist, a value that a flag does not take. Its errors are told from others by [Error].
package usage
