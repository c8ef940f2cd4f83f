package managertest

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"

	taintmanager "github.com/taint-manager/taint-manager"
	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/internal/journal"
)

// notebook is a caller's own journal, in memory.
type notebook struct {
	mu     sync.Mutex
	stored [journal.StateObject + 1]taintmanager.StoredPartition
	writes int
	broken error // the error of each call; nil if calls succeed
}

func newNotebook() *notebook { return &notebook{} }

func (n *notebook) Read(_ context.Context, number int) (taintmanager.StoredPartition, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.stored[number], n.broken
}

func (n *notebook) Write(_ context.Context, number int, content taintmanager.StoredPartition) (string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.writes++
	if n.broken != nil || n.stored[number].Version != content.Version {
		return "", errors.Join(n.broken, errors.New("not written"))
	}
	content.Version = strconv.Itoa(n.writes)
	n.stored[number] = content
	return content.Version, nil
}

func (n *notebook) written() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.writes
}

// clock is an evictor that records when each pod is evicted.
type clock struct {
	born time.Time
	mu   sync.Mutex
	at   map[string]time.Duration
}

func newClock() *clock { return &clock{born: time.Now(), at: map[string]time.Duration{}} }

func (c *clock) Evict(_ context.Context, e taintmanager.Eviction) taintmanager.Outcome {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, gone := c.at[e.Pod.Name]; !gone {
		c.at[e.Pod.Name] = time.Since(c.born)
	}
	return taintmanager.Outcome{Kind: eviction.Accepted}
}

func (c *clock) goes(t *testing.T, pod string, want time.Duration) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if got, gone := c.at[pod]; !gone || got != want {
		t.Errorf("%s goes after %v (%t), want %v", pod, got, gone, want)
	}
}

// stop ends a manager as the binary does: it remains the leader until it has drained.
func (r *running) stop(t *testing.T) {
	t.Helper()
	r.run()
	err := <-r.result
	r.lead()
	must(t, errors.Join(err, <-r.led))
}

func bears(seconds int64) v1.Toleration {
	return v1.Toleration{Key: "key", Operator: v1.TolerationOpExists, TolerationSeconds: &seconds}
}

// aClient returns a client with the tainted node, in this version, and a pod that tolerates its taint for 20
// seconds.
func aClient() *fake.Clientset {
	n, p := taintedNode(), podOn("node", "p", bears(20))
	n.ResourceVersion = "10"
	p.CreationTimestamp = metav1.NewTime(time.Now().Add(-time.Hour))
	return fake.NewClientset(n, p)
}

func TestACountdownSurvivesRestartsIfThereIsAJournal(t *testing.T) {
	inBothModes(t, func(t *testing.T, pods func(*testing.T, kubernetes.Interface) coreinformers.PodInformer) {
		for goes, o := range map[time.Duration]taintmanager.Options{20 * time.Second: {Journal: newNotebook()}, 35 * time.Second: {}} {
			client, evictor := aClient(), newClock()
			o.Evictor = evictor
			for range 3 {
				r := startWith(t, client, pods(t, client), o)
				time.Sleep(4500 * time.Millisecond)
				r.stop(t)
				time.Sleep(500 * time.Millisecond)
			}
			startWith(t, client, pods(t, client), o)
			time.Sleep(time.Minute)
			evictor.goes(t, "p", goes)
		}
	})
}

func TestARecordThatIsReadLateMovesTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, partitions, evictor := aClient(), newNotebook(), newClock()
		partitions.broken = errors.New("broken")
		r := start(t, client, taintmanager.Options{Evictor: evictor, Journal: partitions})
		time.Sleep(12 * time.Second)
		if r.JournalTrouble() == nil || r.Scheduled() != 1 {
			t.Errorf("trouble %v, %d scheduled", r.JournalTrouble(), r.Scheduled())
		}
		partitions.mu.Lock()
		partitions.broken = nil
		partitions.stored[journal.PartitionOf("node")] = taintmanager.StoredPartition{Version: "1", Data: map[string]string{
			"_journal": `{"version":1,"written":"1999-12-31T23:59:58Z"}`,
			"node":     `{"uid":"node","version":"9","taints":[[{"key":"key","effect":"NoExecute","since":"1999-12-31T23:59:57Z"}]]}`,
		}}
		partitions.mu.Unlock()
		time.Sleep(time.Minute)
		evictor.goes(t, "p", 17*time.Second)
		if err := r.JournalTrouble(); err != nil {
			t.Error(err)
		}
	})
}

func TestAJournalThatIsBrokenHoldsNobodyUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		evictor, partitions := newClock(), newNotebook()
		partitions.broken = errors.New("broken")
		r := start(t, aClient(), taintmanager.Options{Evictor: evictor, Journal: partitions})
		time.Sleep(time.Minute)
		evictor.goes(t, "p", 20*time.Second)
		if err := r.JournalTrouble(); err == nil || r.Trouble() != nil || !r.HasSynced() {
			t.Errorf("trouble of the journal %v, of the manager %v", err, r.Trouble())
		}
	})
}

// retaint replaces the key of the node's taint.
func retaint(t *testing.T, client *fake.Clientset, version, key string) {
	t.Helper()
	updateNode(t, client, "node", func(n *v1.Node) { n.ResourceVersion, n.Spec.Taints[0].Key = version, key })
	synctest.Wait()
}

func (n *notebook) expect(t *testing.T, key string) {
	t.Helper()
	n.mu.Lock()
	defer n.mu.Unlock()
	if entry := n.stored[journal.PartitionOf("node")].Data["node"]; strings.Count(entry, `"key":`) != 1 || !strings.Contains(entry, strconv.Quote(key)) {
		t.Errorf("recorded is %s, want %s alone", entry, key)
	}
}

func TestAtTheEndOfRunTheJournalIsWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, partitions := aClient(), newNotebook()
		r := start(t, client, taintmanager.Options{Evictor: newClock(), Journal: partitions})
		time.Sleep(5 * time.Second)
		retaint(t, client, "20", "second")
		time.Sleep(200 * time.Millisecond)
		retaint(t, client, "21", "third")
		r.stop(t)
		partitions.expect(t, "third")
	})
}
