package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	corev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/taint-manager/taint-manager/internal/breaker"
	"github.com/taint-manager/taint-manager/internal/cluster"
	"github.com/taint-manager/taint-manager/internal/skew"
	"github.com/taint-manager/taint-manager/taint"
	"github.com/taint-manager/taint-manager/test/testcluster"
)

// Objects decoded from protobuf, from streamed and from plain lists, equal those from JSON and the whole objects
// that client-go decodes: the objects that existed before, and those that change.
func TestAllWaysToWatchShowTheSame(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testcluster.Options{})
	s := w.scene(t)
	s.variety("early")
	early := s.ways("early")
	s.showTheSame(early)
	s.variety("later")
	s.changes()
	s.showTheSame(early)
	late := s.ways("late")
	s.showTheSame(late)
	s.boundTheSame(late)
	for _, way := range slices.Concat(early, late) {
		way.wasAsMeant(t, w.streamsLists())
	}
}

// streamsLists reports whether the control plane streams lists: package testcluster switches that off in 1.32.
func (w *world) streamsLists() bool { return w.Minor() >= 34 }

// variety creates pods that differ in the fields that are used.
func (s *scene) variety(name string) {
	s.Helper()
	forEver := v1.Toleration{Operator: v1.TolerationOpExists}
	limited := v1.Toleration{Key: "k", Value: "v", Effect: v1.TaintEffectNoExecute, TolerationSeconds: new(int64(3600))}
	already := v1.Toleration{Key: "k", Operator: v1.TolerationOpExists, Effect: v1.TaintEffectNoExecute, TolerationSeconds: new(int64(-1))}
	s.pod(name + "-plain")
	s.pod(name+"-tolerant", forEver, limited, already)
	s.podWith(name+"-labelled", func(p *v1.Pod) { p.Labels = map[string]string{"app": "web", "empty": ""} })
	s.podWith(name+"-important", func(p *v1.Pod) { p.Spec.PriorityClassName = "system-cluster-critical" })
	s.podWith(name+"-mirror", func(p *v1.Pod) { p.Annotations = map[string]string{v1.MirrorPodAnnotationKey: "x", "other": "y"} })
	s.podWith(name+"-held", func(p *v1.Pod) { p.Finalizers = []string{"example.com/held"} })
	s.podWith(name+"-unbound", func(p *v1.Pod) { p.Spec.NodeName, p.Spec.NodeSelector = "", map[string]string{"no": "node"} })
}

// changes makes changes of all kinds.
func (s *scene) changes() {
	s.Helper()
	pods := s.admin.CoreV1().Pods("default")
	patch := func(name, subresource string, patch any) {
		data, err := json.Marshal(patch)
		must(s, err)
		_, err = pods.Patch(s.Context(), s.node+"-"+name, types.StrategicMergePatchType, data, metav1.PatchOptions{}, subresource)
		must(s, err)
	}
	patch("early-labelled", "", map[string]any{"metadata": map[string]any{"labels": map[string]any{"app": nil, "new": "label"}}})
	disrupted := v1.PodCondition{Type: v1.DisruptionTarget, Status: v1.ConditionTrue, LastTransitionTime: metav1.Now()}
	patch("early-plain", "status", map[string]any{"status": map[string]any{"conditions": []v1.PodCondition{disrupted}}})
	s.edit(s.node+"-early-tolerant", func(p *v1.Pod) {
		for i := range p.Spec.Tolerations {
			if p.Spec.Tolerations[i].Key == "k" {
				p.Spec.Tolerations[i].TolerationSeconds = new(int64(7200))
			}
		}
	})
	for _, name := range []string{"later-plain", "later-held", "early-held"} {
		must(s, pods.Delete(s.Context(), s.node+"-"+name, metav1.DeleteOptions{}))
	}
	s.taint("b=first", "a")
	s.taint("a", "b=second", "c")
}

// way is a watcher with its requests.
type way struct {
	*cluster.Watcher
	name  string
	plain bool // the server appears not to support streamed lists
	form  string

	mu    sync.Mutex
	asked map[string]bool
	forms map[string]bool
}

// ways returns all ways to watch, which run until the test ends.
func (s *scene) ways(when string) (all []*way) {
	s.Helper()
	const protobuf, plainJSON = "application/vnd.kubernetes.protobuf", "application/json"
	for _, w := range []*way{
		{name: "trimmed", form: protobuf},
		{name: "trimmed, from a plain list", form: protobuf, plain: true},
		{name: "JSON", form: plainJSON},
		{name: "JSON, from a plain list", form: plainJSON, plain: true},
		{name: "whole", form: protobuf},
	} {
		w.name += ", " + when
		w.asked, w.forms = map[string]bool{}, map[string]bool{}
		w.run(s)
		all = append(all, w)
	}
	return all
}

func (w *way) run(s *scene) {
	s.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", s.Kubeconfig())
	must(s, err)
	config.ContentType, config.QPS = w.form, -1
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return noting{w, next} })
	own, err := kubernetes.NewForConfig(config)
	must(s, err)
	client := kubernetes.Interface(own)
	if strings.HasPrefix(w.name, "whole") {
		client = anotherCore{own}
	}
	w.Watcher = cluster.Watch(client, taint.Rules{}, nil)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- w.Run(ctx, nobody{}) }()
	s.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			s.Error(err)
		}
	})
	<-w.Synced()
}

// anotherCore is a client that is not recognized as client-go's own.
type anotherCore struct{ kubernetes.Interface }

func (a anotherCore) CoreV1() corev1.CoreV1Interface {
	return struct{ corev1.CoreV1Interface }{a.Interface.CoreV1()}
}

type nobody struct{}

func (nobody) NodeChanged(string)                      {}
func (nobody) PodChanged(types.UID, string)            {}
func (nobody) NodesChanged([]breaker.NodeChange, bool) {}
func (nobody) RecordChanged(string)                    {}
func (nobody) NamespacesChanged()                      {}

// noting records a way's requests, lets the server answer in the way's form, and refuses streamed lists if the way is
// plain, as an older server would.
type noting struct {
	way  *way
	next http.RoundTripper
}

func (n noting) RoundTrip(r *http.Request) (*http.Response, error) {
	asks := "a watch"
	switch query := r.URL.Query(); {
	case query.Get("sendInitialEvents") != "" && n.way.plain:
		return &http.Response{
			StatusCode: http.StatusUnprocessableEntity, Header: http.Header{"Content-Type": {"application/json"}},
			Body: io.NopCloser(bytes.NewReader([]byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Invalid","code":422}`))),
		}, nil
	case query.Get("sendInitialEvents") != "":
		asks = "a streamed list"
	case query.Get("watch") == "":
		asks = "a plain list"
	}
	r = r.Clone(r.Context())
	r.Header.Set("Accept", n.way.form)
	response, err := n.next.RoundTrip(r)
	if err == nil {
		n.way.mu.Lock()
		defer n.way.mu.Unlock()
		n.way.asked[asks] = true
		n.way.forms[response.Header.Get("Content-Type")] = true
	}
	return response, err
}

// wasAsMeant requires the way's requests to be those that its name describes. Of a server that does not stream lists,
// every way asks for plain ones.
func (w *way) wasAsMeant(t *testing.T, streamed bool) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	plain := w.plain || !streamed
	if w.asked["a plain list"] != plain || w.asked["a streamed list"] == w.plain {
		t.Errorf("%s: asked for %v", w.name, slices.Collect(maps.Keys(w.asked)))
	}
	for form := range w.forms {
		if !strings.HasPrefix(form, w.form) {
			t.Errorf("%s: got %s", w.name, form)
		}
	}
}

// seen is the observed state of the scene's node.
type seen struct {
	UID    types.UID
	Taints []v1.Taint
	Pods   map[types.UID]taint.Pod

	// Tolerations are the verdict on each pod, by the taints of the node: whether the pod goes, and after how long.
	Tolerations map[types.UID]toleration
}

type toleration struct {
	Evicted  bool
	Duration time.Duration
}

// tolerations returns the verdicts on pods that were all exposed to the node's taints at one moment.
func tolerations(s seen) map[types.UID]toleration {
	exposed := time.Now()
	node := &taint.Node{UID: s.UID}
	for _, t := range s.Taints {
		node.Taints = append(node.Taints, taint.History{{Taint: t, Since: exposed}})
	}
	verdicts := map[types.UID]toleration{}
	for uid, p := range s.Pods {
		p.Bound, p.Seen = exposed, exposed
		if v := taint.Decide(&p, node, taint.Rules{}); v.Evict {
			verdicts[uid] = toleration{true, v.At.Sub(exposed)}
		}
	}
	return verdicts
}

func (w *way) sees(node string) seen {
	n, pods := w.PodsOn(node)
	shown := seen{Pods: map[types.UID]taint.Pod{}}
	if n != nil {
		shown.UID = n.UID
		for _, history := range n.Taints {
			shown.Taints = append(shown.Taints, history[len(history)-1].Taint)
		}
	}
	for _, p := range pods {
		shown.Pods[p.UID] = *p
	}
	shown.Tolerations = tolerations(shown)
	return shown
}

// truth returns the API server's state, read as whole objects.
func (s *scene) truth(now time.Time) seen {
	s.Helper()
	node, err := s.admin.CoreV1().Nodes().Get(s.Context(), s.node, metav1.GetOptions{})
	must(s, err)
	pods, err := s.admin.CoreV1().Pods("").List(s.Context(), metav1.ListOptions{FieldSelector: "spec.nodeName=" + s.node})
	must(s, err)
	truth := seen{UID: node.UID, Pods: map[types.UID]taint.Pod{}}
	for _, t := range node.Spec.Taints {
		if t.Effect == v1.TaintEffectNoExecute {
			truth.Taints = append(truth.Taints, v1.Taint{Key: t.Key, Value: t.Value, Effect: t.Effect})
		}
	}
	for i := range pods.Items {
		p := &pods.Items[i]
		finished := p.Status.Phase == v1.PodFailed || p.Status.Phase == v1.PodSucceeded
		if !finished || slices.ContainsFunc(p.Finalizers, cluster.Keeps) {
			truth.Pods[p.UID] = cluster.PodOf(p, cluster.BoundSince(p, skew.Instant{Time: now}))
		}
	}
	truth.Tolerations = tolerations(truth)
	return truth
}

// showTheSame requires all ways to show the API server's state eventually, except for when pods were bound and
// seen.
func (s *scene) showTheSame(all []*way) {
	s.Helper()
	// A cache keeps labels and tolerations as far as verdicts read them: the verdicts are compared.
	unbound := cmp.Transformer("unbound", func(p taint.Pod) taint.Pod {
		p.Bound, p.Seen, p.Tolerations, p.Labels = time.Time{}, time.Time{}, nil, nil
		return p
	})
	unbound = cmp.FilterValues(func(a, b taint.Pod) bool { return !a.Bound.IsZero() || !b.Bound.IsZero() }, unbound)
	anyOrder := cmp.Transformer("anyOrder", func(list []v1.Taint) map[v1.Taint]bool {
		set := map[v1.Taint]bool{}
		for _, t := range list {
			set[t] = true
		}
		return set
	})
	for _, way := range all {
		diff := ""
		deadline := time.Now().Add(20 * time.Second)
		for {
			if diff = cmp.Diff(s.truth(time.Now()), way.sees(s.node), unbound, anyOrder); diff == "" || time.Now().After(deadline) {
				break
			}
			pause(s, 50*time.Millisecond)
		}
		if diff != "" {
			s.Errorf("%s: the API server's (-) and what is seen (+):\n%s", way.name, diff)
		}
	}
}

// boundTheSame requires all ways to agree on when the pods were bound that existed before them.
func (s *scene) boundTheSame(all []*way) {
	s.Helper()
	truth := s.truth(time.Now())
	for _, way := range all {
		for uid, p := range way.sees(s.node).Pods {
			// Both are whole seconds of the wall clock, which may be adjusted before the second one is converted.
			if apart := p.Bound.Sub(truth.Pods[uid].Bound); apart.Abs() > time.Second/2 {
				s.Errorf("%s: %s counts as bound %v later than it should", way.name, p.Key(), apart)
			}
		}
	}
}
