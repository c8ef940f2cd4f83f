package differential

import (
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
)

// history is what happens in a cluster, but for the evictions. All times count from the moment at which
// the controllers begin to watch.
type history struct {
	// The cluster as it is when the controllers begin.
	nodes []*v1.Node
	pods  []*v1.Pod

	// changes in the order of their times, no two at one time. No time is a whole number of seconds
	// after another, so that no deadline falls on a change.
	changes []change

	// end is when nobody looks any longer.
	end time.Duration
}

// verb is what happens to an object.
type verb string

const (
	created  verb = "created"
	updated  verb = "updated"
	deleted  verb = "deleted"
	replaced verb = "replaced" // deleted, and another one created under its name, at one moment
	turned   verb = "turned"   // the same, but the watch has missed that it was deleted
)

// replaces says whether the verb puts another object under the name of one that may be there.
func (v verb) replaces() bool { return v == replaced || v == turned }

// change is what happens to one node or to one pod, whichever is set: the object is as it is afterwards,
// or as it was before it was deleted.
type change struct {
	at   time.Duration
	verb verb
	node *v1.Node
	pod  *v1.Pod
}

// all are all pods of the history in the order in which they come.
func (h *history) all() []*v1.Pod {
	list := slices.Clone(h.pods)
	for _, c := range h.changes {
		if c.pod != nil && (c.verb == created || c.verb.replaces()) {
			list = append(list, c.pod)
		}
	}
	return list
}
