package foresight

import (
	"encoding/json"
	"unique"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/taint"
)

// sharing lets pods share equal values: the replicas of one owner have the same labels and tolerations, and many
// pods have the same node and the same reason.
type sharing struct {
	labels      map[string]map[string]string
	tolerations map[string][]v1.Toleration
}

func newSharing() sharing {
	return sharing{map[string]map[string]string{}, map[string][]v1.Toleration{}}
}

// text returns the text that all texts equal to t share.
func text[T ~string](t T) T { return unique.Make(t).Value() }

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
	p.Namespace, p.Node, p.Phase = text(p.Namespace), text(p.Node), text(p.Phase)
	p.Labels = shared(s.labels, sharingKey(p.Labels), p.Labels)
	p.Tolerations = shared(s.tolerations, sharingKey(p.Tolerations), p.Tolerations)
	if c := p.Controller; c != nil {
		p.Controller = &taint.Owner{Kind: text(c.Kind), Name: text(c.Name)}
	}
	p.owner = Owner{text(p.owner.Kind), text(p.owner.Name)}
}

// share replaces the texts of a prediction by shared ones.
func (p *Prediction) share() {
	p.Reason, p.Taint, p.Toleration = text(p.Reason), text(p.Taint), text(p.Toleration)
	p.Policy, p.Method, p.HeldBy = text(p.Policy), text(p.Method), text(p.HeldBy)
}

// sharingKey returns a text that is the same for equal labels or tolerations, and differs for others.
func sharingKey(value any) string {
	text, _ := json.Marshal(value) // strings and numbers always have a text
	return string(text)
}
