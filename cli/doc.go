// Package cli is the command line of taint-manager: it turns arguments into a running manager, a result on stdout, or
// one clear message on stderr.
//
// [Run] is the whole program. Its exit code is [OK] if the command has succeeded, which for "run" means that it shut
// down gracefully on a signal; [CannotRun] if the environment prevents it: no API server, no permission, no free port;
// and [Usage] if the command line itself is wrong. Messages begin with "error: " and name the thing and its
// value; the next step is on a line of its own. Logs go to stderr.
//
// "run" sets properties of the whole process: logging, metrics and signals. A process may therefore run the command
// "run" only once. It may run the others any number of times.
package cli
