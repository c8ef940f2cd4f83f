// Package cli is the command line of taint-manager: it turns arguments into a running manager, an
// answer on stdout, or one clear message on stderr.
//
// [Run] is the whole program. Its exit code is [OK] when what was asked for is done, which for "run"
// means that it was told to end and has ended in order; [CannotRun] when the surroundings do not
// permit it: no API server, no permission, no free port; and [Usage] when the command line itself is
// wrong. Messages name the thing, its value and the next step. Logs go to stderr.
//
// "run" sets what belongs to a process as a whole: logging, metrics and signals. So Run is to be
// called once in a process that runs the manager; the other commands may be called any number of
// times.
package cli
