package oracle

import (
	"slices"
	"strconv"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
)

// none stands for no time.
const none = time.Duration(-1 << 63)

// nodeVersion is a version of a node, with the moment at which the API server wrote it.
type nodeVersion struct {
	version int64
	at      time.Duration
	taints  []v1.Taint
}

// nodeStory is the true history of one node UID.
type nodeStory struct {
	name     string
	versions []nodeVersion
	gone     time.Duration // none while it exists
}

// podStory is the true history of one pod UID.
type podStory struct {
	pod    *v1.Pod       // the present or last version
	bound  time.Duration // none while it is not bound
	edited bool          // its tolerations were edited
	gone   bool
}

// Oracle knows the true history of one world. It is not safe for concurrent use.
type Oracle struct {
	// Epoch is the true moment zero.
	Epoch time.Time

	// ServerAhead is how far the API server's clock is ahead of the true time.
	ServerAhead time.Duration

	// Apart is by how much the clocks of API servers differ. The one that writes objects has the clock of ServerAhead.
	Apart time.Duration

	// Governed means that there are policies or breakers. These may hold pods, and put off deadlines.
	Governed bool

	// Rated means that there may be rates. A call is made because of any taint that is due and has tokens.
	Rated bool

	// Seen counts notable events by name, each where it happens.
	Seen map[string]int

	nodes     map[types.UID]*nodeStory
	pods      []*podStory
	processes []*Process // all so far
}

// New returns an oracle without a history.
func New(epoch time.Time) *Oracle {
	return &Oracle{Epoch: epoch, Seen: map[string]int{}, nodes: map[types.UID]*nodeStory{}}
}

// NodeWritten records that the API server has written a node; if gone is set, the node was deleted.
func (o *Oracle) NodeWritten(at time.Duration, n *v1.Node, gone bool) {
	story := o.nodes[n.UID]
	if story == nil {
		story = &nodeStory{name: n.Name, gone: none}
		o.nodes[n.UID] = story
	}
	if gone {
		story.gone = at
		return
	}
	story.versions = append(story.versions, nodeVersion{
		version: number(n.ResourceVersion), at: at,
		taints: n.Spec.Taints,
	})
}

// PodWritten records that the API server has written a pod; if gone is set, the pod was removed.
func (o *Oracle) PodWritten(at time.Duration, p *v1.Pod, gone bool) {
	story := o.pod(p.UID)
	if story == nil {
		story = &podStory{bound: none}
		o.pods = append(o.pods, story)
	}
	if gone {
		story.gone = true
		return
	}
	if story.bound == none && p.Spec.NodeName != "" {
		story.bound = at
	}
	story.edited = story.edited || story.pod != nil &&
		!equality.Semantic.DeepEqual(story.pod.Spec.Tolerations, p.Spec.Tolerations)
	story.pod = p
}

func (o *Oracle) pod(uid types.UID) *podStory {
	return lastOf(o.pods, func(story *podStory) bool { return story.pod.UID == uid })
}

// lastOf returns the last element for which is returns true; nil if there is none.
func lastOf[T any](list []*T, is func(*T) bool) *T {
	for _, one := range slices.Backward(list) {
		if is(one) {
			return one
		}
	}
	return nil
}

// at returns the version of the node at a moment; false if it did not exist.
func (n *nodeStory) at(moment time.Duration) (nodeVersion, bool) {
	if n == nil || n.gone != none && moment >= n.gone {
		return nodeVersion{}, false
	}
	for _, v := range slices.Backward(n.versions) {
		if v.at <= moment {
			return v, true
		}
	}
	return nodeVersion{}, false
}

// setAt returns when the taint, as it is in that version, was set: the start of its unbroken presence.
func (n *nodeStory) setAt(version int64, t *v1.Taint) time.Duration {
	i := slices.IndexFunc(n.versions, func(v nodeVersion) bool { return v.version == version })
	for i > 0 && carries(n.versions[i-1].taints, pairOf(t)) {
		i--
	}
	return n.versions[i].at
}

// absentAt returns the latest version after one version and up to another at which the taint, with any value, was
// absent; 0 if there is none.
func (n *nodeStory) absentAt(after, upTo int64, g string) (last int64) {
	for i := range n.versions {
		v := &n.versions[i]
		if v.version > after && v.version <= upTo && len(of(v.taints, g)) == 0 {
			last = v.version
		}
	}
	return last
}

// carries reports whether one of the taints has this key and value, and the effect NoExecute.
func carries(taints []v1.Taint, p pair) bool {
	return slices.ContainsFunc(taints, func(t v1.Taint) bool {
		return t.Effect == v1.TaintEffectNoExecute && pairOf(&t) == p
	})
}

// group returns the key of the taints that count as one: not-ready and unreachable do (docs/semantics.md, "When
// a taint was set").
func group(key string) string {
	if key == v1.TaintNodeNotReady {
		return v1.TaintNodeUnreachable
	}
	return key
}

func number(version string) int64 {
	n, err := strconv.ParseInt(version, 10, 64)
	if err != nil {
		panic("oracle: resourceVersion " + version + " is not a number")
	}
	return n
}
