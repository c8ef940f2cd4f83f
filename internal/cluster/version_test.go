package cluster

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/internal/journal"
	"github.com/taint-manager/taint-manager/taint"
)

// A record has the version up to which its writer knows the node's taints, because readers ignore a record whose
// version is earlier than that of the last one.
func TestARecordHasTheVersionOfTheOneThatWasTakenOver(t *testing.T) {
	gpu := v1.Taint{Key: "gpu", Effect: v1.TaintEffectNoExecute}
	for name, c := range map[string]struct {
		told   string   // the record's version; empty means no record
		before []string // versions of the node that are seen before the record is read
		after  []string
		want   string
	}{
		"without a record":                        {before: []string{"3", "7"}, want: "3"},
		"of a version that was looked at":         {told: "7", before: []string{"3", "9"}, want: "7"},
		"of a version that is still to be seen":   {told: "7", before: []string{"3", "5"}, want: "3"},
		"of a version that is seen afterwards":    {told: "7", before: []string{"3"}, after: []string{"6", "8"}, want: "7"},
		"of an earlier version than that of here": {told: "3", before: []string{"5", "9"}, want: "5"},
		"of another node UID":                     {told: "7/other", before: []string{"3", "9"}, want: "3"},
	} {
		s := newSkewed(t, 0)
		see := func(versions []string) {
			for _, version := range versions {
				n := s.node(version, nil)
				n.Spec.Taints = []v1.Taint{gpu}
				if err := s.Nodes().Update(n); err != nil {
					t.Fatal(err)
				}
			}
		}
		see(c.before)
		if version, uid := c.told, "u"; version != "" {
			if version == "7/other" {
				version, uid = "7", "other"
			}
			s.Adopt("n", journal.Record{UID: types.UID(uid), Version: version, Taints: []taint.History{{{Taint: gpu, Since: s.now, From: "3", FoundInList: true}}}})
		}
		see(c.after)
		if got := journal.RecordOf(s.Tainted()[0], s.now).Version; got != c.want {
			t.Errorf("%s: it is recorded at version %s, want %s", name, got, c.want)
		}
	}
}
