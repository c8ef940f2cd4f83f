package wire

import (
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/taint-manager/taint-manager/taint"
)

// The numbers of ObjectMeta's fields.
const (
	metaName            = 1
	metaNamespace       = 3
	metaUID             = 5
	metaResourceVersion = 6
	metaGeneration      = 7
	metaCreated         = 8
	metaDeleted         = 9
	metaLabels          = 11
	metaAnnotations     = 12
	metaOwners          = 13
)

// decodeMeta decodes the used fields of the metadata. Labels and owners are skipped if they are nil.
func decodeMeta(message []byte, m *metav1.ObjectMeta, was *taint.Pod, labels *labelSet, owners *ownerList) error {
	f := fields{message: message}
	for f.next() {
		switch f.number {
		case metaName:
			m.Name = again(f.bytes(), was.Name)
		case metaNamespace:
			m.Namespace = again(f.bytes(), was.Namespace)
		case metaUID:
			m.UID = again(f.bytes(), was.UID)
		case metaResourceVersion:
			m.ResourceVersion = string(f.bytes())
		case metaGeneration:
			m.Generation = f.int()
		case metaCreated:
			f.check(m.CreationTimestamp.Unmarshal(f.bytes()))
		case metaDeleted:
			m.DeletionTimestamp = &metav1.Time{}
			f.check(m.DeletionTimestamp.Unmarshal(f.bytes()))
		case metaLabels:
			f.check(labels.see(f.bytes()))
		case metaAnnotations:
			f.check(decodeAnnotation(f.bytes(), m))
		case metaOwners:
			f.check(owners.see(f.bytes()))
		}
	}
	return f.err
}

// decodeLabelled decodes the used fields of the metadata, and the labels. last are the last known ones.
func decodeLabelled(message []byte, m *metav1.ObjectMeta, last map[string]string) (err error) {
	labels := labelSet{was: last}
	if err := decodeMeta(message, m, &taint.Pod{}, &labels, nil); err != nil {
		return err
	}
	m.Labels, err = labels.all(message)
	return err
}

func decodeAnnotation(message []byte, m *metav1.ObjectMeta) error {
	key, value, err := pair(message)
	if k := string(key); k != v1.MirrorPodAnnotationKey && k != metav1.InitialEventsAnnotationKey {
		return err
	}
	if m.Annotations == nil {
		m.Annotations = map[string]string{}
	}
	m.Annotations[string(key)] = string(value)
	return err
}

// pair returns an entry of a map of strings.
func pair(message []byte) (key, value []byte, err error) {
	f := fields{message: message}
	for f.next() {
		switch f.number {
		case 1:
			key = f.bytes()
		case 2:
			value = f.bytes()
		}
	}
	return key, value, f.err
}
