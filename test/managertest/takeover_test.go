package managertest

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"

	taintmanager "github.com/taint-manager/taint-manager"
	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/internal/journal"
	"github.com/taint-manager/taint-manager/internal/journal/store"
)

// configMaps is an API server that has ConfigMaps only, by name. It takes whatever is written.
type configMaps struct {
	mu     sync.Mutex
	byName map[string]*v1.ConfigMap
}

func (c *configMaps) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	answer := c.byName[path.Base(r.URL.Path)]
	if r.Method != http.MethodGet {
		answer = &v1.ConfigMap{}
		if err := json.NewDecoder(r.Body).Decode(answer); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		c.byName[answer.Name] = answer
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer) // the client may have given up
}

// firstCall is an evictor that notes when it is called first.
type firstCall struct {
	once sync.Once
	at   chan time.Time
}

func (f *firstCall) Evict(context.Context, taintmanager.Eviction) taintmanager.Outcome {
	f.once.Do(func() { f.at <- time.Now() })
	return taintmanager.Outcome{Kind: eviction.Accepted}
}

// recorded returns the journal of a leader that has seen the taints of the nodes an hour ago, as ConfigMaps.
func recorded(name string, nodes []v1.Node) *configMaps {
	partitions := make([]journal.Partition, journal.Partitions)
	for i := range partitions {
		partitions[i] = journal.Partition{
			Heartbeat: journal.Heartbeat{Written: time.Now()}, Records: map[string]journal.Record{},
		}
	}
	for i := range nodes {
		n := &nodes[i]
		s := journal.TaintState{Taint: n.Spec.Taints[0], Start: time.Now().Add(-time.Hour), From: n.ResourceVersion}
		partitions[journal.PartitionOf(n.Name)].Records[n.Name] = journal.Record{
			UID: n.UID, Version: n.ResourceVersion, Taints: [][]journal.TaintState{{s}},
		}
	}
	all := &configMaps{byName: map[string]*v1.ConfigMap{}}
	for number, name := range store.Names(name) {
		data := journal.EncodeState(journal.Heartbeat{Written: time.Now()}, nil, nil)
		if number < journal.Partitions {
			data, _ = journal.Encode(partitions[number])
		}
		meta := metav1.ObjectMeta{Namespace: "kube-system", Name: name, ResourceVersion: "1"}
		all.byName[name] = &v1.ConfigMap{ObjectMeta: meta, Data: data}
	}
	return all
}

// podList is a list of pods, and a watch that shows nothing.
type podList struct {
	oneWatch
	*v1.PodList
}

func (p podList) List(metav1.ListOptions) (runtime.Object, error) { return p.PodList, nil }

// listPods returns an informer with some pods on each node, which were bound before the taints were set.
func listPods(nodes []v1.Node, each int) fedPods {
	list := podList{oneWatch{watch.NewFake()}, &v1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "1"}}}
	created := metav1.NewTime(time.Now().Add(-2 * time.Hour))
	for i := range nodes {
		for j := range each {
			pod := podOn(nodes[i].Name, fmt.Sprint(nodes[i].Name, "-", j), bears(300))
			pod.CreationTimestamp = created
			list.Items = append(list.Items, *pod)
		}
	}
	return fedPods{cache.NewSharedIndexInformer(list, &v1.Pod{}, 0, cache.Indexers{}), list.FakeWatcher}
}

// decoding returns how long it takes to decode the journal.
func (c *configMaps) decoding(t *testing.T, name string) time.Duration {
	t.Helper()
	begin := time.Now()
	for number, name := range store.Names(name)[:journal.Partitions] {
		if _, dropped, err := journal.Decode(number, c.byName[name].Data); err != nil || len(dropped) > 0 {
			t.Fatal(err, dropped)
		}
	}
	return time.Since(begin)
}

// A standby that knows all nodes and pods wins the lease. It has found the taints in its first list, so that they count
// from their records, by which all pods are due. The aim is a second; the bound is a multiple of what the machine takes to
// decode the journal, as it may be slow or busy.
func TestANewLeaderOfTenThousandTaintedNodesMakesItsFirstCallWithinASecond(t *testing.T) {
	count, each, journalName := 10_000, 10, "journal"
	if raceDetector || testing.Short() {
		count = 1000
	}
	nodes := make([]v1.Node, count)
	byName := map[string]*v1.Node{}
	for i := range nodes {
		n := taintedNode()
		n.Name, n.ResourceVersion = fmt.Sprint("node-", i), fmt.Sprint(i+1)
		n.UID = types.UID(fmt.Sprintf("%08d-0000-4000-8000-000000000000", i))
		nodes[i], byName[n.Name] = *n, n
	}
	saved := recorded(journalName, nodes)
	decoding := saved.decoding(t, journalName)
	server := httptest.NewServer(saved)
	defer server.Close()
	client, err := kubernetes.NewForConfig(&rest.Config{Host: server.URL, QPS: -1})
	must(t, err)
	cluster := fake.NewClientset()
	cluster.PrependReactor("list", "nodes", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, &v1.NodeList{ListMeta: metav1.ListMeta{ResourceVersion: fmt.Sprint(count)}, Items: nodes}, nil
	})
	cluster.PrependReactor("get", "nodes", func(a clienttesting.Action) (bool, runtime.Object, error) {
		return true, byName[a.(clienttesting.GetAction).GetName()], nil
	})
	pods := listPods(nodes, each)
	first := &firstCall{at: make(chan time.Time, 1)}
	m, err := taintmanager.New(cluster, pods, taintmanager.Options{
		Evictor: first, Events: nowhere{}, Logger: logr.FromSlogHandler(slog.DiscardHandler),
		Journal: taintmanager.NewJournal(client, "kube-system", journalName),
	})
	must(t, err)
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()
	running.Go(func() { pods.RunWithContext(ctx) })
	running.Go(func() { _ = m.Run(ctx) })
	limit, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	judged := func(context.Context) (bool, error) { return m.Scheduled() == count*each, nil }
	if err := wait.PollUntilContextCancel(limit, 10*time.Millisecond, true, judged); err != nil {
		t.Fatalf("%d evictions are scheduled on the standby, want %d", m.Scheduled(), count*each)
	}
	won := time.Now()
	running.Go(func() { _ = m.Lead(ctx) })
	var took time.Duration
	select {
	case at := <-first.at:
		took = at.Sub(won)
	case <-limit.Done():
		t.Fatal("no call begins")
	}
	t.Logf("%d nodes, %d pods: the first call begins %v after the lease is won; decoding the journal takes %v", count, count*each, took.Round(time.Millisecond), decoding.Round(time.Millisecond))
	if bound := max(time.Second, 60*decoding); took > bound {
		t.Errorf("the first call begins after %v, want at most %v", took, bound)
	}
}
