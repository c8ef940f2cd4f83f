package inspect

import (
	"context"
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
)

func (l livePods) find(ctx context.Context, name string) (finding, error) {
	found := finding{namespace: l.namespace}
	pod, err := l.client.CoreV1().Pods(l.namespace).Get(ctx, name, metav1.GetOptions{})
	switch {
	case err == nil:
		found.pod = pod
	case !missingObject(err):
		return found, l.refused("get pods", err)
	}
	if found.events, err = l.events(ctx, name); err != nil {
		return found, err
	}
	found.events = about(found.pod, found.events)
	if found.pod == nil && len(found.events) == 0 {
		return found, l.noPod(ctx, name)
	}
	if found.pod != nil && found.pod.Spec.NodeName != "" {
		err = l.findNode(ctx, &found)
	}
	return found, err
}

// findNode adds the pod's node, and what the journal tells of it if it is tainted. Who may not see nodes
// is told of the taints that the journal has.
func (l livePods) findNode(ctx context.Context, f *finding) error {
	name := f.pod.Spec.NodeName
	node, err := l.node(ctx, name)
	switch {
	case apierrors.IsForbidden(err):
		if f.pages = l.journal(ctx, l.journalLocation, nil, true); f.pages.missing() != "" {
			return err
		}
		note(l.messages, "this user may not get nodes, so those taints count that the manager has recorded in its journal")
		recorded := f.pages.records()[name]
		node = recorded.Node(name)
	case err != nil:
		return err
	case node != nil && slices.ContainsFunc(node.Spec.Taints, executes):
		f.pages = l.journal(ctx, l.journalLocation, []string{name}, false)
	}
	f.node = node
	return nil
}

func executes(t v1.Taint) bool { return t.Effect == v1.TaintEffectNoExecute }

// missingObject says whether an answer means that the object is not there. What is no API server says
// that of everything.
func missingObject(err error) bool {
	return apierrors.IsNotFound(err) && !apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
}

func (l livePods) node(ctx context.Context, name string) (*v1.Node, error) {
	node, err := l.client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
	switch {
	case missingObject(err):
		return nil, nil
	case err != nil:
		return nil, l.refused("get nodes", err)
	}
	return node, nil
}

// events are those about the pod of this name, the gone ones of that name too. Without the permission
// to see them the answer is given without.
func (l livePods) events(ctx context.Context, name string) ([]v1.Event, error) {
	selector := fields.Set{"involvedObject.kind": "Pod", "involvedObject.name": name}.AsSelector().String()
	list, err := l.client.CoreV1().Events(l.namespace).List(ctx, metav1.ListOptions{FieldSelector: selector, Limit: portion})
	switch {
	case apierrors.IsForbidden(err):
		note(l.messages, "this user may not list events, so they are not told")
		return nil, nil
	case err != nil:
		return nil, l.refused("list events", err)
	}
	return list.Items, nil
}

// noPod names the pods that are there and are called alike.
func (l livePods) noPod(ctx context.Context, name string) error {
	var others []string
	list, err := l.client.CoreV1().Pods(l.namespace).List(ctx, metav1.ListOptions{Limit: portion})
	if err == nil { // else there is less to suggest
		for i := range list.Items {
			others = append(others, list.Items[i].Name)
		}
	}
	return noPod(l.namespace, name, "the cluster", others, fmt.Sprintf("'kubectl get pods -n %s' lists them", l.namespace))
}
