package fieldmask

import (
	"bytes"

	"google.golang.org/protobuf/encoding/protowire"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// entry has the fields of an entry of a map, key and value. They are listed because client-go reads an entry that is cut
// off on into the next field: such an entry has to pass with all that follows it.
var entry = mask{1: {}, 2: {}}

// metadata has the used fields of ObjectMeta.
var metadata = mask{
	1:  {},             // name
	3:  {},             // namespace
	5:  {},             // uid
	6:  {},             // resourceVersion
	7:  {},             // generation
	8:  {},             // creationTimestamp
	9:  {},             // deletionTimestamp
	11: {inner: entry}, // labels

	// annotations
	12: {inner: entry, keep: hasText(1, v1.MirrorPodAnnotationKey, metav1.InitialEventsAnnotationKey)},
	13: {keep: controls, inner: mask{ // ownerReferences
		1: {}, // kind
		3: {}, // name
		6: {}, // controller
	}},
}

var pod = mask{
	1: {inner: metadata},
	2: {inner: mask{ // spec
		4:  {}, // terminationGracePeriodSeconds
		10: {}, // nodeName
		22: {}, // tolerations
		25: {}, // priority
	}},
	3: {inner: mask{ // status
		1: {}, // phase
		2: {keep: hasText(1, string(v1.PodScheduled), string(v1.DisruptionTarget)), inner: mask{ // conditions
			1: {}, // type
			2: {}, // status
			4: {}, // lastTransitionTime
		}},
	}},
}

var node = mask{
	1: {inner: metadata},
	2: {inner: mask{5: {}}}, // spec.taints
}

var namespace = mask{1: {inner: metadata}}

// events has the masks for events, by the kind of their object.
var events = map[string]mask{"Pod": eventOf(pod), "Node": eventOf(node), "Namespace": eventOf(namespace)}

// magic is the prefix of every object in protobuf; its envelope follows, a runtime.Unknown.
const magic = "k8s\x00"

// eventOf returns the mask for the events of an object: WatchEvent{type, object{raw}}, and in it the envelope
// Unknown{typeMeta, raw, contentEncoding, contentType}.
func eventOf(object mask) mask {
	envelope := mask{1: {}, 2: {inner: object}, 3: {}, 4: {}}
	return mask{1: {}, 2: {inner: mask{1: {prefix: len(magic), inner: envelope}}}}
}

// maskOf returns the mask for an event; nil if its object is not of a kind that has one.
func maskOf(event []byte) mask {
	envelope, ok := bytes.CutPrefix(last(last(event, 2), 1), []byte(magic))
	if !ok {
		return nil
	}
	named := last(envelope, 1)
	if string(last(named, 1)) != "v1" {
		return nil
	}
	return events[string(last(named, 2))]
}

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
	value, _ := protowire.ConsumeVarint(last(owner, 6))
	return value != 0
}
