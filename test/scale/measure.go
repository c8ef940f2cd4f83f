package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/taint-manager/taint-manager/test/bench/report"
	"github.com/taint-manager/taint-manager/test/load"
	"github.com/taint-manager/taint-manager/test/testcluster"
)

const (
	latency   = 2 * time.Millisecond // of the server's answers
	share     = 10                   // one node in this many gets the short taint, and one in this many the long one
	settling  = 10 * time.Second
	quietSpan = 5 * time.Second
	updating  = 10 * time.Second
	updates   = 10000 // a second
	loneEvery = 200 * time.Millisecond
	poll      = 10 * time.Millisecond
	patience  = 5 * time.Minute
	quietFor  = 5 * time.Second // after the last write of the journal

	commandLimit = 30 * time.Second // a command that takes longer is killed
)

// trial is one subject with one server.
type trial struct {
	*server
	builtin  bool // whether the subject is the built-in controller
	cluster  *testcluster.Cluster
	manager  *testcluster.Manager // nil for the built-in controller
	subject  *testcluster.Component
	profiles string // the folder for profiles; empty means none
	out      report.Outcome
}

// newTrial starts a server whose last node has one lone pod to evict.
func newTrial(pods int, profiles string, builtin bool) (t *trial, err error) {
	t = &trial{server: newServer(pods, latency), builtin: builtin, profiles: profiles}
	if t.cluster, err = testcluster.Outside(t.URL, t.Certificate()); err != nil {
		t.Close()
		return nil, err
	}
	t.taint(t.last(), t.last()+1, loneKey)
	return t, nil
}

// part is the number of nodes that are tainted together, and last the last node.
func (t *trial) part() int { return len(t.nodes.items) / share }
func (t *trial) last() int { return len(t.nodes.items) - 1 }

// run measures the built-in controller in fewer steps.
func (t *trial) run(ctx context.Context) (report.Outcome, error) {
	steps := []func(context.Context) error{
		t.start, t.idle, t.statusUpdates, t.longTaints, t.burst, t.everything, t.page, t.pending, t.takeover,
	}
	if t.builtin {
		steps = []func(context.Context) error{t.start, t.idle, t.statusUpdates, t.burst}
	}
	all := report.Outcome{}
	for _, step := range steps {
		t.out = report.Outcome{}
		if err := step(ctx); err != nil {
			return nil, err
		}
		fmt.Fprintln(os.Stderr, time.Now().Format(time.TimeOnly), t.out)
		maps.Copy(all, t.out)
	}
	return all, nil
}

func (t *trial) close() error {
	if t.subject != nil {
		t.subject.Kill()
	}
	t.CloseClientConnections()
	t.Close()
	return t.cluster.Stop()
}

func until(ctx context.Context, what string, holds func() bool) error {
	return load.Until(ctx, what, poll, patience, func(context.Context) (bool, error) { return holds(), nil })
}

func (t *trial) launch(ctx context.Context) (err error) {
	if t.builtin {
		t.subject, err = t.cluster.LaunchOriginal(ctx, "--kube-api-qps=100000", "--kube-api-burst=100000")
		return err
	}
	if t.manager, err = t.cluster.Launch(ctx, "", t.cluster.Kubeconfig(), "--profiling"); err == nil {
		t.subject = t.manager.Component
	}
	return err
}

func (t *trial) start(ctx context.Context) error {
	if err := t.launch(ctx); err != nil {
		return err
	}
	t.profile(ctx, "start", "profile?seconds=10")
	err := until(ctx, "the first deletion", func() bool { return len(t.deletionsSince(0)) > 0 })
	if err != nil {
		return t.subject.Failure(err)
	}
	t.out[starting] = t.deletionsSince(0)[0].at.Sub(t.subject.Started()).Seconds()
	return nil
}

// idle measures the memory after the start.
func (t *trial) idle(ctx context.Context) (err error) {
	if err = load.Pause(ctx, settling); err != nil {
		return err
	}
	t.profile(ctx, "idle", "heap")
	t.out[startCPU], err = load.ProcessorTime(t.subject.Pid())
	if err == nil {
		t.out[memory], t.out[peak], err = load.Memory(t.subject.Pid())
	}
	return err
}

// cores returns how many cores the subject uses during this time, while do is called every 10 ms.
func (t *trial) cores(ctx context.Context, span time.Duration, do func(tick int)) (float64, error) {
	ticks := time.NewTicker(poll)
	defer ticks.Stop()
	began := time.Now()
	used, err := load.ProcessorTimeOf(t.subject.Pid(), func() error {
		for tick := 0; time.Since(began) < span; tick++ {
			select {
			case <-ticks.C:
				do(tick)
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	return used / time.Since(began).Seconds(), err
}

func (t *trial) statusUpdates(ctx context.Context) error {
	idle, err := t.cores(ctx, quietSpan, func(int) {})
	if err != nil {
		return err
	}
	t.profile(ctx, "updates", "profile?seconds=8")
	sent, began := 0, time.Now()
	busy, err := t.cores(ctx, updating, func(int) {
		for ; sent < int(time.Since(began).Seconds()*updates); sent++ { // pods all over the cluster, in no order
			number := (sent*7919 + 1) % len(t.pods.items)
			t.pods.set(number, t.form(number, running))
		}
	})
	t.out[updateCores] = busy - idle
	return err
}

// scheduled waits until at least this many evictions are scheduled, and returns when that was.
func (t *trial) scheduled(ctx context.Context, least int) (at time.Time, err error) {
	err = until(ctx, fmt.Sprintf("%d scheduled evictions", least), func() bool {
		began := time.Now()
		metrics, err := t.manager.Get(ctx, "https://"+t.manager.Address()+"/metrics")
		at = time.Now()
		_ = load.Pause(ctx, 5*at.Sub(began)) // a scrape takes time linear in what is scheduled
		return err == nil && int(load.Sum(string(metrics), "taint_manager_pending_evictions", `"scheduled"`)) >= least
	})
	return at, err
}

// longTaints sets a taint that pods tolerate for an hour, and measures until all of these pods are scheduled.
func (t *trial) longTaints(ctx context.Context) error {
	began := time.Now()
	t.taint(t.part(), 2*t.part(), longKey)
	at, err := t.scheduled(ctx, t.part()*podsEach)
	t.out[judged] = at.Sub(began).Seconds()
	return err
}

// burst measures the evictions of pods that are due together, and of lone pods on other nodes meanwhile.
func (t *trial) burst(ctx context.Context) error {
	pods, before, asked := t.part()*podsEach, len(t.deletionsSince(0)), t.requests()
	due := time.Now().Add(tolerates * time.Second)
	t.taint(0, t.part(), shortKey)
	if err := load.Pause(ctx, time.Until(due)); err != nil {
		return err
	}
	t.profile(ctx, "burst", "profile?seconds=5")
	lone, next := map[int]time.Time{}, 5*t.part()
	deleted := func() int {
		n := len(t.deletionsSince(before))
		if n < pods && time.Since(due) > time.Duration(len(lone))*loneEvery && next < t.last() {
			lone[next*podsEach] = time.Now()
			t.taint(next, next+1, loneKey)
			next++
		}
		return n
	}
	if err := until(ctx, "the burst", func() bool { return deleted() >= pods+len(lone) }); err != nil {
		return err
	}
	t.summarize(t.deletionsSince(before), due, lone)
	t.out[requestsEach] = float64(t.requests()-asked) / float64(pods+len(lone))
	return nil
}

// summarize computes the figures of the deletions: those of lone pods, which were tainted at these times, and those of
// the pods that were due together.
func (t *trial) summarize(deletions []deletion, due time.Time, lone map[int]time.Time) {
	var late, waits report.Series
	t.out[early] = 0
	for _, d := range deletions {
		if tainted, is := lone[d.pod]; is {
			waits = append(waits, d.at.Sub(tainted).Seconds())
			continue
		}
		late = append(late, d.at.Sub(due).Seconds())
		if d.at.Before(due) {
			t.out[early]++
		}
	}
	t.out[first], t.out[loneMedian] = 1e3*late.Quantile(0), waits.Median()
	t.out[rate] = float64(len(late)) / late.Quantile(1)
}

// everything taints all nodes that are left, and measures until all their pods are scheduled.
func (t *trial) everything(ctx context.Context) (err error) {
	t.profile(ctx, "everything", "profile?seconds=10")
	began := time.Now()
	t.taint(0, t.last()+1, longKey)
	left := len(t.pods.items) - len(t.deletionsSince(0))
	at, err := t.scheduled(ctx, left)
	t.out[allJudged] = at.Sub(began).Seconds()
	if err == nil {
		err = until(ctx, "the journal", func() bool { return time.Since(t.written(false)) > quietFor })
	}
	if err == nil {
		t.out[allMemory], _, err = load.Memory(t.subject.Pid())
	}
	t.profile(ctx, "heap", "heap")
	return err
}

// usualCores returns the median of the cores in five spans. Collections of the whole heap, which may come at any time,
// fall into few of them.
func (t *trial) usualCores(ctx context.Context, do func(tick int)) (float64, error) {
	all := make(report.Series, 5)
	for i := range all {
		var err error
		if all[i], err = t.cores(ctx, settling/2, do); err != nil {
			return 0, err
		}
	}
	return all.Median(), nil
}

// page measures what it costs to look at the page while all evictions are scheduled.
func (t *trial) page(ctx context.Context) error {
	idle, err := t.usualCores(ctx, func(int) {})
	if err != nil {
		return err
	}
	before, _, err := load.Memory(t.subject.Pid())
	if err != nil {
		return err
	}
	var snapshot struct{ Tag string }
	ask := func(tick int) {
		if tick%100 == 0 { // as the page asks, each second
			text, _ := t.manager.Get(ctx, t.manager.Page()+"api/v1/snapshot?since="+snapshot.Tag)
			_ = json.Unmarshal(text, &snapshot) // there is no text if nothing has changed
		}
	}
	ask(0)
	t.profile(ctx, "page", "profile?seconds=10")
	busy, err := t.usualCores(ctx, ask)
	if err != nil {
		return err
	}
	after, _, err := load.Memory(t.subject.Pid())
	t.out[pageShare], t.out[pageMemory] = 100*(busy-idle), after-before
	return err
}

// pending measures the command against the server.
func (t *trial) pending(ctx context.Context) error {
	seconds, megabytes, err := t.command(ctx, "-A", "-o", "summary")
	if err != nil {
		return err
	}
	if t.out[summaryTime] = seconds; seconds < commandLimit.Seconds() {
		t.out[summaryMemory] = megabytes
	}
	t.out[nodeTime], _, err = t.command(ctx, "-A", "--node", fmt.Sprintf("node-%06d", t.last()))
	return err
}

func (t *trial) command(ctx context.Context, args ...string) (seconds, megabytes float64, err error) {
	args = append([]string{"pending", "--kubeconfig=" + t.cluster.Kubeconfig()}, args...)
	limited, cancel := context.WithTimeout(ctx, commandLimit)
	defer cancel()
	command := exec.CommandContext(limited, filepath.Join("bin", "taint-manager"), args...)
	began := time.Now()
	out, err := command.CombinedOutput()
	if err != nil && limited.Err() == nil {
		return 0, 0, fmt.Errorf("%v: %w: %.1000s", args, err, out)
	}
	usage, _ := command.ProcessState.SysUsage().(*syscall.Rusage)
	return time.Since(began).Seconds(), float64(usage.Maxrss) * 1024 / 1e6, nil
}

// takeover restarts the manager, and measures how long it reads the journal.
func (t *trial) takeover(ctx context.Context) error {
	if err := t.subject.Stop(); err != nil {
		return err
	}
	stopped := time.Now()
	if err := t.launch(ctx); err != nil {
		return err
	}
	t.profile(ctx, "takeover", "profile?seconds=20")
	if err := until(ctx, "the journal's state", func() bool { return t.written(true).After(stopped) }); err != nil {
		return err
	}
	t.pods.mu.Lock()
	defer t.pods.mu.Unlock()
	t.out[takeoverTime] = t.written(true).Sub(t.pods.listed).Seconds()
	return nil
}

// profile begins to read a profile of the manager into a file.
func (t *trial) profile(ctx context.Context, name, path string) {
	if t.profiles == "" || t.manager == nil {
		return
	}
	url := "https://" + t.manager.Address() + "/debug/pprof/" + path
	go func() {
		var text []byte
		err := until(ctx, "a profile", func() (read bool) {
			var err error
			text, err = t.manager.Get(ctx, url)
			return err == nil
		})
		if err == nil {
			err = os.WriteFile(filepath.Join(t.profiles, name+".pprof"), text, 0o600)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "no profile:", err)
		}
	}()
}
