package e2e

import (
	"testing"
	"time"

	"github.com/taint-manager/taint-manager/test/load"
	"github.com/taint-manager/taint-manager/test/testcluster"
)

// writes returns the requests of taint-manager since that time that are not reads.
func writes(t *testing.T, path string, since time.Time) []load.Request {
	t.Helper()
	return requests(t, path, since, func(r *load.Request) bool { return !reads[r.Verb] })
}

// nodeReads counts the GETs of nodes by taint-manager since that time.
func nodeReads(t *testing.T, path string, since time.Time) int {
	t.Helper()
	return len(requests(t, path, since, func(r *load.Request) bool { return r.Verb == "get" && r.ObjectRef.Resource == "nodes" }))
}

// requests returns the requests of taint-manager since that time that are wanted.
func requests(t *testing.T, path string, since time.Time, wanted func(r *load.Request) bool) (list []load.Request) {
	t.Helper()
	for _, r := range audited(t, path) {
		if r.User.Username == testcluster.ManagerUser && wanted(&r) && !r.RequestReceivedTimestamp.Before(since) {
			list = append(list, r)
		}
	}
	return list
}

// audited returns the audit log so far.
func audited(t *testing.T, path string) []load.Request {
	t.Helper()
	list, err := load.ReadAudit(path)
	must(t, err)
	return list
}

// awaitDeletions waits until the log has the accepted deletion or eviction of each of these pods, by taint-manager or
// the original: a watch shows a deletion before the API server answers the request and writes the record of it. A
// DELETE whose client has gone may be carried out, and be recorded as one that failed.
func awaitDeletions(t *testing.T, path string, pods ...string) {
	t.Helper()
	within(t, 10*time.Second, "the audit log has the deletions of all pods", func() bool {
		missing := map[string]bool{}
		for _, pod := range pods {
			missing[pod] = true
		}
		for _, r := range ofPods(audited(t, path)) {
			accepted := r.ResponseStatus.Code < 300 || r.Verb == "delete" && r.ResponseStatus.Code >= 500
			if r.User.Username != kubelet && accepted && (r.Verb == "delete" || r.ObjectRef.Subresource == "eviction") {
				delete(missing, r.ObjectRef.Name)
			}
		}
		return len(missing) == 0
	})
}

// kubelet is the user of the simulated kubelets, which remove a pod that terminates.
const kubelet = "kwok"

var reads = map[string]bool{"get": true, "list": true, "watch": true}

// ofPods returns the requests that write a pod.
func ofPods(all []load.Request) (list []load.Request) {
	for _, r := range all {
		if r.ObjectRef.Resource == "pods" {
			list = append(list, r)
		}
	}
	return list
}
