package differential

import (
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
)

// history is what happens in a cluster, except for the evictions. All times count from when the controllers begin
// to watch.
type history struct {
	// The state of the cluster when the controllers begin.
	nodes []*v1.Node
	pods  []*v1.Pod

	// changes in the order of their times, no two at one time. No time is a whole number of seconds after another,
	// so that no deadline coincides with a change.
	changes []change

	// end is the end of the observation.
	end time.Duration
}

// verb is the kind of a change of an object.
type verb string

const (
	created  verb = "created"
	updated  verb = "updated"
	deleted  verb = "deleted"
	replaced verb = "replaced" // deleted, and another one created under its name, at the same time
	turned   verb = "turned"   // the same, but the watch has missed the deletion
)

// replaces reports whether the verb creates an object under the name of one that may exist.
func (v verb) replaces() bool { return v == replaced || v == turned }

// change is a change of one node or one pod, whichever is set: the object is as after the change, or as before its
// deletion.
type change struct {
	at   time.Duration
	verb verb
	node *v1.Node
	pod  *v1.Pod
}

// all returns all pods of the history in the order of their creation.
func (h *history) all() []*v1.Pod {
	list := slices.Clone(h.pods)
	for _, c := range h.changes {
		if c.pod != nil && (c.verb == created || c.verb.replaces()) {
			list = append(list, c.pod)
		}
	}
	return list
}
