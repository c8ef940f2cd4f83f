package testcluster

import "syscall"

// ownGroup gives a component a process group of its own, so that signals also reach the processes that it starts,
// and a Ctrl-C on the terminal does not reach it. The kernel kills the component when the thread that started it
// ends.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
