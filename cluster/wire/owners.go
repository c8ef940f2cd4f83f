package wire

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/taint-manager/taint-manager/taint"
)

// The numbers of OwnerReference's fields.
const (
	ownerKind       = 1
	ownerName       = 3
	ownerController = 6
)

// ownerList finds the controller among a pod's owners, and skips the others.
type ownerList struct {
	was  *taint.Owner // the known controller; may be nil
	room *spare
	list []metav1.OwnerReference
}

// see decodes the next owner, and keeps the first controller.
func (l *ownerList) see(message []byte) error {
	if l == nil || l.list != nil {
		return nil
	}
	was := l.was
	if was == nil {
		was = &taint.Owner{}
	}
	var owner metav1.OwnerReference
	controls := false
	f := fields{message: message}
	for f.next() {
		switch f.number {
		case ownerKind:
			owner.Kind = kindOf(f.bytes(), was.Kind)
		case ownerName:
			owner.Name = again(f.bytes(), was.Name)
		case ownerController:
			controls = f.int() != 0
		}
	}
	if controls && f.err == nil {
		l.room.owners[0], l.room.controls = owner, true
		l.room.owners[0].Controller = &l.room.controls
		l.list = l.room.owners[:]
	}
	return f.err
}

// kindOf returns the kind in b: a constant of the program for the kinds of nearly every pod, otherwise like again.
func kindOf(b []byte, was string) string {
	for _, kind := range [...]string{"ReplicaSet", "StatefulSet", "DaemonSet", "Job"} {
		if string(b) == kind {
			return kind
		}
	}
	return again(b, was)
}
