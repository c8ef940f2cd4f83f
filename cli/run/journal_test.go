package run

import (
	"strings"
	"testing"
)

func TestTheJournalIsThatOfTheLease(t *testing.T) {
	s := newSettings()
	s.LeaderElection.ResourceName, s.LeaderElection.ResourceNamespace = "mine", "ours"
	for _, r := range s.rules() {
		if r.resource != "configmaps" {
			continue
		}
		if r.namespace != "ours" || len(r.names) > 0 && !strings.HasPrefix(r.names[0], "mine-journal-") {
			t.Errorf("it needs %s", r)
		}
	}
}
