package main

import (
	"encoding/binary"
	"fmt"
	"regexp"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// The numbers in which objects of a kind differ. Templates have a placeholder for each, of the length of the number.
const (
	ownNumber = iota
	nodeNumber
	teamNumber
	version
	numberOfPlaces
)

var (
	placeholders = []string{"7777777", "888888", "team-99", "5555555555"}
	formats      = []string{"%07d", "%06d", "team-%02d", "%010d"}
	anyOfThem    = regexp.MustCompile("7777777|888888|team-99|5555555555")
)

// values are the numbers of one object.
type values [numberOfPlaces]int

// template is an encoded object in all forms in which the server sends it. No object is encoded or stored as a whole.
type template struct {
	item   text            // of a list
	object text            // with its type
	events map[string]text // of a watch, after their size, by their types
}

// newTemplate encodes an object that has placeholders.
func newTemplate(kind string, object interface{ Marshal() ([]byte, error) }) *template {
	raw, err := object.Marshal()
	if err != nil {
		panic(err) // the API's own types can always be encoded
	}
	typed := withType(kind, raw)
	t := &template{item: newText(appendField(nil, 2, raw)), object: newText(typed), events: map[string]text{}}
	for _, verb := range []string{"ADDED", "MODIFIED", "DELETED", "BOOKMARK"} {
		event, _ := (&metav1.WatchEvent{Type: verb, Object: runtime.RawExtension{Raw: typed}}).Marshal() // never fails
		t.events[verb] = newText(append(binary.BigEndian.AppendUint32(nil, uint32(len(event))), event...))
	}
	return t
}

// withType returns an object of the core group as the API server sends it.
func withType(kind string, raw []byte) []byte {
	u := runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: "v1", Kind: kind}, Raw: raw}
	typed, _ := u.Marshal() // never fails
	return append([]byte("k8s\x00"), typed...)
}

func appendField(to []byte, number protowire.Number, value []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(to, number, protowire.BytesType), value)
}

// text is what is before each number, and at the end.
type text struct {
	before  [][]byte
	numbers []int
	end     []byte
}

func newText(all []byte) (t text) {
	begin := 0
	for _, at := range anyOfThem.FindAllIndex(all, -1) {
		t.before = append(t.before, all[begin:at[0]])
		t.numbers = append(t.numbers, slices.Index(placeholders, string(all[at[0]:at[1]])))
		begin = at[1]
	}
	t.end = all[begin:]
	return t
}

func (t text) append(to []byte, v values) []byte {
	for i, number := range t.numbers {
		to = fmt.Appendf(append(to, t.before[i]...), formats[number], v[number])
	}
	return append(to, t.end...)
}
