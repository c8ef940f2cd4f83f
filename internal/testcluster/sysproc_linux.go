package testcluster

import "syscall"

// ownGroup gives a component a process group of its own, so that signals reach
// what it starts too and a Ctrl-C on the terminal does not reach it, and has the
// kernel kill it when the thread that started it ends.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
