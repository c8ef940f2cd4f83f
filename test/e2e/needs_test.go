package e2e

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/taint-manager/taint-manager/internal/breaker"
	"github.com/taint-manager/taint-manager/internal/cluster"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
	"github.com/taint-manager/taint-manager/test/testcluster"
)

// forTriggers are needs of nodes and namespaces.
var forTriggers = policy.Needs{NodeLabels: true, Breakers: true, NamespaceLabels: true, Triggers: []string{"drain"}}

// forPolicies are needs of nodes, namespaces and pods.
func forPolicies() policy.Needs { return forTriggers.Or(policy.Needs{PodLabels: []string{"app"}}) }

// Watches that run list again once policies need more, in every way to watch, and show the same as before.
func TestWhatPoliciesNeedIsThereOnceItIsNeeded(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testcluster.Options{})
	s := w.scene(t)
	s.variety("early")
	s.taintWith(v1.Taint{Key: "drain", Effect: v1.TaintEffectNoSchedule})
	all := s.ways("early")
	for _, way := range all {
		s.needs(way, policy.Needs{}, nil, "none")
	}
	s.label("zone", "a")
	for _, way := range all {
		for _, needed := range []policy.Needs{forTriggers, forPolicies()} {
			began := time.Now()
			if err := <-way.Need(needed); err != nil {
				t.Fatal(err)
			}
			t.Logf("%s: the needs are met after %v", way.name, time.Since(began).Round(time.Millisecond))
			s.needs(way, needed, s.labels(), "default")
		}
	}
	s.showTheSame(all)

	s.label("zone", "b")
	s.labelNamespace("tier", "prod")
	for _, way := range all {
		s.until(way.name+" shows other labels", func() bool {
			n, _ := way.PodsOn(s.node)
			labels, _ := way.Namespaces()("default")
			return maps.Equal(n.Labels, s.labels()) && labels["tier"] == "prod"
		})
	}
	for _, way := range all {
		if err := <-way.Need(policy.Needs{}); err != nil {
			t.Fatal(err)
		}
		s.needs(way, policy.Needs{}, nil, "none")
	}
	s.showTheSame(all)
}

// needs requires the way to show these labels of the node, its triggers and the labels of its pods if they are needed,
// and this namespace.
func (s *scene) needs(w *way, needed policy.Needs, labels map[string]string, namespace string) {
	s.Helper()
	n, pods := w.PodsOn(s.node)
	for _, p := range pods {
		labelled := p.Name == s.node+"-early-labelled" && slices.Contains(needed.PodLabels, "app")
		if labelled && p.Labels["app"] != "web" {
			s.Errorf("%s: %s has labels %v, needed %+v", w.name, p.Name, p.Labels, needed)
		}
	}
	if !maps.Equal(n.Labels, labels) || len(n.Triggers) != len(needed.Triggers) {
		s.Errorf("%s: the node has labels %v and %d triggers, needed %+v", w.name, n.Labels, len(n.Triggers), needed)
	}
	of := w.Namespaces()
	if of == nil {
		if namespace != "none" {
			s.Errorf("%s: no namespaces", w.name)
		}
		return
	}
	if set, known := of(namespace); !known || set["kubernetes.io/metadata.name"] != namespace {
		s.Errorf("%s: namespace %s is known %t, with labels %v", w.name, namespace, known, set)
	}
}

func (s *scene) labels() map[string]string {
	s.Helper()
	n, err := s.admin.CoreV1().Nodes().Get(s.Context(), s.node, metav1.GetOptions{})
	if err != nil {
		s.Fatal(err)
	}
	return n.Labels
}

func (s *scene) label(key, value string) {
	s.Helper()
	if _, err := s.admin.CoreV1().Nodes().Patch(s.Context(), s.node, types.MergePatchType, labelPatch(key, value), metav1.PatchOptions{}); err != nil {
		s.Fatal(err)
	}
}

func (s *scene) labelNamespace(key, value string) {
	s.Helper()
	if _, err := s.admin.CoreV1().Namespaces().Patch(s.Context(), "default", types.MergePatchType, labelPatch(key, value), metav1.PatchOptions{}); err != nil {
		s.Fatal(err)
	}
}

func labelPatch(key, value string) []byte {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"labels": map[string]string{key: value}}})
	if err != nil {
		panic(err)
	}
	return patch
}

func (s *scene) taintWith(t v1.Taint) {
	s.Helper()
	patch, err := json.Marshal(map[string]any{"spec": map[string]any{"taints": []v1.Taint{t}}})
	if err != nil {
		s.Fatal(err)
	}
	if _, err := s.admin.CoreV1().Nodes().Patch(s.Context(), s.node, types.StrategicMergePatchType, patch, metav1.PatchOptions{}); err != nil {
		s.Fatal(err)
	}
}

// observing is a handler that keeps the nodes that breakers use.
type observing struct {
	nobody
	mu     sync.Mutex
	nodes  map[string]*breaker.Node
	listed int
}

func (o *observing) NodesChanged(changes []breaker.NodeChange, all bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if all {
		o.listed++
	}
	for _, c := range changes {
		o.nodes[c.Name] = c.Node
	}
}

func (o *observing) lists() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.listed
}

// zone returns the zone of a node as breakers see it, and how many taints it has.
func (o *observing) zone(node string) (zone string, taints int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if n := o.nodes[node]; n != nil {
		return n.Labels["zone"], len(n.Taints)
	}
	return "gone", 0
}

// A missing permission for namespaces stops nothing else, is said by its name, and is noticed when it is granted.
func TestNamespacesWithoutAPermission(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testcluster.Options{})
	s := w.scene(t)
	config, err := clientcmd.BuildConfigFromFlags("", s.reader("without-namespaces", mayRead("nodes", "pods")))
	if err != nil {
		t.Fatal(err)
	}
	config.ContentType = "application/vnd.kubernetes.protobuf"
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	source, told := cluster.Watch(client, taint.Rules{}, nil), &observing{nodes: map[string]*breaker.Node{}}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- source.Run(ctx, told) }()
	defer func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	<-source.Synced()
	met := source.Need(forPolicies())
	s.until("the missing permission is said", func() bool {
		err := source.Trouble()
		return err != nil && strings.Contains(err.Error(), "need the permissions list and watch on namespaces") && strings.Contains(err.Error(), `"without-namespaces" cannot`)
	})
	s.label("zone", "a")
	s.taintWith(v1.Taint{Key: "soft", Effect: v1.TaintEffectPreferNoSchedule})
	s.until("breakers hear of the node", func() bool {
		zone, taints := told.zone(s.node)
		return zone == "a" && taints == 1
	})
	if len(met) != 0 || source.Namespaces() != nil || told.lists() == 0 {
		t.Error("namespaces are known, or the nodes were not listed")
	}

	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "namespaces"}, Rules: []rbacv1.PolicyRule{mayRead("namespaces")}}
	if _, err := s.admin.RbacV1().ClusterRoles().Create(t.Context(), role, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	s.bound("without-namespaces", "ClusterRole/namespaces")
	if err := <-met; err != nil {
		t.Fatal(err)
	}
	if err := source.Trouble(); err != nil {
		t.Error(err)
	}
	if set, known := source.Namespaces()("default"); !known || set["kubernetes.io/metadata.name"] != "default" {
		t.Errorf("known %t, labels %v", known, set)
	}
}
