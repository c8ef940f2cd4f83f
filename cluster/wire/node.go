package wire

import (
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/taint-manager/taint-manager/taint"
)

// The numbers of the fields of NodeSpec and of Taint.
const (
	specTaints = 5

	taintKey    = 1
	taintValue  = 2
	taintEffect = 3
	taintAdded  = 4
)

func newNode(message []byte, lookup NodeLookup) (*v1.Node, error) {
	n := &v1.Node{}
	f := fields{message: message}
	named := false
	for f.next() {
		switch f.number {
		case objectMeta:
			if named {
				f.fail(errTwice) // no API server writes this; the labels would have to be merged
			}
			named = true
			f.check(decodeNodeMeta(f.bytes(), n, lookup))
		case objectSpec:
			f.check(decodeNodeSpec(f.bytes(), n))
		}
	}
	return n, f.err
}

func decodeNodeMeta(message []byte, n *v1.Node, lookup NodeLookup) error {
	if lookup == nil {
		return decodeMeta(message, &n.ObjectMeta, &taint.Pod{}, nil, nil)
	}
	last, wanted := lookup(valueIn(message, metaName))
	if !wanted {
		return decodeMeta(message, &n.ObjectMeta, &taint.Pod{}, nil, nil)
	}
	return decodeLabelled(message, &n.ObjectMeta, last)
}

func decodeNodeSpec(message []byte, n *v1.Node) error {
	f := fields{message: message}
	for f.next() {
		if f.number == specTaints {
			t, err := decodeTaint(f.bytes())
			f.check(err)
			n.Spec.Taints = append(n.Spec.Taints, t)
		}
	}
	return f.err
}

func decodeTaint(message []byte) (t v1.Taint, err error) {
	f := fields{message: message}
	for f.next() {
		switch f.number {
		case taintKey:
			t.Key = text[string](f.bytes())
		case taintValue:
			t.Value = string(f.bytes())
		case taintEffect:
			t.Effect = text[v1.TaintEffect](f.bytes())
		case taintAdded:
			t.TimeAdded = &metav1.Time{}
			f.check(t.TimeAdded.Unmarshal(f.bytes()))
		}
	}
	return t, f.err
}
