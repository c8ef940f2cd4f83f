package e2e

import (
	"bufio"
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/taint-manager/taint-manager/internal/testcluster"
)

// record is what these tests read of an audit event.
type record struct {
	Verb string
	User struct{ Username string }

	ObjectRef struct {
		Resource, Subresource, Namespace, Name string
	}
	ResponseStatus struct{ Code int }

	RequestReceivedTimestamp time.Time
}

// writes are the requests of taint-manager that are no reads, since that time.
func writes(t *testing.T, path string, since time.Time) (list []record) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var r record
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatalf("the audit log: %v", err)
		}
		if r.User.Username == testcluster.ManagerUser && !reads[r.Verb] && !r.RequestReceivedTimestamp.Before(since) {
			list = append(list, r)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatalf("the audit log: %v", err)
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
