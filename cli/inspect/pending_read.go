package inspect

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/taint-manager/taint-manager/cli/suggest"
	"github.com/taint-manager/taint-manager/dump"
	"github.com/taint-manager/taint-manager/foresight"
)

// bound selects the pods that may be evicted at all.
const bound = "spec.nodeName!=,status.phase!=Succeeded,status.phase!=Failed"

// liveForecast reads the cluster: the nodes, the pages of the journal about those that are tainted, and, if
// there are any, the pods.
type liveForecast struct {
	*reached
	*pendingOptions
	now      func() time.Time
	messages io.Writer
}

func (l liveForecast) pending(ctx context.Context) (*foresight.Pending, error) {
	o := foresight.NewOutlook(l.settings.Rules())
	hidden, err := l.readNodes(ctx, o)
	if err != nil {
		return nil, err
	}
	found := l.journal(ctx, &l.from.journalLocation, o.Tainted(l.nodes), hidden)
	see(o, found, hidden, l.now())
	if hidden || len(o.Tainted(l.nodes)) > 0 {
		if err := l.readPods(ctx, o); err != nil {
			return nil, err
		}
	}
	return l.tell(o, found, hidden, l.now()), nil
}

// see lets the outlook know what was read of the journal. Where the nodes are hidden it is all there is.
func see(o *foresight.Outlook, found *pages, hidden bool, at time.Time) {
	if hidden {
		o.ByRecords(found.all())
		return
	}
	for _, page := range found.all() {
		o.Record(page, at)
	}
}

// readNodes takes the nodes in. They are hidden from who may not list them.
func (l liveForecast) readNodes(ctx context.Context, o *foresight.Outlook) (hidden bool, err error) {
	cluster := liveCluster{reached: l.reached, messages: l.messages}
	at := l.now()
	err = cluster.each(ctx, "nodes", dump.Visitor{Node: func(n *v1.Node) { o.SeeNode(n, at, true) }}, func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
		return l.client.CoreV1().Nodes().List(ctx, options)
	})
	if apierrors.IsForbidden(err) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	return false, l.unknown(o.Nodes(), cluster)
}

// unknown refuses names of nodes that are not there.
func (a *pendingOptions) unknown(names []string, from source) error {
	missing := slices.DeleteFunc(slices.Clone(a.nodes), func(name string) bool { return slices.Contains(names, name) })
	if len(missing) == 0 {
		return nil
	}
	err := &foresight.UnknownNodesError{Names: missing}
	return fmt.Errorf("%w in %s%s; %s", err, from, suggest.Nearest(missing[0], names), from.next("get nodes"))
}

func (l liveForecast) readPods(ctx context.Context, o *foresight.Outlook) error {
	cluster := liveCluster{reached: l.reached, messages: l.messages}
	at := l.now()
	return cluster.each(ctx, l.whichPods(), dump.Visitor{Pod: func(p *v1.Pod) { o.SeePod(p, at, true) }}, func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
		options.FieldSelector, options.LabelSelector = l.fieldSelector(), l.selector
		return l.client.CoreV1().Pods(l.only()).List(ctx, options)
	})
}

// whichPods are those that are listed, as kubectl auth can-i takes it.
func (l liveForecast) whichPods() string {
	if l.everywhere {
		return "pods -A"
	}
	return "pods -n " + l.from.namespace
}

// fieldSelector lets the API server find the pods of a single node by its index.
func (a *pendingOptions) fieldSelector() string {
	if len(a.nodes) == 1 {
		return fields.OneTermEqualSelector("spec.nodeName", a.nodes[0]).String() + strings.TrimPrefix(bound, "spec.nodeName!=")
	}
	return bound
}

// only is the namespace whose pods count; empty for all.
func (a *pendingOptions) only() string {
	if a.everywhere {
		return ""
	}
	return a.from.namespace
}

// tell is the answer, with what is to be known about it.
func (a *pendingOptions) tell(o *foresight.Outlook, found *pages, hidden bool, at time.Time) *foresight.Pending {
	pending := o.Pending(at, a.nodes)
	tainted := len(o.Tainted(a.nodes))
	pending.TaintedNodes = &tainted
	switch {
	case hidden && found.missing() != "":
		could, all := o.Undecided(a.nodes)
		pending.Undecided, pending.TaintedNodes = &could, nil
		pending.Notes = append(pending.Notes, fmt.Sprintf("this user may not list nodes, and %s, so it is not known which taints there are: none to %d of %s are scheduled%s; --server asks the manager, and the ClusterRole taint-manager-viewer of deploy/rbac.yaml grants what is missing",
			found.missing(), could, pods(all, "", ""), a.where()))
		return pending
	case hidden:
		pending.Notes = append(pending.Notes, "this user may not list nodes, so those taints count that the manager has recorded in its journal")
	case pending.Unsure(), pending.Swapping():
		pending.Notes = append(pending.Notes, found.without()...)
	}
	if pending.Swapping() {
		pending.Notes = append(pending.Notes, foresight.Swapped)
	}
	if len(pending.Pods) > 0 {
		pending.Notes = append(pending.Notes, stale(o.Stale(a.nodes, at))...)
	}
	if late := pending.Overdue(overdueAfter); late > 0 {
		pending.Notes = append(pending.Notes, fmt.Sprintf("%s should have gone by now: no manager runs, or something is in the way; --server asks the manager, and 'taint-manager explain POD' tells what its events say", pods(late, "", "")))
	}
	return pending
}

// dumpedForecast reads a dump.
type dumpedForecast struct {
	*pendingOptions
	dumped
	now func() time.Time
}

func (d dumpedForecast) pending(ctx context.Context) (*foresight.Pending, error) {
	selector, err := labels.Parse(d.selector)
	if err != nil {
		return nil, err // was checked
	}
	o, found, at := foresight.NewOutlook(d.settings.Rules()), d.from.journalLocation.noPages(), d.now()
	err = d.read(ctx, dump.Visitor{
		Node: func(n *v1.Node) { o.SeeNode(n, at, true) },
		Pod: func(p *v1.Pod) {
			if d.only() == "" || p.Namespace == d.only() {
				if selector.Matches(labels.Set(p.Labels)) {
					o.SeePod(p, at, true)
				}
			}
		},
		ConfigMap: found.visit,
	})
	switch {
	case err != nil:
		return nil, err
	case len(o.Nodes()) == 0:
		return nil, fmt.Errorf("%s has no nodes; %s", d, d.next(""))
	}
	if err := d.unknown(o.Nodes(), d.dumped); err != nil {
		return nil, err
	}
	see(o, found, false, at)
	return d.tell(o, found, false, at), nil
}
