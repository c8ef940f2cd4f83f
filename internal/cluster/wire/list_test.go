package wire_test

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/taint-manager/taint-manager/internal/cluster/wire"
)

func listOf(pods int) *v1.PodList {
	list := &v1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "9", Continue: "more", RemainingItemCount: new(int64(4))}}
	for i := range pods {
		list.Items = append(list.Items, *usualPod(i))
	}
	return list
}

// counting counts the bytes that are read.
type counting struct {
	io.Reader
	n int
}

func (c *counting) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += n
	return n, err
}

func TestAnItemIsDecodedBeforeTheNextIsRead(t *testing.T) {
	const pods, ahead = 50, 1 << 10
	encodedList := encoded(t, listOf(pods))
	body, seen := &counting{Reader: bytes.NewReader(encodedList)}, 0
	_, err := wire.ReadList(bufio.NewReaderSize(body, ahead), func(item runtime.Object) (runtime.Object, error) {
		seen++
		if most := len(encodedList)*seen/pods + ahead; body.n > most+ahead {
			t.Errorf("at pod %d, %d bytes were read, want at most %d", seen, body.n, most)
		}
		return item, nil
	})
	if err != nil || seen != pods {
		t.Errorf("%d pods and error %v", seen, err)
	}
}

// The reflector accesses a list through these functions.
func TestAListIsOneForThePager(t *testing.T) {
	object, err := decode(encoded(t, listOf(3)))
	if err != nil {
		t.Fatal(err)
	}
	about, err := meta.ListAccessor(object)
	if err != nil || about.GetResourceVersion() != "9" || about.GetContinue() != "more" || *about.GetRemainingItemCount() != 4 {
		t.Errorf("got %+v and error %v", about, err)
	}
	items, err := meta.ExtractList(object)
	if err != nil || len(items) != 3 || items[2].(*v1.Pod).Name != usualPod(2).Name {
		t.Errorf("got %+v and error %v", items, err)
	}
}

func TestAListThatCannotBeReadIsAnError(t *testing.T) {
	body, broken := encoded(t, listOf(2)), errors.New("broken")
	for _, n := range []int{0, 2, 4, 20, 100, len(body) - 10} {
		read := io.MultiReader(bytes.NewReader(body[:n]), iotest.ErrReader(broken))
		list, err := readList(read)
		if list != nil || err == nil || n >= 4 && !errors.Is(err, broken) {
			t.Errorf("broken after %d bytes: got %v and error %v", n, list, err)
		}
	}
}

func TestAnItemThatIsTooLargeIsRefused(t *testing.T) {
	head := sealed("v1", "PodList", nil)
	head = head[:len(head)-2]
	// The header of a list of 16777232 bytes, and of an item of 16777217.
	head = append(head, 0x12, 0x90, 0x80, 0x80, 0x08, 0x12, 0x81, 0x80, 0x80, 0x08)
	list, err := readList(bytes.NewReader(head))
	if list != nil || err == nil || !strings.Contains(err.Error(), "its 16777217 bytes are more than the most that is taken, 16777216") {
		t.Errorf("got %v and error %v", list, err)
	}
}

func TestAStatusInPlaceOfAListThatCannotBeReadIsNamed(t *testing.T) {
	body := sealed("v1", "Status", []byte("Status"))
	got, err := readList(bytes.NewReader(body))
	if got != nil || err == nil || !strings.HasPrefix(err.Error(), "decoding a Status of v1: field 2: ") {
		t.Errorf("got %v and error %v", got, err)
	}
}
