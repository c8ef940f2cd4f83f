package testcluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

// The names of the components, as [Cluster.Component] accepts them.
const (
	Etcd              = "etcd"
	APIServer         = "kube-apiserver"
	ControllerManager = "kube-controller-manager"
	Scheduler         = "kube-scheduler"
	// Nodes are the simulated kubelets. After a kill and a start, they take over their nodes only when those nodes'
	// leases have expired, after up to 40 s; after a pause, they continue at once.
	Nodes = "kwok"
)

const (
	pollInterval = 30 * time.Millisecond
	endTimeout   = 60 * time.Second // for a component that was asked to end
	logTail      = 3000             // number of bytes of a log that an error shows
)

// A Component is one program that was started: a part of the control plane, taint-manager, or the controller that
// taint-manager replaces. Tests kill components, pause them, and start them again on the same port and data. The
// methods of a Component are safe for concurrent use.
type Component struct {
	name         string
	binary       string
	args         []string
	health       string       // a URL that answers 200 when the component is healthy
	client       *http.Client // for the URL
	dir          string       // the working directory
	log          string
	endsBySignal bool // SIGTERM itself ends the component, so its exit code is not 0

	mu      sync.Mutex
	current *process // nil if the cluster has failed to start before
}

// process is one run of a component.
type process struct {
	cmd     *exec.Cmd
	started time.Time
	done    chan struct{} // closed when the process has ended
	err     error         // of the end; set before done is closed
}

// newComponent returns a component that is not started yet. The log is named after the component.
func (c *Cluster) newComponent(name, binary, health string, args ...string) *Component {
	return &Component{
		name: name, binary: binary, args: args, health: health, client: c.http, dir: c.dir,
		log: c.logOf(name),
	}
}

// LogPath returns the path of the component's log. A restart appends to the log.
func (c *Component) LogPath() string { return c.log }

// Log returns what the component has logged so far.
func (c *Component) Log() (string, error) {
	text, err := os.ReadFile(c.log)
	if err != nil {
		return "", fmt.Errorf("reading the log of %s: %w", c.name, err)
	}
	return string(text), nil
}

// Pid returns the process id of the component's latest run.
func (c *Component) Pid() int { return c.process().cmd.Process.Pid }

// Started returns the time of the component's latest start.
func (c *Component) Started() time.Time { return c.process().started }

// Start starts the component on its port and data, and returns when the component reports that it is healthy. If the
// component or ctx ends before, the error has the last lines of the component's log.
func (c *Component) Start(ctx context.Context) error {
	if err := c.launch(); err != nil {
		return err
	}
	return c.await(ctx, c.health)
}

// Kill ends the component at once, as the kernel does when memory runs out, and returns when its process has ended.
// Killing a component that is not running does nothing.
func (c *Component) Kill() {
	if p := c.process(); p != nil {
		p.kill()
	}
}

// Stop asks the component to end, as Kubernetes does, and returns when the component has ended. It returns an error if
// the exit code is not 0, or if the component does not end.
func (c *Component) Stop() error {
	if err := c.signal(syscall.SIGTERM); err != nil {
		return err
	}
	if err := c.Wait(endTimeout); !c.endsBySignal {
		return err
	}
	return nil
}

// Wait waits until the component ends by itself. It returns nil if the exit code is 0. A component that takes longer
// than atMost is killed.
func (c *Component) Wait(atMost time.Duration) error {
	p := c.process()
	select {
	case <-p.done:
		return p.err
	case <-time.After(atMost):
		p.kill()
		return fmt.Errorf("%s did not end within %v; it was killed", c.name, atMost)
	}
}

// Pause stops the component in its present state: the component keeps its connections and answers no request.
func (c *Component) Pause() error { return c.signal(syscall.SIGSTOP) }

// Resume continues a paused component.
func (c *Component) Resume() error { return c.signal(syscall.SIGCONT) }

func (c *Component) signal(s syscall.Signal) error {
	if err := c.process().signal(s); err != nil {
		return fmt.Errorf("signalling %s: %w", c.name, err)
	}
	return nil
}

func (c *Component) process() *process {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.current
}

// launch starts the component's process and does not wait until the component is healthy.
func (c *Component) launch() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.current != nil && !c.current.ended() {
		return fmt.Errorf("starting %s: it is running", c.name)
	}
	if _, err := os.Stat(c.binary); err != nil {
		return fmt.Errorf("the binary of %s is missing: run `make bin/%s` (%w)", c.name, filepath.Base(c.binary), err)
	}
	out, err := os.OpenFile(c.log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("starting %s: opening the log: %w", c.name, err)
	}
	defer func() { _ = out.Close() }() // the process has its own copy
	p := &process{done: make(chan struct{}), cmd: &exec.Cmd{
		Path: c.binary, Args: append([]string{c.binary}, c.args...), Dir: c.dir,
		Env: append(os.Environ(), "HOME="+c.dir), Stdout: out, Stderr: out, SysProcAttr: ownGroup(),
	}}
	started := make(chan error)
	go p.run(started)
	if err := <-started; err != nil {
		return fmt.Errorf("starting %s: %w", c.name, err)
	}
	c.current = p
	return nil
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

// await polls until the URL answers 200, the component has ended, or ctx is done.
func (c *Component) await(ctx context.Context, url string) error {
	p := c.process()
	for {
		_, err := c.try(ctx, url)
		if err == nil {
			return nil
		}
		select {
		case <-p.done:
			return c.Failure(fmt.Errorf("%s ended while starting: %v", c.name, p.cmd.ProcessState))
		case <-ctx.Done():
			return c.Failure(fmt.Errorf("%s did not become ready: %w; its last answer: %w", c.name, context.Cause(ctx),
				err))
		case <-time.After(pollInterval):
		}
	}
}

// Failure wraps err with the end of the component's log.
func (c *Component) Failure(err error) error {
	log, readErr := c.Log()
	if readErr != nil {
		return errors.Join(err, readErr)
	}
	return fmt.Errorf("%w\nthe end of %s:\n%s", err, filepath.Base(c.log),
		strings.TrimSpace(log[max(0, len(log)-logTail):]))
}

func (c *Component) try(ctx context.Context, url string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	return c.Get(ctx, url)
}

// Get returns the component's answer to a request for a URL, which must be 200. A request to a manager has no
// credentials.
func (c *Component) Get(ctx context.Context, url string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	response, err := c.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", response.Status, bytes.TrimSpace(body))
	}
	return body, err
}
