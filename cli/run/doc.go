// Package run has the command "run", which runs the manager as a process: its flags and configuration file, the
// permissions that it asks for, the serving of metrics, health and page, and the tuning of Go's runtime; and the
// command "config", which checks and writes the configuration files of "run".
//
// "run" sets what belongs to a process as a whole: logging, metrics and signals. So it is to be run once in a process.
package run
