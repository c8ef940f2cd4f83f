package foresight

import (
	"encoding/json"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/taint"
)

// sharing lets pods share equal values: the replicas of one owner have the same labels and tolerations, and many
// pods have the same node and the same reason.
type sharing struct {
	texts       map[string]string
	labels      map[string]map[string]string
	tolerations map[string][]v1.Toleration
	owners      map[taint.Owner]*taint.Owner
}

func newSharing() sharing {
	return sharing{
		map[string]string{},
		map[string]map[string]string{},
		map[string][]v1.Toleration{},
		map[taint.Owner]*taint.Owner{},
	}
}

// text returns the first text that is equal to t.
func (s *sharing) text(t string) string { return shared(s.texts, t, t) }

// shared returns the first value that was stored under a key.
func shared[K comparable, V any](stored map[K]V, key K, value V) V {
	if first, ok := stored[key]; ok {
		return first
	}
	stored[key] = value
	return value
}

// pod replaces the values of a pod by shared ones.
func (s *sharing) pod(p *pod) {
	p.Namespace, p.Node, p.Phase = s.text(p.Namespace), s.text(p.Node), v1.PodPhase(s.text(string(p.Phase)))
	p.Labels = shared(s.labels, sharingKey(p.Labels), p.Labels)
	p.Tolerations = shared(s.tolerations, sharingKey(p.Tolerations), p.Tolerations)
	if p.Controller != nil {
		p.Controller = shared(s.owners, *p.Controller, p.Controller)
	}
	p.owner = Owner{s.text(p.owner.Kind), s.text(p.owner.Name)}
}

// prediction replaces the texts of a prediction by shared ones.
func (s *sharing) prediction(f *Prediction) {
	f.Reason, f.Taint, f.Toleration = s.text(f.Reason), s.text(f.Taint), s.text(f.Toleration)
	f.Policy, f.Method, f.HeldBy = s.text(f.Policy), s.text(f.Method), s.text(f.HeldBy)
}

// sharingKey returns a text that is the same for equal labels or tolerations, and differs for others.
func sharingKey(value any) string {
	text, _ := json.Marshal(value) // strings and numbers always have a text
	return string(text)
}
