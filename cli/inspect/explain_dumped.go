package inspect

import (
	"context"
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/cli/suggest"
	"github.com/taint-manager/taint-manager/dump"
)

// find reads the whole dump. It keeps the nodes, which come before the pods, and what is about the pod.
func (d dumpedPods) find(ctx context.Context, name string) (finding, error) {
	nodes := map[string]*v1.Node{}
	var pods []*v1.Pod
	var events []v1.Event
	var others []string
	journal := d.journalLocation.noPages()
	ours := func(namespace string) bool { return d.namespace == "" || d.namespace == namespace }
	err := d.read(ctx, dump.Visitor{
		Node: func(n *v1.Node) { nodes[n.Name] = n },
		Pod: func(p *v1.Pod) {
			switch {
			case !ours(p.Namespace):
			case p.Name == name:
				pods = append(pods, p)
			default:
				others = append(others, p.Name)
			}
		},
		Event: func(e *v1.Event) {
			if o := e.InvolvedObject; o.Kind == "Pod" && o.Name == name && ours(o.Namespace) {
				events = append(events, *e)
			}
		},
		ConfigMap: journal.visit,
	})
	if err != nil {
		return finding{}, err
	}
	found, err := d.the(name, pods, nodes, events, others)
	found.pages = journal
	return found, err
}

// the is the one pod of the name.
func (d dumpedPods) the(name string, pods []*v1.Pod, nodes map[string]*v1.Node, events []v1.Event, others []string) (finding, error) {
	namespaces := namespacesOf(pods, events)
	switch {
	case len(namespaces) > 1:
		return finding{}, fmt.Errorf("there are pods %s in the namespaces %s of %s; choose one with --namespace", name, suggest.Listed(namespaces, "and"), d)
	case len(pods) > 1:
		return finding{}, fmt.Errorf("pod %s is there twice in %s; give what was written at one moment", name, d)
	case len(namespaces) == 0 && d.namespace == "":
		return finding{}, fmt.Errorf("there is no pod %s in %s%s, and no event tells of one; %s", name, d, suggest.Nearest(name, others), d.next(""))
	case len(namespaces) == 0:
		return finding{}, noPod(d.namespace, name, d.String(), others, d.next(""))
	}
	found := finding{namespace: namespaces[0], events: events}
	if len(pods) == 1 {
		found.pod, found.node = pods[0], nodes[pods[0].Spec.NodeName]
		found.events = about(pods[0], events)
	}
	return found, nil
}

// namespacesOf are those that have such a pod or, where none has, those whose events tell of one.
func namespacesOf(pods []*v1.Pod, events []v1.Event) []string {
	var list []string
	for _, p := range pods {
		list = append(list, p.Namespace)
	}
	for i := range events {
		if len(pods) == 0 {
			list = append(list, events[i].InvolvedObject.Namespace)
		}
	}
	slices.SortFunc(list, strings.Compare)
	return slices.Compact(list)
}
