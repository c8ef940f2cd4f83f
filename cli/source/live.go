package source

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/pager"

	"github.com/taint-manager/taint-manager/internal/foresight"
	"github.com/taint-manager/taint-manager/internal/hint"
	"github.com/taint-manager/taint-manager/internal/journal"
	"github.com/taint-manager/taint-manager/internal/transport"
)

// portion is the number of objects in one request, so that only few are in memory.
const portion = 500

// unfinished selects the pods that have not finished.
const unfinished = ",status.phase!=Succeeded,status.phase!=Failed"

// Cluster is a live cluster, read from its API server.
type Cluster struct {
	client         kubernetes.Interface
	server, origin string // the server's address, and what has provided it

	now      func() time.Time // by the API server's clock
	location location
}

func (c Cluster) String() string { return "the cluster" }

// Hint suggests the kubectl command.
func (c Cluster) Hint(kubectl string) string { return "Check with 'kubectl " + kubectl + "'." }

// read reads the rules of the manager, then the objects of the scope, and then the journal, so that its records are not
// older than the objects.
func (c Cluster) read(ctx context.Context, s *Scope, to *foresight.Builder) (r foresight.Reading, err error) {
	if r.AsRunning = s.Running != nil; r.AsRunning {
		if err := s.judge(c.journal(ctx, journal.StateObject), to); err != nil {
			return r, err
		}
	}
	if s.Pod != "" {
		err = c.readPod(ctx, s, to, &r)
	} else {
		err = c.readPods(ctx, s, to, &r)
	}
	if err == nil && !s.Scheduled {
		r.BudgetsUnknown, err = c.eachAllowed(ctx, "poddisruptionbudgets", s.Focus.Namespace, metav1.ListOptions{}, to)
		if s.NoBudgets {
			r.BudgetsUnknown = ""
		}
	}
	if err == nil && !s.Scheduled && (s.Devices || to.HasDevices) {
		err = c.readDevices(ctx, s.Focus.Namespace, to, &r)
	}
	if err == nil && s.namespaces() {
		r.NamespacesRefused, err = c.eachAllowed(ctx, "namespaces", "", byName(s.Focus.Namespace), to)
	}
	r.At = c.now().Round(0)
	if err == nil {
		r.Journal = c.journal(ctx, 0)
	}
	return r, err
}

// readPods adds the nodes, then the pods.
func (c Cluster) readPods(ctx context.Context, s *Scope, to *foresight.Builder, r *foresight.Reading) error {
	only := ""
	if s.Scheduled && len(s.Nodes) == 1 {
		only = s.Nodes[0]
	}
	err := c.readNodes(ctx, s, only, to)
	if err == nil && only != "" && !to.HasNodes() { // the error about it names nodes with similar names
		err = c.readNodes(ctx, s, "", to)
	}
	if err != nil {
		return err
	}
	if s.Scheduled && s.Devices {
		if err := c.readDevices(ctx, s.Focus.Namespace, to, r); err != nil {
			return err
		}
	}
	if !s.Scheduled || s.AllPods || to.HasDevices || r.DevicesUnknown != "" || len(to.Tainted(s.Nodes)) > 0 {
		if err := c.each(ctx, "pods", s.Focus.Namespace, s.podOptions(), to.Add); err != nil {
			return err
		}
	}
	if s.Scheduled && len(to.Tainted(s.Nodes)) > 0 { // events show whether pods come back again and again
		evictions := metav1.ListOptions{FieldSelector: "involvedObject.kind=Pod,reason=" + foresight.EvictionReason}
		_ = c.each(ctx, "events", s.Focus.Namespace, evictions, to.Add)
	}
	return c.check(ctx, s, to, r)
}

// readPod adds a pod, the events of pods with its name, including deleted ones, and its node, or all nodes if breakers
// count them.
func (c Cluster) readPod(ctx context.Context, s *Scope, to *foresight.Builder, r *foresight.Reading) error {
	var node string
	err := c.each(ctx, "pods", s.Focus.Namespace, byName(s.Pod), func(pod any) {
		node = pod.(*v1.Pod).Spec.NodeName
		to.Add(pod)
	})
	if err != nil {
		return err
	}
	about := "involvedObject.kind=Pod," + fields.OneTermEqualSelector("involvedObject.name", s.Pod).String()
	r.EventsUnknown, err = c.eachAllowed(ctx, "events", s.Focus.Namespace, metav1.ListOptions{FieldSelector: about}, to)
	if r.EventsUnknown != "" {
		r.Notes = append(r.Notes, r.EventsUnknown+", so they are not shown")
	}
	switch {
	case err != nil:
		return err
	case len(to.Find(s.Pod)) == 0:
		return c.noPod(ctx, s)
	case node == "" && !s.Rules.Guarded():
		return nil
	}
	if err := c.readNodes(ctx, s, node, to); err != nil {
		return err
	}
	if s.Rules.Limited() && len(to.Tainted([]string{node})) > 0 {
		c.readWholeCluster(ctx, to)
	}
	return nil
}

// readWholeCluster reads what the pace of evictions depends on, if this user may list it: all nodes and pods.
func (c Cluster) readWholeCluster(ctx context.Context, to *foresight.Builder) {
	all := to.WholeCluster()
	bound := metav1.ListOptions{FieldSelector: "spec.nodeName!=" + unfinished}
	err := c.each(ctx, "nodes", "", metav1.ListOptions{}, all.Add)
	if err == nil && c.each(ctx, "pods", "", bound, all.Add) == nil {
		to.SetWholeCluster(all)
	}
}

// readNodes adds the node of this name, or all if the name is empty or if breakers count nodes.
func (c Cluster) readNodes(ctx context.Context, s *Scope, name string, to *foresight.Builder) error {
	if s.Rules.Guarded() {
		name = ""
	}
	return c.each(ctx, "nodes", "", byName(name), to.Add)
}

// byName selects one object, or all if the name is empty.
func byName(name string) (o metav1.ListOptions) {
	if name != "" {
		o.FieldSelector = fields.OneTermEqualSelector(metav1.ObjectNameField, name).String()
	}
	return o
}

// podOptions selects all pods. For a Scheduled question, it selects only bound pods with the labels of Focus and,
// unless AllPods is set, only those that have not finished. For a single node, the API server uses its index.
func (s *Scope) podOptions() (o metav1.ListOptions) {
	if !s.Scheduled {
		return o
	}
	if s.Focus.Labels != nil {
		o.LabelSelector = s.Focus.Labels.String()
	}
	o.FieldSelector = "spec.nodeName!="
	if len(s.Nodes) == 1 {
		o.FieldSelector = fields.OneTermEqualSelector("spec.nodeName", s.Nodes[0]).String()
	}
	if !s.AllPods {
		o.FieldSelector += unfinished
	}
	return o
}

// check returns an error if a node or the namespace does not exist, unless namespaces can't be read. It adds a note
// about a namespace without pods if all pods were listed.
func (c Cluster) check(ctx context.Context, s *Scope, of *foresight.Builder, r *foresight.Reading) error {
	namespace := s.Focus.Namespace
	if of.HasNodes() {
		if err := s.checkNodes(of, c); err != nil {
			return err
		}
	} else if !s.Scheduled {
		return hint.Add(fmt.Errorf("%s has no nodes", c), "%s", c.Hint("get nodes"))
	}
	if namespace == "" || of.Pods(namespace) > 0 {
		return nil
	}
	_, err := c.client.CoreV1().Namespaces().Get(ctx, namespace, metav1.GetOptions{})
	// A server that is not an API server returns such a status for every object.
	if apierrors.IsNotFound(err) && !apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse) {
		return hint.Add(fmt.Errorf("namespace %s not found in %s", namespace, c), "%s", c.Hint("get namespaces"))
	}
	if !s.Scheduled {
		r.Notes = append(r.Notes, "there are no pods in namespace "+namespace)
	}
	return nil
}

// noPod returns an error that names the pods of this name in other namespaces or, if there are none, pods with similar
// names.
func (c Cluster) noPod(ctx context.Context, s *Scope) error {
	var others, elsewhere []string
	for _, pod := range c.firstPage(ctx, "pods", s.Focus.Namespace, metav1.ListOptions{Limit: portion}) {
		others = append(others, pod.GetName())
	}
	for _, pod := range c.firstPage(ctx, "pods", "", byName(s.Pod)) {
		elsewhere = append(elsewhere, pod.GetNamespace()+"/"+pod.GetName())
	}
	return s.noPod(c, others, elsewhere, c.Hint("get pods -n "+s.Focus.Namespace))
}

// readDevices adds devices, claims of the namespace and DeviceTaintRules, and reads the version of the server. A server
// without their API has none.
func (c Cluster) readDevices(ctx context.Context, in string, to *foresight.Builder, r *foresight.Reading) error {
	for _, resource := range []string{"resourceslices", "devicetaintrules", "resourceclaims"} {
		err := c.each(ctx, resource, in, metav1.ListOptions{}, to.Add)
		switch {
		case apierrors.IsForbidden(err):
			r.DevicesUnknown = mayNotList(resource, in)
		case err != nil && !apierrors.IsNotFound(err):
			return err
		}
	}
	server, err := c.client.Discovery().ServerVersion()
	if err != nil {
		return c.refused("get /version", err)
	}
	r.Kubernetes, err = kubernetesVersion(server.GitVersion)
	return err
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
	case "events":
		return c.client.CoreV1().Events(namespace).List(ctx, o)
	case "resourceclaims":
		return c.client.ResourceV1().ResourceClaims(namespace).List(ctx, o)
	case "resourceslices":
		return c.client.ResourceV1().ResourceSlices().List(ctx, o)
	case "devicetaintrules":
		return c.client.ResourceV1().DeviceTaintRules().List(ctx, o)
	default:
		return c.client.PolicyV1().PodDisruptionBudgets(namespace).List(ctx, o)
	}
}

// each lists page by page and adds each object.
func (c Cluster) each(ctx context.Context, resource, namespace string, o metav1.ListOptions, add func(any)) error {
	pages := pager.ListPager{PageSize: portion, PageFn: func(
		ctx context.Context, o metav1.ListOptions,
	) (runtime.Object, error) {
		return c.list(ctx, resource, namespace, o)
	}}
	err := pages.EachListItem(ctx, o, func(object runtime.Object) error {
		add(object)
		return nil
	})
	if err != nil {
		return c.refused("list "+resource+where(resource, namespace), err)
	}
	return nil
}

// eachAllowed lists like each. refused is set if this user may not list.
func (c Cluster) eachAllowed(
	ctx context.Context, resource, namespace string, o metav1.ListOptions, to *foresight.Builder,
) (refused string, err error) {
	err = c.each(ctx, resource, namespace, o, to.Add)
	if apierrors.IsForbidden(err) {
		return mayNotList(resource, namespace), nil
	}
	return "", err
}

// where names the namespace as a flag of kubectl.
func where(resource, namespace string) string {
	switch {
	case slices.Contains([]string{"nodes", "namespaces", "resourceslices", "devicetaintrules"}, resource):
		return ""
	case namespace == "":
		return " -A"
	}
	return " -n " + namespace
}

// firstPage returns the objects of one page; none if they can't be listed.
func (c Cluster) firstPage(
	ctx context.Context, resource, namespace string, o metav1.ListOptions,
) (objects []metav1.Object) {
	page, err := c.list(ctx, resource, namespace, o)
	if err != nil {
		return nil
	}
	_ = meta.EachListItem(page, func(item runtime.Object) error {
		objects = append(objects, item.(metav1.Object)) // as all typed objects are
		return nil
	})
	return objects
}

// grantIn returns the command with which an administrator lets a user read what the commands need, in a namespace or,
// if it is empty, in all. deploy/rbac.yaml has the role.
func grantIn(namespace, role string) string {
	if namespace == "" {
		return "kubectl create clusterrolebinding taint-manager-viewer --clusterrole=taint-manager-viewer --user=USER"
	}
	return fmt.Sprintf("kubectl -n %s create rolebinding taint-manager-viewer --%s=taint-manager-viewer --user=USER",
		namespace, role)
}

// mayNotList says that this user may not list a resource, in a namespace or in all, and how that is granted.
func mayNotList(resource, namespace string) string {
	if where(resource, namespace) == "" {
		namespace = ""
	}
	return fmt.Sprintf("this user may not list %s, which '%s' grants", resource, grantIn(namespace, "clusterrole"))
}

// refused returns an error that gives the API server's reason and the next step.
func (c Cluster) refused(what string, err error) error {
	switch {
	case apierrors.IsForbidden(err):
		_, namespace, _ := strings.Cut(what, " -n ")
		return hint.Add(fmt.Errorf("this user may not %s: %w", what, err),
			"To grant access, run '%s', or use a dump with --filename=FILE.", grantIn(namespace, "clusterrole"))
	case transport.Untrusted(err), apierrors.IsUnauthorized(err), apierrors.IsNotFound(err):
		return transport.Unreachable(c.server, c.origin, err)
	case errors.Is(err, context.Canceled):
		return fmt.Errorf("cannot %s: %w", what, err)
	}
	return hint.Add(fmt.Errorf("cannot %s on API server %s: %w", what, c.server, err),
		"Check that the API server is running, and the server address in %s.", c.origin)
}
