package cluster

import (
	"encoding/binary"
	"iter"
	"slices"
	"unique"

	"google.golang.org/protobuf/encoding/protowire"
	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

// tolerations are the tolerations of a pod in the order of its spec, each in the API's protobuf after its length. A
// slice of [v1.Toleration] would take five times as much memory, and a pod may have 70,000. Pods with equal tolerations
// share one encoding.
type tolerations struct{ encoded unique.Handle[string] }

// encode returns the tolerations that may match a taint that evicts: a taint of effect NoExecute, or a taint of effect
// NoSchedule whose key is needed.
func encode(list []v1.Toleration, needs *policy.Needs) tolerations {
	var encoded []byte
	for i := range list {
		if t := &list[i]; mayMatch(t, needs) {
			message, _ := t.Marshal() // it never fails
			encoded = protowire.AppendBytes(encoded, message)
		}
	}
	return tolerations{unique.Make(string(encoded))}
}

// mayMatch reports whether a toleration may match a taint that evicts.
func mayMatch(t *v1.Toleration, needs *policy.Needs) bool {
	switch t.Effect {
	case "", v1.TaintEffectNoExecute:
		return true
	case v1.TaintEffectNoSchedule:
		return t.Key == "" && len(needs.Triggers)+len(needs.Audited) > 0 || needs.TriggeredBy(t.Key)
	}
	return false
}

// all returns the tolerations one by one. They share no memory with the encoding.
func (t tolerations) all() iter.Seq[v1.Toleration] {
	return func(yield func(v1.Toleration) bool) {
		var message []byte // a copy of the whole encoding might take a megabyte
		for encoded := t.encoded.Value(); encoded != ""; {
			length, start := protowire.ConsumeVarint([]byte(encoded[:min(len(encoded), binary.MaxVarintLen64)]))
			end := start + int(length)
			message = append(message[:0], encoded[start:end]...)
			var toleration v1.Toleration
			_ = toleration.Unmarshal(message) // never fails, because encode has marshalled it
			if !yield(toleration) {
				return
			}
			encoded = encoded[end:]
		}
	}
}

// deciding returns the tolerations that count for the taints, in their order: for each taint the first that matches it,
// by the rules with comparison and by those without; and for each NoSchedule taint also the first that would match it
// with the effect NoExecute. The result has a handful of tolerations, however many the pod has.
func (t tolerations) deciding(taints []v1.Taint) (list []v1.Toleration) {
	var room [8]question
	open := questions(room[:0], taints)
	if len(open) == 0 {
		return nil
	}
	pod := taint.Pod{Tolerations: make([]v1.Toleration, 1)}
	for toleration := range t.all() {
		before := len(open)
		pod.Tolerations[0] = toleration
		open = unanswered(open, &pod)
		if len(open) < before {
			list = append(list, toleration)
		}
		if len(open) == 0 {
			break
		}
	}
	return list
}

// question asks for the first toleration that matches the taint.
type question struct {
	taint v1.Taint
	rules taint.Rules
}

func questions(list []question, taints []v1.Taint) []question {
	for _, t := range taints {
		asNoExecute := v1.Taint{Key: t.Key, Value: t.Value, Effect: v1.TaintEffectNoExecute}
		for _, rules := range [...]taint.Rules{{}, {NoComparison: true}} {
			list = append(list, question{asNoExecute, rules})
			if t.Effect != v1.TaintEffectNoExecute {
				list = append(list, question{t, rules})
			}
		}
	}
	return list
}

// unanswered returns the questions that no toleration of the pod answers. It reuses the list.
func unanswered(open []question, pod *taint.Pod) []question {
	return slices.DeleteFunc(open, func(q question) bool { return taint.Matching(pod, &q.taint, q.rules) != nil })
}

// taintsOf returns the taints of a node in all their states; none if there is no node.
func taintsOf(n *taint.Node) (list []v1.Taint) {
	if n == nil {
		return nil
	}
	for _, histories := range [...][]taint.History{n.Taints, n.Triggers, n.Audited} {
		for _, history := range histories {
			for i := range history {
				list = append(list, history[i].Taint)
			}
		}
	}
	return list
}
