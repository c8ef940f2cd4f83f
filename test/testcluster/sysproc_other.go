//go:build !linux

package testcluster

import "syscall"

// ownGroup gives a component a process group of its own, so that signals also reach the processes that it starts,
// and a Ctrl-C on the terminal does not reach it.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
