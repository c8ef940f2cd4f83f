package e2e

import (
	"testing"
	"time"

	"github.com/taint-manager/taint-manager/internal/load"
	"github.com/taint-manager/taint-manager/internal/testcluster"
)

type record = load.AuditRecord

// writes are the requests of taint-manager that are no reads, since that time.
func writes(t *testing.T, path string, since time.Time) (list []record) {
	t.Helper()
	log, err := load.OpenAuditLog(path, false)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	all, err := log.Rest()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range all {
		if r.User.Username == testcluster.ManagerUser && !reads[r.Verb] && !r.RequestReceivedTimestamp.Before(since) {
			list = append(list, r)
		}
	}
	return list
}

var reads = map[string]bool{"get": true, "list": true, "watch": true}

// ofPods are those that write a pod.
func ofPods(all []record) (list []record) {
	for _, r := range all {
		if r.ObjectRef.Resource == "pods" {
			list = append(list, r)
		}
	}
	return list
}
