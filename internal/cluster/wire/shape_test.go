package wire_test

import (
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// shape has the fields of a message that are decoded: messages with their shape, other fields with nil.
type shape map[protowire.Number]shape

// envelope returns the shape of an object with its envelope.
func envelope(object runtime.Object) shape {
	pair := shape{1: nil, 2: nil}
	meta := shape{1: nil, 3: nil, 5: nil, 6: nil, 7: nil, 8: {}, 9: {}, 12: pair}
	podMeta, namespaceMeta := shape{11: pair, 13: {1: nil, 3: nil, 6: nil}}, shape{11: pair}
	for number, inner := range meta {
		podMeta[number], namespaceMeta[number] = inner, inner
	}
	toleration := shape{1: nil, 2: nil, 3: nil, 4: nil, 5: nil}
	pod := shape{
		1: podMeta,
		2: {4: nil, 10: nil, 22: toleration, 25: nil},
		3: {1: nil, 2: {1: nil, 2: nil, 4: {}}},
	}
	node := shape{1: meta, 2: {5: {1: nil, 2: nil, 3: nil, 4: {}}}}
	var inner shape
	switch object.(type) {
	case *v1.Pod:
		inner = pod
	case *v1.Node:
		inner = node
	case *v1.PodList:
		inner = shape{1: {}, 2: pod}
	case *v1.NodeList:
		inner = shape{1: {}, 2: node}
	case *v1.Namespace:
		inner = shape{1: namespaceMeta}
	case *v1.NamespaceList:
		inner = shape{1: {}, 2: {1: namespaceMeta}}
	default:
		inner = shape{}
	}
	return shape{1: {1: nil, 2: nil}, 2: inner}
}

// piece is a field in its encoded form: its tag, and its value with its length.
type piece struct {
	number protowire.Number
	kind   protowire.Type
	bytes  []byte
}

func pieces(message []byte) (list []piece) {
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeField(message)
		if n < 0 {
			panic(protowire.ParseError(n))
		}
		list = append(list, piece{number, kind, message[:n]})
		message = message[n:]
	}
	return list
}

// inner returns the message in a piece.
func (p piece) inner() []byte {
	_, _, tag := protowire.ConsumeTag(p.bytes)
	value, _ := protowire.ConsumeBytes(p.bytes[tag:])
	return value
}

// holding returns a piece with this number that contains another message.
func holding(number protowire.Number, inner []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), inner)
}

// strangers returns fields of all wire types with a number that no message has; groups only if they are allowed.
func strangers(groups bool) (b []byte) {
	const number = 1000
	b = protowire.AppendVarint(protowire.AppendTag(b, number, protowire.VarintType), 1<<63)
	b = protowire.AppendFixed32(protowire.AppendTag(b, number, protowire.Fixed32Type), 1)
	b = protowire.AppendFixed64(protowire.AppendTag(b, number, protowire.Fixed64Type), 1)
	b = protowire.AppendBytes(protowire.AppendTag(b, number, protowire.BytesType), []byte("\xff\xff"))
	if !groups {
		return b
	}
	b = protowire.AppendTag(b, number, protowire.StartGroupType)
	b = protowire.AppendVarint(protowire.AppendTag(b, 1, protowire.VarintType), 1)
	return protowire.AppendTag(b, number, protowire.EndGroupType)
}

// withStrangers puts strangers between all fields of a message and of the messages in it. An empty message stays empty,
// because an empty time means none.
func withStrangers(message []byte, of shape, groups bool) []byte {
	b := strangers(groups)
	for _, p := range pieces(message) {
		if inner := of[p.number]; inner != nil && len(p.inner()) > 0 {
			p.bytes = holding(p.number, withStrangers(p.inner(), inner, groups))
		}
		b = append(append(b, p.bytes...), strangers(groups)...)
	}
	return b
}

// eachForm calls f once for each decoded field, with the message in which that field has another wire type than it
// should. The bytes of the field are a valid message with an unknown field.
func eachForm(message []byte, of shape, path []protowire.Number, f func(path []protowire.Number, message []byte)) {
	list := pieces(message)
	for i, p := range list {
		inner, decoded := of[p.number]
		if !decoded {
			continue
		}
		here := append(slices.Clone(path), p.number)
		with := func(other []byte) []byte {
			var b []byte
			for j := range list {
				if j == i {
					b = append(b, other...)
				} else {
					b = append(b, list[j].bytes...)
				}
			}
			return b
		}
		f(here, with(protowire.AppendFixed32(protowire.AppendTag(nil, p.number, protowire.Fixed32Type), 0x01780178)))
		if inner != nil {
			eachForm(p.inner(), inner, here, func(path []protowire.Number, message []byte) { f(path, with(holding(p.number, message))) })
		}
	}
}

// sealed returns a message in its envelope.
func sealed(version, kind string, message []byte) []byte {
	named := slices.Concat(holding(1, []byte(version)), holding(2, []byte(kind)))
	return slices.Concat([]byte("k8s\x00"), holding(1, named), holding(2, message))
}
