package e2e

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/taint-manager/taint-manager/test/load"
	"github.com/taint-manager/taint-manager/test/machine"
	"github.com/taint-manager/taint-manager/test/testcluster"
)

func TestMain(m *testing.M) {
	// Scenes wait for most of their time. newWorld bounds what costs something.
	if err := flag.Set("test.parallel", "100"); err != nil {
		panic(err)
	}
	flag.Parse()
	if testing.Short() {
		fmt.Println("the tests on the real control plane are left out: -short")
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// soon is how late an effect may be on a busy machine.
const soon = 2 * time.Second

// worlds has an element for each control plane that runs. A start takes four seconds of a core, and a control plane that
// nobody asks a fiftieth of a core and half a GB. A test that measures times, or that needs the machine for itself, is
// not parallel: it runs before all tests that are.
var worlds = make(chan struct{}, 4)

// world is a control plane on which a test acts as its administrator, and the observed deletions of its pods.
type world struct {
	*testcluster.Cluster
	admin     kubernetes.Interface
	deletions *load.DeletionTimes
}

func newWorld(t testing.TB, o testcluster.Options) *world {
	t.Helper()
	machine.SkipIfSwapping(t)
	worlds <- struct{}{}
	t.Cleanup(func() { <-worlds })
	o.Log = t.Output()
	c, err := testcluster.Start(t.Context(), o)
	must(t, err)
	t.Cleanup(func() {
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
	})
	admin, err := load.NewClient(c.Kubeconfig())
	must(t, err)
	w := &world{Cluster: c, admin: admin, deletions: load.NewDeletionTimes()}
	must(t, w.deletions.Follow(t.Context(), admin))
	return w
}

// since skips the test if the control plane is older than Kubernetes 1.minor, and so lacks something.
func (w *world) since(t testing.TB, minor int, what string) {
	t.Helper()
	if w.Minor() < minor {
		t.Skipf("Kubernetes 1.%d has no %s: since 1.%d", w.Minor(), what, minor)
	}
}

// manage runs taint-manager until the test ends, and shows the end of its log if the test has failed.
func (w *world) manage(t testing.TB, flags ...string) *testcluster.Manager {
	t.Helper()
	m, err := w.StartManager(t.Context(), flags...)
	must(t, err)
	t.Cleanup(func() {
		if err := m.Stop(); err != nil { // releases the lease
			t.Error(err)
		}
		if log, err := m.Log(); t.Failed() && err == nil {
			t.Logf("the end of the log of taint-manager:\n%s", log[max(0, len(log)-6000):])
		}
	})
	return m
}

// deletion waits until the pod is deleted or the time is until.
func (w *world) deletion(t testing.TB, uid types.UID, until time.Time) (time.Time, bool) {
	t.Helper()
	return w.deletions.Of(t.Context(), uid, until)
}

// scene is a node with the pods of one test.
type scene struct {
	*testing.T
	*world
	node string
}

// on returns the scene of the node with this name.
func (w *world) on(t *testing.T, node string) *scene { return &scene{T: t, world: w, node: node} }

// scene creates a simulated node, named after the test, and waits until it is ready.
func (w *world) scene(t *testing.T) *scene {
	t.Helper()
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(t.Name()[strings.LastIndex(t.Name(), "/")+1:]))
	return w.newNode(t, strings.Trim(name[:min(len(name), 50)], "-"))
}

// newNode creates a simulated node and waits until it is ready.
func (w *world) newNode(t *testing.T, name string) *scene {
	t.Helper()
	s := w.on(t, name)
	node := &v1.Node{ObjectMeta: metav1.ObjectMeta{
		Name:        s.node,
		Annotations: map[string]string{testcluster.SimulatedNodeAnnotation: "fake"},
		Labels:      map[string]string{"kubernetes.io/hostname": s.node},
	}}
	_, err := s.admin.CoreV1().Nodes().Create(s.Context(), node, metav1.CreateOptions{})
	must(s, err)
	until(s, "the node is ready and has no taints", func() bool {
		n, err := s.admin.CoreV1().Nodes().Get(s.Context(), s.node, metav1.GetOptions{})
		return err == nil && len(n.Spec.Taints) == 0 && nodeReady(n)
	})
	return s
}

func nodeReady(n *v1.Node) bool {
	for _, c := range n.Status.Conditions {
		if c.Type == v1.NodeReady {
			return c.Status == v1.ConditionTrue
		}
	}
	return false
}

// until polls for a condition that no watch of this test shows.
func until(t testing.TB, what string, done func() bool) {
	t.Helper()
	within(t, 30*time.Second, what, done)
}

func within(t testing.TB, limit time.Duration, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(limit); !done(); pause(t, 50*time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s have passed without this: %s", limit, what)
		}
	}
}

// pause waits for d: the control plane, and the programs on it, run in real time.
func pause(t testing.TB, d time.Duration) {
	select {
	case <-time.After(d): //nolint:forbidigo // the control plane runs in real time
	case <-t.Context().Done():
	}
}

// pod creates a pod on the scene's node, named after the scene and the given name.
func (s *scene) pod(name string, tolerations ...v1.Toleration) *v1.Pod {
	s.Helper()
	return s.podWith(name, func(*v1.Pod) {}, tolerations...)
}

func (s *scene) podWith(name string, change func(*v1.Pod), tolerations ...v1.Toleration) *v1.Pod {
	s.Helper()
	none := int64(0)
	pod := &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: s.node + "-" + name},
		Spec: v1.PodSpec{
			NodeName: s.node, Tolerations: tolerations, TerminationGracePeriodSeconds: &none,
			Containers: []v1.Container{{Name: "c", Image: "image"}},
		},
	}
	change(pod)
	created, err := s.admin.CoreV1().Pods("default").Create(s.Context(), pod, metav1.CreateOptions{})
	must(s, err)
	return created
}

// must fails the test at an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// moment is when a request was made: at some time between before and after.
type moment struct{ before, after time.Time }

// during returns when something was done, which must not fail.
func during(t testing.TB, do func() error) moment {
	t.Helper()
	m := moment{before: time.Now()}
	must(t, do())
	m.after = time.Now()
	return m
}

// taint sets the node's taints, given as key or key=value, to exactly these, of effect NoExecute.
func (s *scene) taint(taints ...string) moment {
	s.Helper()
	return s.setTaints(v1.TaintEffectNoExecute, taints)
}

// taintNoSchedule is like taint, of effect NoSchedule.
func (s *scene) taintNoSchedule(taints ...string) moment {
	s.Helper()
	return s.setTaints(v1.TaintEffectNoSchedule, taints)
}

func (s *scene) setTaints(effect v1.TaintEffect, taints []string) moment {
	s.Helper()
	list := []v1.Taint{}
	for _, text := range taints {
		key, value, _ := strings.Cut(text, "=")
		list = append(list, v1.Taint{Key: key, Value: value, Effect: effect})
	}
	return during(s, func() error { return load.SetTaints(s.Context(), s.admin, s.node, list...) })
}

// edit changes a pod.
func (s *scene) edit(name string, change func(*v1.Pod)) {
	s.Helper()
	until(s, "the pod is edited", func() bool {
		now, err := s.admin.CoreV1().Pods("default").Get(s.Context(), name, metav1.GetOptions{})
		if err != nil {
			return false
		}
		change(now)
		_, err = s.admin.CoreV1().Pods("default").Update(s.Context(), now, metav1.UpdateOptions{})
		return err == nil
	})
}

// goes requires the pod to be deleted this number of seconds after that moment, never earlier, and soon after.
func (s *scene) goes(pod *v1.Pod, since moment, seconds float64) {
	s.Helper()
	s.goesWithin(soon, pod, since, seconds)
}

// goesWithin is like goes, with another bound on how late the pod goes.
func (s *scene) goesWithin(late time.Duration, pod *v1.Pod, since moment, seconds float64) {
	s.Helper()
	d := time.Duration(seconds * float64(time.Second))
	at, ended := s.deletion(s, pod.UID, since.after.Add(d+late))
	switch {
	case !ended:
		s.Errorf("%s did not go within %v of its deadline at %v s", pod.Name, late, seconds)
	case at.Before(since.before.Add(d)):
		s.Errorf("%s went %v too early", pod.Name, since.before.Add(d).Sub(at))
	default:
		s.Logf("%s went %v after its deadline", pod.Name, at.Sub(since.after.Add(d)).Round(time.Millisecond))
	}
}

// stays requires the pod not to be deleted for this number of seconds from that moment on.
func (s *scene) stays(pod *v1.Pod, since moment, seconds float64) {
	s.Helper()
	if at, ended := s.deletion(s, pod.UID, since.after.Add(time.Duration(seconds*float64(time.Second)))); ended {
		s.Errorf("%s went after %v, want it to stay", pod.Name, at.Sub(since.before))
	}
}

// event waits for an event about the pod whose message begins with prefix.
func (s *scene) event(pod *v1.Pod, prefix string) *v1.Event {
	s.Helper()
	var found *v1.Event
	until(s, "an event: "+prefix, func() bool {
		found = s.findEvent(pod, prefix)
		return found != nil
	})
	return found
}

func (s *scene) findEvent(pod *v1.Pod, prefix string) *v1.Event {
	list := s.events(s, "involvedObject.uid="+string(pod.UID))
	if i := slices.IndexFunc(list, func(e v1.Event) bool { return strings.HasPrefix(e.Message, prefix) }); i >= 0 {
		return &list[i]
	}
	return nil
}

// events returns the events that a field selector matches; none while the API server does not answer.
func (w *world) events(t testing.TB, selector string) []v1.Event {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	list, err := w.admin.CoreV1().Events("").List(ctx, metav1.ListOptions{FieldSelector: selector})
	if err != nil {
		return nil
	}
	return list.Items
}

func exists(key string) v1.Toleration {
	return v1.Toleration{Key: key, Operator: v1.TolerationOpExists, Effect: v1.TaintEffectNoExecute}
}

func bears(key string, seconds int64) v1.Toleration {
	t := exists(key)
	t.TolerationSeconds = &seconds
	return t
}
