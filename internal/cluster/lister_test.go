package cluster

import (
	"bufio"
	"bytes"
	"io"
	"math"
	"slices"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// podList returns a list of pods in the API server's message.
func podList(pods int) []byte {
	list := &v1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "7", Continue: "more"}}
	for i := range pods {
		list.Items = append(list.Items, *bigPod(i, false))
	}
	return (&api{format: runtime.ContentTypeProtobuf}).encode(list)
}

// readPods reads a list, and returns the pods in it. It calls seen for each as soon as it is decoded.
func readPods(body io.Reader, seen func()) (list *metav1.List, pods []string, err error) {
	trim := func(item any) (any, error) {
		seen()
		p := item.(*v1.Pod)
		pods = append(pods, p.Namespace+"/"+p.Name)
		return p, nil
	}
	read, err := trimmingList{kind: &v1.Pod{}, trim: trim}.protobuf(bufio.NewReaderSize(body, 16))
	return read.(*metav1.List), pods, err
}

func TestAListIsReadItemByItem(t *testing.T) {
	body := podList(10)
	left := bytes.NewReader(body)
	var before []int
	list, pods, err := readPods(left, func() { before = append(before, left.Len()) })
	must(t, err)
	if list.ResourceVersion != "7" || list.Continue != "more" || len(list.Items) != 10 {
		t.Errorf("version %s, continued %s, %d items", list.ResourceVersion, list.Continue, len(list.Items))
	}
	for i, p := range pods {
		if want := bigPod(i, false); p != want.Namespace+"/"+want.Name {
			t.Errorf("item %d is %s", i, p)
		}
		if least := len(body)*(9-i)/10 - 8192; before[i] < least {
			t.Errorf("item %d is decoded with %d bytes left, want at least %d", i, before[i], least)
		}
	}
}

// A list that is cut must not be taken for a shorter one: the pods that it lacks would count as gone.
func TestAListThatIsCutIsAnError(t *testing.T) {
	body := (&api{format: runtime.ContentTypeProtobuf}).encode(&v1.PodList{Items: []v1.Pod{*aPod(), *aPod()}})
	end := bytes.LastIndex(body, []byte("p1")) // in the second pod
	for n := range end {
		if _, pods, err := readPods(bytes.NewReader(body[:n]), ignore); err == nil {
			t.Errorf("%d of %d bytes are a list of %q", n, len(body), pods)
		}
	}
}

func TestAListThatCannotBeReadIsAnError(t *testing.T) {
	message := func(fields ...[]byte) []byte {
		raw := protowire.AppendTag([]byte(magic), unknownRaw, protowire.BytesType)
		return protowire.AppendBytes(raw, slices.Concat(fields...))
	}
	head := func(kind protowire.Type, size uint64) []byte {
		return protowire.AppendVarint(protowire.AppendTag(nil, listItems, kind), size)
	}
	for name, body := range map[string][]byte{
		"nothing":              nil,
		"no list":              []byte(magic),
		"an item of no object": message(head(protowire.BytesType, 1), []byte{0xff}),
		"an item that is cut":  message(head(protowire.BytesType, 5)),
		"a number":             message(head(protowire.VarintType, 5)),
		"a tag that is cut":    message([]byte{0xff}),
		"a huge item":          message(head(protowire.BytesType, largest+1)),
		"an impossible item":   message(head(protowire.BytesType, math.MaxUint64)),
		"an impossible list":   append([]byte(magic), head(protowire.BytesType, math.MaxUint64)...),
	} {
		if _, pods, err := readPods(bytes.NewReader(body), ignore); err == nil {
			t.Errorf("%s is a list of %q", name, pods)
		}
	}
}

// FuzzReadList finds bytes that make the reading of a list panic.
func FuzzReadList(f *testing.F) {
	list := &v1.PodList{Items: []v1.Pod{*aPod(), *aPod(withUID("p2"))}}
	f.Add((&api{format: runtime.ContentTypeProtobuf}).encode(list)[len(magic):])
	f.Fuzz(func(t *testing.T, body []byte) {
		_, _, _ = readPods(bytes.NewReader(append([]byte(magic), body...)), ignore)
	})
}
