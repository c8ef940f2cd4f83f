package e2e

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/taint-manager/taint-manager/test/testcluster"
)

// record is a request that the API server has logged.
type record struct {
	Verb string
	User struct{ Username string }

	ObjectRef struct {
		Resource, Subresource, Namespace, Name string
	}
	ResponseStatus struct{ Code int }

	RequestReceivedTimestamp time.Time
}

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
	for _, r := range audited(t, path) {
		if r.User.Username == testcluster.ManagerUser && wanted(&r) && !r.RequestReceivedTimestamp.Before(since) {
			list = append(list, r)
		}
	}
	return list
}

// audited returns the audit log so far.
func audited(t *testing.T, path string) (list []record) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	whole := text[:bytes.LastIndexByte(text, '\n')+1] // the API server may be writing the last line
	for line := range bytes.Lines(whole) {
		var r record
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatal(err)
		}
		list = append(list, r)
	}
	return list
}

// awaitDeletions waits until the log has the accepted deletion or eviction of each of these pods, by taint-manager or
// the original: a watch shows a deletion before the API server answers the request and writes the record of it. A
// DELETE whose client has gone may be carried out, and be recorded as one that failed.
func awaitDeletions(t *testing.T, path string, pods ...string) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; pause(t, 50*time.Millisecond) {
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
		if len(missing) == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the audit log lacks the deletions of %d pods: %v", len(missing), slices.Sorted(maps.Keys(missing)))
		}
	}
}

// kubelet is the user of the simulated kubelets, which remove a pod that terminates.
const kubelet = "kwok"

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
