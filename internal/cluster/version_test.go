package cluster

import (
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/internal/journal"
)

// A record has the version up to which its writer knows the node's taints, because readers use a record only once they
// have reached its version.
func TestARecordHasTheVersionUpToWhichItsWriterKnowsTheTaints(t *testing.T) {
	for name, c := range map[string]struct {
		read string   // the version of a record that is read
		uid  string   // of the record
		seen []string // versions of the node
		want string
	}{
		"without a record":                        {seen: []string{"3", "7"}, want: "3"},
		"of a later version than that of here":    {read: "7", uid: "u", seen: []string{"3", "9"}, want: "7"},
		"of an earlier version than that of here": {read: "3", uid: "u", seen: []string{"5", "9"}, want: "5"},
		"of another node UID":                     {read: "7", uid: "other", seen: []string{"3", "9"}, want: "3"},
	} {
		s := newSkewed(t, 0)
		for _, version := range c.seen {
			n := s.node(version, nil)
			n.Spec.Taints = []v1.Taint{{Key: "gpu", Effect: v1.TaintEffectNoExecute}}
			if err := s.Nodes().Update(n); err != nil {
				t.Fatal(err)
			}
		}
		if c.read != "" {
			r := s.record(0)
			r.UID, r.Version = types.UID(c.uid), c.read
			s.ApplyRecord("n", r, journal.LastWatch{})
		}
		if got := s.Records(journal.PartitionOf("n"))["n"].Version; got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestTheHandlerIsCalledWhenARecordChangesAStart(t *testing.T) {
	s, told := newSkewed(t, 0), &deaf{}
	s.list(s.node("7", map[string]time.Duration{"gpu": time.Minute}))
	s.handler = told
	for _, when := range []string{"changes it", "has changed it before"} {
		s.ApplyRecord("n", s.record(10*time.Minute), journal.LastWatch{Reached: "7"})
		if told.calls != 1 {
			t.Errorf("a record %s: %d calls, want 1", when, told.calls)
		}
	}
}
