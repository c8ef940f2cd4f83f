package inspect

import (
	"context"
	"fmt"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/taint-manager/taint-manager/foresight"
)

// readPod reads one pod, its events, its node, or all if breakers count them, and the budgets of its namespace.
func (c liveCluster) readPod(ctx context.Context, q query, m *foresight.Model) (r reading, err error) {
	pod, err := c.client.CoreV1().Pods(q.namespace).Get(ctx, q.pod, metav1.GetOptions{})
	if err != nil && !missingObject(err) {
		return r, c.refused("get pods", err)
	}
	events, err := c.readEvents(ctx, q, m)
	if err != nil {
		return r, err
	}
	if pod = present(pod); pod == nil && events == 0 {
		return r, c.noPod(ctx, q)
	}
	if pod != nil {
		m.AddPod(pod)
		r.node = pod.Spec.NodeName
		if r.hidden, err = c.readNodes(ctx, q, r.node, m); err != nil {
			return r, err
		}
		if err := c.readBudgets(ctx, q, m); err != nil {
			return r, err
		}
		if r.spaces, err = c.readNamespaces(ctx, q, m); err != nil {
			return r, err
		}
	}
	r.at = c.now().Round(0)
	return r, nil
}

// Locate returns the namespace of the query, in which the pod was found.
func (c liveCluster) Locate(q query, _ *foresight.Model) (string, error) { return q.namespace, nil }

// present returns the pod, or nil if the client has returned an empty one.
func present(pod *v1.Pod) *v1.Pod {
	if pod == nil || pod.Name == "" {
		return nil
	}
	return pod
}

// readNodes adds all nodes, if the query asks for them and the user may list them, else the pod's node. It reports whether
// nodes can't be read.
func (c liveCluster) readNodes(ctx context.Context, q query, name string, m *foresight.Model) (hidden bool, err error) {
	if q.allNodes {
		if err := c.listNodes(ctx, m); !apierrors.IsForbidden(err) {
			return false, err
		}
	}
	m.SetPartial()
	return c.readNode(ctx, name, m)
}

// readNode adds the pod's node, unless it is gone. It reports whether nodes can't be read.
func (c liveCluster) readNode(ctx context.Context, name string, m *foresight.Model) (hidden bool, err error) {
	if name == "" {
		return false, nil
	}
	node, err := c.client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
	switch {
	case missingObject(err):
		return false, nil
	case apierrors.IsForbidden(err):
		if all := c.Journal(ctx, nil, true); all.missing() != "" {
			return false, c.refused("get nodes", err)
		}
		note(c.messages, "this user may not get nodes, so those taints count that the manager has recorded in its journal")
		return true, nil
	case err != nil:
		return false, c.refused("get nodes", err)
	}
	m.AddNode(node)
	return false, nil
}

// missingObject reports whether the error means that the object does not exist. A server that is not an API server
// returns such an error for every object.
func missingObject(err error) bool {
	return apierrors.IsNotFound(err) && !apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
}

// readEvents adds the events of pods with this name, including deleted ones, and returns their number. Without the
// permission to list events it adds none.
func (c liveCluster) readEvents(ctx context.Context, q query, m *foresight.Model) (int64, error) {
	selector := fields.Set{"involvedObject.kind": "Pod", "involvedObject.name": q.pod}.AsSelector().String()
	list, err := c.client.CoreV1().Events(q.namespace).List(ctx, metav1.ListOptions{FieldSelector: selector, Limit: portion})
	switch {
	case apierrors.IsForbidden(err):
		note(c.messages, "this user may not list events, so they are not shown")
		return 0, nil
	case err != nil:
		return 0, c.refused("list events", err)
	}
	return addAll(runtime.Object(list), m)
}

// noPod returns an error that names existing pods with similar names.
func (c liveCluster) noPod(ctx context.Context, q query) error {
	var others []string
	list, err := c.client.CoreV1().Pods(q.namespace).List(ctx, metav1.ListOptions{Limit: portion})
	if err == nil { // otherwise there are fewer suggestions
		for i := range list.Items {
			others = append(others, list.Items[i].Name)
		}
	}
	return noPod(q.namespace, q.pod, "the cluster", others, fmt.Sprintf("'kubectl get pods -n %s' lists them", q.namespace))
}
