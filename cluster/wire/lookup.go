package wire

import "github.com/taint-manager/taint-manager/taint"

// Lookup returns what is known of an object that is decoded. The zero value knows nothing.
type Lookup struct {
	Pod  PodLookup
	Node NodeLookup
}

// PodLookup returns what was last seen of the pod with this UID, or nil. A decoded pod shares with it the strings, the
// labels and the tolerations that have not changed, so that nothing is allocated for them. PodLookup must not keep the
// bytes.
type PodLookup func(uid []byte) *taint.Pod

// NodeLookup returns the last known labels of the node with this name, which may be nil, and reports whether the labels
// of nodes are wanted; otherwise they are not decoded. A decoded node shares labels that have not changed. NodeLookup
// must not keep the bytes. Nil means that they are not wanted.
type NodeLookup func(name []byte) (labels map[string]string, wanted bool)
