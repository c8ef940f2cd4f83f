package testcluster

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// process is one run of a component. It ends when the process ends that started it: then its standard input ends, which
// the command controlplane watches, and on Linux the kernel kills it.
type process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when the process has ended
	err  error         // of the end; set before done is closed

	started time.Time
}

// startProcess starts the program with its output appended to the file log.
func startProcess(binary string, args []string, dir, log string) (*process, error) {
	out, err := os.OpenFile(log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the log: %w", err)
	}
	defer func() { _ = out.Close() }() // the process has its own copy
	cmd := &exec.Cmd{
		Path: binary, Args: append([]string{binary}, args...), Dir: dir,
		Env:    append(os.Environ(), "HOME="+dir, "CONTROLPLANE_EXIT_WITH_STDIN=1"),
		Stdout: out, Stderr: out, SysProcAttr: ownGroup(),
	}
	if _, err := cmd.StdinPipe(); err != nil { // open until Wait returns
		return nil, fmt.Errorf("its standard input: %w", err)
	}
	p := &process{cmd: cmd, done: make(chan struct{})}
	started := make(chan error)
	go p.run(started)
	return p, <-started
}

// run starts the process and waits for its end on the same thread: the kernel takes the end of the thread that
// started a process for the end of its parent, and Go ends threads at any time unless they are locked.
func (p *process) run(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	p.started = time.Now()
	err := p.cmd.Start()
	started <- err
	if err == nil {
		p.err = p.cmd.Wait()
		close(p.done)
	}
}

// signal sends the signal to the process and to those that it started.
func (p *process) signal(s syscall.Signal) error {
	if p.ended() {
		return fmt.Errorf("it is not running: %v", p.cmd.ProcessState)
	}
	return syscall.Kill(-p.cmd.Process.Pid, s)
}

// kill kills the process and returns when it has ended.
func (p *process) kill() {
	_ = p.signal(syscall.SIGKILL) // the only possible error is that it has ended
	<-p.done
}

func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}
