package evict

import (
	"context"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/client-go/kubernetes"

	"github.com/taint-manager/taint-manager/config"
	"github.com/taint-manager/taint-manager/shard"
	"github.com/taint-manager/taint-manager/taint"
)

// ConfirmOptions are the settings of a [Confirmed]. All fields but Rules and Timeout are required.
type ConfirmOptions struct {
	// Evictor makes the calls that are confirmed.
	Evictor Evictor

	// Client reads the nodes.
	Client kubernetes.Interface

	// Reader is the cache that verdicts rest on; Rules change what a verdict is.
	Reader shard.Reader
	Rules  taint.Rules

	// Version is the resourceVersion of the cache's last look at a tainted node; empty when it knows
	// no such node.
	Version func(node string) string

	// Timeout bounds one request. 0: config.CallTimeout.
	Timeout time.Duration

	// PausedSince is when the present pause of all calls began; zero while there is none. The GET for
	// a call is sent later than that. NodeRead is told of each GET when it has ended. They are a
	// [Pool]'s. Nil: no call pauses, nobody is told.
	PausedSince func() time.Time
	NodeRead    func(sent time.Time, o shard.Outcome)
}

// Confirmed is an evictor that makes a call only when the API server itself says that the pod's node
// has the taint, so that a cache that lags evicts nobody. One GET of a node serves all of its pods that
// were due, and known as they are, when it was sent; it counts for five seconds. It is safe for concurrent use.
type Confirmed struct {
	ConfirmOptions
	reads *nodeReads
}

// Confirm returns an evictor that confirms each call of another one.
func Confirm(o ConfirmOptions) *Confirmed {
	if o.Timeout <= 0 {
		o.Timeout = config.CallTimeout
	}
	reads := newNodeReads(newSender(o.Client).node, o.Timeout)
	if o.NodeRead != nil {
		reads.told = o.NodeRead
	}
	return &Confirmed{o, reads}
}

// Evict makes the call if it is confirmed. Otherwise the outcome is Unconfirmed, or what the GET of the
// node has come to.
func (c *Confirmed) Evict(ctx context.Context, e shard.Eviction) shard.Outcome {
	began := time.Now()
	unconfirmed := c.confirm(ctx, &e, e.Verdict.At, began)
	if unconfirmed != nil {
		return *unconfirmed
	}
	return c.Evictor.Evict(ctx, e)
}

// confirm says what the call has come to if it is not to go on; nil when it is. A look that was made
// before the call began may lack what the cache has learnt since: then there is another one.
func (c *Confirmed) confirm(ctx context.Context, e *shard.Eviction, due, began time.Time) *shard.Outcome {
	read, err := c.reads.since(ctx, e.Pod.Node, c.notBefore(due))
	if err != nil {
		o := interrupted()
		return &o
	}
	if read.outcome.Kind != goOn {
		return &read.outcome
	}
	pod, node := c.Reader.Pod(e.Pod.UID) // once more, as the GET took its time
	why := Doubt(pod, node, Look{Sent: read.sent, Node: read.node, Version: c.Version(e.Pod.Node)}, c.Rules)
	switch {
	case why == "":
		return nil
	case due.Before(began) && read.sent.Before(began):
		return c.confirm(ctx, e, began, began)
	}
	return &shard.Outcome{Kind: shard.Unconfirmed, Message: why}
}

// notBefore is the moment before which the GET for a call may not have been sent: while calls pause, one
// from before the pause does not show whether the API server is back.
func (c *Confirmed) notBefore(due time.Time) time.Time {
	if c.PausedSince != nil {
		if since := c.PausedSince(); since.After(due) {
			return since
		}
	}
	return due
}

// Look is what a GET of a pod's node has shown.
type Look struct {
	Sent time.Time // when the GET was sent
	Node *v1.Node  // what it has shown

	// Version is the resourceVersion of the cache's last look at the node; empty when it knows no such
	// tainted node.
	Version string
}

// Doubt says why a pod is not certainly to go now, by the cache's pod and node, of which each may be nil,
// and by a look at the live node; empty when it is.
func Doubt(pod *taint.Pod, node *taint.Node, live Look, rules taint.Rules) string {
	if pod == nil || node == nil {
		return "the pod or its node is gone"
	}
	verdict := taint.Decide(pod, node, rules)
	switch {
	case !verdict.Evict || verdict.At.After(live.Sent) || pod.Seen.After(live.Sent):
		return "the verdict has changed: the pod " + verdict.String()
	case node.UID != live.Node.UID:
		return "node " + node.Name + " was replaced by another one of that name"
	case !carries(live.Node, verdict.Taint):
		return "node " + node.Name + " does not have the taint " + verdict.Taint.ToString() + " any longer; the watch has not shown it yet"
	case behind(live.Version, live.Node.ResourceVersion):
		return "the watch lags: it has not shown the latest change of node " + node.Name + " yet"
	}
	return ""
}

// carries says whether the node has the taint, and not one that was set later.
func carries(node *v1.Node, t *v1.Taint) bool {
	for i := range node.Spec.Taints {
		live := &node.Spec.Taints[i]
		if live.Key == t.Key && live.Value == t.Value && live.Effect == t.Effect {
			return live.TimeAdded.Equal(t.TimeAdded)
		}
	}
	return false
}

// behind says whether one resourceVersion is certainly older than the other.
func behind(version, live string) bool {
	order, err := resourceversion.CompareResourceVersion(version, live)
	return err == nil && order < 0
}
