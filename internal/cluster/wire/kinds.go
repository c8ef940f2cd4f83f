package wire

import (
	"google.golang.org/protobuf/encoding/protowire"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// text and number are fields that are used with their whole value.
var (
	text   = field{} // or a message
	number = field{number: true}
)

// entry has the fields of an entry of a map. They are checked here, because client-go reads an entry that is cut off on
// into the next field.
var entry = mask{1: text, 2: text} // key, value

// metadata has the used fields of ObjectMeta.
var metadata = mask{
	1:  text,           // name
	3:  text,           // namespace
	5:  text,           // uid
	6:  text,           // resourceVersion
	7:  number,         // generation
	8:  text,           // creationTimestamp
	9:  text,           // deletionTimestamp
	11: {inner: entry}, // labels

	// annotations
	12: {inner: entry, keep: hasText(1, v1.MirrorPodAnnotationKey, metav1.InitialEventsAnnotationKey)},
	13: {keep: controls, inner: mask{ // ownerReferences
		1: text,   // kind
		3: text,   // name
		6: number, // controller
	}},
}

var pod = mask{
	1: {inner: metadata},
	2: {inner: mask{ // spec
		4:  number, // terminationGracePeriodSeconds
		10: text,   // nodeName
		22: text,   // tolerations
		25: number, // priority
	}},
	3: {inner: mask{ // status
		1: text, // phase
		2: {keep: hasText(1, string(v1.PodScheduled), string(v1.DisruptionTarget)), inner: mask{ // conditions
			1: text, // type
			2: text, // status
			4: text, // lastTransitionTime
		}},
	}},
}

var node = mask{
	1: {inner: metadata},
	2: {inner: mask{5: text}}, // spec.taints
}

var namespace = mask{1: {inner: metadata}}

// hasText returns a function that reports whether this field of a message has one of the texts.
func hasText(number protowire.Number, texts ...string) func(message []byte) bool {
	return func(message []byte) bool {
		value := last(message, number)
		for _, text := range texts {
			if string(value) == text {
				return true
			}
		}
		return false
	}
}

// controls reports whether an OwnerReference is the controller's.
func controls(owner []byte) bool {
	value, _ := protowire.ConsumeVarint(lastElement(owner, 6).value)
	return value != 0
}
