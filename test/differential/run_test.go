package differential

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller/tainteviction"

	taintmanager "github.com/taint-manager/taint-manager"
)

// outcome is when each pod was evicted, that is, when a controller's first call to delete it was accepted. Times
// count from when the controllers begin to watch.
type outcome map[types.UID]time.Duration

// contender runs a controller on the server until the context ends and everything that it started has ended.
type contender func(ctx context.Context, s *server, informers informers.SharedInformerFactory) error

// play runs a controller through a history, in virtual time, and returns its evictions.
func play(t *testing.T, h *history, run contender) outcome {
	var s *server
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(begin))
		s = newServer(h)
		ctx, cancel := context.WithCancel(klog.NewContext(t.Context(), logr.Discard()))
		shared := informers.NewSharedInformerFactory(s.client, 0)
		var running sync.WaitGroup
		running.Go(func() {
			if err := run(ctx, s, shared); err != nil {
				t.Error(err)
			}
		})
		for _, c := range h.changes {
			time.Sleep(time.Until(begin.Add(c.at))) // until all earlier work is done
			if err := s.take(c); err != nil {
				t.Error(err)
			}
		}
		time.Sleep(time.Until(begin.Add(h.end)))
		cancel()
		running.Wait()
		shared.Shutdown()
	})
	return s.evicted
}

// original runs the original controller as the controller manager does.
func original(ctx context.Context, s *server, shared informers.SharedInformerFactory) error {
	pods, nodes := shared.Core().V1().Pods(), shared.Core().V1().Nodes()
	// Another controller of that manager registers this index.
	if err := pods.Informer().AddIndexers(cache.Indexers{"spec.nodeName": byNode}); err != nil {
		return fmt.Errorf("adding the index: %w", err)
	}
	controller, err := tainteviction.New(ctx, s.client, pods, nodes, "taint-eviction-controller")
	if err != nil {
		return fmt.Errorf("making the original: %w", err)
	}
	shared.Start(ctx.Done())
	shared.WaitForCacheSync(ctx.Done())
	controller.Run(ctx)
	return nil
}

func byNode(obj any) ([]string, error) {
	if p, ok := obj.(*v1.Pod); ok && p.Spec.NodeName != "" {
		return []string{p.Spec.NodeName}, nil
	}
	return nil, nil
}

// ours runs this controller with its own watches.
func ours(o taintmanager.Options) contender {
	return func(ctx context.Context, s *server, _ informers.SharedInformerFactory) error {
		m, err := taintmanager.New(s.client, nil, o)
		if err != nil {
			return err
		}
		return lead(ctx, m)
	}
}

// embedded runs this controller on a caller's informer of pods.
func embedded(o taintmanager.Options) contender {
	return func(ctx context.Context, s *server, shared informers.SharedInformerFactory) error {
		m, err := taintmanager.New(s.client, shared.Core().V1().Pods(), o)
		if err != nil {
			return err
		}
		shared.Start(ctx.Done())
		return lead(ctx, m)
	}
}

func lead(ctx context.Context, m *taintmanager.Manager) error {
	led := make(chan error, 1)
	go func() { led <- m.Lead(ctx) }()
	if err := m.Run(ctx); err != nil {
		return err
	}
	return <-led
}

// server is a fake API server, which deletes at once, but respects the UID precondition of a deletion. The history
// is written without the client, so that its reactors see the controller only.
type server struct {
	client *fake.Clientset

	mu      sync.Mutex
	evicted outcome
}

func newServer(h *history) *server {
	var objects []runtime.Object
	for _, n := range h.nodes {
		objects = append(objects, n)
	}
	for _, p := range h.pods {
		objects = append(objects, p)
	}
	// Its successor tracks field managers, which the tests do not need, and takes 300 times as long.
	s := &server{client: fake.NewSimpleClientset(objects...), evicted: outcome{}}
	s.client.PrependReactor("delete", "pods", s.delete)
	return s
}

// delete is called for each deletion by a controller. It records the first one of each pod, and refuses a deletion
// whose UID is that of another pod.
func (s *server) delete(action clienttesting.Action) (bool, runtime.Object, error) {
	d := action.(clienttesting.DeleteActionImpl)
	p := s.pod(d.Namespace, d.Name)
	if p == nil {
		return false, nil, nil // not found
	}
	if wanted := d.DeleteOptions.Preconditions; wanted != nil && wanted.UID != nil && *wanted.UID != p.UID {
		return true, nil, apierrors.NewConflict(v1.Resource("pods"), p.Name, fmt.Errorf("the UID is %s", p.UID))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.evicted[p.UID]; !ok {
		s.evicted[p.UID] = time.Since(begin)
	}
	return false, nil, nil
}

// pod returns the present pod of this name, or nil.
func (s *server) pod(namespace, name string) *v1.Pod {
	obj, err := s.client.Tracker().Get(pods, namespace, name)
	if err != nil {
		return nil
	}
	return obj.(*v1.Pod)
}

var (
	pods  = v1.SchemeGroupVersion.WithResource("pods")
	nodes = v1.SchemeGroupVersion.WithResource("nodes")
)

// take makes a change, unless it concerns a pod that was evicted before.
func (s *server) take(c change) error {
	if c.node != nil {
		return s.write(c.verb, nodes, "", c.node.Name, c.node, true)
	}
	now := s.pod(c.pod.Namespace, c.pod.Name)
	if (c.verb == updated || c.verb == deleted) && (now == nil || now.UID != c.pod.UID) {
		return nil
	}
	return s.write(c.verb, pods, c.pod.Namespace, c.pod.Name, c.pod, now != nil)
}

func (s *server) write(v verb, what schema.GroupVersionResource, namespace, name string, obj runtime.Object, there bool) error {
	tracker := s.client.Tracker()
	switch {
	case v == deleted:
		return tracker.Delete(what, namespace, name)
	case v == created || !there:
		return tracker.Create(what, obj, namespace)
	case v == replaced:
		return errors.Join(tracker.Delete(what, namespace, name), tracker.Create(what, obj, namespace))
	}
	return tracker.Update(what, obj, namespace)
}
