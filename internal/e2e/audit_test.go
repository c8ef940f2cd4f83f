package e2e

import (
	"testing"
	"time"

	"github.com/taint-manager/taint-manager/internal/load"
	"github.com/taint-manager/taint-manager/internal/testcluster"
)

type record = load.AuditRecord

// writes returns the requests of taint-manager since that time that are not reads.
func writes(t *testing.T, path string, since time.Time) []record {
	t.Helper()
	return requests(t, path, since, func(r *record) bool { return !reads[r.Verb] })
}

// nodeReads counts the GETs of nodes by taint-manager since that time.
func nodeReads(t *testing.T, path string, since time.Time) int {
	t.Helper()
	return len(requests(t, path, since, func(r *record) bool { return r.Verb == "get" && r.ObjectRef.Resource == "nodes" }))
}

// requests returns the requests of taint-manager since that time that are wanted.
func requests(t *testing.T, path string, since time.Time, wanted func(r *record) bool) (list []record) {
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
		if r.User.Username == testcluster.ManagerUser && wanted(&r) && !r.RequestReceivedTimestamp.Before(since) {
			list = append(list, r)
		}
	}
	return list
}

var reads = map[string]bool{"get": true, "list": true, "watch": true}

// ofPods returns the requests that write a pod.
func ofPods(all []record) (list []record) {
	for _, r := range all {
		if r.ObjectRef.Resource == "pods" {
			list = append(list, r)
		}
	}
	return list
}
