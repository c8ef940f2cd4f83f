package source

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"

	"github.com/taint-manager/taint-manager/cli/suggest"
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

	now      func() time.Time
	location location
}

func (c Cluster) String() string { return "the cluster" }

// Hint suggests the kubectl command.
func (c Cluster) Hint(kubectl string) string { return "'kubectl " + kubectl + "' shows what there is" }

// read lists the nodes, then the pods, then the budgets; or reads the objects about one pod. Then it reads the journal.
func (c Cluster) read(ctx context.Context, s *Scope, to *foresight.Builder) (r foresight.Reading, err error) {
	if s.Pod != "" {
		err = c.readPod(ctx, s, to, &r)
	} else if err = c.readAll(ctx, s, to, &r); err == nil {
		err = c.check(ctx, s, to, &r)
	}
	r.At = c.now().Round(0)
	if err == nil && r.Journal == nil {
		r.Journal = c.journal(ctx)
	}
	return r, err
}

func (c Cluster) readAll(ctx context.Context, s *Scope, to *foresight.Builder, r *foresight.Reading) error {
	switch err := c.each(ctx, "nodes", "", metav1.ListOptions{}, to); {
	case s.Scheduled && apierrors.IsForbidden(err):
		r.Hidden = "list"
	case err != nil:
		return err
	}
	if !s.Scheduled || s.AllPods || r.Hidden != "" || len(to.Tainted(s.Nodes)) > 0 {
		if err := c.each(ctx, "pods", s.Focus.Namespace, s.podOptions(), to); err != nil {
			return err
		}
	}
	return c.readBeside(ctx, s, to, r)
}

// readPod reads one pod, its events, its node, or all if breakers count them, and what is beside it.
func (c Cluster) readPod(ctx context.Context, s *Scope, to *foresight.Builder, r *foresight.Reading) error {
	pod, err := c.client.CoreV1().Pods(s.Focus.Namespace).Get(ctx, s.Pod, metav1.GetOptions{})
	if err != nil && !missingObject(err) {
		return c.refused("get pods", err)
	}
	events, err := c.readEvents(ctx, s, to, r)
	switch exists := pod != nil && pod.Name != ""; { // a client may return an empty pod
	case err != nil:
		return err
	case !exists && events == 0:
		return c.noPod(ctx, s)
	case !exists:
		return nil
	}
	to.Add(pod)
	if err := c.readNodeOf(ctx, s, pod, to, r); err != nil {
		return err
	}
	return c.readBeside(ctx, s, to, r)
}

// readNodeOf adds all nodes, if breakers count them and the user may list them, else the pod's node, unless it is gone.
func (c Cluster) readNodeOf(
	ctx context.Context, s *Scope, pod *v1.Pod, to *foresight.Builder, r *foresight.Reading,
) error {
	if s.Rules.Guarded() {
		if err := c.each(ctx, "nodes", "", metav1.ListOptions{}, to); !apierrors.IsForbidden(err) {
			return err
		}
	}
	r.Partial = true
	if pod.Spec.NodeName == "" {
		return nil
	}
	node, err := c.client.CoreV1().Nodes().Get(ctx, pod.Spec.NodeName, metav1.GetOptions{})
	if apierrors.IsForbidden(err) {
		if all := c.journal(ctx); all.Missing() == "" {
			r.Hidden, r.Journal = "get", all
			return nil
		}
	}
	switch {
	case missingObject(err):
		return nil
	case err != nil:
		return c.refused("get nodes", err)
	}
	to.Add(node)
	return nil
}

// missingObject reports whether the error means that the object does not exist. A server that is not an API server
// returns such an error for every object.
func missingObject(err error) bool {
	return apierrors.IsNotFound(err) && !apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
}

// readEvents adds the events of pods with this name, including deleted ones, and returns their number. Without the
// permission to list events it adds none.
func (c Cluster) readEvents(ctx context.Context, s *Scope, to *foresight.Builder, r *foresight.Reading) (int, error) {
	about := fields.Set{"involvedObject.kind": "Pod", "involvedObject.name": s.Pod}.AsSelector().String()
	list, err := c.client.CoreV1().Events(s.Focus.Namespace).List(ctx,
		metav1.ListOptions{FieldSelector: about, Limit: portion})
	switch {
	case apierrors.IsForbidden(err):
		r.EventsUnknown = "this user may not list events"
		r.Notes = append(r.Notes, r.EventsUnknown+", so they are not shown")
		return 0, nil
	case err != nil:
		return 0, c.refused("list events", err)
	}
	for i := range list.Items {
		to.Add(&list.Items[i])
	}
	return len(list.Items), nil
}

// readBeside adds the budgets, and the labels of the namespaces or of the one in question.
func (c Cluster) readBeside(ctx context.Context, s *Scope, to *foresight.Builder, r *foresight.Reading) error {
	if !s.Scheduled {
		err := c.each(ctx, "poddisruptionbudgets", s.Focus.Namespace, metav1.ListOptions{}, to)
		switch {
		case apierrors.IsForbidden(err) && !s.NoBudgets:
			r.BudgetsUnknown = "this user may not list poddisruptionbudgets"
		case err != nil && !apierrors.IsForbidden(err):
			return err
		}
	}
	if !s.namespaces() {
		return nil
	}
	var o metav1.ListOptions
	if s.Focus.Namespace != "" {
		o.FieldSelector = fields.OneTermEqualSelector(metav1.ObjectNameField, s.Focus.Namespace).String()
	}
	err := c.each(ctx, "namespaces", "", o, to)
	if apierrors.IsForbidden(err) {
		r.NamespacesRefused, err = "this user may not list them", nil
	}
	return err
}

// podOptions makes the API server return only the pods that may be scheduled, those of a single node by its index.
func (s *Scope) podOptions() (o metav1.ListOptions) {
	if !s.Scheduled {
		return o
	}
	if s.Focus.Labels != nil {
		o.LabelSelector = s.Focus.Labels.String()
	}
	o.FieldSelector = bound
	if len(s.Nodes) == 1 {
		o.FieldSelector = fields.OneTermEqualSelector("spec.nodeName", s.Nodes[0]).String() +
			strings.TrimPrefix(bound, "spec.nodeName!=")
	}
	return o
}

// check returns an error if a node or the namespace does not exist, unless namespaces can't be read. It notes a
// namespace without pods, unless pods can't be listed.
func (c Cluster) check(ctx context.Context, s *Scope, of *foresight.Builder, r *foresight.Reading) error {
	namespace, hasNodes := s.Focus.Namespace, of.HasNodes()
	switch {
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

// noPod returns an error that names the pods of this name in other namespaces or, if there are none, pods with similar
// names.
func (c Cluster) noPod(ctx context.Context, s *Scope) error {
	others := c.names(ctx, "pods", s.Focus.Namespace, metav1.ListOptions{Limit: portion})
	var elsewhere []string
	named := fields.OneTermEqualSelector(metav1.ObjectNameField, s.Pod).String()
	same, err := c.client.CoreV1().Pods("").List(ctx, metav1.ListOptions{FieldSelector: named, Limit: portion})
	if err == nil {
		for i := range same.Items {
			elsewhere = append(elsewhere, same.Items[i].Namespace+"/"+same.Items[i].Name)
		}
	}
	return s.noPod(c, others, elsewhere, fmt.Sprintf("'kubectl get pods -n %s' lists them", s.Focus.Namespace))
}

// noPod returns the error for a pod that does not exist and that no event names. others are the names of other pods,
// and elsewhere the pods of its name in other namespaces.
func (s *Scope) noPod(from Source, others, elsewhere []string, next string) error {
	meant := suggest.Nearest(s.Pod, others)
	if len(elsewhere) > 0 {
		meant = " (did you mean " + suggest.JoinWords(elsewhere, "or") + "?)"
	}
	return fmt.Errorf("there is no pod %s in namespace %s of %s%s, and no event "+
		"names one; %s", s.Pod, s.Focus.Namespace, from, meant, next)
}

// list requests one page of a list. An empty namespace stands for all.
func (c Cluster) list(ctx context.Context, resource, namespace string, o metav1.ListOptions) (runtime.Object, error) {
	switch resource {
	case "nodes":
		return c.client.CoreV1().Nodes().List(ctx, o)
	case "namespaces":
		return c.client.CoreV1().Namespaces().List(ctx, o)
	case "pods":
		return c.client.CoreV1().Pods(namespace).List(ctx, o)
	default:
		return c.client.PolicyV1().PodDisruptionBudgets(namespace).List(ctx, o)
	}
}

// each lists page by page and adds each object.
func (c Cluster) each(
	ctx context.Context, resource, namespace string, o metav1.ListOptions, to *foresight.Builder,
) error {
	for o.Limit = portion; ; {
		page, err := c.list(ctx, resource, namespace, o)
		if err != nil {
			return c.refused("list "+resource+where(resource, namespace), err)
		}
		about, err := meta.ListAccessor(page)
		if err == nil {
			err = meta.EachListItem(page, func(object runtime.Object) error {
				to.Add(object)
				return nil
			})
		}
		if err != nil {
			return fmt.Errorf("reading %s: %w", resource, err)
		}
		if o.Continue = about.GetContinue(); o.Continue == "" {
			return nil
		}
	}
}

// where names the namespace as a flag of kubectl.
func where(resource, namespace string) string {
	switch {
	case resource == "nodes" || resource == "namespaces":
		return ""
	case namespace == "":
		return " -A"
	}
	return " -n " + namespace
}

// names returns the names of the objects; none if they can't be listed.
func (c Cluster) names(ctx context.Context, resource, namespace string, o metav1.ListOptions) (names []string) {
	list, err := c.list(ctx, resource, namespace, o)
	if err != nil {
		return nil
	}
	_ = meta.EachListItem(list, func(item runtime.Object) error {
		if about, err := meta.Accessor(item); err == nil {
			names = append(names, about.GetName())
		}
		return nil
	})
	return names
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
