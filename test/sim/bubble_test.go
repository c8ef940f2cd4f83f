package sim

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	taintmanager "github.com/taint-manager/taint-manager"
	"github.com/taint-manager/taint-manager/internal/evict"
	"github.com/taint-manager/taint-manager/test/sim/oracle"
)

// bubble is a world whose replicas are whole managers, with their goroutines, reflectors and timers, in the virtual
// time of a synctest bubble. Goroutines of one moment run in any order, so a replay of a seed may differ.
type bubble struct {
	t     *testing.T
	plan  *plan
	began time.Time

	mu       sync.Mutex // guards all fields below
	r        *rand.Rand
	server   *server
	oracle   *oracle.Oracle
	changed  chan struct{} // closed at each write
	managers []*manager    // by replica; nil while it is down
	leader   int           // the replica that leads; -1 if none does
	runs     int           // managers started so far
	lines    []string
	err      error
	counts   Counts
}

// now returns the true time.
func (b *bubble) now() time.Duration { return preface + time.Since(b.began) }

// after runs do after the duration.
func (b *bubble) after(d time.Duration, do func()) {
	time.AfterFunc(d, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		do()
	})
}

func (b *bubble) say(who, format string, args ...any) {
	b.lines = append(b.lines, fmt.Sprintf("%12.6f %-7s %s", (b.now()-preface).Seconds(), who, fmt.Sprintf(format, args...)))
}

// check records the first broken promise. It ignores a violation that may be due to the order of goroutines: one at
// the moment at which the process was shown something.
func (b *bubble) check(m *manager, err error) {
	if err != nil && b.err == nil && (m == nil || m.shown != b.now()) {
		b.err = err
		b.say("oracle", "%v", err)
	}
}

// manager is one run of a manager.
type manager struct {
	*taintmanager.Manager
	b        *bubble
	replica  int
	name     string
	observer *oracle.Process
	shown    time.Duration // when the process was last shown something
	dead     bool
	watches  []*wire // open
	forgets  [2]bool // whether the server no longer has the version at which the watch of nodes, of pods broke off
	listed   [2]bool
	quiet    [2]time.Duration // until when a watch delivers nothing

	run, lead context.CancelFunc
	ended     sync.WaitGroup
}

// live runs the world of a plan in a bubble and returns it, with the first broken promise.
func live(t *testing.T, p *plan) *bubble {
	b := &bubble{
		t: t, plan: p, began: time.Now(), r: rand.New(rand.NewPCG(p.seed, 2)), changed: make(chan struct{}),
		managers: make([]*manager, p.replicas), leader: -1, counts: Counts{},
	}
	b.oracle = oracle.New(b.began.Add(-preface).Truncate(time.Second))
	b.began = b.oracle.Epoch.Add(preface)
	b.mu.Lock()
	b.server = newServer(b, b.oracle, b.wrote)
	b.begin()
	b.mu.Unlock()

	time.Sleep(p.turmoil)
	b.mu.Lock()
	b.calmDown()
	b.mu.Unlock()
	time.Sleep(quiet)
	b.end()
	return b
}

// begin schedules all actions. Those before the preface take effect at once.
func (b *bubble) begin() {
	for i := range b.plan.nodes {
		b.server.createNode(nodeName(i))
	}
	for i := range b.plan.actions {
		d := &b.plan.actions[i]
		if d.at <= preface {
			b.do(d)
			continue
		}
		b.after(d.at-b.now(), func() { b.do(d) })
	}
	for i := range b.plan.replicas {
		b.after(time.Duration(i)*time.Second/2+time.Millisecond, func() { b.start(i) })
	}
}

func (b *bubble) wrote() {
	b.say("server", "has %v", &b.server.log[len(b.server.log)-1])
	close(b.changed)
	b.changed = make(chan struct{})
}

// start starts a manager of a replica.
func (b *bubble) start(replica int) {
	if b.managers[replica] != nil {
		return
	}
	b.runs++
	m := &manager{b: b, replica: replica, name: fmt.Sprintf("r%d#%d", replica, b.runs), shown: -1}
	m.observer = b.oracle.Started(m.name, 0)
	client := newLagging(m)
	api := evict.NewAPI(client, evict.APIOptions{Method: b.plan.method, Leading: m.leading})
	var err error
	m.Manager, err = taintmanager.New(client, nil, taintmanager.Options{
		Shards: b.plan.shards, Workers: b.plan.workers, Evictor: judged{m, api}, Leading: m.leading,
		DrainTimeout: 10 * time.Second, Logger: funcr.New(func(string, string) {}, funcr.Options{}),
	})
	if err != nil {
		b.t.Fatal(err)
	}
	b.managers[replica] = m
	b.say(m.name, "starts")
	ctx, cancel := context.WithCancel(context.Background())
	m.run, m.lead = cancel, func() {}
	m.ended.Go(func() { _ = m.Run(ctx) })
	if b.leader < 0 {
		b.elect()
	}
}

// elect makes one of the running managers the leader.
func (b *bubble) elect() {
	var up []*manager
	for _, m := range b.managers {
		if m != nil {
			up = append(up, m)
		}
	}
	if len(up) == 0 || b.leader >= 0 {
		return
	}
	m := up[b.r.IntN(len(up))]
	b.leader = m.replica
	b.counts["LedAnew"]++
	b.say(m.name, "leads")
	ctx, cancel := context.WithCancel(context.Background())
	m.lead = cancel
	m.ended.Go(func() { _ = m.Lead(ctx) })
}

// leading reports whether the manager leads at this moment.
func (m *manager) leading() bool {
	m.b.mu.Lock()
	defer m.b.mu.Unlock()
	return m.leads()
}

func (m *manager) leads() bool { return m.b.leader == m.replica && m.b.managers[m.replica] == m }

// depose ends the leadership of a manager. Another one leads after a while.
func (b *bubble) depose(m *manager, wait time.Duration) {
	if !m.leads() {
		return
	}
	b.say(m.name, "does not lead any longer")
	b.leader = -1
	b.after(span(b.r, 0, time.Second), m.lead) // the elector is late
	b.after(time.Second+wait, b.elect)
}

// down stops or kills a manager; it starts again after a while.
func (b *bubble) down(m *manager, lasts time.Duration, killed bool) {
	b.say(m.name, "ends, killed: %v", killed)
	b.depose(m, span(b.r, 0, 16*time.Second))
	m.dead = killed
	b.managers[m.replica] = nil
	m.run()
	for _, w := range m.watches {
		w.Stop()
	}
	b.after(lasts+time.Second, func() { b.start(m.replica) })
}

// do performs an action, where a real manager permits it.
func (b *bubble) do(d *action) {
	b.say("world", "%v", d)
	m := b.managers[d.replica]
	switch {
	case b.server.do(d):
	case d.kind.isFault():
		b.server.begin(d.kind, d.lasts)
		if d.kind == away {
			b.counts["Outages"]++
			b.breakAll()
		}
	case m != nil:
		b.doManager(d, m)
	}
}

func (b *bubble) breakAll() {
	for _, m := range b.managers {
		if m != nil {
			m.breaks(false, false)
			m.breaks(true, false)
		}
	}
}

// doManager performs an action on a manager.
func (b *bubble) doManager(d *action, m *manager) {
	switch d.kind {
	case breakWatch, forgetWatch:
		m.breaks(d.pods, d.kind == forgetWatch)
	case stallWatch:
		m.quiet[resource(d.pods)] = b.now() + d.lasts
	case kill, stop:
		b.counts["Restarts"]++
		b.down(m, d.lasts, d.kind == kill)
	case pause, handOver:
		b.depose(m, d.lasts)
	}
}

// calmDown ends all faults.
func (b *bubble) calmDown() {
	b.say("world", "all faults end")
	b.server.faults = map[kind]time.Duration{}
	for i, m := range b.managers {
		if m == nil {
			b.start(i)
			continue
		}
		m.quiet = [2]time.Duration{}
	}
}

// end judges the world, and ends it.
func (b *bubble) end() {
	synctest.Wait()
	b.mu.Lock()
	if b.leader < 0 {
		b.check(nil, oracle.Broken(oracle.Behind, "nobody leads"))
	} else {
		m := b.managers[b.leader]
		b.check(nil, m.observer.Ends(b.now(), preface+b.plan.turmoil+40*time.Second, quiet-60*time.Second, nil))
		if got, want := m.Scheduled(), m.observer.Planned(); b.err == nil && got != want {
			b.check(nil, oracle.Broken(oracle.Empty, "%s has scheduled %d, want %d", m.name, got, want))
		}
	}
	all := b.managers
	b.managers = make([]*manager, len(all))
	b.mu.Unlock()
	for _, m := range all {
		if m != nil {
			m.lead()
			m.run()
			m.ended.Wait()
		}
	}
	time.Sleep(time.Minute) // after all scheduled actions
}

// judged is the evictor of a manager; the oracle judges its requests.
type judged struct {
	m   *manager
	api *evict.API
}

// Evict implements taintmanager.Evictor.
func (j judged) Evict(ctx context.Context, e taintmanager.Eviction) taintmanager.Outcome {
	return j.EvictConfirmed(ctx, e, func(context.Context) (taintmanager.Outcome, bool) { return taintmanager.Outcome{}, true })
}

// EvictConfirmed makes one call.
func (j judged) EvictConfirmed(ctx context.Context, e taintmanager.Eviction, confirm evict.Confirmation) taintmanager.Outcome {
	b := j.m.b
	b.mu.Lock()
	b.say(j.m.name, "calls for pod %s, attempt %d: %v", e.Pod.UID, e.Attempt, e.Verdict)
	b.check(j.m, j.m.observer.Called(b.now(), e.Pod.UID, j.m.moment(e.Verdict.At), e.Attempt))
	b.mu.Unlock()
	o := j.api.EvictConfirmed(context.WithValue(ctx, meant{}, e.Pod.UID), e, confirm)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.counts[o.Kind.String()]++
	b.say(j.m.name, "call for pod %s ended: %s %s", e.Pod.UID, o.Kind.String(), o.Cause)
	j.m.observer.Ended(b.now(), e.Pod.UID, leastWait(o))
	return o
}

// meant is the context key of the UID of the pod that a call is for.
type meant struct{}

func meantBy(ctx context.Context) types.UID {
	uid, _ := ctx.Value(meant{}).(types.UID)
	return uid
}

func (m *manager) moment(t time.Time) time.Duration {
	if since := t.Sub(m.b.began); since < oracle.Far/2 {
		return preface + since
	}
	return oracle.Far
}

func resource(pods bool) int {
	if pods {
		return 1
	}
	return 0
}

// TestWorldsOfRealManagers runs worlds of whole managers, which the same oracle judges.
func TestWorldsOfRealManagers(t *testing.T) {
	n := uint64(300)
	if testing.Short() {
		n = 30
	}
	// They sleep between errors, by a clock outside the bubble.
	defer func(handlers []utilruntime.ErrorHandler) { utilruntime.ErrorHandlers = handlers }(utilruntime.ErrorHandlers)
	utilruntime.ErrorHandlers = nil
	counts := Counts{}
	for seed := *fromFlag; seed < *fromFlag+n; seed++ {
		synctest.Test(t, func(t *testing.T) {
			p := draw(seed)
			p.serverAhead, p.ahead = 0, nil
			b := live(t, p)
			b.counts["Worlds"] = 1
			b.counts.Add(b.oracle.Seen)
			counts.Add(b.counts)
			if b.err != nil {
				for _, line := range b.lines[max(0, len(b.lines)-150):] {
					t.Log(line)
				}
				t.Fatalf("seed %d: %v", seed, b.err)
			}
		})
		if t.Failed() {
			return
		}
	}
	t.Logf("%v", counts)
}
