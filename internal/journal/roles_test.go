package journal_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/internal/journal"
	"github.com/taint-manager/taint-manager/internal/skew"
	"github.com/taint-manager/taint-manager/taint"
)

// noSchedule parses taints as tainted does; their effect is NoSchedule.
func noSchedule(texts ...string) []v1.Taint {
	taints := tainted(texts...)
	for i := range taints {
		taints[i].Effect = v1.TaintEffectNoSchedule
	}
	return taints
}

// looks observes a node at that second, which is also its version.
func looks(n journal.NodeHistory, at int, keys journal.Keys, taints []v1.Taint, change ...func(*journal.Observation)) (journal.NodeHistory, journal.Change) {
	o := journal.Observation{
		Viewpoint: journal.Viewpoint{At: skew.Instant{Time: second(float64(at))}, Created: noon.Add(-time.Hour), Keys: keys},
		Taints:    taints, Version: fmt.Sprint(at), Before: fmt.Sprint(at - 1),
	}
	for _, c := range change {
		c(&o)
	}
	return n.Observe(o)
}

// starts returns histories as watcher.String does, without states that have ended.
func starts(histories []taint.History) string {
	var texts []string
	for _, history := range histories {
		for _, s := range history {
			if !s.Ended {
				texts = append(texts, fmt.Sprintf("%s@%g", s.Taint.Key, s.Since.Sub(second(0)).Seconds()))
			}
		}
	}
	return strings.Join(texts, " ")
}

func drains() journal.Keys {
	return journal.Keys{Triggers: []string{"drain"}, Audited: []string{"drain", "watch"}}
}

func TestANoScheduleTaintHasTheRoleThatPoliciesGiveItsKey(t *testing.T) {
	prefer := noSchedule("drain")
	prefer[0].Effect = v1.TaintEffectPreferNoSchedule
	taints := append(append(noSchedule("drain", "watch", "cordon"), prefer...), tainted("drain", "gpu")...)
	n, _ := looks(journal.NodeHistory{}, 5, drains(), taints)
	for name, c := range map[string]struct{ got, want string }{
		"NoExecute": {starts(n.Taints()), "drain@5 gpu@5"},
		"triggers":  {starts(n.Triggers()), "drain@5"},
		"audited":   {starts(n.Audited()), "watch@5"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %s, want %s", name, c.got, c.want)
		}
	}
	if r, ok := n.Record("u"); !ok || len(r.Taints) != 3 {
		t.Errorf("recorded are %v", r.Taints)
	}
	n, _ = looks(journal.NodeHistory{}, 5, drains(), noSchedule("watch"))
	if r, ok := n.Record("u"); ok {
		t.Errorf("recorded is %v", r)
	}
}

// Its timeAdded is when the node got it, perhaps long before a policy named it.
func TestATriggerBeginsWhenItIsFirstSeen(t *testing.T) {
	n, _ := looks(journal.NodeHistory{}, 9, drains(), append(noSchedule("drain@2"), tainted("gpu@2")...), func(o *journal.Observation) { o.Gap = true })
	if got := starts(n.Triggers()) + " " + starts(n.Taints()); got != "drain@9 gpu@3" {
		t.Errorf("got %s", got)
	}
}

func TestATriggerBeginsAgainWithItsPolicy(t *testing.T) {
	taints := append(noSchedule("drain", "watch"), tainted("drain")...)
	n, _ := looks(journal.NodeHistory{}, 5, drains(), taints)
	n, _ = looks(n, 7, drains(), taints)
	if got := starts(n.Triggers()) + " " + starts(n.Audited()) + " " + starts(n.Taints()); got != "drain@5 watch@5 drain@5" {
		t.Errorf("nothing has changed: %s", got)
	}
	renewed, change := looks(n, 9, drains(), taints, func(o *journal.Observation) { o.Renewed = []string{"drain"} })
	if got := starts(renewed.Triggers()) + " " + starts(renewed.Audited()) + " " + starts(renewed.Taints()); got != "drain@9 watch@5 drain@5" || !change.History {
		t.Errorf("the key was not needed for a while: %s, %v", got, change)
	}
	other, change := looks(n, 9, journal.Keys{Triggers: []string{"watch"}}, taints)
	if got := starts(other.Triggers()) + " " + starts(other.Taints()); got != "watch@9 drain@5" || len(other.Audited()) > 0 || !change.History {
		t.Errorf("the roles have changed: %s, %v", got, change)
	}
}

func TestARecordExplainsTheTaintsOfItsRole(t *testing.T) {
	taints := append(noSchedule("drain"), tainted("gpu")...)
	writer, _ := looks(journal.NodeHistory{}, 5, drains(), taints)
	record, _ := writer.Record("u")
	for name, c := range map[string]struct {
		keys journal.Keys
		want string
	}{
		"a trigger for both":        {drains(), "drain@5  gpu@5"},
		"audited for the reader":    {journal.Keys{Audited: []string{"drain"}}, " drain@20 gpu@5"},
		"no policy of the reader's": {journal.Keys{}, "  gpu@5"},
	} {
		n, _ := looks(journal.NodeHistory{}, 20, c.keys, taints, func(o *journal.Observation) { o.Gap, o.Before = true, "" })
		n, changed := n.ApplyRecord("u", record, journal.Viewpoint{
			At: skew.Instant{Time: second(30)}, Created: noon.Add(-time.Hour), Keys: c.keys,
			LastWatch: journal.LastWatch{Watched: second(6), Reached: "6"},
		})
		if got := starts(n.Triggers()) + " " + starts(n.Audited()) + " " + starts(n.Taints()); got != c.want || !changed {
			t.Errorf("%s: %q, want %q; changed: %v", name, got, c.want, changed)
		}
	}
}

func TestAnObservationSaysWhetherItChangesTheHistoryOrTheRecord(t *testing.T) {
	before, change := looks(journal.NodeHistory{}, 5, journal.Keys{}, tainted("gpu"))
	if change != (journal.Change{History: true, Record: true}) {
		t.Errorf("the first taint: %+v", change)
	}
	for name, c := range map[string]struct {
		taints  []v1.Taint
		change  journal.Change
		version string // of the record
	}{
		"the same":                      {tainted("gpu"), journal.Change{}, "5"},
		"another value":                 {tainted("gpu=b"), journal.Change{History: true, Record: true}, "9"},
		"another taint":                 {tainted("gpu", "disk"), journal.Change{History: true, Record: true}, "9"},
		"one that is not observed":      {append(tainted("gpu"), noSchedule("cordon")...), journal.Change{Record: true}, "9"},
		"a timeAdded":                   {tainted("gpu@3"), journal.Change{History: true, Record: true}, "9"},
		"a taint of the same key twice": {append(tainted("gpu"), noSchedule("gpu")...), journal.Change{Record: true}, "9"},
	} {
		n, got := looks(before, 9, journal.Keys{}, c.taints)
		if r, _ := n.Record("u"); got != c.change || r.Version != c.version {
			t.Errorf("%s: %+v at version %s, want %+v at %s", name, got, r.Version, c.change, c.version)
		}
	}
	timed, _ := looks(journal.NodeHistory{}, 5, journal.Keys{}, tainted("gpu@3"))
	n, got := looks(timed, 9, journal.Keys{}, tainted("gpu=b@3"))
	if r, _ := n.Record("u"); got != (journal.Change{History: true, Record: true}) || r.Version != "9" {
		t.Errorf("another value of one with timeAdded: %+v at version %s", got, r.Version)
	}
	if n, got := looks(before, 9, journal.Keys{}, nil); !got.History || len(n.Taints()) > 0 {
		t.Errorf("none: %+v", got)
	}
}

// Only then managedFields may show that it was set again.
func TestARecordHasAFingerprintIfATaintHasNoTimeAdded(t *testing.T) {
	for name, c := range map[string]struct {
		taints []v1.Taint
		want   bool
	}{
		"without timeAdded":              {tainted("gpu"), true},
		"with timeAdded":                 {tainted("gpu@3"), false},
		"one of them":                    {tainted("gpu@3", "disk"), true},
		"one that nobody observes":       {append(tainted("gpu@3"), noSchedule("cordon")...), false},
		"a trigger, which never has one": {append(tainted("gpu@3"), noSchedule("drain")...), true},
	} {
		n, _ := looks(journal.NodeHistory{}, 5, drains(), c.taints)
		if r, _ := n.Record("u"); (r.List != "") != c.want {
			t.Errorf("%s: %q", name, r.List)
		}
	}
}

func TestTheOriginOfAStartIsARecordOrAList(t *testing.T) {
	seen := process().sees(1).sees(5, "gpu")
	for name, c := range map[string]struct {
		node            *watcher
		taint           string
		recorded, found bool
	}{
		"seen to appear":   {process().sees(1).sees(5, "gpu"), "gpu", false, false},
		"found":            {process().finds(9, 5, 0, "gpu"), "gpu", false, true},
		"another value":    {process().finds(9, 5, 0, "gpu=a").sees(10, "gpu=b"), "gpu=b", false, false},
		"from a record":    {process().finds(20, 5, 0, "gpu").reads(t, seen), "gpu", true, false},
		"of another taint": {process().finds(20, 5, 0, "gpu", "disk").reads(t, seen), "disk", false, true},
	} {
		recorded, found := c.node.history.Origin(&tainted(c.taint)[0])
		if recorded != c.recorded || found != c.found {
			t.Errorf("%s: recorded %v, found %v", name, recorded, found)
		}
	}
}

func TestARecordThatChangesNothingForReadersSaysSo(t *testing.T) {
	writer := process().sees(1).sees(5, "gpu")
	from := journal.Viewpoint{At: skew.Instant{Time: second(30)}, Created: noon.Add(-time.Hour), LastWatch: writer.last}
	n, changed := process().finds(20, 5, 0, "gpu").history.ApplyRecord("u", writer.record(t), from)
	if !changed {
		t.Error("the first time: it does not say that it has changed the start")
	}
	if _, changed = n.ApplyRecord("u", writer.record(t), from); changed {
		t.Error("the second time: it says that it has changed something")
	}
}

func TestARecordHasTheVersionOfTheRecordThatItContinues(t *testing.T) {
	writer := process().sees(1).sees(5, "gpu").sees(7, "gpu", "disk")
	for found, want := range map[int]string{6: "7", 8: "8"} {
		n := process().finds(20, found, 0, "gpu").reads(t, writer)
		if r, _ := n.history.Record("u"); r.Version != want {
			t.Errorf("found at version %d: recorded is %s, want %s", found, r.Version, want)
		}
	}
}
