package breaker_test

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/taint-manager/taint-manager/internal/breaker"
	"github.com/taint-manager/taint-manager/policy"
)

// draining returns a policy for NoSchedule taints of the namespaces.
func draining(name string, namespaces ...string) policy.Policy {
	return policy.Policy{
		Name: name, Method: policy.Delete, Tolerations: &policy.Tolerations{Absent: lasting(0)},
		Match: policy.Match{
			Taints: []policy.Taint{{Key: "drain", Effects: []v1.TaintEffect{v1.TaintEffectNoSchedule}}}, Namespaces: namespaces,
		},
	}
}

// began returns the second at which each policy began, as verdicts know it.
func (l *leader) began() map[string]float64 {
	seconds := map[string]float64{}
	for name, began := range l.Judge().Facts.Began {
		seconds[name] = began.Sub(zero).Seconds()
	}
	return seconds
}

func TestAPolicyBeginsWhenItIsLoadedOrItsMatchChanges(t *testing.T) {
	audit := draining("audit")
	audit.Mode = policy.Audit
	l := leading(configured(false, nil, draining("a"), lingering(), audit), known)
	want(t, "with the term", l.began(), map[string]float64{"a": 0})
	l.step(5, breaker.Reconfigured{Config: configured(false, nil, draining("b"), draining("a"))})
	want(t, "a second policy on the taint", l.began(), map[string]float64{"a": 0, "b": 5})
	longer := draining("b")
	longer.Tolerations, longer.Method = &policy.Tolerations{Absent: lasting(60)}, policy.Evict
	l.step(6, breaker.Reconfigured{Config: configured(false, nil, longer, draining("a", "shop"))})
	want(t, "only the match counts", l.began(), map[string]float64{"a": 6, "b": 5})
	l.step(7, breaker.Reconfigured{Config: configured(false, nil, audit)})
	want(t, "no policy enforces", l.began(), map[string]float64{})
	enforced := audit
	enforced.Mode = policy.Enforce
	l.step(8, breaker.Reconfigured{Config: configured(false, nil, enforced, draining("a"))})
	want(t, "the mode counts, too", l.began(), map[string]float64{"audit": 8, "a": 8})
}

func TestTheBeginOfAPolicyOutlivesTheTerm(t *testing.T) {
	first := leading(configured(false, nil, draining("a")), known)
	first.step(5, breaker.Reconfigured{Config: configured(false, nil, draining("a"), draining("b"))})
	first.step(6, breaker.Reconfigured{Config: configured(false, nil, draining("a"), draining("b"), draining("c"))})
	j := first.stored(t)
	next := &leader{Core: breaker.NewCore(at(50), configured(false, nil, draining("c", "shop"), draining("a"), draining("b"), draining("d")))}
	next.step(90, breaker.NodesChanged{Changes: nodes(4, 0)}, breaker.Ready{Journaled: j})
	next.step(100, breaker.LeadershipBegan{Journaled: j})
	want(t, "a restart with another file", next.began(), map[string]float64{"a": 0, "b": 5, "c": 100, "d": 100})

	third := &leader{Core: breaker.NewCore(at(120), configured(false, nil, draining("a"), draining("b")))}
	third.step(130, breaker.NodesChanged{Changes: nodes(4, 0)}, breaker.Ready{})
	third.step(200, breaker.LeadershipBegan{Journaled: breaker.Journaled{Unread: true}})
	want(t, "unread", third.began(), map[string]float64{"a": 200, "b": 200})
	third.step(210, breaker.RecordRead{Record: j.Record})
	want(t, "read late", third.began(), map[string]float64{"a": 0, "b": 5})
}

// The leader could not record that a policy was removed and came again, but this process has seen it.
func TestAPolicyThatAStandbySawComeBeganThen(t *testing.T) {
	first := leading(configured(false, nil, draining("a")), known)
	standby := &leader{Core: breaker.NewCore(at(0), configured(false, nil, draining("a")))}
	standby.step(1, breaker.NodesChanged{Changes: nodes(4, 0)}, breaker.Ready{})
	standby.step(10, breaker.Reconfigured{Config: configured(false, nil)})
	standby.step(20, breaker.Reconfigured{Config: configured(false, nil, draining("a"))})
	standby.step(30, breaker.LeadershipBegan{Journaled: first.stored(t)})
	want(t, "the new leader", standby.began(), map[string]float64{"a": 20})
}

// An operator may write the time of another time zone.
func TestAResetBeforeOfLaterEndsTheTripsUntilItIsLoadedAndNoneAfterIt(t *testing.T) {
	c := zoned(policy.Manual)
	c.Guards.Breakers[0].ResetBefore = &metav1.Time{Time: at(7200)}
	l := leading(zoned(policy.Manual), known)
	l.step(5, breaker.NodesChanged{Changes: nodes(4, 3)})
	l.step(10, breaker.Reconfigured{Config: c})
	want(t, "it is loaded", tripsOf(l.Trips()), nil)
	l.step(20, breaker.NodesChanged{Changes: nodes(4, 0)})
	l.step(30, breaker.NodesChanged{Changes: nodes(4, 3)})
	want(t, "another outage", tripsOf(l.Trips()), []string{"a since 30"})

	started := leading(c, known)
	started.step(1, breaker.NodesChanged{Changes: nodes(4, 3)})
	want(t, "it is loaded at the start", tripsOf(started.Trips()), []string{"a since 1"})
}
