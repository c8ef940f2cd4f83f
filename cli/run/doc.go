// Package run has the command "run", which runs the manager as a process: its flags and configuration file, the review
// of its permissions, the serving of metrics, health and page, and the tuning of Go's runtime. It also has the command
// "config", which checks and writes the configuration files of "run".
//
// "run" sets properties of the whole process: logging, metrics and signals. A process may therefore run the command
// "run" only once.
package run
