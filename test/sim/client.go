package sim

import (
	"context"
	"encoding/json"
	"time"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	typedv1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
)

// client is the clientset of a process, as far as the evictor uses one: it passes each request to the flight whose turn
// it is, and suspends that flight until the answer arrives.
type client struct {
	kubernetes.Interface
	typedv1.CoreV1Interface
	p *process
}

func (c client) CoreV1() typedv1.CoreV1Interface { return c }

func (c client) RESTClient() rest.Interface { return nil }

func (c client) Pods(string) typedv1.PodInterface { return podClient{p: c.p} }

func (c client) Nodes() typedv1.NodeInterface { return nodeClient{p: c.p} }

type podClient struct {
	typedv1.PodInterface
	p *process
}

type nodeClient struct {
	typedv1.NodeInterface
	p *process
}

// get is a GET of a node that was answered.
type get struct{ sent, served time.Duration }

// Get sends the GET of a node.
func (n nodeClient) Get(_ context.Context, name string, _ metav1.GetOptions) (node *v1.Node, err error) {
	g := get{sent: n.p.w.now()}
	err = n.p.await(&request{what: "GET of node " + name, do: func() error {
		g.served, node = n.p.w.now(), n.p.w.server.node(name)
		if node == nil {
			return notFound(name)
		}
		return nil
	}})
	if err == nil && g.sent >= n.p.gets[name].sent {
		n.p.gets[name] = g
	}
	return node, err
}

// Delete sends the DELETE of a pod.
func (p podClient) Delete(_ context.Context, name string, o metav1.DeleteOptions) error {
	what := "DELETE of pod " + name
	if len(o.DryRun) > 0 {
		what = "dry run of " + what
	}
	return p.p.delete(what, name, &o, false)
}

// EvictV1 sends the POST of a pod's eviction.
func (p podClient) EvictV1(_ context.Context, e *policyv1.Eviction) error {
	return p.p.delete("eviction of pod "+e.Name, e.Name, e.DeleteOptions, true)
}

func (p *process) delete(what, name string, o *metav1.DeleteOptions, eviction bool) error {
	f := p.turn
	r := &request{what: what, writes: true, deletes: len(o.DryRun) == 0, meant: precondition(o)}
	r.do = func() error {
		pod, err := p.w.server.delete(name, *o, eviction)
		if pod != nil {
			f.arrived(r, pod.UID)
		}
		return err
	}
	return p.await(r)
}

// Patch sends the PATCH of a pod's status.
func (p podClient) Patch(
	_ context.Context, name string, _ types.PatchType, body []byte, _ metav1.PatchOptions, _ ...string,
) (patched *v1.Pod, err error) {
	var object metav1.PartialObjectMetadata
	if err := json.Unmarshal(body, &object); err != nil {
		return nil, err
	}
	f := p.p.turn
	err = p.p.await(&request{what: "PATCH of pod " + name, writes: true, do: func() (err error) {
		patched, err = p.p.w.server.patch(name, object.UID)
		return err
	}})
	if err != nil {
		return nil, err
	}
	f.noteGeneration(patched)
	return patched, nil
}

// noteGeneration records the generation that an answer has shown, without the increment by the beginning of a deletion.
func (f *flight) noteGeneration(p *v1.Pod) {
	f.shown = p.Generation
	if p.DeletionTimestamp != nil {
		f.shown--
	}
	if f.shown > f.e.Pod.Generation {
		f.p.w.counts["Edited"]++
	}
}

// await suspends the evictor until the request is over.
func (p *process) await(a *request) error {
	f := p.turn
	a.answer = func(err error) { f.answer(a, err) }
	if !f.yield(a) {
		return canceled()
	}
	return a.err
}

// Now implements evict.Clock, as Wait does.
func (p *process) Now() time.Time { return p.clock.at(p.w.now()) }

// Wait suspends the evictor until done is closed.
func (p *process) Wait(_ context.Context, done <-chan struct{}) error {
	if isClosed(done) {
		return nil
	}
	return p.await(&request{waits: done})
}

func precondition(o *metav1.DeleteOptions) types.UID {
	if o == nil || o.Preconditions == nil || o.Preconditions.UID == nil {
		return ""
	}
	return *o.Preconditions.UID
}
