package evict

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/client-go/kubernetes"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

// While at most maxUnshared calls are in flight, each needs a GET that was sent after it began. So a lone eviction
// never relies on the GET of an earlier one.
const maxUnshared = 4

// Evictor makes one eviction call and waits for its end. It must be safe for concurrent use, and give up when the
// context ends.
type Evictor interface {
	Evict(ctx context.Context, e eviction.Request) eviction.Outcome
}

// Reader is the cache that verdicts are based on. It may be called by any number of goroutines, and what it returns is
// immutable.
type Reader interface {
	// Pod returns the pod with this UID and the node that it is bound to; each is nil if it does not exist.
	Pod(uid types.UID) (*taint.Pod, *taint.Node)
}

// ConfirmOptions are the settings of a [Confirmed]. The functions are called by many goroutines.
type ConfirmOptions struct {
	Evictor Evictor              // makes the calls that are confirmed
	Client  kubernetes.Interface // reads the nodes
	Reader  Reader
	Judge   func() policy.Judge // the latest

	// Version returns the resourceVersion that the cache has of a tainted node; empty if it has no such node.
	Version func(node string) string

	// Timeout bounds one request. 0: CallTimeout.
	Timeout time.Duration

	// PausedSince returns when the present pause, caused by an outage, began; zero while there is none. Running calls
	// need a GET sent after that time.
	PausedSince func() time.Time

	// Withdrawn reports whether the eviction was withdrawn since its call began. Without this, the judge might permit a
	// deletion too early: a hold that began and ended during the call restarts deleteAfter, but the judge does not know
	// of it.
	Withdrawn func(uid types.UID) bool

	// NodeRead receives the outcome of each GET of a node.
	NodeRead func(node string, sent time.Time, o eviction.Outcome)

	// Clock must be the clock of the judge's times. Nil: the machine's.
	Clock Clock
}

// Confirmation reports whether a call may send its next request. If not, the call ends with the outcome.
type Confirmation = func(ctx context.Context) (outcome eviction.Outcome, ok bool)

// ConfirmingEvictor is an [Evictor] whose calls may take several requests: it calls confirm before each of them.
type ConfirmingEvictor interface {
	Evictor
	EvictConfirmed(ctx context.Context, e eviction.Request, confirm Confirmation) eviction.Outcome
}

// Confirmed is an evictor that makes a call only if the API server itself says that the pod's node has the taint, so
// that a cache that lags causes no eviction. Each request of a [ConfirmingEvictor] is confirmed; a call of any other
// evictor is confirmed as a whole. It is safe for concurrent use.
type Confirmed struct {
	ConfirmOptions
	getNode  func(ctx context.Context, name string) (*v1.Node, error)
	inFlight atomic.Int32 // calls

	mu    sync.Mutex
	reads map[string]*nodeRead // the latest GET of each node
}

// Confirm returns an evictor that confirms each call of another evictor.
func Confirm(o ConfirmOptions) *Confirmed {
	o.Timeout = cmp.Or(o.Timeout, CallTimeout)
	if o.Clock == nil {
		o.Clock = machine{}
	}
	return &Confirmed{ConfirmOptions: o, getNode: newSender(o.Client).node, reads: map[string]*nodeRead{}}
}

// Evict makes the call if it is confirmed. Otherwise the outcome is Unconfirmed, or that of the GET of the node.
func (c *Confirmed) Evict(ctx context.Context, e eviction.Request) eviction.Outcome {
	began := c.Clock.Now()
	c.inFlight.Add(1)
	defer c.inFlight.Add(-1)
	confirm := func(ctx context.Context) (eviction.Outcome, bool) { return c.confirm(ctx, &e, began) }
	if evictor, ok := c.Evictor.(ConfirmingEvictor); ok {
		return evictor.EvictConfirmed(ctx, e, confirm)
	}
	if unconfirmed, ok := confirm(ctx); !ok {
		return unconfirmed
	}
	return c.Evictor.Evict(ctx, e)
}

// confirm carries out the [Confirmation] of a call. An earlier GET may be older than the cache: if it does not confirm
// the call, a new GET decides.
func (c *Confirmed) confirm(ctx context.Context, e *eviction.Request, began time.Time) (eviction.Outcome, bool) {
	now := c.Clock.Now()
	outcome, sent := c.confirmSince(ctx, e, func() time.Time { return c.notBefore(e, began) })
	if outcome.Kind == eviction.Unconfirmed && sent.Before(now) {
		outcome, _ = c.confirmSince(ctx, e, func() time.Time { return now })
	}
	if outcome.Kind == proceed && c.Withdrawn(e.Pod.UID) {
		why := "the verdict has changed: for a time during the call, the pod was not to be evicted"
		return eviction.Outcome{Kind: eviction.Unconfirmed, Message: why}, false
	}
	return outcome, outcome.Kind == proceed
}

// notBefore returns the earliest time at which the GET for a call may have been sent. While calls pause, a GET from
// before the pause does not show whether the API server is back.
func (c *Confirmed) notBefore(e *eviction.Request, began time.Time) time.Time {
	at := e.Verdict.At
	if c.inFlight.Load() <= maxUnshared {
		at = began
	}
	if since := c.PausedSince(); since.After(at) {
		return since
	}
	return at
}

// confirmSince judges the call by a GET of the node that was sent at notBefore or later, and returns when the GET was
// sent. The outcome's kind is proceed if the GET confirms the call.
func (c *Confirmed) confirmSince(
	ctx context.Context, e *eviction.Request, notBefore func() time.Time,
) (eviction.Outcome, time.Time) {
	read, err := c.readNode(ctx, e.Pod.Node, notBefore)
	if err != nil {
		return interrupted(), time.Time{}
	}
	if read.outcome.Kind != proceed {
		return read.outcome, read.sent
	}
	if age := c.Clock.Now().Sub(read.sent); age > maxReadAge {
		why := fmt.Sprintf("the GET of node %s took %v; it counts for %v", e.Pod.Node, age.Round(time.Millisecond),
			maxReadAge)
		return eviction.Outcome{Kind: eviction.Unconfirmed, Message: why}, read.sent
	}
	version := c.Version(e.Pod.Node) // read before the node, so the node has this version or a later version
	pod, node := c.Reader.Pod(e.Pod.UID)
	if why := WhyUnconfirmed(c.Judge(), e, pod, node, read.live, version); why != "" {
		return eviction.Outcome{Kind: eviction.Unconfirmed, Message: why}, read.sent
	}
	return eviction.Outcome{}, read.sent
}

// WhyUnconfirmed returns why the judge does not confirm the request, or "". pod and node come from the cache and may be
// nil; live is the node as the API server has it. version is the resourceVersion that the cache has of the node; empty
// if the cache has no such node with a trigger taint.
func WhyUnconfirmed(
	judge policy.Judge, e *eviction.Request, pod *taint.Pod, node *taint.Node, live LiveNode, version string,
) string {
	if why := whyNone(judge, pod, node); why != "" {
		return why
	}
	if why := whyNotPermitted(judge, e, pod, node, live); why != "" {
		return why
	}
	if !judge.Plain() && !maps.Equal(node.Labels, live.Labels) { // without policies, the cache keeps no labels
		labelled := *node
		labelled.Labels = live.Labels
		if why := whyNotPermitted(judge, e, pod, &labelled, live); why != "" {
			return "by the labels that node " + node.Name + " has now: " + why
		}
	}
	if behind(version, live.ResourceVersion) {
		return "the watch lags: it has not shown the latest change of node " + node.Name + " yet"
	}
	return ""
}

// whyNone returns why the judge permits no request for the pod, or "".
func whyNone(judge policy.Judge, pod *taint.Pod, node *taint.Node) string {
	switch {
	case pod == nil || node == nil:
		return "the pod or its node is gone"
	case judge.Paused():
		return "all evictions are paused"
	}
	return ""
}

// whyNotPermitted returns why no taint permitted the request when the GET was sent and is in its answer, or "".
func whyNotPermitted(judge policy.Judge, e *eviction.Request, pod *taint.Pod, node *taint.Node, live LiveNode) string {
	if pod.Seen.After(live.Sent) {
		return "the pod has changed since the GET of node " + node.Name + " was sent"
	}
	t, why := permitting(judge, e, pod, node, live.Sent)
	switch {
	case why != "":
		return why
	case node.UID != live.UID:
		return "node " + node.Name + " was replaced by another one of that name"
	}
	return whyNotCarried(node.Name, live, t)
}

// permitting returns the taint that permitted the request at that moment, or why none did.
func permitting(
	judge policy.Judge, e *eviction.Request, pod *taint.Pod, node *taint.Node, at time.Time,
) (t *v1.Taint, why string) {
	sent := policy.Sent{
		Method: e.Method, Policy: e.Policy, GracePeriodSeconds: e.GracePeriodSeconds,
		TaintKey: e.Verdict.Taint.Key,
	}
	judge.Released = e.Released
	permits, _ := judge.Permits(pod, node, policy.Calls{RefusedSince: e.RefusedSince}, at)
	for i := range permits {
		if permits[i].Covers(pod, sent) {
			return permits[i].Action.Taint, ""
		}
	}
	same := func(w policy.Permit) bool { return e.Method == "" || e.Method == w.Method }
	if i := slices.IndexFunc(permits, same); i >= 0 {
		return nil, "the verdict has changed: the pod is to be evicted in another way: " + permits[i].String()
	}
	verdict := judge.Decide(pod, node)
	return nil, "the verdict has changed: the pod " + changed(&verdict, e.Method)
}

// changed describes a verdict that did not permit the method when the GET was sent.
func changed(v *policy.Verdict, method policy.Method) string {
	switch {
	case v.Held.By != 0 && !v.Evicts():
		return "is held by " + v.Held.String()
	case method == policy.Delete && v.Delete.Evict:
		return v.Delete.String()
	}
	return v.First().String()
}

// whyNotCarried returns why the GET does not show the taint, or "". The taint unschedulable counts only on a node that
// is unschedulable: the node lifecycle controller removes it a moment after `kubectl uncordon`.
func whyNotCarried(node string, live LiveNode, t *v1.Taint) string {
	switch {
	case !carries(live.Taints, t):
		return "node " + node + " does not have the taint " + t.ToString() +
			" any longer; the watch has not shown it yet"
	case t.Key == v1.TaintNodeUnschedulable && t.Effect == v1.TaintEffectNoSchedule && !live.Unschedulable:
		return "node " + node + " is schedulable again; its taint " + t.ToString() + " has not been removed yet"
	}
	return ""
}

// carries reports whether the taint is among these, with the same effect, value and timeAdded.
func carries(taints []v1.Taint, t *v1.Taint) bool {
	return slices.ContainsFunc(taints, func(live v1.Taint) bool {
		return live.MatchTaint(t) && live.Value == t.Value && live.TimeAdded.Equal(t.TimeAdded)
	})
}

// behind reports whether the resourceVersion version is certainly older than live.
func behind(version, live string) bool {
	order, err := resourceversion.CompareResourceVersion(version, live)
	return err == nil && order < 0
}
