package store_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"
	"go.uber.org/goleak"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/taint-manager/taint-manager/internal/breaker"
	"github.com/taint-manager/taint-manager/internal/cluster"
	"github.com/taint-manager/taint-manager/internal/journal"
	"github.com/taint-manager/taint-manager/internal/journal/store"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

func TestMain(m *testing.M) {
	// Otherwise reflectors wait, after an error, by a time that the package has noted outside of virtual time.
	utilruntime.ErrorHandlers = nil
	goleak.VerifyTestMain(m)
}

const (
	namespace = "kube-system"
	name      = "taint-manager-journal"
)

// inWorld runs a test in its own cluster, in virtual time.
func inWorld(t *testing.T, test func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{T: t, client: fake.NewClientset(), born: time.Now(), version: 100, nodes: 100}
		w.client.PrependReactor("*", "configmaps", w.react)
		w.client.PrependWatchReactor("configmaps", w.reactToWatch)
		w.client.PrependReactor("list", "nodes", w.listNodes)
		test(w)
		w.fault(nil)
		for _, p := range w.processes {
			p.kill()
		}
		synctest.Wait()
	})
}

// world is a cluster whose ConfigMaps have versions, and fail on request.
type world struct {
	*testing.T
	client    *fake.Clientset
	born      time.Time
	processes []*process
	ahead     time.Duration               // of the clocks of started processes
	fields    []metav1.ManagedFieldsEntry // of all ConfigMaps, as lists return them
	needs     policy.Needs                // of started processes

	mu      sync.Mutex
	version int // of the last write of a ConfigMap
	nodes   int // of the last write of a node
	faults  func(verb string) error
	losing  func(verb string) error // of responses
	writes  []written
	streams []watch.Interface
}

// written is one write that the API server has received, stored or not.
type written struct {
	partition string
	at        time.Time
}

// fault makes requests for ConfigMaps fail; nil makes them succeed.
func (w *world) fault(f func(verb string) error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.faults = f
}

// lose makes requests for ConfigMaps succeed although their responses are lost.
func (w *world) lose(f func(verb string) error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.losing = f
}

// failing returns a fault of all requests with these verbs.
func failing(err error, verbs ...string) func(string) error {
	return func(verb string) error {
		if slices.Contains(verbs, verb) {
			return err
		}
		return nil
	}
}

var (
	forbidden = apierrors.NewForbidden(v1.Resource("configmaps"), name, errors.New("no"))
	broken    = apierrors.NewInternalError(errors.New("boom"))
)

func (w *world) react(action clienttesting.Action) (bool, runtime.Object, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if update, ok := action.(clienttesting.UpdateAction); ok { // or a create
		object := update.GetObject().(*v1.ConfigMap)
		w.writes = append(w.writes, written{object.Name, time.Now()})
	}
	if w.faults != nil {
		if err := w.faults(action.GetVerb()); err != nil {
			return true, nil, err
		}
	}
	switch action := action.(type) {
	case clienttesting.UpdateActionImpl:
		return w.store(action.GetVerb(), action.GetObject())
	case clienttesting.CreateActionImpl:
		return w.store(action.GetVerb(), action.GetObject())
	case clienttesting.ListActionImpl:
		list, err := w.client.Tracker().List(action.GetResource(), action.GetKind(), action.GetNamespace())
		if list, ok := list.(*v1.ConfigMapList); ok {
			list.ResourceVersion = strconv.Itoa(w.version)
			for i := range list.Items {
				list.Items[i].ManagedFields = w.fields
			}
		}
		return true, list, err
	}
	return false, nil, nil
}

// listNodes returns all nodes, at the version of the last write of a node.
func (w *world) listNodes(action clienttesting.Action) (bool, runtime.Object, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	list, err := w.client.Tracker().List(v1.SchemeGroupVersion.WithResource("nodes"), v1.SchemeGroupVersion.WithKind("Node"), "")
	if err == nil {
		list.(*v1.NodeList).ResourceVersion = strconv.Itoa(w.nodes)
	}
	return true, list, err
}

// store stores a ConfigMap like an API server.
func (w *world) store(verb string, object runtime.Object) (_ bool, _ runtime.Object, err error) {
	if w.losing != nil {
		defer func() { err = errors.Join(err, w.losing(verb)) }()
	}
	configMaps := v1.SchemeGroupVersion.WithResource("configmaps")
	made := object.(*v1.ConfigMap).DeepCopy()
	w.version++
	if verb == "create" {
		made.ResourceVersion = strconv.Itoa(w.version)
		return true, made, w.client.Tracker().Create(configMaps, made, namespace)
	}
	stored, err := w.client.Tracker().Get(configMaps, namespace, made.Name)
	if err != nil {
		return true, nil, err
	}
	if made.ResourceVersion != "" && made.ResourceVersion != stored.(*v1.ConfigMap).ResourceVersion {
		return true, nil, apierrors.NewConflict(v1.Resource("configmaps"), made.Name, errors.New("it was written by others"))
	}
	made.ResourceVersion = strconv.Itoa(w.version)
	return true, made, w.client.Tracker().Update(configMaps, made, namespace)
}

func (w *world) reactToWatch(action clienttesting.Action) (bool, watch.Interface, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.faults != nil {
		if err := w.faults("watch"); err != nil {
			return true, nil, err
		}
	}
	options := action.(clienttesting.WatchActionImpl).ListOptions
	stream, err := w.client.Tracker().Watch(action.GetResource(), action.GetNamespace(), options)
	if err != nil {
		return true, nil, err
	}
	name := action.(clienttesting.WatchActionImpl).GetWatchRestrictions().Fields.String()
	all := resuming(stream, w.missed(strings.TrimPrefix(name, "metadata.name="), options.ResourceVersion))
	w.streams = append(w.streams, all)
	return true, all, nil
}

// missed returns the event that a watch from this version begins with; nil if the ConfigMap is not newer.
func (w *world) missed(name, version string) *watch.Event {
	object, err := w.client.Tracker().Get(v1.SchemeGroupVersion.WithResource("configmaps"), namespace, name)
	if err != nil {
		return nil
	}
	stored, _ := strconv.Atoi(object.(*v1.ConfigMap).ResourceVersion)
	if from, _ := strconv.Atoi(version); stored <= from {
		return nil
	}
	return &watch.Event{Type: watch.Modified, Object: object}
}

// resumed is a stream with an event before all others. The tracker's streams begin with what is changed next.
type resumed struct {
	watch.Interface
	events chan watch.Event
	once   sync.Once
	done   chan struct{}
}

func resuming(stream watch.Interface, first *watch.Event) *resumed {
	r := &resumed{Interface: stream, events: make(chan watch.Event), done: make(chan struct{})}
	go func() {
		defer close(r.events)
		if first != nil && !r.send(*first) {
			return
		}
		for e := range stream.ResultChan() {
			if !r.send(e) {
				return
			}
		}
	}()
	return r
}

func (r *resumed) send(e watch.Event) bool {
	select {
	case r.events <- e:
		return true
	case <-r.done:
		return false
	}
}

func (r *resumed) ResultChan() <-chan watch.Event { return r.events }

func (r *resumed) Stop() {
	r.once.Do(func() { close(r.done) })
	r.Interface.Stop()
}

// cut ends all watches of ConfigMaps.
func (w *world) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, stream := range w.streams {
		stream.Stop()
	}
	w.streams = nil
}

// taint creates or changes a node so that it has exactly these taints, given as key or key=value. They are NoExecute
// unless :NoSchedule follows.
func (w *world) taint(node string, taints ...string) {
	w.Helper()
	w.mu.Lock()
	w.nodes++
	n := &v1.Node{ObjectMeta: metav1.ObjectMeta{
		Name: node, UID: types.UID("uid-" + node), ResourceVersion: strconv.Itoa(w.nodes),
		CreationTimestamp: metav1.NewTime(w.born.Add(-time.Hour)),
	}}
	w.mu.Unlock()
	for _, text := range taints {
		text, effect, ok := strings.Cut(text, ":")
		if !ok {
			effect = string(v1.TaintEffectNoExecute)
		}
		key, value, _ := strings.Cut(text, "=")
		n.Spec.Taints = append(n.Spec.Taints, v1.Taint{Key: key, Value: value, Effect: v1.TaintEffect(effect)})
	}
	nodes := w.client.CoreV1().Nodes()
	if _, err := nodes.Update(w.Context(), n, metav1.UpdateOptions{}); err != nil {
		if _, err := nodes.Create(w.Context(), n, metav1.CreateOptions{}); err != nil {
			w.Fatal(err)
		}
	}
	synctest.Wait()
}

func (w *world) deleteNode(node string) {
	w.Helper()
	if err := w.client.CoreV1().Nodes().Delete(w.Context(), node, metav1.DeleteOptions{}); err != nil {
		w.Fatal(err)
	}
	synctest.Wait()
}

// pass sleeps until this many seconds after the world's beginning.
func (w *world) pass(until float64) {
	time.Sleep(time.Until(w.born.Add(time.Duration(until * float64(time.Second)))))
	synctest.Wait()
}

// partition returns the ConfigMap that records a node; nil if there is none.
func (w *world) partition(node string) *v1.ConfigMap {
	w.Helper()
	object, err := w.client.CoreV1().ConfigMaps(namespace).Get(w.Context(), store.PartitionNames(name)[journal.PartitionOf(node)], metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		w.Fatal(err)
	}
	return object
}

// put writes the partition of a node by hand.
func (w *world) put(node string, data map[string]string) {
	w.Helper()
	object := &v1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: store.PartitionNames(name)[journal.PartitionOf(node)]},
		Data:       data,
	}
	w.mu.Lock()
	_, _, err := w.store("update", object)
	if err != nil {
		_, _, err = w.store("create", object)
	}
	w.mu.Unlock()
	if err != nil {
		w.Fatal(err)
	}
	synctest.Wait()
}

// latest is the version of the node that was written last.
const latest = "latest"

// entry returns a record of the node, written by hand.
func (w *world) entry(node, version, key string, since float64) string {
	from := version
	if version == latest { // the record's writer has seen the node tainted, at version 101
		version, from = strconv.Itoa(w.nodes), "101"
	}
	return fmt.Sprintf(`{"uid":"uid-%s","version":%q,"taints":[[%s]]}`, node, version, w.state(key, since, from))
}

// state returns a taint of a record.
func (w *world) state(key string, since float64, from string) string {
	at := w.born.Add(time.Duration(since * float64(time.Second))).UTC().Format(time.RFC3339Nano)
	return fmt.Sprintf(`{"key":%q,"effect":"NoExecute","since":%q,"from":%q}`, key, at, from)
}

func (w *world) head(written float64) string {
	return fmt.Sprintf(`{"version":1,"written":%q}`, w.born.Add(time.Duration(written*float64(time.Second))).UTC().Format(time.RFC3339Nano))
}

// stored returns the number of writes that the API server has received.
func (w *world) stored() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.writes)
}

// storedOf returns the number of writes of the partition that records a node.
func (w *world) storedOf(node string) (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, one := range w.writes {
		if one.partition == store.PartitionNames(name)[journal.PartitionOf(node)] {
			n++
		}
	}
	return n
}

// process is one run of the program.
type process struct {
	*store.Keeper
	world   *world
	watcher *cluster.Watcher
	dead    atomic.Bool
	end     context.CancelFunc // of its run
	resign  context.CancelFunc // of its leadership; nil before
	ended   sync.WaitGroup

	mu      sync.Mutex
	log     []string
	adopted []string
	guards  []breaker.Record // that were read
}

// start runs a standby process, and returns once it has read the journal.
func (w *world) start(options ...func(*store.Options)) *process {
	w.Helper()
	p := w.launch(options...)
	<-p.Loaded()
	synctest.Wait()
	return p
}

// launch is start without waiting.
func (w *world) launch(options ...func(*store.Options)) *process {
	w.Helper()
	p := &process{world: w, watcher: cluster.Watch(w.client, taint.Rules{}, nil)}
	p.watcher.SetAhead(func(time.Time) time.Duration { return w.ahead })
	p.watcher.Need(w.needs)
	o := store.Options{
		CoreOptions: store.CoreOptions{Source: p.watcher, Ahead: func(time.Time) time.Duration { return w.ahead }},
		Partitions:  severed{store.NewConfigMaps(w.client, namespace, name), &p.dead}, Synced: p.watcher.Synced(),
		Adopted: func(node string) { p.note(&p.adopted, node) }, GuardsRead: p.guardsRead,
		Logger: funcr.New(func(_, line string) { p.note(&p.log, line) }, funcr.Options{}),
	}
	for _, set := range options {
		set(&o)
	}
	p.Keeper = store.New(o)
	var ctx context.Context
	ctx, p.end = context.WithCancel(w.Context())
	p.ended.Go(func() { p.Run(ctx) })
	p.ended.Go(func() { _ = p.watcher.Run(ctx, p) })
	w.processes = append(w.processes, p)
	return p
}

func (p *process) guardsRead(r breaker.Record) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.guards = append(p.guards, r)
}

func (p *process) note(list *[]string, line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	*list = append(*list, line)
}

// said returns what was logged.
func (p *process) said() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.log, "\n")
}

func (p *process) PodChanged(types.UID, string)            {}
func (p *process) NodesChanged([]breaker.NodeChange, bool) {}
func (p *process) NamespacesChanged()                      {}

// lead makes the process the leader until it ends or resigns.
func (p *process) lead() *process {
	var ctx context.Context
	ctx, p.resign = context.WithCancel(p.world.Context())
	p.Lead(ctx)
	synctest.Wait()
	return p
}

// kill ends the process at once: none of its further requests reaches the API server.
func (p *process) kill() {
	p.dead.Store(true)
	p.end()
	if p.resign != nil {
		p.resign()
	}
	p.ended.Wait()
}

// stop ends the process as SIGTERM does.
func (p *process) stop() {
	ctx, cancel := context.WithTimeout(p.world.Context(), 5*time.Second)
	defer cancel()
	p.Flush(ctx)
	p.kill()
}

// severed are partitions that a killed process can no longer reach.
type severed struct {
	store.Partitions
	dead *atomic.Bool
}

func (s severed) Write(ctx context.Context, partition int, content journal.StoredPartition) (string, error) {
	if s.dead.Load() {
		return "", errors.New("killed")
	}
	return s.Partitions.Write(ctx, partition, content)
}

// since returns what the process knows of a node's taints: "key=value@second", ended states in parentheses.
func (p *process) since(node string) string {
	var texts []string
	for _, n := range p.watcher.Tainted() {
		if n.Name != node {
			continue
		}
		for _, h := range slices.Concat(n.Taints, n.Triggers) {
			for _, s := range h {
				text := strings.TrimSuffix(strings.TrimSuffix(s.Taint.Key+"="+s.Taint.Value, "=")+":"+string(s.Taint.Effect), ":NoExecute") + "@" + strconv.FormatFloat(s.Since.Sub(p.world.born).Seconds(), 'f', -1, 64)
				if s.Ended {
					text = "(" + text + ")"
				}
				texts = append(texts, text)
			}
		}
	}
	return strings.Join(texts, " ")
}

// knows checks what the process knows of a node's taints.
func (p *process) knows(when, node, want string) {
	p.world.Helper()
	synctest.Wait()
	if got := p.since(node); got != want {
		p.world.Errorf("%s: %s has %q, want %q", when, node, got, want)
	}
}

// restarts stops the process and starts another one, so many times and a minute apart. Each knows these taints of these
// nodes before it leads. It returns the last one, which leads.
func (p *process) restarts(times int, want map[string]string) *process {
	p.world.Helper()
	for i := range times {
		p.stop()
		p.world.pass(float64(60 * (i + 1)))
		p = p.world.start()
		for node, taints := range want {
			p.knows(fmt.Sprintf("after restart %d", i), node, taints)
		}
		p.lead()
	}
	return p
}

// troubled checks the reported problem of the journal.
func (p *process) troubled(when, want string) {
	p.world.Helper()
	synctest.Wait()
	got := ""
	if err := p.Trouble(); err != nil {
		got = err.Error()
	}
	if !strings.Contains(got, want) || want == "" && got != "" {
		p.world.Errorf("%s: trouble is %q, want %q", when, got, want)
	}
}

// manyNodes is a source of many nodes, all of them in one partition.
type manyNodes struct {
	mu    sync.Mutex
	nodes []*taint.Node
}

func newManyNodes(n int) *manyNodes {
	var c manyNodes
	for i := 0; len(c.nodes) < n; i++ {
		node := fmt.Sprintf("ip-10-0-%03d-%03d.eu-central-1.compute.internal", i>>8, i&255)
		if journal.PartitionOf(node) == 0 {
			c.nodes = append(c.nodes, &taint.Node{Name: node, UID: types.UID("0d3f2a9c-7b1e-4c55-9a53-" + node), Version: "1", Taints: []taint.History{{{
				Taint: v1.Taint{Key: v1.TaintNodeUnreachable, Effect: v1.TaintEffectNoExecute}, Since: time.Now().Add(time.Duration(i) * time.Nanosecond),
			}}}})
		}
	}
	return &c
}

func (m *manyNodes) of(o *store.Options)               { o.Source = m }
func (m *manyNodes) Adopt(string, journal.Record) bool { return false }
func (m *manyNodes) Reached() string                   { return "" }

func (m *manyNodes) Tainted() []*taint.Node {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.nodes)
}

// change gives a node another version, and returns the node's name.
func (m *manyNodes) change(i int) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	changed := *m.nodes[i]
	changed.Version += "0"
	m.nodes[i] = &changed
	return changed.Name
}

// silent are partitions that never answer.
type silent chan struct{}

func (s silent) Watch(ctx context.Context, _ int, _ func(journal.StoredPartition, error)) {
	select {
	case <-s:
	case <-ctx.Done():
	}
}

func (s silent) Write(context.Context, int, journal.StoredPartition) (string, error) {
	return "", errors.New("a partition that was not read was written")
}
