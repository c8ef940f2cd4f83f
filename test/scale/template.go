package main

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
	"k8s.io/apimachinery/pkg/runtime"
)

// The numbers in which objects of a kind differ. Templates have a placeholder for each.
const (
	ownNumber = iota
	nodeNumber
	teamNumber
	version
	numberOfPlaces
)

var placeholders = [numberOfPlaces]string{"7777777", "888888", "team-99", "5555555555"}

// values are the numbers of one object.
type values [numberOfPlaces]int

// template is an encoded object. Only the digits in its places differ between objects, so that no object is encoded or
// stored as a whole.
type template struct {
	text   []byte
	places []place
}

// place is where a number is, with leading zeros.
type place struct{ begin, end, number int }

// newTemplate encodes an object that has placeholders.
func newTemplate(object interface{ Marshal() ([]byte, error) }) *template {
	text, err := object.Marshal()
	if err != nil {
		panic(err) // the API's own types can always be encoded
	}
	t := &template{text: text}
	for number, digits := range placeholders {
		for at := 0; ; {
			i := bytes.Index(text[at:], []byte(digits))
			if i < 0 {
				break
			}
			at += i + len(digits)
			t.places = append(t.places, place{at - len(strings.TrimLeft(digits, "team-")), at, number})
		}
	}
	return t
}

// append appends the object with these numbers.
func (t *template) append(to []byte, v values) []byte {
	start := len(to)
	to = append(to, t.text...)
	for _, p := range t.places {
		rest := v[p.number]
		for i := start + p.end - 1; i >= start+p.begin; i-- {
			to[i] = byte('0' + rest%10)
			rest /= 10
		}
	}
	return to
}

// magic begins each object in the API server's protobuf.
const magic = "k8s\x00"

// typeMeta returns the encoded type of an object of the core group.
func typeMeta(kind string) []byte {
	text, _ := (&runtime.TypeMeta{APIVersion: "v1", Kind: kind}).Marshal() // never fails
	return text
}

// sizeOfField is the size of a field whose number is below 16, and whose value has this size.
func sizeOfField(size int) int { return 1 + protowire.SizeBytes(size) }

// appendHead appends the beginning of a field whose value of this size follows.
func appendHead(to []byte, number protowire.Number, size int) []byte {
	return protowire.AppendVarint(protowire.AppendTag(to, number, protowire.BytesType), uint64(size))
}

// appendObjectHead appends the beginning of an object whose encoding of this size follows.
func appendObjectHead(to, meta []byte, size int) []byte {
	to = protowire.AppendBytes(append(to, magic+"\x0a"...), meta)
	return appendHead(to, 2, size)
}

// appendEvent appends an event of a watch as it is in a stream: after its size in four bytes.
func appendEvent(to []byte, verb string, meta []byte, t *template, v values) []byte {
	object := len(magic) + sizeOfField(len(meta)) + sizeOfField(len(t.text))
	raw := sizeOfField(object)
	to = slices.Grow(to, raw+50)
	to = binary.BigEndian.AppendUint32(to, uint32(sizeOfField(len(verb))+sizeOfField(raw)))
	to = protowire.AppendString(append(to, '\x0a'), verb)
	to = appendHead(appendHead(to, 2, raw), 1, object)
	return t.append(appendObjectHead(to, meta, len(t.text)), v)
}
