package inspect

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/taint-manager/taint-manager/cli/suggest"
	"github.com/taint-manager/taint-manager/cli/terminal"
	"github.com/taint-manager/taint-manager/foresight"
	"github.com/taint-manager/taint-manager/internal/transport"
)

// portion is the number of objects in one request, so that only few are in memory.
const portion = 500

// bound selects the pods that may be evicted at all.
const bound = "spec.nodeName!=,status.phase!=Succeeded,status.phase!=Failed"

// liveCluster is a cluster that is read from its API server.
type liveCluster struct {
	*reached
	messages io.Writer
	now      func() time.Time
	location *journalLocation
}

func (c liveCluster) String() string { return "the cluster" }

func (c liveCluster) hint(kubectl string) string {
	return "'kubectl " + kubectl + "' shows what there is"
}

// Read lists the nodes, then the pods, then the budgets; or the objects about one pod.
func (c liveCluster) Read(ctx context.Context, q query, m *foresight.Model) (r reading, err error) {
	if q.pod != "" {
		return c.readPod(ctx, q, m)
	}
	err = c.listNodes(ctx, m)
	switch r.hidden = apierrors.IsForbidden(err) && q.hidden; {
	case r.hidden:
	case err != nil:
		return r, err
	}
	if err := c.readRest(ctx, q, m, r.hidden); err != nil {
		return r, err
	}
	if r.spaces, err = c.readNamespaces(ctx, q, m); err != nil {
		return r, err
	}
	r.at = c.now().Round(0)
	return r, nil
}

// listNodes adds all nodes.
func (c liveCluster) listNodes(ctx context.Context, m *foresight.Model) error {
	return c.each(ctx, "nodes", m, func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
		return c.client.CoreV1().Nodes().List(ctx, o)
	})
}

// readRest lists the pods, if they are needed, and the budgets.
func (c liveCluster) readRest(ctx context.Context, q query, m *foresight.Model, hidden bool) error {
	if !q.tainted || hidden || len(m.Tainted(q.nodes)) > 0 {
		err := c.each(ctx, q.whichPods(), m, func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			if q.tainted {
				o.FieldSelector, o.LabelSelector = q.fieldSelector(), q.labels
			}
			return c.client.CoreV1().Pods(q.namespace).List(ctx, o)
		})
		if err != nil {
			return err
		}
	}
	if !q.budgets {
		return nil
	}
	return c.readBudgets(ctx, q, m)
}

// readNamespaces adds the labels of the namespaces, or of the one in question. It returns why they can't be read, or "".
func (c liveCluster) readNamespaces(ctx context.Context, q query, m *foresight.Model) (why string, err error) {
	if !q.namespaces {
		return "", nil
	}
	err = c.each(ctx, "namespaces", m, func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
		if q.namespace != "" {
			o.FieldSelector = fields.OneTermEqualSelector("metadata.name", q.namespace).String()
		}
		return c.client.CoreV1().Namespaces().List(ctx, o)
	})
	if apierrors.IsForbidden(err) {
		return "this user may not list them", nil
	}
	return "", err
}

func (c liveCluster) readBudgets(ctx context.Context, q query, m *foresight.Model) error {
	err := c.each(ctx, "poddisruptionbudgets", m, func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
		return c.client.PolicyV1().PodDisruptionBudgets(q.namespace).List(ctx, o)
	})
	if apierrors.IsForbidden(err) && !q.needed {
		note(c.messages, "this user may not list poddisruptionbudgets, so what they would say is not known")
		return nil
	}
	return err
}

// whichPods describes the listed pods in the form of kubectl auth can-i.
func (q *query) whichPods() string {
	switch {
	case !q.tainted:
		return "pods"
	case q.namespace == "":
		return "pods -A"
	}
	return "pods -n " + q.namespace
}

// fieldSelector makes the API server find the pods of a single node by its index.
func (q *query) fieldSelector() string {
	if len(q.nodes) == 1 {
		return fields.OneTermEqualSelector("spec.nodeName", q.nodes[0]).String() + strings.TrimPrefix(bound, "spec.nodeName!=")
	}
	return bound
}

// Check returns an error if the namespace does not exist, unless namespaces can't be read. It notes a namespace
// without pods.
func (c liveCluster) Check(ctx context.Context, q query, m *foresight.Model) error {
	if err := unknownNodes(q.nodes, m, c); err != nil && len(m.Nodes()) > 0 {
		return err
	}
	if q.namespace == "" || q.pod != "" || m.Pods(q.namespace) > 0 {
		return nil
	}
	_, err := c.client.CoreV1().Namespaces().Get(ctx, q.namespace, metav1.GetOptions{})
	if missingObject(err) {
		return fmt.Errorf("there is no namespace %s in %s; %s", q.namespace, c, c.hint("get namespaces"))
	}
	if !q.tainted { // otherwise only some of the pods were listed, or none
		note(c.messages, fmt.Sprintf("there are no pods in namespace %s", q.namespace))
	}
	return nil
}

// unknownNodes returns an error if a wanted node does not exist.
func unknownNodes(wanted []string, m *foresight.Model, from source) error {
	names := m.Nodes()
	var missing []string
	for _, name := range wanted {
		if !slices.Contains(names, name) {
			missing = append(missing, name)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	err := &foresight.UnknownNodesError{Names: missing}
	return fmt.Errorf("%w in %s%s; %s", err, from, suggest.Nearest(missing[0], names), from.hint("get nodes"))
}

// listing requests one page of a list.
type listing func(context.Context, metav1.ListOptions) (runtime.Object, error)

// each lists page by page and adds each object to the model.
func (c liveCluster) each(ctx context.Context, resource string, to *foresight.Model, list listing) error {
	p := terminal.NewProgress(c.messages, "Reading "+resource, 0)
	defer p.End()
	for o := (metav1.ListOptions{Limit: portion}); ; {
		answer, err := list(ctx, o)
		if err != nil {
			return c.refused("list "+resource, err)
		}
		about, err := meta.ListAccessor(answer)
		if err != nil {
			return fmt.Errorf("reading %s: %w", resource, err)
		}
		n, err := addAll(answer, to)
		if err != nil {
			return fmt.Errorf("reading %s: %w", resource, err)
		}
		if left := about.GetRemainingItemCount(); left != nil {
			p.Total = p.Done() + n + *left
		}
		p.Add(n)
		if o.Continue = about.GetContinue(); o.Continue == "" {
			return nil
		}
	}
}

// addAll adds each object of a list to the model, and returns their number.
func addAll(list runtime.Object, to *foresight.Model) (n int64, err error) {
	err = meta.EachListItem(list, func(object runtime.Object) error {
		n++
		switch o := object.(type) {
		case *v1.Node:
			to.AddNode(o)
		case *v1.Pod:
			to.AddPod(o)
		case *v1.Event:
			to.AddEvent(o)
		case *policyv1.PodDisruptionBudget:
			to.AddBudget(o)
		case *v1.Namespace:
			to.AddNamespace(o.Name, o.Labels)
		}
		return nil
	})
	return n, err
}

// refused returns an error that gives the API server's reason and the next step.
func (c *reached) refused(what string, err error) error {
	switch {
	case apierrors.IsForbidden(err):
		return fmt.Errorf("this user may not %s: %w; ask for that permission ('kubectl auth can-i %s' checks it), or for a dump, and give it with --filename=FILE", what, err, what)
	case transport.Untrusted(err), apierrors.IsUnauthorized(err), apierrors.IsNotFound(err):
		return transport.Unreachable(c.server, c.origin, err)
	case errors.Is(err, context.Canceled):
		return fmt.Errorf("asking to %s: %w", what, err)
	}
	return fmt.Errorf("the API server %s can't be asked to %s: %w; check that it runs, and the server address in %s", c.server, what, err, c.origin)
}
