package cluster

import (
	"encoding/binary"
	"iter"
	"slices"
	"strings"
	"unique"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

// tolerations are the tolerations of a pod in the order of its spec, encoded one after the other. The encoding is
// shorter than the API server's, whereas a slice of [v1.Toleration] takes five times as much: a pod may have 70,000.
// Pods with equal tolerations share one encoding.
type tolerations struct{ encoded unique.Handle[string] }

// encode returns the tolerations that may match a taint that evicts. Those are the taints of effect NoExecute, and the
// taints of effect NoSchedule whose keys are needed.
func encode(list []v1.Toleration, needs *policy.Needs) tolerations {
	var b strings.Builder
	if len(list) > 0 {
		b.Grow(len(list) * (len(list[0].Key) + sizeWithoutKey))
	}
	for i := range list {
		if t := &list[i]; mayMatch(t, needs) {
			writeToleration(&b, t)
		}
	}
	return tolerations{unique.Make(b.String())}
}

// sizeWithoutKey is how many bytes an encoded toleration usually has, without its key.
const sizeWithoutKey = 24

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

// writeToleration encodes a toleration: its texts with their lengths, and its seconds after a 1, or a 0 if it has none.
func writeToleration(b *strings.Builder, t *v1.Toleration) {
	var number [binary.MaxVarintLen64]byte
	for _, text := range [...]string{t.Key, string(t.Operator), t.Value, string(t.Effect)} {
		b.Write(binary.AppendUvarint(number[:0], uint64(len(text))))
		b.WriteString(text)
	}
	if t.TolerationSeconds == nil {
		b.WriteByte(0)
		return
	}
	b.WriteByte(1)
	b.Write(binary.AppendVarint(number[:0], *t.TolerationSeconds))
}

// all returns the tolerations one by one. A toleration is valid until the next one; its texts are parts of the
// encoding.
func (t tolerations) all() iter.Seq[*v1.Toleration] {
	return func(yield func(*v1.Toleration) bool) {
		var toleration v1.Toleration
		var seconds int64
		for encoded := t.encoded.Value(); encoded != ""; {
			toleration = v1.Toleration{}
			toleration.Key, encoded = cutText(encoded)
			var operator, effect string
			operator, encoded = cutText(encoded)
			toleration.Value, encoded = cutText(encoded)
			effect, encoded = cutText(encoded)
			toleration.Operator, toleration.Effect = v1.TolerationOperator(operator), v1.TaintEffect(effect)
			limited := encoded[0] == 1
			if encoded = encoded[1:]; limited {
				var n int
				seconds, n = binary.Varint([]byte(encoded[:min(len(encoded), binary.MaxVarintLen64)]))
				toleration.TolerationSeconds, encoded = &seconds, encoded[n:]
			}
			if !yield(&toleration) {
				return
			}
		}
	}
}

// cutText returns the text at the beginning of an encoding, and what follows it.
func cutText(encoded string) (text, after string) {
	size, n := binary.Uvarint([]byte(encoded[:min(len(encoded), binary.MaxVarintLen64)]))
	end := n + int(size)
	return encoded[n:end], encoded[end:]
}

// deciding returns the tolerations that count for the taints, in their order: for each taint the first that matches it,
// by the rules with comparison and by those without. A taint of effect NoSchedule counts as one of effect NoExecute,
// too. The result has a handful of tolerations, however many there are, and shares no memory with the encoding.
func (t tolerations) deciding(taints []v1.Taint) (list []v1.Toleration) {
	var room [8]question
	open := questions(room[:0], taints)
	if len(open) == 0 {
		return nil
	}
	pod := taint.Pod{Tolerations: make([]v1.Toleration, 1)}
	for toleration := range t.all() {
		before := len(open)
		pod.Tolerations[0] = *toleration
		open = unanswered(open, &pod)
		if len(open) < before {
			list = append(list, cloned(toleration))
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

// cloned returns a copy that shares no memory.
func cloned(t *v1.Toleration) v1.Toleration {
	c := v1.Toleration{
		Key: strings.Clone(t.Key), Operator: v1.TolerationOperator(strings.Clone(string(t.Operator))),
		Value: strings.Clone(t.Value), Effect: v1.TaintEffect(strings.Clone(string(t.Effect))),
	}
	if t.TolerationSeconds != nil {
		c.TolerationSeconds = new(*t.TolerationSeconds)
	}
	return c
}

// taintsOf returns the taints of a node in all their states.
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
