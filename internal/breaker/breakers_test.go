package breaker_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"pgregory.net/rapid"

	"github.com/taint-manager/taint-manager/internal/breaker"
	"github.com/taint-manager/taint-manager/policy"
)

func lasting(seconds int64) *metav1.Duration {
	return &metav1.Duration{Duration: time.Duration(seconds) * time.Second}
}

func most(limit string) intstr.IntOrString { return intstr.Parse(limit) }

// zones returns a breaker that trips above half of a zone, and resets after 60 seconds.
func zones() policy.Breaker {
	return policy.Breaker{
		Name: "zones", TopologyKey: "zone", MaxNodes: most("50%"), MinNodes: new(int32(1)), ResetAfter: lasting(60),
		Taints: []policy.TaintKey{{Key: "out"}, {Key: "lost"}},
	}
}

var (
	well = []v1.Taint{{Key: "dedicated", Effect: v1.TaintEffectNoExecute}}
	out  = []v1.Taint{{Key: "out", Effect: v1.TaintEffectNoSchedule}}
)

// is returns the change after which a node of a zone has these taints.
func is(name, zone string, taints []v1.Taint) breaker.NodeChange {
	labels := in(zone)
	if zone == "" {
		labels = nil
	}
	return breaker.NodeChange{Name: name, Node: &breaker.Node{Name: name, UID: types.UID("uid of " + name), Labels: labels, Taints: taints}}
}

func gone(name string) breaker.NodeChange { return breaker.NodeChange{Name: name} }

// renewed returns the change by which a new node replaces the node of the same name.
func renewed(name, zone string, taints []v1.Taint) breaker.NodeChange {
	c := is(name, zone, taints)
	c.Node.UID = "another"
	return c
}

// many returns the nodes n0, n1, ... of zone a.
func many(n int, taints []v1.Taint) (all []breaker.NodeChange) {
	for i := range n {
		all = append(all, is(fmt.Sprintf("n%d", i), "a", taints))
	}
	return all
}

// synced returns breakers that know the nodes at second 0.
func synced(nodes []breaker.NodeChange, list ...policy.Breaker) *breaker.Breakers {
	b := breaker.NewBreakers(list)
	b.Step(at(0), nodes...)
	b.Synced(at(0))
	return b
}

func wantTripped(t *testing.T, b *breaker.Breakers, when string, want ...string) {
	t.Helper()
	var got []string
	for trip := range b.Tripped() {
		got = append(got, trip.Group)
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("%s: tripped are %q, want %q", when, got, want)
	}
}

func TestABreakerTripsAboveItsLimit(t *testing.T) {
	one, three := int32(1), int32(3)
	for name, c := range map[string]struct {
		limit   string
		least   *int32
		nodes   int
		out     int
		tripped bool
	}{
		"half of them":                     {"50%", nil, 4, 2, false},
		"more than half":                   {"50%", nil, 4, 3, true},
		"a third, exactly":                 {"33%", nil, 100, 33, false},
		"more than a third":                {"33%", nil, 100, 34, true},
		"one is more than none":            {"0%", &one, 1000, 1, true},
		"as many as may be":                {"2", nil, 4, 2, false},
		"more than may be":                 {"2", nil, 4, 3, true},
		"all, but too few to matter":       {"50%", &three, 2, 2, false},
		"all, and just enough to matter":   {"50%", &three, 3, 3, true},
		"none of a group without affected": {"0", nil, 3, 0, false},
	} {
		z := zones()
		z.MaxNodes, z.MinNodes = most(c.limit), c.least
		b := synced(many(c.nodes, well), z)
		b.Step(at(1), many(c.out, out)...)
		if got := len(b.Tripped()) > 0; got != c.tripped {
			t.Errorf("%s: tripped %t", name, got)
		}
	}
}

func TestEachGroupTripsByItself(t *testing.T) {
	b := synced([]breaker.NodeChange{is("a1", "a", well), is("b1", "b", well), is("x1", "", well), is("x2", "", well)}, zones())
	b.Step(at(1), is("b1", "b", out))
	wantTripped(t, b, "one zone", "b")
	b.Step(at(2), is("x1", "", out), is("x2", "", out))
	wantTripped(t, b, "nodes without the label are a group", "<none>", "b")
	z := zones()
	z.TopologyKey = ""
	b = synced([]breaker.NodeChange{is("a1", "a", well), is("b1", "b", well)}, z)
	b.Step(at(1), is("b1", "b", out))
	wantTripped(t, b, "half of the cluster")
	b.Step(at(1), is("a1", "a", out))
	wantTripped(t, b, "the cluster", "")
}

func TestOnlyNodesThatAreSelectedCount(t *testing.T) {
	z := zones()
	z.NodeSelector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "control-plane", Operator: metav1.LabelSelectorOpDoesNotExist}}}
	b := synced(many(2, well), z)
	control := is("c", "a", out)
	control.Node.Labels["control-plane"] = ""
	b.Step(at(1), is("n0", "a", out), control)
	wantTripped(t, b, "half of the nodes, and one that does not count")
}

func TestAnEventDescribesTheTrip(t *testing.T) {
	b := synced(many(20, well), zones())
	var events []breaker.Event
	for i := range 20 {
		events = append(events, b.Reported(at(float64(i)), is(fmt.Sprintf("n%d", i), "a", out))...)
	}
	want := []breaker.Event{{
		Trip: policy.Trip{Breaker: "zones", Group: "a"}, Tripped: true, At: at(10), Affected: 11, Nodes: 20,
		Names: []string{"n0", "n1", "n10", "n2", "n3", "n4", "n5", "n6", "n7", "n8"},
	}}
	if diff := cmp.Diff(want, events); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	events = append(b.Reported(at(20), many(20, well)...), b.Reported(at(200))...)
	want = []breaker.Event{{Trip: policy.Trip{Breaker: "zones", Group: "a"}, At: at(200), Nodes: 20}}
	if diff := cmp.Diff(want, events); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestABreakerIsResetOnceFewEnoughAreAffectedWithoutABreak(t *testing.T) {
	b := synced(many(4, well), zones())
	b.Step(at(0), many(3, out)...)
	b.Step(at(10), is("n0", "a", well))
	if next := b.Next(); !next.Equal(at(70)) {
		t.Errorf("the next step is due at %v", next)
	}
	b.Step(at(69))
	wantTripped(t, b, "59 s", "a")
	b.Step(at(69), is("n0", "a", out))
	b.Step(at(69.5), is("n0", "a", well))
	b.Step(at(129))
	wantTripped(t, b, "60 s with a break", "a")
	b.Step(at(129.5))
	wantTripped(t, b, "60 s without one")
	b.Step(at(130), is("n0", "a", out))
	wantTripped(t, b, "again", "a")
}

// Cloud providers delete the nodes of a zone that is down, and create new ones.
func TestNodesThatAreDeletedWhileAffectedStillCount(t *testing.T) {
	b := synced(many(4, well), zones())
	b.Step(at(1), many(2, out)...)
	b.Step(at(2), gone("n0"), gone("n1"))
	wantTripped(t, b, "two of four")
	b.Step(at(3), is("n2", "a", out))
	wantTripped(t, b, "three of four", "a")
	for i := range 4 {
		b.Step(at(4), renewed(fmt.Sprintf("n%d", i), "a", well))
	}
	b.Step(at(61.9))
	wantTripped(t, b, "three that were deleted, and four new ones: few enough since second 4", "a")
	b.Step(at(64))
	wantTripped(t, b, "for a minute")
}

// A kubelet may write the label of its node, which is the only node of its group then.
func TestABreakerThatThePresentNodesCanNotTripIsNamed(t *testing.T) {
	three := zones()
	three.MinNodes = nil
	number := zones()
	number.MaxNodes = most("2")
	whole := three
	whole.TopologyKey, whole.MinNodes = "", new(int32(3))
	other := whole
	other.NodeSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"pool": "db"}}
	for _, test := range []struct {
		name    string
		breaker policy.Breaker
		nodes   []breaker.NodeChange
		want    []string
	}{
		{"no nodes", three, nil, nil},
		{"no nodes to select", other, nil, nil},
		{"no node that is selected", other, many(3, nil), []string{"breaker zones can never trip: its nodeSelector selects no node"}},
		{"a group of three", three, many(3, nil), nil},
		{"groups of two", three, append(many(2, nil), is("b", "b", nil)), []string{"breaker zones can never trip: at least 3 nodes of a group must be affected, and the largest group has 2"}},
		{"as many as may be affected", number, many(2, nil), []string{"breaker zones can never trip: at least 3 nodes of a group must be affected, and the largest group has 2"}},
		{"no label", three, []breaker.NodeChange{is("x", "", nil), is("y", "", nil), is("z", "", nil)}, []string{"breaker zones has one group of all nodes: no node has the label zone"}},
		{"the whole cluster", whole, []breaker.NodeChange{is("x", "", nil), is("y", "", nil), is("z", "", nil)}, nil},
	} {
		b := breaker.NewBreakers([]policy.Breaker{test.breaker})
		b.Step(at(0), test.nodes...)
		if diff := cmp.Diff(test.want, b.Idle()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

func TestOneOrTwoNodesAreNoOutageOfAGroupUnlessMinNodesSaysSo(t *testing.T) {
	z, whole := zones(), zones()
	z.MinNodes, whole.MinNodes, whole.TopologyKey = nil, nil, ""
	b := synced(many(6, well), z)
	b.Step(at(1), is("n0", "mine", out), is("n1", "mine", out))
	wantTripped(t, b, "two nodes that say that they are a zone")
	b.Step(at(2), is("n2", "mine", out))
	wantTripped(t, b, "three nodes", "mine")
	b = synced(many(1, out), whole)
	wantTripped(t, b, "a cluster of one node", "")
}

func TestANodeThatWasDeletedCountsForResetAfter(t *testing.T) {
	b := synced(many(3, well), zones())
	b.Step(at(1), is("n0", "a", out))
	b.Step(at(2), gone("n0"))
	b.Step(at(61.9), is("n1", "a", out))
	wantTripped(t, b, "two of three", "a")
	b = synced(many(3, well), zones())
	b.Step(at(1), is("n0", "a", out))
	b.Step(at(2), gone("n0"))
	b.Step(at(62), is("n1", "a", out))
	wantTripped(t, b, "one of two")
}

func TestNothingTripsBeforeAllNodesAreKnown(t *testing.T) {
	b := breaker.NewBreakers([]policy.Breaker{zones()})
	b.Step(at(0), is("n0", "a", out))
	wantTripped(t, b, "one of one that is known")
	b.Step(at(0), is("n1", "a", well), is("n2", "a", well))
	b.Synced(at(0))
	wantTripped(t, b, "one of three")
	b = breaker.NewBreakers([]policy.Breaker{zones()})
	b.Step(at(0), many(3, out)...)
	if events := b.Synced(at(1)); len(events) != 1 || len(b.Tripped()) != 1 {
		t.Errorf("three of three: got %+v", events)
	}
}

// All changes of one step count as one change, in any order.
func TestTheOrderOfChangesInAStepDoesNotCount(t *testing.T) {
	changes := []breaker.NodeChange{gone("n0"), gone("n1"), is("n2", "a", out), is("m0", "a", well), is("m1", "a", well)}
	permutations(changes, func(order []breaker.NodeChange) {
		b := synced(many(4, well), zones())
		b.Step(at(1), order...)
		wantTripped(t, b, "one of four")
		b.Step(at(2), is("n3", "a", out), is("m0", "a", out))
		wantTripped(t, b, "three of four", "a")
	})
}

// The nodes of a wave become affected one by one, in any order. The breaker trips with the first node above the
// limit, not before.
func TestAWaveThatComesOneByOneTripsInEachOrder(t *testing.T) {
	wave := []breaker.NodeChange{is("n0", "a", out), is("n1", "a", out), is("n2", "a", out), is("n3", "a", out), is("b0", "b", out)}
	permutations(wave, func(order []breaker.NodeChange) {
		b := synced(append(many(5, well), is("b0", "b", well), is("b1", "b", well)), zones())
		affected := 0
		for i, c := range order {
			if c.Name[0] == 'n' {
				affected++
			}
			b.Step(at(float64(i)), c)
			if got := len(b.Tripped()) == 1; got != (affected >= 3) {
				t.Fatalf("%d affected of 5: tripped %t", affected, got)
			}
		}
	})
}

// While a breaker is tripped, nodes are deleted and created, in any order: it stays tripped for resetAfter.
func TestNodesThatComeAndGoResetNothingEarly(t *testing.T) {
	churn := []breaker.NodeChange{gone("n0"), renewed("n0", "a", well), gone("n1"), renewed("n1", "a", well), gone("n2")}
	permutations(churn, func(order []breaker.NodeChange) {
		b := synced(many(3, well), zones())
		b.Step(at(1), many(3, out)...)
		for i, c := range order {
			b.Step(at(float64(10+i)), c)
		}
		b.Step(at(69))
		wantTripped(t, b, "less than resetAfter since the first was deleted", "a")
	})
}

func permutations[T any](list []T, visit func([]T)) {
	var walk func(i int)
	walk = func(i int) {
		if i == len(list) {
			visit(slices.Clone(list))
		}
		for j := i; j < len(list); j++ {
			list[i], list[j] = list[j], list[i]
			walk(i + 1)
			list[i], list[j] = list[j], list[i]
		}
	}
	walk(0)
}

func TestAManualBreakerIsResetByHandAlone(t *testing.T) {
	z := zones()
	z.Reset = policy.Manual
	b := synced(many(3, well), z)
	b.Step(at(1), many(3, out)...)
	b.Step(at(2), many(3, well)...)
	b.Step(at(10_000))
	wantTripped(t, b, "all is well for hours", "a")
	z.ResetBefore = &metav1.Time{Time: at(1)}
	b.Reload(at(10_001), []policy.Breaker{z})
	wantTripped(t, b, "the trip began at that moment, not before", "a")
	z.ResetBefore = &metav1.Time{Time: at(2)}
	if events := b.Reload(at(10_002), []policy.Breaker{z}); len(events) != 1 || events[0].Tripped {
		t.Errorf("got %+v", events)
	}
	wantTripped(t, b, "it began before that moment")
}

// A clock that was set back may make a trip begin before resetBefore.
func TestATripThatEndsAsItBeginsIsReported(t *testing.T) {
	z := zones()
	z.ResetBefore = &metav1.Time{Time: at(100)}
	b := synced(many(4, well), z)
	events := b.Reported(at(1), many(3, out)...)
	if len(events) != 2 || !events[0].Tripped || events[1].Tripped {
		t.Errorf("got %+v, want a trip and its reset", events)
	}
	if events := b.Reported(at(2)); len(events) > 0 {
		t.Errorf("reported again: %+v", events)
	}
}

// A manual reset during the outage of a zone releases its pods: the breaker does not trip again for the same outage.
func TestATripThatWasEndedByHandDoesNotComeBackForTheSameOutage(t *testing.T) {
	z := zones()
	b := synced(many(4, well), z)
	b.Step(at(1), many(3, out)...)
	z.ResetBefore = &metav1.Time{Time: at(5)}
	b.Reload(at(6), []policy.Breaker{z})
	wantTripped(t, b, "reset by hand")
	b.Step(at(7), is("n3", "a", out))
	wantTripped(t, b, "another node of the same outage")

	next := breaker.NewBreakers([]policy.Breaker{z})
	next.Step(at(8), many(4, out)...)
	next.MarkSynced(at(8))
	next.Adopt(b.Trips())
	next.Step(at(8))
	wantTripped(t, next, "after a restart")

	b.Step(at(9), many(4, well)...)
	b.Step(at(10), many(3, out)...)
	wantTripped(t, b, "another outage", "a")
}

func TestATripOutlivesARestart(t *testing.T) {
	b := synced(many(3, well), zones())
	b.Step(at(1), many(3, out)...)
	b.Step(at(2), many(3, well)...)
	next := breaker.NewBreakers([]policy.Breaker{zones()})
	next.Step(at(30), many(3, well)...)
	next.MarkSynced(at(8))
	next.Adopt(b.Trips())
	next.Step(at(30))
	wantTripped(t, next, "just started", "a")
	if diff := cmp.Diff(b.Trips(), next.Trips()); diff != "" {
		t.Errorf("the trip is another one (-want +got):\n%s", diff)
	}
	next.Step(at(89))
	wantTripped(t, next, "a new process counts from the start", "a")
	next.Step(at(90))
	wantTripped(t, next, "for a minute")

	other := zones()
	other.TopologyKey = "rack"
	next = breaker.NewBreakers([]policy.Breaker{other})
	next.MarkSynced(at(8))
	next.Adopt(b.Trips())
	next.Step(at(3))
	wantTripped(t, next, "groups of another label")
}

func TestAReloadKeepsTrips(t *testing.T) {
	b := synced(many(3, well), zones())
	b.Step(at(1), many(3, out)...)
	b.Step(at(2), gone("n0"), gone("n1"))
	b.Step(at(10), is("n2", "a", well), is("n3", "a", well))
	changed := zones()
	changed.MinNodes = new(int32(2))
	if events := b.Reload(at(20), []policy.Breaker{changed}); len(events) != 0 {
		t.Errorf("got %+v", events)
	}
	wantTripped(t, b, "after a reload", "a")
	b.Step(at(69))
	wantTripped(t, b, "59 s since few enough are affected", "a")
	b.Step(at(70))
	wantTripped(t, b, "60 s, the reload between")
	b.Step(at(71), is("n2", "a", out), is("n3", "a", out))
	b.Reload(at(72), nil)
	wantTripped(t, b, "without the breaker")
	b.Reload(at(73), []policy.Breaker{zones()})
	wantTripped(t, b, "with it, and the nodes as they are", "a")
}

// A node that was deleted counts as the breaker is now, too.
func TestAReloadOfTheTaintsOrTheNodeSelectorCountsNodesAnew(t *testing.T) {
	same, otherTaints, otherNodes, moreNodes := zones(), zones(), zones(), zones()
	otherTaints.Taints = []policy.TaintKey{{Key: "lost"}}
	otherNodes.NodeSelector = &metav1.LabelSelector{MatchLabels: in("b")}
	moreNodes.NodeSelector = &metav1.LabelSelector{MatchLabels: in("a")}
	lost := []v1.Taint{{Key: "lost", Effect: v1.TaintEffectNoExecute}}
	for name, c := range map[string]struct {
		after policy.Breaker
		want  []string
	}{"the same breaker": {same, []string{"a"}}, "other taints": {otherTaints, nil}, "other nodes": {otherNodes, nil}, "other nodes, and those of before": {moreNodes, []string{"a"}}} {
		b := synced(many(3, well), zones())
		b.Step(at(1), is("n0", "a", out))
		b.Step(at(2), gone("n0"))
		b.Reload(at(3), []policy.Breaker{c.after})
		b.Step(at(4), is("n1", "a", lost))
		wantTripped(t, b, name+": one of two, and one that was deleted", c.want...)
	}
}

func TestAReloadCountsNoNodeTwice(t *testing.T) {
	b := synced(many(4, well), zones())
	b.Reload(at(1), []policy.Breaker{zones()})
	b.Step(at(2), many(2, out)...)
	wantTripped(t, b, "two of four")
	b.Step(at(3), many(3, out)...)
	wantTripped(t, b, "three of four", "a")
}

// TestBreakersAgreeWithTheirTwin plays random changes, second by second. The twin keeps the log of all changes, and
// computes each share from it again.
func TestBreakersAgreeWithTheirTwin(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		z := zones()
		z.MaxNodes = most(rapid.SampledFrom([]string{"0%", "40%", "50%", "1", "2"}).Draw(rt, "limit"))
		z.ResetAfter = lasting(rapid.Int64Range(1, 8).Draw(rt, "reset after"))
		least := rapid.Int32Range(1, 3).Draw(rt, "least")
		z.MinNodes = &least
		if rapid.IntRange(0, 3).Draw(rt, "manual") == 0 {
			z.Reset = policy.Manual
		}
		if rapid.Bool().Draw(rt, "by hand") {
			z.ResetBefore = &metav1.Time{Time: at(float64(rapid.IntRange(0, 60).Draw(rt, "reset before")))}
		}
		b, w := synced(nil, z), newTwin(z)
		for second := range 60 {
			changes := rapid.SliceOfN(rapid.Custom(drawChange), 0, 2).Draw(rt, "changes")
			w.play(second, changes)
			if len(changes) == 0 && rapid.Bool().Draw(rt, "nobody looks") {
				continue
			}
			b.Step(at(float64(second)), changes...)
			for _, zone := range []string{"a", "b", policy.NoGroup} {
				got := b.Tripped()[policy.Trip{Breaker: "zones", Group: zone}]
				if want := w.state[zone] == "tripped"; got != want {
					rt.Fatalf("second %d, zone %s: tripped %t, want %t", second, zone, got, want)
				}
			}
		}
	})
}

func drawChange(t *rapid.T) breaker.NodeChange {
	name := fmt.Sprintf("n%d", rapid.IntRange(0, 5).Draw(t, "node"))
	if rapid.IntRange(0, 4).Draw(t, "gone") == 0 {
		return gone(name)
	}
	taints := rapid.SampledFrom([][]v1.Taint{well, out, {{Key: "lost", Effect: v1.TaintEffectNoExecute}}}).Draw(t, "taints")
	c := is(name, rapid.SampledFrom([]string{"a", "a", "b", ""}).Draw(t, "zone"), taints)
	c.Node.UID = types.UID(rapid.SampledFrom([]string{"1", "2"}).Draw(t, "uid"))
	return c
}

// twin is the plain implementation.
type twin struct {
	policy.Breaker
	nodes    map[string]*breaker.Node
	departed []struct {
		zone string
		at   int
	}
	state map[string]string // by zone: "", tripped, spent
	began map[string]int
	below map[string]int
}

func newTwin(b policy.Breaker) *twin {
	return &twin{Breaker: b, nodes: map[string]*breaker.Node{}, state: map[string]string{}, began: map[string]int{}, below: map[string]int{}}
}

func (t *twin) play(second int, changes []breaker.NodeChange) {
	for _, zone := range []string{"a", "b", policy.NoGroup} {
		t.evaluate(second, zone)
	}
	for _, c := range changes {
		if was := t.nodes[c.Name]; was != nil && was.Taints[0].Key != "dedicated" && (c.Node == nil || c.Node.UID != was.UID) {
			t.departed = append(t.departed, struct {
				zone string
				at   int
			}{zoneOf(was), second})
		}
		if t.nodes[c.Name] = c.Node; c.Node == nil {
			delete(t.nodes, c.Name)
		}
	}
	for _, zone := range []string{"a", "b", policy.NoGroup} {
		t.evaluate(second, zone)
	}
}

func zoneOf(n *breaker.Node) string {
	if n.Labels == nil {
		return policy.NoGroup
	}
	return n.Labels["zone"]
}

func (t *twin) evaluate(second int, zone string) {
	affected, all, reset := 0, 0, int(t.ResetAfter.Seconds())
	for _, n := range t.nodes {
		if zoneOf(n) == zone {
			all++
			if n.Taints[0].Key != "dedicated" {
				affected++
			}
		}
	}
	for _, d := range t.departed {
		if d.zone == zone && second-d.at < reset {
			all, affected = all+1, affected+1
		}
	}
	above := affected > t.MaxNodes.IntValue()
	if t.MaxNodes.Type == intstr.String {
		percent := map[string]int{"0%": 0, "40%": 40, "50%": 50}[t.MaxNodes.StrVal]
		above = float64(affected) > float64(all)*float64(percent)/100+1e-9
	}
	byHand := func(began int) bool { return t.ResetBefore != nil && at(float64(began)).Before(t.ResetBefore.Time) }
	if t.state[zone] == "tripped" && byHand(t.began[zone]) {
		t.state[zone] = "spent"
	}
	switch {
	case above && t.state[zone] == "" && affected >= int(*t.MinNodes):
		t.state[zone], t.began[zone] = "tripped", second
		if byHand(second) {
			t.state[zone] = "spent"
		}
		delete(t.below, zone)
	case above:
		delete(t.below, zone)
	case t.state[zone] == "spent":
		t.state[zone] = ""
	case t.state[zone] == "tripped" && t.Reset != policy.Manual:
		if _, ok := t.below[zone]; !ok {
			t.below[zone] = second
		}
		if second-t.below[zone] >= reset {
			t.state[zone] = ""
			delete(t.below, zone)
		}
	}
}

func TestATripIsNamedWithItsGroupAndSinceWhen(t *testing.T) {
	trip := breaker.TripRecord{Breaker: "zones", TopologyKey: "zone", Group: "a", Began: time.Date(2026, 11, 1, 13, 0, 0, 0, time.FixedZone("", 3600))}
	if got := trip.Words(); got != "zones is tripped for a since 2026-11-01T12:00:00Z" {
		t.Error(got)
	}
	trip.Group = ""
	if got := trip.Words(); got != "zones is tripped for the whole cluster since 2026-11-01T12:00:00Z" {
		t.Error(got)
	}
	trip.Group = policy.NoGroup
	if got := trip.Words(); got != "zones is tripped for the nodes without the label of its topologyKey since 2026-11-01T12:00:00Z" {
		t.Error(got)
	}
}
