package inspect

import (
	"context"
	"errors"
	"fmt"
	"io"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/taint-manager/taint-manager/cli/apiserver"
	"github.com/taint-manager/taint-manager/cli/terminal"
	"github.com/taint-manager/taint-manager/dump"
)

// portion is how many objects are asked for at once, so that few are held.
const portion = 500

// liveCluster is a cluster that is read from its API server.
type liveCluster struct {
	*reached
	only     string // the namespace whose pods and budgets are read; empty for all
	budgets  bool   // are needed; if not, the answer is given without them where they may not be read
	messages io.Writer
}

func (c liveCluster) String() string { return "the cluster" }

func (c liveCluster) next(kubectl string) string {
	return "'kubectl " + kubectl + "' shows what there is"
}

// listing is a request for a page of objects.
type listing func(context.Context, metav1.ListOptions) (runtime.Object, error)

// read tells of all nodes, pods and budgets.
func (c liveCluster) read(ctx context.Context, to dump.Visitor) error {
	core, policy := c.client.CoreV1(), c.client.PolicyV1()
	err := c.each(ctx, "nodes", to, func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
		return core.Nodes().List(ctx, o)
	})
	if err != nil {
		return err
	}
	err = c.each(ctx, "pods", to, func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
		return core.Pods(c.only).List(ctx, o)
	})
	if err != nil {
		return err
	}
	err = c.each(ctx, "poddisruptionbudgets", to, func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
		return policy.PodDisruptionBudgets(c.only).List(ctx, o)
	})
	if apierrors.IsForbidden(err) && !c.budgets {
		note(c.messages, "this user may not list poddisruptionbudgets, so what they would say is not known")
		return nil
	}
	return err
}

// each lists page by page and tells of each object.
func (c liveCluster) each(ctx context.Context, resource string, to dump.Visitor, list listing) error {
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
		n, err := tellAll(answer, to)
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

// tellAll tells of each object of a list, and returns how many there are.
func tellAll(list runtime.Object, to dump.Visitor) (n int64, err error) {
	err = meta.EachListItem(list, func(object runtime.Object) error {
		n++
		switch o := object.(type) {
		case *v1.Node:
			to.Node(o)
		case *v1.Pod:
			to.Pod(o)
		case *policyv1.PodDisruptionBudget:
			to.Budget(o)
		}
		return nil
	})
	return n, err
}

// refused says why the API server did not do what it was asked, and what to do now.
func (c *reached) refused(what string, err error) error {
	switch {
	case apierrors.IsForbidden(err):
		return fmt.Errorf("this user may not %s: %w; ask for that permission ('kubectl auth can-i %s' checks it), or for a dump, and give it with --filename=FILE", what, err, what)
	case apiserver.Untrusted(err), apierrors.IsUnauthorized(err), apierrors.IsNotFound(err):
		return apiserver.Unreachable(c.server, c.origin, err)
	case errors.Is(err, context.Canceled):
		return fmt.Errorf("asking to %s: %w", what, err)
	}
	return fmt.Errorf("the API server %s can't be asked to %s: %w; check that it runs, and the server address in %s", c.server, what, err, c.origin)
}
