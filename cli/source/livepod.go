package source

import (
	"context"
	"fmt"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"

	"github.com/taint-manager/taint-manager/cli/suggest"
	"github.com/taint-manager/taint-manager/internal/foresight"
)

// readPod reads one pod, its events, its node, or all if breakers count them, and the budgets of its namespace. It
// returns the name of the node.
func (c Cluster) readPod(ctx context.Context, s *Scope, to *foresight.Builder, r *foresight.Reading) (string, error) {
	pod, err := c.getPod(ctx, s)
	if err != nil && !missingObject(err) {
		return "", c.refused("get pods", err)
	}
	events, err := c.readEvents(ctx, s, to, r)
	switch exists := pod != nil && pod.Name != ""; { // a client may return an empty pod
	case err != nil:
		return "", err
	case !exists && events == 0:
		return "", c.noPod(ctx, s)
	case !exists:
		return "", nil
	}
	to.Add(pod)
	if err := c.readNodes(ctx, s, pod.Spec.NodeName, to, r); err != nil {
		return "", err
	}
	if err := c.listBudgets(ctx, s, to, r); err != nil {
		return "", err
	}
	return pod.Spec.NodeName, c.listNamespaces(ctx, s, to, r)
}

// getPod gets the pod from its preferred namespace or, if it is not there, from the other one.
func (c Cluster) getPod(ctx context.Context, s *Scope) (*v1.Pod, error) {
	if s.Preferred != "" {
		pod, err := c.client.CoreV1().Pods(s.Preferred).Get(ctx, s.Pod, metav1.GetOptions{})
		if err == nil {
			s.Focus.Namespace = s.Preferred
			return pod, nil
		}
	}
	return c.client.CoreV1().Pods(s.Focus.Namespace).Get(ctx, s.Pod, metav1.GetOptions{})
}

// readNodes adds all nodes, if breakers count them and the user may list them, else the pod's node, unless it is gone.
func (c Cluster) readNodes(
	ctx context.Context, s *Scope, ofPod string, to *foresight.Builder, r *foresight.Reading,
) error {
	if s.Rules.Guarded() {
		if err := c.listNodes(ctx, to); !apierrors.IsForbidden(err) {
			return err
		}
	}
	r.Partial = true
	if ofPod == "" {
		return nil
	}
	node, err := c.client.CoreV1().Nodes().Get(ctx, ofPod, metav1.GetOptions{})
	if apierrors.IsForbidden(err) {
		if all := c.journal(ctx, allPartitions()); all.Missing() == "" {
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
func (c Cluster) readEvents(ctx context.Context, s *Scope, to *foresight.Builder, r *foresight.Reading) (int64, error) {
	selector := fields.Set{"involvedObject.kind": "Pod", "involvedObject.name": s.Pod}.AsSelector().String()
	list, err := c.client.CoreV1().Events(s.Focus.Namespace).List(ctx, metav1.ListOptions{
		FieldSelector: selector,
		Limit:         portion,
	})
	switch {
	case apierrors.IsForbidden(err):
		r.EventsUnknown = "this user may not list events"
		r.Notes = append(r.Notes, r.EventsUnknown+", so they are not shown")
		return 0, nil
	case err != nil:
		return 0, c.refused("list events", err)
	}
	return addAll(list, to)
}

// noPod returns an error that names the pods of this name in other namespaces or, if there are none, pods with similar
// names.
func (c Cluster) noPod(ctx context.Context, s *Scope) error {
	list, err := c.client.CoreV1().Pods(s.Focus.Namespace).List(ctx, metav1.ListOptions{Limit: portion})
	others, err := namesIn(list, err)
	if err != nil {
		others = nil // there are fewer suggestions
	}
	var elsewhere []string
	named := fields.OneTermEqualSelector("metadata.name", s.Pod).String()
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
