package foresight

import (
	"slices"
	"strings"

	"github.com/taint-manager/taint-manager/internal/dispatch"
	"github.com/taint-manager/taint-manager/taint"
)

// The label that the manifests give to the pods of this program.
const (
	nameLabel   = "app.kubernetes.io/name"
	programName = "taint-manager"
)

// self returns the leader's pod, which the Lease or the journal names, or else the first pod with the label of the
// manifests; nil if none was read. Of pods with the leader's name, it prefers the one with that label.
func (m *Model) self() (self *pod) {
	leader, _, named := strings.Cut(m.reading.Journal.leader(), "_")
	best := 0
	for _, p := range m.pods {
		fit := 0
		if p.Labels[nameLabel] == programName {
			fit++
		}
		if named && p.Name == leader {
			fit += 2
		}
		if fit > best || fit > 0 && fit == best && p.Key() < self.Key() {
			self, best = p, fit
		}
	}
	return self
}

// leader returns the identity of the manager that leads, or that led last; "" if unknown.
func (j *Journal) leader() string {
	if s := j.Lease.Spec; s != nil && s.HolderIdentity != nil && *s.HolderIdentity != "" {
		return *s.HolderIdentity
	}
	return j.state.Leader
}

// isOwn reports whether this program evicts the pod as one of its own.
func isOwn(self, p *pod, by *Prediction) bool {
	return self != nil && by.Evict && by.DeletedBy == "" && (p == self || p.ReplicaOf(&self.Pod))
}

// noteOwn adds a note about when the pods of this program are evicted.
func (r *Remarks) noteOwn(names []string) {
	if len(names) == 0 {
		return
	}
	slices.Sort(names)
	r.note("taint-manager's own pods are evicted last, one at a time: %s; each waits up to %s for other evictions, and up to %s "+
		"for another replica to be Ready", ShortList(names), taint.Brief(dispatch.OwnAfter),
		taint.Brief(dispatch.OwnGap))
}
