package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"

	"github.com/taint-manager/taint-manager/cli/terminal"
	"github.com/taint-manager/taint-manager/internal/foresight"
	"github.com/taint-manager/taint-manager/internal/transport"
)

// portion is the number of objects in one request, so that only few are in memory.
const portion = 500

// bound selects the pods that may be evicted at all.
const bound = "spec.nodeName!=,status.phase!=Succeeded,status.phase!=Failed"

// Cluster is a live cluster, read from its API server.
type Cluster struct {
	client         kubernetes.Interface
	server, origin string // the server's address, and what has provided it
	namespace      string // of the flag or, if there is none, of the kubeconfig's context

	messages io.Writer
	now      func() time.Time
	location location
}

func (c Cluster) String() string { return "the cluster" }

// Hint suggests the kubectl command.
func (c Cluster) Hint(kubectl string) string { return "'kubectl " + kubectl + "' shows what there is" }

// read lists the nodes, then the pods, then the budgets; or reads the objects about one pod. Then it reads the journal:
// the partitions of the tainted nodes in question and that of the guards or, if the nodes are hidden, all.
func (c Cluster) read(ctx context.Context, s *Scope, to *foresight.Builder) (r foresight.Reading, err error) {
	nodes := s.Nodes
	if s.Pod != "" {
		nodes = make([]string, 1)
		nodes[0], err = c.readPod(ctx, s, to, &r)
	} else {
		err = c.readAll(ctx, s, to, &r)
	}
	r.At = c.now().Round(0)
	if err == nil {
		err = c.check(ctx, s, to, &r)
	}
	switch {
	case err != nil || r.Journal != nil:
	case r.Hidden != "":
		r.Journal = c.journal(ctx, allPartitions())
	default:
		r.Journal = c.journal(ctx, partitionsOf(to.Tainted(nodes)))
	}
	return r, err
}

func (c Cluster) readAll(ctx context.Context, s *Scope, to *foresight.Builder, r *foresight.Reading) error {
	switch err := c.listNodes(ctx, to); {
	case s.Scheduled && apierrors.IsForbidden(err):
		r.Hidden = "list"
	case err != nil:
		return err
	}
	if !s.Scheduled || s.AllPods || r.Hidden != "" || len(to.Tainted(s.Nodes)) > 0 {
		if err := c.listPods(ctx, s, to); err != nil {
			return err
		}
	}
	if !s.Scheduled {
		if err := c.listBudgets(ctx, s, to, r); err != nil {
			return err
		}
	}
	return c.listNamespaces(ctx, s, to, r)
}

func (c Cluster) listNodes(ctx context.Context, to *foresight.Builder) error {
	return c.each(ctx, "nodes", to, func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
		return c.client.CoreV1().Nodes().List(ctx, o)
	})
}

func (c Cluster) listPods(ctx context.Context, s *Scope, to *foresight.Builder) error {
	return c.each(ctx, s.whichPods(), to, func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
		s.narrow(&o)
		return c.client.CoreV1().Pods(s.Focus.Namespace).List(ctx, o)
	})
}

// listNamespaces adds the labels of the namespaces, or of the one in question.
func (c Cluster) listNamespaces(ctx context.Context, s *Scope, to *foresight.Builder, r *foresight.Reading) error {
	if !s.namespaces() {
		return nil
	}
	err := c.each(ctx, "namespaces", to, func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
		if s.Focus.Namespace != "" {
			o.FieldSelector = fields.OneTermEqualSelector("metadata.name", s.Focus.Namespace).String()
		}
		return c.client.CoreV1().Namespaces().List(ctx, o)
	})
	if apierrors.IsForbidden(err) {
		r.NamespacesRefused, err = "this user may not list them", nil
	}
	return err
}

func (c Cluster) listBudgets(ctx context.Context, s *Scope, to *foresight.Builder, r *foresight.Reading) error {
	err := c.each(ctx, "poddisruptionbudgets", to, func(ctx context.Context, o metav1.ListOptions) (runtime.Object,
		error,
	) {
		return c.client.PolicyV1().PodDisruptionBudgets(s.Focus.Namespace).List(ctx, o)
	})
	if !apierrors.IsForbidden(err) {
		return err
	}
	if !s.NoBudgets {
		r.BudgetsUnknown = "this user may not list poddisruptionbudgets"
	}
	return nil
}

// whichPods describes the listed pods in the form of kubectl auth can-i.
func (s *Scope) whichPods() string {
	switch {
	case !s.Scheduled:
		return "pods"
	case s.Focus.Namespace == "":
		return "pods -A"
	}
	return "pods -n " + s.Focus.Namespace
}

// narrow makes the API server return only the pods that may be scheduled, those of a single node by its index.
func (s *Scope) narrow(o *metav1.ListOptions) {
	if !s.Scheduled {
		return
	}
	o.LabelSelector, o.FieldSelector = s.labels(), bound
	if len(s.Nodes) == 1 {
		o.FieldSelector = fields.OneTermEqualSelector("spec.nodeName", s.Nodes[0]).String() + strings.TrimPrefix(bound,
			"spec.nodeName!=")
	}
}

// check returns an error if a node or the namespace does not exist, unless namespaces can't be read. It notes a
// namespace without pods, unless pods can't be listed.
func (c Cluster) check(ctx context.Context, s *Scope, of *foresight.Builder, r *foresight.Reading) error {
	namespace, hasNodes := s.Focus.Namespace, of.HasNodes()
	switch {
	case s.Pod != "":
		return nil
	case !hasNodes && !s.Scheduled:
		return fmt.Errorf("%s has no nodes; %s", c, c.Hint("get nodes"))
	case hasNodes:
		if err := s.checkNodes(of, c); err != nil {
			return err
		}
	}
	if namespace == "" || of.Pods(namespace) > 0 {
		return nil
	}
	_, err := c.client.CoreV1().Namespaces().Get(ctx, namespace, metav1.GetOptions{})
	if missingObject(err) {
		return fmt.Errorf("there is no namespace %s in %s; %s", namespace, c, c.Hint("get namespaces"))
	}
	if !s.Scheduled || c.lacksPods(ctx, namespace) {
		r.Notes = append(r.Notes, "there are no pods in namespace "+namespace)
	}
	return nil
}

// lacksPods reports whether there are no pods in a namespace, of which only some were listed, or none.
func (c Cluster) lacksPods(ctx context.Context, namespace string) bool {
	first, err := c.client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{Limit: 1})
	return err == nil && len(first.Items) == 0
}

// listing requests one page of a list.
type listing func(context.Context, metav1.ListOptions) (runtime.Object, error)

// each lists page by page and adds each object.
func (c Cluster) each(ctx context.Context, resource string, to *foresight.Builder, list listing) error {
	p := terminal.NewProgress(c.messages, "Reading "+resource, 0)
	defer p.End()
	for o := (metav1.ListOptions{Limit: portion}); ; {
		page, err := list(ctx, o)
		if err != nil {
			return c.refused("list "+resource, err)
		}
		about, err := meta.ListAccessor(page)
		if err != nil {
			return fmt.Errorf("reading %s: %w", resource, err)
		}
		n, err := addAll(page, to)
		if err != nil {
			return fmt.Errorf("reading %s: %w", resource, err)
		}
		if left := about.GetRemainingItemCount(); left != nil {
			p.Left(n + *left)
		}
		p.Add(n)
		if o.Continue = about.GetContinue(); o.Continue == "" {
			return nil
		}
	}
}

// addAll adds each object of a list, and returns their number.
func addAll(list runtime.Object, to *foresight.Builder) (n int64, err error) {
	err = meta.EachListItem(list, func(object runtime.Object) error {
		n++
		to.Add(object)
		return nil
	})
	return n, err
}

// refused returns an error that gives the API server's reason and the next step.
func (c Cluster) refused(what string, err error) error {
	switch {
	case apierrors.IsForbidden(err):
		return fmt.Errorf("this user may not %s: %w; ask for that permission ('kubectl auth can-i %s' checks it), or "+
			"for a dump, and give it with --filename=FILE", what, err, what)
	case transport.Untrusted(err), apierrors.IsUnauthorized(err), apierrors.IsNotFound(err):
		return transport.Unreachable(c.server, c.origin, err)
	case errors.Is(err, context.Canceled):
		return fmt.Errorf("asking to %s: %w", what, err)
	}
	return fmt.Errorf("the API server %s can't be asked to %s: %w; check that it runs, and the server "+
		"address in %s", c.server, what, err, c.origin)
}
