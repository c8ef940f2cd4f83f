package cluster

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/klog/v2"

	"github.com/taint-manager/taint-manager/internal/breaker"
	"github.com/taint-manager/taint-manager/internal/shard"
	"github.com/taint-manager/taint-manager/taint"
)

var _ shard.Reader = (*Watcher)(nil)

// record is a handler that records its calls. It reads at once, because the reader must already show the change.
type record struct {
	mu     sync.Mutex
	told   []string
	source shard.Reader
}

func (r *record) NodeChanged(name string) {
	n, _ := r.source.PodsOn(name)
	state := "gone"
	if n != nil {
		state = fmt.Sprintf("%s with %d", n.UID, len(n.Taints))
	}
	r.write("node " + name + ": " + state)
}

func (r *record) PodChanged(uid types.UID, node string) {
	state := "gone"
	if p, _ := r.source.Pod(uid); p != nil {
		state = p.Node
	}
	r.write("pod " + string(uid) + " for " + node + ": " + state)
}

// NodesChanged writes a line for each batch, with the nodes in it sorted.
func (r *record) NodesChanged(changes []breaker.NodeChange, all bool) {
	var list []string
	for _, c := range changes {
		state := c.Name + " gone"
		if c.Node != nil {
			state = fmt.Sprintf("%s %s in %q with", c.Name, c.Node.UID, c.Node.Labels["zone"])
			for _, t := range c.Node.Taints {
				state += " " + t.Key + "=" + t.Value + ":" + string(t.Effect)
			}
		}
		list = append(list, state)
	}
	slices.Sort(list)
	r.write(map[bool]string{true: "all "}[all] + "nodes: " + strings.Join(list, ", "))
}

func (r *record) RecordChanged(string) {}

func (r *record) NamespacesChanged() { r.write("namespaces") }

func (r *record) write(line string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.told = append(r.told, line)
}

// take returns the calls since the last take, sorted, because pods and nodes are reported independently.
func (r *record) take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	told := r.told
	r.told = nil
	slices.Sort(told)
	return told
}

// world is a cluster with a source that watches it, in virtual time.
type world struct {
	t      *testing.T
	client *fake.Clientset
	source *Watcher
	told   *record
	end    func() error
}

// sources returns the two sources by name; each is started over a client.
func sources() map[string]func(t *testing.T, ctx context.Context, client *fake.Clientset) *Watcher {
	return map[string]func(t *testing.T, ctx context.Context, client *fake.Clientset) *Watcher{
		"Watch": func(_ *testing.T, _ context.Context, client *fake.Clientset) *Watcher {
			return Watch(client, taint.Rules{}, nil)
		},
		"Adapt": func(t *testing.T, ctx context.Context, client *fake.Clientset) *Watcher {
			factory := informers.NewSharedInformerFactory(client, 0)
			w := Adapt(client, factory.Core().V1().Pods().Informer(), taint.Rules{}, nil)
			factory.StartWithContext(ctx)
			t.Cleanup(factory.Shutdown)
			return w
		},
	}
}

// inWorlds runs a test with each source, in a cluster that has these objects at first.
func inWorlds(t *testing.T, objects []runtime.Object, test func(t *testing.T, w *world)) {
	t.Helper()
	for name, start := range sources() {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				copies := make([]runtime.Object, len(objects))
				for i := range objects {
					copies[i] = objects[i].DeepCopyObject()
				}
				ctx, cancel := context.WithCancel(klog.NewContext(t.Context(), logr.Discard()))
				client := fake.NewClientset(copies...)
				w := &world{t: t, client: client, source: start(t, ctx, client)}
				w.told = &record{source: w.source}
				ended := make(chan error, 1)
				go func() { ended <- w.source.Run(ctx, w.told) }()
				w.end = func() error { cancel(); return <-ended }
				<-w.source.Synced()
				test(t, w)
				cancel()
				synctest.Wait()
			})
		})
	}
}

// expect checks the calls since the last check, once all goroutines wait.
func (w *world) expect(what string, want ...string) {
	w.t.Helper()
	synctest.Wait()
	slices.Sort(want)
	if got := w.told.take(); !slices.Equal(got, want) {
		w.t.Errorf("%s: told %q, want %q", what, got, want)
	}
}

// set creates or updates an object.
func (w *world) set(object runtime.Object) {
	w.t.Helper()
	var err error
	switch o := object.DeepCopyObject().(type) {
	case *v1.Pod:
		if _, err = w.client.CoreV1().Pods(o.Namespace).Update(w.t.Context(), o, metav1.UpdateOptions{}); err != nil {
			_, err = w.client.CoreV1().Pods(o.Namespace).Create(w.t.Context(), o, metav1.CreateOptions{})
		}
	case *v1.Namespace:
		if _, err = w.client.CoreV1().Namespaces().Update(w.t.Context(), o, metav1.UpdateOptions{}); err != nil {
			_, err = w.client.CoreV1().Namespaces().Create(w.t.Context(), o, metav1.CreateOptions{})
		}
	case *v1.Node:
		if _, err = w.client.CoreV1().Nodes().Update(w.t.Context(), o, metav1.UpdateOptions{}); err != nil {
			_, err = w.client.CoreV1().Nodes().Create(w.t.Context(), o, metav1.CreateOptions{})
		}
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) deletePod(name string) {
	w.t.Helper()
	if err := w.client.CoreV1().Pods("ns").Delete(w.t.Context(), name, metav1.DeleteOptions{}); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) deleteNode(name string) {
	w.t.Helper()
	if err := w.client.CoreV1().Nodes().Delete(w.t.Context(), name, metav1.DeleteOptions{}); err != nil {
		w.t.Fatal(err)
	}
}

// aPod returns the running pod ns/p, UID p1, on node n, with these changes.
func aPod(changes ...func(*v1.Pod)) *v1.Pod {
	p := &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "ns", Name: "p", UID: "p1", Generation: 1, ResourceVersion: "1",
			CreationTimestamp: metav1.Date(1999, 12, 31, 23, 0, 0, 0, time.UTC),
			Labels:            map[string]string{"app": "web"},
		},
		Spec: v1.PodSpec{
			NodeName:    "n",
			Tolerations: []v1.Toleration{{Key: "k", Operator: v1.TolerationOpExists, TolerationSeconds: new(int64(60))}},
		},
		Status: v1.PodStatus{Phase: v1.PodRunning},
	}
	for _, change := range changes {
		change(p)
	}
	return p
}

// aNode returns the node n, UID n1, with these taints; their effect is NoExecute unless another one is set.
func aNode(taints ...v1.Taint) *v1.Node {
	for i := range taints {
		if taints[i].Effect == "" {
			taints[i].Effect = v1.TaintEffectNoExecute
		}
	}
	return &v1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name: "n", UID: "n1", ResourceVersion: "1",
			CreationTimestamp: metav1.Date(1999, 12, 31, 22, 0, 0, 0, time.UTC),
		},
		Spec: v1.NodeSpec{Taints: taints},
	}
}

func withUID(uid types.UID) func(*v1.Pod) { return func(p *v1.Pod) { p.UID = uid } }

func onNode(name string) func(*v1.Pod) { return func(p *v1.Pod) { p.Spec.NodeName = name } }

func finalized(p *v1.Pod) { p.Finalizers = []string{"example.com/held"} }

func inPhase(phase v1.PodPhase) func(*v1.Pod) { return func(p *v1.Pod) { p.Status.Phase = phase } }

func condition(kind v1.PodConditionType, status v1.ConditionStatus, at metav1.Time) func(*v1.Pod) {
	return func(p *v1.Pod) {
		p.Status.Conditions = append(p.Status.Conditions, v1.PodCondition{Type: kind, Status: status, LastTransitionTime: at})
	}
}
