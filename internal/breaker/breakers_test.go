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

// nodes returns the nodes n0, n1, ... of zone a, of which the first are affected.
func nodes(n, affected int) (all []breaker.NodeChange) {
	for i := range n {
		taints := well
		if i < affected {
			taints = out
		}
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
	one := int32(1)
	for name, c := range map[string]struct {
		limit   string
		least   *int32
		nodes   int
		out     int
		tripped bool
	}{
		"a third, exactly":                 {"33%", nil, 100, 33, false},
		"more than a third":                {"33%", nil, 100, 34, true},
		"one is more than none":            {"0%", &one, 1000, 1, true},
		"none of a group without affected": {"0", nil, 3, 0, false},
	} {
		z := zones()
		z.MaxNodes, z.MinNodes = most(c.limit), c.least
		b := synced(nodes(c.nodes, 0), z)
		b.Step(at(1), nodes(c.out, c.out)...)
		if got := len(b.Tripped()) > 0; got != c.tripped {
			t.Errorf("%s: tripped %t", name, got)
		}
	}
}

func TestWhichNodesAreAGroupAndHowManyOfThemTripIt(t *testing.T) {
	control := is("c", "a", out)
	control.Node.Labels["control-plane"] = ""
	workers := &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
		{Key: "control-plane", Operator: metav1.LabelSelectorOpDoesNotExist},
	}}
	type changes = []breaker.NodeChange
	for name, c := range map[string]struct {
		edit              func(z *policy.Breaker)
		nodes             changes
		untripped, tripBy changes
		group             string // that trips
	}{
		"without a topologyKey, the cluster is one group": {
			func(z *policy.Breaker) { z.TopologyKey = "" },
			changes{is("a1", "a", well), is("b1", "b", well)},
			changes{is("b1", "b", out)},
			changes{is("a1", "a", out)},
			"",
		},
		"only nodes that are selected count": {
			func(z *policy.Breaker) { z.NodeSelector = workers }, nodes(2, 0),
			changes{is("n0", "a", out), control},
			nil, "",
		},
		"one or two nodes are no outage of a group unless minNodes says so": {
			func(z *policy.Breaker) { z.MinNodes = nil }, nodes(6, 0),
			changes{is("n0", "mine", out), is("n1", "mine", out)},
			changes{is("n2", "mine", out)},
			"mine",
		},
		"a cluster of one node": {
			func(z *policy.Breaker) { z.MinNodes, z.TopologyKey = nil, "" }, nodes(1, 0), nil, nodes(1, 1), "",
		},
	} {
		z := zones()
		c.edit(&z)
		b := synced(c.nodes, z)
		b.Step(at(1), c.untripped...)
		wantTripped(t, b, name+": before")
		if b.Step(at(2), c.tripBy...); c.tripBy != nil {
			wantTripped(t, b, name, c.group)
		}
	}
}

func TestAnEventDescribesTheTrip(t *testing.T) {
	b := synced(nodes(20, 0), zones())
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
	events = append(b.Reported(at(20), nodes(20, 0)...), b.Reported(at(200))...)
	want = []breaker.Event{{Trip: policy.Trip{Breaker: "zones", Group: "a"}, At: at(200), Nodes: 20}}
	if diff := cmp.Diff(want, events); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
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
		{"no node that is selected", other, nodes(3, 0), []string{"breaker zones can never trip: its nodeSelector selects no node"}},
		{"a group of three", three, nodes(3, 0), nil},
		{"groups of two", three, append(nodes(2, 0), is("b", "b", nil)), []string{"breaker zones can never trip: at least 3 nodes of a group must be affected, and the largest group has 2"}},
		{"as many as may be affected", number, nodes(2, 0), []string{"breaker zones can never trip: at least 3 nodes of a group must be affected, and the largest group has 2"}},
		{"no label", three, []breaker.NodeChange{is("x", "", nil), is("y", "", nil), is("z", "", nil)}, []string{"breaker zones has one group of all nodes: no node has the label zone"}},
		{"no label any longer", three, []breaker.NodeChange{is("x", "", nil), is("y", "", nil), is("z", "", nil), is("b", "b", nil), gone("b")}, []string{"breaker zones has one group of all nodes: no node has the label zone"}},
		{"the whole cluster", whole, []breaker.NodeChange{is("x", "", nil), is("y", "", nil), is("z", "", nil)}, nil},
	} {
		b := breaker.NewBreakers([]policy.Breaker{test.breaker})
		b.Step(at(0), test.nodes...)
		if diff := cmp.Diff(test.want, b.Idle()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

func TestAManualBreakerIsResetByHandAlone(t *testing.T) {
	z := zones()
	z.Reset = policy.Manual
	b := synced(nodes(3, 0), z)
	b.Step(at(1), nodes(3, 3)...)
	b.Step(at(2), nodes(3, 0)...)
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
	b := synced(nodes(4, 0), z)
	events := b.Reported(at(1), nodes(3, 3)...)
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
	b := synced(nodes(4, 0), z)
	b.Step(at(1), nodes(3, 3)...)
	z.ResetBefore = &metav1.Time{Time: at(5)}
	b.Reload(at(6), []policy.Breaker{z})
	wantTripped(t, b, "reset by hand")
	b.Step(at(7), is("n3", "a", out))
	wantTripped(t, b, "another node of the same outage")

	next := breaker.NewBreakers([]policy.Breaker{z})
	next.Step(at(8), nodes(4, 4)...)
	next.MarkSynced(at(8))
	next.Adopt(b.Trips())
	next.Step(at(8))
	wantTripped(t, next, "after a restart")

	b.Step(at(9), nodes(4, 0)...)
	b.Step(at(10), nodes(3, 3)...)
	wantTripped(t, b, "another outage", "a")
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
		b := synced(nodes(3, 0), zones())
		b.Step(at(1), is("n0", "a", out))
		b.Step(at(2), gone("n0"))
		b.Reload(at(3), []policy.Breaker{c.after})
		b.Step(at(4), is("n1", "a", lost))
		wantTripped(t, b, name+": one of two, and one that was deleted", c.want...)
	}
}

// It is not known for how long the present taints and nodes would have permitted the reset.
func TestAReloadOfTheTaintsOrTheNodeSelectorPostponesAReset(t *testing.T) {
	moreTaints, otherNodes := zones(), zones()
	moreTaints.Taints = append(slices.Clone(moreTaints.Taints), policy.TaintKey{Key: "lost"})
	otherNodes.NodeSelector = &metav1.LabelSelector{MatchLabels: in("a")}
	for name, c := range map[string]struct {
		after policy.Breaker
		reset float64
	}{"the same breaker": {zones(), 62}, "more taints": {moreTaints, 90}, "other nodes": {otherNodes, 90}} {
		b := synced(nodes(4, 0), zones())
		b.Step(at(1), nodes(4, 3)...)
		b.Step(at(2), nodes(4, 0)...)
		b.Reload(at(30), []policy.Breaker{c.after})
		b.Step(at(c.reset - 0.1))
		wantTripped(t, b, name+": before the reset", "a")
		b.Step(at(c.reset))
		wantTripped(t, b, name+": the reset")
	}
}

func TestABreakerKeepsItsTripsAsLongAsItsNameAndItsTopologyKey(t *testing.T) {
	edited, renamed, regrouped := zones(), zones(), zones()
	edited.MinNodes, renamed.Name, regrouped.TopologyKey = new(int32(2)), "other", "rack"
	for name, c := range map[string]struct {
		after policy.Breaker
		want  []string
	}{"another minimum": {edited, []string{"a"}}, "another name": {renamed, nil}, "another topologyKey": {regrouped, nil}} {
		b := synced(nodes(4, 0), zones())
		b.Step(at(1), nodes(4, 3)...)
		b.Step(at(2), nodes(4, 0)...)
		b.Reload(at(3), []policy.Breaker{c.after})
		wantTripped(t, b, name, c.want...)
	}
}

func TestTheNextStepIsDueWhenTheFirstBreakerIsReset(t *testing.T) {
	slow := zones()
	slow.Name, slow.ResetAfter = "slow", lasting(300)
	for _, list := range [][]policy.Breaker{{zones(), slow}, {slow, zones()}} {
		b := synced(nodes(4, 0), list...)
		b.Step(at(1), nodes(4, 3)...)
		b.Step(at(2), nodes(4, 0)...)
		if got := b.Next(); !got.Equal(at(62)) {
			t.Errorf("%s first: the next step is due at %v", list[0].Name, got)
		}
	}
}

// TestBreakersAgreeWithTheirTwin plays random changes, second by second, with reloads and restarts. The twin keeps the
// log of all changes, and computes each share from it again.
func TestBreakersAgreeWithTheirTwin(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		z := zones()
		z.MaxNodes, z.MinNodes = drawLimits(rt)
		z.ResetAfter = lasting(rapid.Int64Range(1, 8).Draw(rt, "reset after"))
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
			switch rapid.IntRange(0, 20).Draw(rt, "then") {
			case 0:
				b = w.restart(second, b)
			case 1:
				w.MaxNodes, w.MinNodes = drawLimits(rt)
				w.ResetBefore = &metav1.Time{Time: at(float64(rapid.IntRange(0, second).Draw(rt, "reset before")))}
				b.Reload(at(float64(second)), []policy.Breaker{w.Breaker})
				w.evaluateAll(second)
			}
		}
	})
}

func drawLimits(t *rapid.T) (intstr.IntOrString, *int32) {
	limit := rapid.SampledFrom([]string{"0%", "40%", "50%", "1", "2"}).Draw(t, "limit")
	return most(limit), new(rapid.Int32Range(1, 3).Draw(t, "least"))
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
	t.evaluateAll(second)
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
	t.evaluateAll(second)
}

// restart returns the breakers of a process that starts with the nodes as they are and the recorded trips. It knows of
// no nodes that were deleted before, and not for how long few enough are affected.
func (t *twin) restart(second int, before *breaker.Breakers) *breaker.Breakers {
	b := breaker.NewBreakers([]policy.Breaker{t.Breaker})
	remain := map[string]string{}
	for name, n := range t.nodes {
		b.Step(at(float64(second)), breaker.NodeChange{Name: name, Node: n})
		remain[zoneOf(n)] = t.state[zoneOf(n)]
	}
	b.MarkSynced(at(float64(second)))
	b.Adopt(before.Trips())
	b.Step(at(float64(second)))
	t.departed, t.below = nil, map[string]int{}
	if len(t.nodes) > 0 {
		t.state = remain
	}
	t.evaluateAll(second)
	return b
}

func (t *twin) evaluateAll(second int) {
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
	began := time.Date(2026, 11, 1, 13, 0, 0, 0, time.FixedZone("", 3600))
	for group, of := range map[string]string{
		"a": "a", "": "the whole cluster", policy.NoGroup: "the nodes without the label of its topologyKey",
	} {
		trip := breaker.TripRecord{Breaker: "zones", TopologyKey: "zone", Group: group, Began: began}
		if got, want := trip.Words(), "zones is tripped for "+of+" since 2026-11-01T12:00:00Z"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
