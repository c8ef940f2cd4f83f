package store_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/internal/breaker"
	"github.com/taint-manager/taint-manager/internal/cluster"
	"github.com/taint-manager/taint-manager/internal/journal"
	"github.com/taint-manager/taint-manager/internal/journal/store"
	"github.com/taint-manager/taint-manager/taint"
)

// fed is a process whose watch of nodes is controlled by the test.
type fed struct {
	*process
	feed *cluster.Feed
}

// NodeChanged passes on what the cache calls; Keeper is nil before the first list.
func (f *fed) NodeChanged(name string) {
	if f.process != nil {
		f.process.NodeChanged(name)
	}
}

func (f *fed) NodesListed() {
	if f.process != nil {
		f.process.NodesListed()
	}
}

func (f *fed) PodChanged(types.UID, string)            {}
func (f *fed) NodesChanged([]breaker.NodeChange, bool) {}
func (f *fed) NamespacesChanged()                      {}

// startFed starts a process that has listed no nodes at version 100.
func (w *world) startFed() *fed {
	w.Helper()
	f := &fed{}
	f.feed = cluster.NewFeed(taint.Rules{}, f, time.Now)
	if err := f.feed.Pods().Replace(nil, "100"); err != nil {
		w.Fatal(err)
	}
	f.lists("100")
	synced := make(chan struct{})
	close(synced)
	f.process = w.start(func(o *store.Options) { o.Source, o.Synced = f.feed, synced })
	return f
}

// node returns the node n at this version, with these taints.
func (w *world) node(version string, keys ...string) *v1.Node {
	n := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", UID: "uid-n", ResourceVersion: version, CreationTimestamp: metav1.NewTime(w.born.Add(-time.Hour))}}
	for _, key := range keys {
		n.Spec.Taints = append(n.Spec.Taints, v1.Taint{Key: key, Effect: v1.TaintEffectNoExecute})
	}
	return n
}

// sees has the watch of nodes show the node.
func (f *fed) sees(n *v1.Node) {
	_ = f.feed.Nodes().Update(n) // never fails
	synctest.Wait()
}

// lists has the process list the nodes.
func (f *fed) lists(version string, nodes ...*v1.Node) {
	var items []any
	for _, n := range nodes {
		items = append(items, n)
	}
	_ = f.feed.Nodes().Replace(items, version) // never fails
	if f.process != nil {
		synctest.Wait()
	}
}

// counts checks since when, in seconds of the world, the process counts the taint gpu of node n.
func (f *fed) counts(when string, second float64) {
	f.world.Helper()
	synctest.Wait()
	nodes := f.feed.Tainted()
	if len(nodes) != 1 {
		f.world.Fatalf("%s: %d nodes have taints", when, len(nodes))
	}
	states := nodes[0].Taints[0]
	if got := states[len(states)-1].Since.Sub(f.world.born).Seconds(); got != second {
		f.world.Errorf("%s: gpu counts from %v, want %v", when, got, second)
	}
}

// The taint gpu is set at 1 s, lifted at 300 s, and set again at 302 s. The standby watches the journal all the time, and
// misses the last two changes of the node.
func (w *world) missedRenewal() (leader, standby *fed) {
	leader, standby = w.startFed(), w.startFed()
	leader.lead()
	w.pass(1)
	leader.sees(w.node("101", "gpu"))
	standby.sees(w.node("101", "gpu"))
	w.pass(300)
	leader.sees(w.node("102"))
	w.pass(302)
	leader.sees(w.node("103", "gpu"))
	w.pass(304)
	return leader, standby
}

func TestARecordThatArrivesBeforeTheListOfItsNodeCountsOnceTheNodeIsListed(t *testing.T) {
	inWorld(t, func(w *world) {
		leader, standby := w.missedRenewal()
		standby.counts("before the list", 1)
		standby.lists("103", w.node("103", "gpu"))
		standby.counts("after the list", 302)
		leader.stop()
		standby.lead()
		w.pass(400)
		standby.counts("leading", 302)
	})
}

func TestANewLeaderWritesARecordOfANodeThatItHasNotReadSoFarOnceMore(t *testing.T) {
	inWorld(t, func(w *world) {
		leader, standby := w.missedRenewal()
		leader.stop()
		standby.lead()
		w.pass(310)
		if data := w.partition("n").Data; data["n"] != `{"uid":"uid-n","version":"103","taints":[[`+w.state("gpu", 302, "103")+`]]}` || data["_journal"] < w.head(304) {
			t.Errorf("stored is %v", data)
		}
		third := w.startFed()
		third.lists("103", w.node("103", "gpu"))
		third.counts("read by a third process", 302)
		w.pass(320)
		standby.lists("103", w.node("103", "gpu"))
		standby.counts("once the leader has read the node", 302)
	})
}

func TestALeaderDoesNotDropARecordOfANodeThatItHasNotSeenTainted(t *testing.T) {
	inWorld(t, func(w *world) {
		leader, standby := w.startFed(), w.startFed()
		leader.lead()
		w.pass(1)
		leader.sees(w.node("101", "gpu"))
		w.pass(3)
		leader.stop()
		standby.lead()
		w.pass(30)
		standby.lists("101", w.node("101", "gpu"))
		standby.counts("once it has read the node", 1)
	})
}

func TestARecordOfAVersionThatIsNotReachedIsRefusedAfterAMinuteAndNamed(t *testing.T) {
	for _, leads := range []bool{false, true} {
		inWorld(t, func(w *world) {
			w.put("n", map[string]string{"_journal": w.head(0), "n": `{"uid":"uid-n","version":"5000","taints":[[` + w.state("gpu", -60, "101") + `]]}`})
			p := w.startFed()
			if leads {
				p.lead()
			}
			w.pass(1)
			p.sees(w.node("101", "gpu"))
			w.pass(59)
			p.counts("while it waits", 1)
			p.troubled("while it waits", "")
			if leads && !strings.Contains(w.partition("n").Data["n"], `"5000"`) {
				t.Errorf("stored is %v", w.partition("n").Data)
			}
			w.pass(61.5)
			p.troubled("refused", "partitions that have records of nodes that were not read so far: 1")
			if said := p.said(); !strings.Contains(said, `\"n\" at version \"5000\"`) {
				t.Errorf("the log says %s", said)
			}
			p.sees(w.node("102", "gpu"))
			w.pass(65)
			p.troubled("the nodes were read further", "")
			if leads && strings.Contains(w.partition("n").Data["n"], `"5000"`) {
				t.Errorf("stored is %v", w.partition("n").Data)
			}
			p.sees(w.node("6000", "gpu"))
			w.pass(100)
			p.counts("much later", 1)
		})
	}
}

func TestARefusedRecordCountsIfTheNextListReachesIt(t *testing.T) {
	inWorld(t, func(w *world) {
		leader, standby := w.missedRenewal()
		leader.stop()
		standby.lead()
		w.pass(400)
		standby.troubled("the watch of nodes is broken for longer than a minute", "records of nodes that were not read so far: 1")
		standby.lists("103", w.node("103", "gpu"))
		standby.counts("after the list", 302)
	})
}

// The standby's watch of the journal is broken while the leader writes for the last time, and hands over.
func TestALeaderAdoptsWhatItMissedThoughItWouldWriteWhatItLastHeard(t *testing.T) {
	inWorld(t, func(w *world) {
		leader, standby := w.start().lead(), w.start()
		leader.SetGuards(w.ended(0))
		w.pass(3)
		w.fault(failing(broken, "list", "watch"))
		w.cut()
		w.pass(4)
		leader.SetGuards(w.ended(4))
		w.pass(5)
		leader.stop()
		standby.lead()
		w.pass(6)
		w.fault(nil)
		w.pass(60)
		standby.guarded("after the change of leader", "zones a@-6, pause@4")
		standby.kill()
		w.start().guarded("after a restart", "zones a@-6, pause@4")
	})
}

func TestAnEditThatTheLeaderHasUndoneIsNowhere(t *testing.T) {
	inWorld(t, func(w *world) {
		leader, standby := w.start().lead(), w.start()
		w.pass(5)
		w.taint("n", "gpu") // at version 101
		w.pass(15)
		standby.knows("before", "n", "gpu@5")
		w.taint("m", "disk") // at a later version, which the edit claims
		w.put("n", map[string]string{"_journal": w.head(15), "n": w.entry("n", latest, "gpu", 1)})
		w.pass(75)
		leader.knows("the leader, a minute later", "n", "gpu@5")
		standby.knows("the standby, a minute later", "n", "gpu@5")
		leader.stop()
		standby.lead()
		w.taint("n", "gpu", "more")
		w.pass(90)
		if data := w.partition("n").Data["n"]; !strings.Contains(data, w.state("gpu", 5, "101")) {
			t.Errorf("stored is %s", data)
		}
	})
}

// By a later time of writing, what was written before counts as older.
func TestAnEditOfTheTimeOfWritingIsUndoneAndNowhere(t *testing.T) {
	for _, edit := range []struct {
		name, version string
		ahead         float64
		adopted       string // by the standby, until the leader undoes the edit
	}{
		{"alone", "101", 3600, "gpu@5"},
		{"and of the version", latest, 3600, "gpu@-3569.5"},
		{"alone, by no more than a writing may be on its way", "101", 35.5, "gpu@5"},
		{"and of the version, by no more than that", latest, 35.5, "gpu@-5"},
	} {
		t.Run(edit.name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				leader, standby := w.start().lead(), w.start()
				w.pass(5)
				w.taint("n", "gpu") // at version 101
				w.pass(25.5)        // the leader has written at 25 s, and writes again at 26 s
				w.taint("m", "disk")
				w.put("n", map[string]string{"_journal": w.head(edit.ahead), "n": w.entry("n", edit.version, "gpu", 5)})
				standby.knows("at the edit", "n", edit.adopted)
				w.pass(27)
				if head := w.partition("n").Data["_journal"]; head == w.head(edit.ahead) {
					t.Error("the edit is not undone")
				}
				w.pass(75)
				standby.knows("the standby, a minute later", "n", "gpu@5")
				leader.kill()
				standby.kill()
				w.start().knows("after a restart", "n", "gpu@5")
			})
		})
	}
}

// The leader does not see that the node is tainted, so that it undoes the edit by a writing without the node.
func TestAnEditOfANodeThatTheLeaderDoesNotRecordIsNowhereOnceItIsUndone(t *testing.T) {
	inWorld(t, func(w *world) {
		leader, standby := w.startFed(), w.startFed()
		leader.lead()
		w.pass(1)
		standby.sees(w.node("101", "gpu"))
		w.pass(1.5)
		w.put("n", nil) // the leader writes at once, and then not within a second
		w.pass(1.7)
		w.put("n", map[string]string{"_journal": w.head(1.7), "n": w.entry("n", "101", "gpu", -600)})
		standby.counts("by the edit", -600)
		w.pass(3)
		if data := w.partition("n").Data; len(data) != 1 {
			t.Errorf("stored is %v", data)
		}
		standby.counts("once the edit is undone", 1)
	})
}

// deaf are partitions of which a process hears nothing for a while, and then the last state only.
type deaf struct {
	store.Partitions
	mu     sync.Mutex
	silent bool
	last   map[int]func()
}

func (d *deaf) Watch(ctx context.Context, partition int, report func(journal.StoredPartition, error)) {
	d.Partitions.Watch(ctx, partition, func(s journal.StoredPartition, err error) {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.last[partition] = func() { report(s, err) }
		if !d.silent {
			report(s, err)
		}
	})
}

// deafen begins, or ends, the time in which the process hears nothing.
func (d *deaf) deafen(silent bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.silent = silent
	for _, report := range d.last {
		report()
	}
}

// The leader does not hear of the edit, so it does not say that it has undone an edit.
func TestAnEditOfTheTimeOfWritingThatOnlyAStandbyHeardOfIsNowhere(t *testing.T) {
	inWorld(t, func(w *world) {
		d := &deaf{last: map[int]func(){}}
		leader := w.start(func(o *store.Options) { d.Partitions, o.Partitions = o.Partitions, d }).lead()
		standby := w.start()
		w.pass(5)
		w.taint("n", "gpu") // at version 101
		w.pass(15)
		standby.knows("before", "n", "gpu@5")
		w.taint("m", "disk") // at a later version, which the edit claims
		before := w.partition("n").Data
		d.deafen(true)
		w.put("n", map[string]string{"_journal": w.head(600), "n": w.entry("n", latest, "gpu", 5)})
		synctest.Wait()
		standby.knows("by the edit", "n", "gpu@-580")
		w.put("n", before)
		d.deafen(false)
		w.pass(100)
		leader.knows("the leader", "n", "gpu@5")
		standby.knows("the standby", "n", "gpu@15") // by when it received the content once more: later, never earlier
		leader.kill()
		standby.lead()
		w.pass(130)
		standby.knows("leading", "n", "gpu@15")
	})
}

func TestAPartitionInUseThatIsOverwrittenByAnUnknownVersionIsWrittenBack(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.start().lead()
		w.taint("n", "gpu")
		w.pass(5)
		before := w.partition("n").Data["n"]
		w.put("n", map[string]string{"_journal": `{"version":2,"written":"soon"}`, "n": "?"})
		w.pass(8)
		if data := w.partition("n").Data; data["n"] != before || len(data) != 2 {
			t.Errorf("stored is %v", data)
		}
		p.troubled("afterwards", "")
		p.resign()
		w.put("n", map[string]string{"_journal": `{"version":2,"written":"soon"}`, "n": "?"})
		p.lead()
		w.pass(100)
		if data := w.partition("n").Data; data["n"] != "?" {
			t.Errorf("in a term that found it, stored is %v", data)
		}
		p.troubled("in a term that found it", "partitions that are of an unknown version: 1")
	})
}

// The process hears of the next leader's writing before it hears that its own term is over.
func TestWhatIsHeardAtTheEndOfATermCountsAfterIt(t *testing.T) {
	node := inGuards
	for name, c := range map[string]struct {
		data   map[string]string
		writes int // in the next term
	}{
		"a record":           {map[string]string{"_journal": `{"version":1}`, node: `{"uid":"u","taints":[[{"key":"gpu","effect":"NoExecute","since":"2026-01-01T00:00:00Z"}]]}`}, 1},
		"an unknown version": {map[string]string{"_journal": `{"version":2}`}, 0},
	} {
		now, source := time.Now(), &offered{manyNodes: newManyNodes(1)}
		core := store.NewCore(store.CoreOptions{
			Source: source, Leading: func() bool { return true }, Ahead: func(time.Time) time.Duration { return 0 },
		})
		core.Step(now, store.Synced{})
		core.Step(now, store.TermBegan{Term: 1})
		core.Step(now, store.Heard{Content: &journal.StoredPartition{Version: "1"}})
		core.Step(now, store.Written{Version: "2"})
		core.Step(now, store.Heard{Content: &journal.StoredPartition{Version: "3", Data: c.data}})
		core.Step(now, store.TermEnded{Term: 1})
		if source.records != c.writes {
			t.Errorf("%s: %d records are offered", name, source.records)
		}
		if do := core.Step(now.Add(time.Minute), store.TermBegan{Term: 2}); len(do.Writes) != c.writes {
			t.Errorf("%s: %d writes in the next term", name, len(do.Writes))
		}
	}
}

func TestACreationThatIsForbiddenIsSaidWithThePermission(t *testing.T) {
	inWorld(t, func(w *world) {
		w.fault(failing(forbidden, "create"))
		p := w.start().lead()
		w.taint("n", "gpu")
		w.pass(60) // by now, tries are half a minute apart
		p.troubled("while none may be created", "partitions that can't be written: 8")
		for _, want := range []string{"the permission to create configmaps in namespace kube-system is missing", forbidden.Error()} {
			if said := p.said(); !strings.Contains(said, strings.ReplaceAll(want, `"`, `\"`)) {
				t.Errorf("the log lacks %q:\n%s", want, said)
			}
		}
		if err := w.client.Tracker().Create(v1.SchemeGroupVersion.WithResource("configmaps"), &v1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: store.PartitionNames(name)[journal.PartitionOf("n")], ResourceVersion: "101",
		}}, namespace); err != nil {
			t.Fatal(err)
		}
		w.pass(62)
		if data := w.partition("n").Data; len(data) != 2 {
			t.Errorf("2 s after it was created by hand it has %v", data)
		}
		p.troubled("once it exists", "partitions that can't be written: 7")
	})
}

// The forged record names a version that the node reaches later.
func TestARecordThatIsForgedInAnEmptyPartitionIsUndoneAndNowhere(t *testing.T) {
	inWorld(t, func(w *world) {
		leader := w.start().lead()
		w.pass(5)
		w.put("n", map[string]string{"_journal": w.head(5), "n": w.entry("n", "103", "gpu", -600)})
		w.pass(7)
		if data := w.partition("n").Data; len(data) != 1 {
			t.Errorf("stored is %v", data)
		}
		for range 3 {
			w.taint("n", "gpu") // at versions 101 to 103
		}
		w.pass(70)
		leader.knows("a minute later", "n", "gpu@7")
		leader.kill()
		w.start().knows("after a restart", "n", "gpu@7")
	})
}

func TestAnEmptiedPartitionIsWrittenBack(t *testing.T) {
	inWorld(t, func(w *world) {
		w.start().lead()
		w.taint("n", "gpu")
		w.pass(5)
		before := w.partition("n").Data["n"]
		w.put("n", nil)
		w.pass(8)
		if after := w.partition("n").Data["n"]; before == "" || after != before {
			t.Errorf("before %q, after %q", before, after)
		}
	})
}

// offered counts the records that are offered to a source.
type offered struct {
	*manyNodes
	records int
}

func (o *offered) Adopt(string, journal.Record) bool {
	o.records++
	return false
}

// A leader that can't write tries for days. It recognizes a try that was stored although it has failed, and adopts nothing of
// it, if it is one of the last.
func TestOnlyTheLastFailedWritesAreRemembered(t *testing.T) {
	for _, stored := range []string{"the last", "the first"} {
		now, source := time.Now(), &offered{manyNodes: newManyNodes(1)}
		core := store.NewCore(store.CoreOptions{
			Source: source, Leading: func() bool { return true }, Ahead: func(time.Time) time.Duration { return 0 },
		})
		core.Step(now, store.Synced{})
		core.Step(now, store.TermBegan{Term: 1})
		do := core.Step(now, store.Heard{Content: &journal.StoredPartition{Version: "1"}})
		first := do.Writes[0]
		for range 3000 {
			core.Step(now, store.Written{Err: broken})
			now = now.Add(time.Minute)
			do = core.Step(now, store.TimePassed{})
		}
		core.Step(now, store.Written{Err: broken})
		content := do.Writes[0].Content
		if stored == "the first" {
			content = first.Content
		}
		content.Version = "2"
		core.Step(now.Add(2*time.Second), store.Heard{Content: &content})
		if recognized := source.records == 0; recognized != (stored == "the last") {
			t.Errorf("%s of 3001 tries was stored, and is recognized: %t", stored, recognized)
		}
	}
}
