package cluster

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// The numbers of the fields that are decoded; k8s.io/api and k8s.io/apimachinery have them in generated.proto.
const (
	fieldMetadata, fieldSpec, fieldStatus = 1, 2, 3 // of a pod and of a node
	fieldListMeta, fieldItems             = 1, 2    // of a list
	fieldAnnotations, fieldManagedFields  = 12, 17  // of metadata
)

// numbers are the numbers of fields.
type numbers []protowire.Number

var (
	// name, namespace, uid, resourceVersion, generation, creationTimestamp, deletionTimestamp, labels, ownerReferences,
	// finalizers
	podMetadata = numbers{1, 3, 5, 6, 7, 8, 9, 11, 13, 14}
	// terminationGracePeriodSeconds, nodeName, tolerations, priority
	podSpec = numbers{4, 10, 22, 25}
	// phase, conditions
	podStatus = numbers{1, 2}
	// name, uid, resourceVersion, creationTimestamp, labels
	nodeMetadata = numbers{1, 5, 6, 8, 11}
	// taints
	nodeSpec = numbers{5}
	// conditions
	nodeStatus = numbers{4}
	// resourceVersion, continue
	listMetadata = numbers{2, 3}
)

// pod and node are objects of which protobuf decodes only the fields that are used. The others stay empty.
type (
	pod  struct{ v1.Pod }
	node struct{ v1.Node }
)

// message decodes itself from protobuf. It keeps the fields that were decoded before, so it can be decoded in parts.
type message interface{ Unmarshal(data []byte) error }

// whole returns the object in the API's own type.
func (p *pod) whole() *v1.Pod   { return &p.Pod }
func (n *node) whole() *v1.Node { return &n.Node }

// DeepCopyObject returns a copy of the same type.
func (p *pod) DeepCopyObject() runtime.Object  { return &pod{*p.DeepCopy()} }
func (n *node) DeepCopyObject() runtime.Object { return &node{*n.DeepCopy()} }

// Unmarshal decodes the used fields of a pod.
func (p *pod) Unmarshal(data []byte) error {
	return eachField(data, func(number protowire.Number, _, value []byte) error {
		switch number {
		case fieldMetadata:
			return decodeMetadata(&p.ObjectMeta, value, podMetadata)
		case fieldSpec:
			return podSpec.decode(&p.Spec, value)
		case fieldStatus:
			return podStatus.decode(&p.Status, value)
		}
		return nil
	})
}

// Unmarshal decodes the used fields of a node.
func (n *node) Unmarshal(data []byte) error {
	return eachField(data, func(number protowire.Number, _, value []byte) error {
		switch number {
		case fieldMetadata:
			return decodeMetadata(&n.ObjectMeta, value, nodeMetadata)
		case fieldSpec:
			return nodeSpec.decode(&n.Spec, value)
		case fieldStatus:
			return nodeStatus.decode(&n.Status, value)
		}
		return nil
	})
}

// decodeMetadata decodes these fields of an object's metadata, the annotations that are used, and the entries of
// managedFields that name the list of taints.
func decodeMetadata(m *metav1.ObjectMeta, data []byte, used numbers) error {
	return eachField(data, func(number protowire.Number, field, value []byte) error {
		if slices.Contains(used, number) || number == fieldAnnotations && isUsedAnnotation(value) ||
			number == fieldManagedFields && bytes.Contains(value, []byte(`"f:taints"`)) {
			return m.Unmarshal(field)
		}
		return nil
	})
}

// isUsedAnnotation reports whether an annotation marks a mirror pod or the end of a streamed list.
func isUsedAnnotation(entry []byte) (used bool) {
	_ = eachField(entry, func(number protowire.Number, _, value []byte) error {
		if number == 1 { // the key
			used = string(value) == v1.MirrorPodAnnotationKey || string(value) == metav1.InitialEventsAnnotationKey
		}
		return nil
	})
	return used
}

// decode decodes the fields of a message that have these numbers. The API's own decoder decodes each field.
func (n numbers) decode(m message, data []byte) error {
	return eachField(data, func(number protowire.Number, field, _ []byte) error {
		if slices.Contains(n, number) {
			return m.Unmarshal(field)
		}
		return nil
	})
}

var errNoMessage = errors.New("a number is in the place of a message")

// eachField calls the function take for each field of a message, with its number, the whole field, and its value if
// that is a message or a text, otherwise nil. The slices share the memory of data.
func eachField(data []byte, take func(number protowire.Number, field, value []byte) error) error {
	if data == nil {
		return errNoMessage
	}
	for len(data) > 0 {
		number, kind, start := protowire.ConsumeTag(data)
		if start < 0 {
			return fmt.Errorf("a field is malformed: %w", protowire.ParseError(start))
		}
		length := protowire.ConsumeFieldValue(number, kind, data[start:])
		if length < 0 {
			return fmt.Errorf("field %d is malformed: %w", number, protowire.ParseError(length))
		}
		var value []byte
		if kind == protowire.BytesType {
			value, _ = protowire.ConsumeBytes(data[start:])
		}
		if err := take(number, data[:start+length], value); err != nil {
			return err
		}
		data = data[start+length:]
	}
	return nil
}

// listOf is a list of pods or of nodes, of which protobuf decodes only the fields that are used.
type listOf[T any, P interface {
	*T
	message
}] struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`
	Items           []T `json:"items"`
}

type (
	podList  = listOf[pod, *pod]
	nodeList = listOf[node, *node]
)

// DeepCopyObject returns a list with the same items.
func (l *listOf[T, P]) DeepCopyObject() runtime.Object {
	return &listOf[T, P]{l.TypeMeta, l.ListMeta, slices.Clone(l.Items)}
}

// Unmarshal decodes a list.
func (l *listOf[T, P]) Unmarshal(data []byte) error {
	return eachField(data, func(number protowire.Number, _, value []byte) error {
		switch number {
		case fieldListMeta:
			return listMetadata.decode(&l.ListMeta, value)
		case fieldItems:
			l.Items = append(l.Items, *new(T))
			return P(&l.Items[len(l.Items)-1]).Unmarshal(value)
		}
		return nil
	})
}
