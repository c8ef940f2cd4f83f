package main

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/cache"

	taintmanager "github.com/taint-manager/taint-manager"
	"github.com/taint-manager/taint-manager/test/load"
	"github.com/taint-manager/taint-manager/test/testcluster"
)

const testPods = 300

func TestAPodHasItsNumbersInAllItsPlaces(t *testing.T) {
	want := newPod(true, marked)
	want.Name, want.UID, want.ResourceVersion = "web-0001230", "10000000-0000-4000-8000-000000001230", "1000000007"
	want.Namespace, want.Spec.NodeName = "team-23", "node-000123"
	s := newServer(testPods, 0)
	defer s.Close()
	text := s.form(1230, marked).object.append(nil, s.pods.values(1230, firstVersion+7))
	object, _, err := scheme.Codecs.UniversalDeserializer().Decode(text, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := object.(*v1.Pod)
	byKey := func(a, b v1.Toleration) int { return len(a.Key) - len(b.Key) }
	slices.SortFunc(got.Spec.Tolerations, byKey)
	slices.SortFunc(want.Spec.Tolerations, byKey)
	if !reflect.DeepEqual(got.Spec, want.Spec) || got.Name != want.Name || got.UID != want.UID ||
		got.ResourceVersion != want.ResourceVersion || got.Namespace != want.Namespace {
		t.Errorf("got %+v, want %+v", *got, *want)
	}
	if size := want.Size(); size < 4400 || size > 4600 {
		t.Errorf("a pod has %d bytes", size)
	}
}

// TestTheAnswersAreThoseOfARealServer sends the same requests to both servers, and runs a manager with both.
func TestTheAnswersAreThoseOfARealServer(t *testing.T) {
	s := newServer(testPods, 0)
	defer s.Close()
	outside, err := testcluster.Outside(s.URL, s.Certificate())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = outside.Stop() }()
	defer s.CloseClientConnections()
	ours, err := load.NewClient(outside.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	got := append(talk(t, ours), evicted(t, ours, func() { s.taint(3, 4, "fire") })...)

	c, err := testcluster.Start(t.Context(), testcluster.Options{
		WithoutControllerManager: true, WithoutScheduler: true, WithoutNodes: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Stop() }()
	client, err := load.NewClient(c.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	fill(t, client)
	want := append(talk(t, client), evicted(t, client, func() {
		node := load.ReadyNode("node-000003")
		node.Spec.Taints = []v1.Taint{{Key: "fire", Effect: v1.TaintEffectNoExecute}}
		if _, err := client.CoreV1().Nodes().Create(t.Context(), node, metav1.CreateOptions{}); err != nil {
			t.Error(err)
		}
	})...)
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// fill creates the pods that the server makes by itself.
func fill(t *testing.T, client kubernetes.Interface) {
	t.Helper()
	for i := range testPods / podsEach {
		if err := load.EnsureNamespace(t.Context(), client, fmt.Sprintf("team-%02d", i)); err != nil {
			t.Fatal(err)
		}
	}
	err := load.Each(t.Context(), "evicting", testPods, func(ctx context.Context, i int) error {
		node := i / podsEach
		pod := load.Pod(fmt.Sprintf("web-%07d", i), fmt.Sprintf("node-%06d", node), nil)
		pod.Namespace = fmt.Sprintf("team-%02d", node)
		_, err := client.CoreV1().Pods(pod.Namespace).Create(ctx, pod, metav1.CreateOptions{})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// talk sends requests, and returns what the server answers, and what its watch shows.
func talk(t *testing.T, client kubernetes.Interface) (answers []string) {
	say := func(what string, err error) {
		answers = append(answers, fmt.Sprintf("%s: %s", what, apierrors.ReasonForError(err)))
	}
	events := make(chan string, 10*testPods)
	watching, stop := context.WithCancel(t.Context())
	factory := informers.NewSharedInformerFactory(client, 0)
	defer factory.Shutdown()
	defer stop()
	pods := factory.Core().V1().Pods()
	_, _ = pods.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		UpdateFunc: func(_, o any) { events <- "updated " + o.(*v1.Pod).Name },
		DeleteFunc: func(o any) { events <- "deleted " + o.(*v1.Pod).Name },
	})
	factory.Start(watching.Done())
	factory.WaitForCacheSync(watching.Done())
	answers = append(answers, fmt.Sprint("watched: ", len(pods.Informer().GetStore().List())))

	page, err := client.CoreV1().Pods("").List(t.Context(), metav1.ListOptions{Limit: 200})
	say("first page", err)
	rest, err := client.CoreV1().Pods("").List(t.Context(), metav1.ListOptions{Limit: 200, Continue: page.Continue})
	say("second page", err)
	one, err := client.CoreV1().Pods("").List(t.Context(), metav1.ListOptions{FieldSelector: "spec.nodeName=node-000007"})
	say("pods of a node", err)
	answers = append(answers, fmt.Sprint(len(page.Items), len(rest.Items), rest.Continue, len(one.Items), one.Items[0].Name))

	identity, other := load.IdentityOf(&one.Items[1]), load.IdentityOf(&one.Items[1])
	other.UID = one.Items[2].UID
	say("another UID", load.PatchAndDelete(t.Context(), client, other))
	say("another UID's eviction", load.Evict(t.Context(), client, other))
	say("deletion", load.PatchAndDelete(t.Context(), client, identity))
	say("deletion again", load.PatchAndDelete(t.Context(), client, identity))
	say("eviction", load.Evict(t.Context(), client, load.IdentityOf(&one.Items[2])))
	for last := ""; last != "deleted web-0000072"; {
		select {
		case last = <-events:
			answers = append(answers, last)
		case <-time.After(10 * time.Second): //nolint:forbidigo // a real server answers
			t.Fatalf("no event after %q", answers)
		}
	}
	_, err = client.CoreV1().Nodes().Get(t.Context(), "node-999999", metav1.GetOptions{})
	say("no node", err)
	maps := client.CoreV1().ConfigMaps("team-01")
	stored := &v1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "journal"}, Data: map[string]string{"a": "1"}}
	_, err = maps.Update(t.Context(), stored, metav1.UpdateOptions{})
	say("update of nothing", err)
	made, err := maps.Create(t.Context(), stored, metav1.CreateOptions{})
	say("creation", err)
	_, err = maps.Create(t.Context(), stored, metav1.CreateOptions{})
	say("creation again", err)
	_, err = maps.Update(t.Context(), made, metav1.UpdateOptions{})
	say("update", err)
	made.Data, made.ResourceVersion = nil, "1"
	_, err = maps.Update(t.Context(), made, metav1.UpdateOptions{})
	say("update of another version", err)
	return answers
}

// evicted runs a manager until all pods of node 3, which is then tainted, are gone. It returns the pods that are left.
func evicted(t *testing.T, client kubernetes.Interface, taint func()) (left []string) {
	t.Helper()
	m, err := taintmanager.New(client, nil, taintmanager.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()
	running.Go(func() {
		if err := m.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	running.Go(func() {
		if err := m.Lead(ctx); err != nil {
			t.Error(err)
		}
	})
	taint()
	err = wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, 30*time.Second, true, func(ctx context.Context) (bool, error) {
		all, err := client.CoreV1().Pods("").List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err
		}
		left = left[:0]
		for i := range all.Items {
			left = append(left, all.Items[i].Name)
		}
		return !slices.ContainsFunc(all.Items, func(p v1.Pod) bool { return p.Spec.NodeName == "node-000003" }), nil
	})
	if err != nil {
		t.Fatalf("%d pods are left: %v", len(left), err)
	}
	slices.Sort(left)
	return left
}
