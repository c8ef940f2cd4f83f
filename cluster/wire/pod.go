package wire

import (
	"google.golang.org/protobuf/encoding/protowire"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/taint-manager/taint-manager/taint"
)

// The numbers of the fields of Pod and Node, of PodSpec, of PodStatus and of PodCondition.
const (
	objectMeta   = 1
	objectSpec   = 2
	objectStatus = 3

	specGracePeriod = 4
	specNodeName    = 10
	specTolerations = 22
	specPriority    = 25

	statusPhase      = 1
	statusConditions = 2

	conditionType       = 1
	conditionStatus     = 2
	conditionTransition = 4
)

// spare is space for what a pod points to, in one allocation.
type spare struct {
	gracePeriod int64
	priority    int32
	conditions  [1]v1.PodCondition
	owners      [1]metav1.OwnerReference
	controls    bool
}

func newPod(message []byte, lookup PodLookup) (*v1.Pod, error) {
	whole := new(struct {
		v1.Pod
		spare
	})
	p, room := &whole.Pod, &whole.spare
	was, err := lastSeen(message, lookup)
	if err != nil {
		return nil, err
	}
	f := fields{message: message}
	for f.next() {
		switch f.number {
		case objectMeta:
			f.check(decodePodMeta(f.bytes(), p, room, was))
		case objectSpec:
			f.check(decodePodSpec(f.bytes(), p, room, was))
		case objectStatus:
			f.check(decodePodStatus(f.bytes(), p, room))
		}
	}
	return p, f.err
}

// lastSeen returns what was seen of the pod before; empty if nothing was. It rejects a message that has its metadata or
// its spec in two pieces, which no API server writes: the second piece would have to be merged into shared values.
func lastSeen(message []byte, lookup PodLookup) (*taint.Pod, error) {
	var uid []byte
	var seen [objectSpec + 1]bool
	f := fields{message: message}
	for f.next() {
		if f.number > objectSpec {
			continue
		}
		if seen[f.number] {
			f.fail(errTwice)
		}
		seen[f.number] = true
		if f.number == objectMeta {
			uid = valueIn(f.bytes(), metaUID)
		}
	}
	if len(uid) > 0 && lookup != nil {
		if was := lookup(uid); was != nil {
			return was, f.err
		}
	}
	return &taint.Pod{}, f.err
}

// valueIn returns the text in the first field of this number; nil if there is none.
func valueIn(message []byte, number protowire.Number) []byte {
	f := fields{message: message}
	for f.next() {
		if f.number == number {
			return f.bytes()
		}
	}
	return nil
}

func decodePodMeta(message []byte, p *v1.Pod, room *spare, was *taint.Pod) (err error) {
	labels, owners := labelSet{was: was.Labels}, ownerList{was: was.Controller, room: room}
	if err := decodeMeta(message, &p.ObjectMeta, was, &labels, &owners); err != nil {
		return err
	}
	p.OwnerReferences = owners.list
	p.Labels, err = labels.all(message)
	return err
}

func decodePodSpec(message []byte, p *v1.Pod, room *spare, was *taint.Pod) error {
	tolerations := tolerationList{was: was.Tolerations}
	f := fields{message: message}
	for f.next() {
		switch f.number {
		case specNodeName:
			p.Spec.NodeName = again(f.bytes(), was.Node)
		case specTolerations:
			f.check(tolerations.see(f.bytes()))
		case specPriority:
			room.priority = int32(f.int())
			p.Spec.Priority = &room.priority
		case specGracePeriod:
			room.gracePeriod = f.int()
			p.Spec.TerminationGracePeriodSeconds = &room.gracePeriod
		}
	}
	if f.err != nil {
		return f.err
	}
	var err error
	p.Spec.Tolerations, err = tolerations.all(message)
	return err
}

func decodePodStatus(message []byte, p *v1.Pod, room *spare) error {
	f := fields{message: message}
	for f.next() {
		switch f.number {
		case statusPhase:
			p.Status.Phase = text[v1.PodPhase](f.bytes())
		case statusConditions:
			c, counts, err := decodeCondition(f.bytes())
			f.check(err)
			if !counts {
				continue
			}
			if p.Status.Conditions == nil {
				p.Status.Conditions = room.conditions[:0]
			}
			p.Status.Conditions = append(p.Status.Conditions, c)
		}
	}
	return f.err
}

// decodeCondition decodes a condition, and reports whether this program uses it.
func decodeCondition(message []byte) (c v1.PodCondition, counts bool, err error) {
	f := fields{message: message}
	for f.next() {
		switch f.number {
		case conditionType:
			c.Type = typeThatCounts(f.bytes())
		case conditionStatus:
			c.Status = text[v1.ConditionStatus](f.bytes())
		case conditionTransition:
			f.check(c.LastTransitionTime.Unmarshal(f.bytes()))
		}
	}
	return c, c.Type != "", f.err
}

// typeThatCounts returns the type of a condition that this program uses, or "".
func typeThatCounts(b []byte) v1.PodConditionType {
	switch string(b) {
	case string(v1.PodScheduled):
		return v1.PodScheduled
	case string(v1.DisruptionTarget):
		return v1.DisruptionTarget
	}
	return ""
}
