package wire

import v1 "k8s.io/api/core/v1"

// The numbers of a list's fields.
const (
	listMeta  = 1
	listItems = 2
)

func decodePods(message []byte, known Known) (*v1.PodList, error) {
	n, err := count(message)
	if err != nil {
		return nil, err
	}
	list, rooms := &v1.PodList{Items: make([]v1.Pod, n)}, make([]spare, n)
	f := fields{message: message}
	for i := 0; f.next(); {
		switch f.number {
		case listMeta:
			f.check(list.ListMeta.Unmarshal(f.bytes()))
		case listItems:
			f.check(decodePod(f.bytes(), &list.Items[i], &rooms[i], known))
			i++
		}
	}
	return list, f.err
}

func decodeNodes(message []byte) (*v1.NodeList, error) {
	n, err := count(message)
	if err != nil {
		return nil, err
	}
	list := &v1.NodeList{Items: make([]v1.Node, n)}
	f := fields{message: message}
	for i := 0; f.next(); {
		switch f.number {
		case listMeta:
			f.check(list.ListMeta.Unmarshal(f.bytes()))
		case listItems:
			f.check(decodeNode(f.bytes(), &list.Items[i]))
			i++
		}
	}
	return list, f.err
}

// count is how many items a list has.
func count(message []byte) (n int, err error) {
	f := fields{message: message}
	for f.next() {
		if f.number == listItems {
			n++
		}
	}
	return n, f.err
}
