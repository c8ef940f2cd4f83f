package wire

import v1 "k8s.io/api/core/v1"

// newNamespace decodes the metadata of a namespace, which is nearly all of it.
func newNamespace(message []byte) (*v1.Namespace, error) {
	n := &v1.Namespace{}
	f := fields{message: message}
	named := false
	for f.next() {
		if f.number != objectMeta {
			continue
		}
		if named {
			f.fail(errTwice)
		}
		named = true
		f.check(decodeLabelled(f.bytes(), &n.ObjectMeta, nil))
	}
	return n, f.err
}
