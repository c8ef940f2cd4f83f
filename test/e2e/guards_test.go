package e2e

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/test/load"
	"github.com/taint-manager/taint-manager/test/testcluster"
)

// resetAfter is that of the breaker.
const resetAfter = 5 * time.Second

var guardsFile = configHead + fmt.Sprintf(`
guards:
  rates:
  - {name: slow, topologyKey: topology.kubernetes.io/zone, taints: [{key: slow}], evictionsPerSecond: 2, burst: 3}
  - {name: all-slow, taints: [{key: slow}], evictionsPerSecond: 5, burst: 5}
  breakers:
  - name: zone-outage
    topologyKey: topology.kubernetes.io/zone
    nodeSelector: {matchLabels: {scenario: outage}}
    taints: [{key: node.kubernetes.io/not-ready}, {key: node.kubernetes.io/unreachable}]
    maxNodes: 50%%
    minNodes: 2
    settle: 3s
    resetAfter: %v
`, resetAfter)

// Each scenario has nodes of its own; all run at the same time, under one taint-manager and one file. They measure rates.
func TestGuardsBoundWhatGoes(t *testing.T) {
	w := newWorld(t, testcluster.Options{WithoutScheduler: true, AuditLevel: "Metadata"})
	m := w.manage(t, "--config="+configFile(t, guardsFile))
	for sentence, play := range map[string]func(*testing.T){
		"a zone's outage trips the breaker, and its end resets it": func(t *testing.T) { w.outage(t, m) },
		"rates hold in every window, by zone and for all":          w.rates,
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			play(t)
		})
	}
}

// zoned creates a ready node with the labels of a scenario. An empty zone means no label.
func (w *world) zoned(t *testing.T, name, scenario, zone string) *scene {
	t.Helper()
	s := w.newNode(t, name)
	s.place(scenario, zone)
	return s
}

func (s *scene) place(scenario, zone string) {
	s.Helper()
	labels := fmt.Sprintf(`"scenario":%q`, scenario)
	if zone != "" {
		labels += fmt.Sprintf(`,%q:%q`, v1.LabelTopologyZone, zone)
	}
	s.patchNode(`{"metadata":{"labels":{` + labels + `}}}`)
}

func (s *scene) patchNode(patch string) {
	s.Helper()
	_, err := s.admin.CoreV1().Nodes().Patch(s.Context(), s.node, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	must(s, err)
}

// ready makes the node's kubelet report that it is ready or not.
func (s *scene) ready(is bool) {
	s.Helper()
	s.patchNode(fmt.Sprintf(`{"metadata":{"annotations":{"testcluster/ready":"%v"}}}`, is))
}

// notReady reports whether the node has the taint not-ready with that effect.
func (s *scene) notReady(effect v1.TaintEffect) bool {
	n, err := s.admin.CoreV1().Nodes().Get(s.Context(), s.node, metav1.GetOptions{})
	return err == nil && slices.ContainsFunc(n.Spec.Taints, func(t v1.Taint) bool { return t.Key == v1.TaintNodeNotReady && t.Effect == effect })
}

// tripped reports whether the remarks say that the breaker zone-outage is tripped.
func (w *world) tripped(t *testing.T, m *testcluster.Manager) bool {
	t.Helper()
	return strings.Contains(w.remarks(t, m), "zone-outage is tripped")
}

// outage lets all nodes of a zone become not ready, and then all but one ready again. The NoSchedule taints come at once,
// those of effect NoExecute on one node in ten seconds. The pods tolerate them for a second.
func (w *world) outage(t *testing.T, m *testcluster.Manager) {
	short := bears(v1.TaintNodeNotReady, 1)
	var scenes []*scene
	var pods []*v1.Pod
	for i := range 3 {
		s := w.zoned(t, fmt.Sprintf("dark-%d", i), "outage", "dark")
		scenes, pods = append(scenes, s), append(pods, s.pod("p", short))
	}
	bright := w.zoned(t, "bright", "outage", "bright")
	neighbour, other := bright.pod("p"), scenes[0].pod("other", exists(v1.TaintNodeNotReady), exists("other"))
	for _, s := range scenes {
		s.ready(false)
	}
	first := -1
	until(scenes[0], "the first node has the NoExecute taint", func() bool {
		first = slices.IndexFunc(scenes, func(s *scene) bool { return s.notReady(v1.TaintEffectNoExecute) })
		return first >= 0
	})
	until(scenes[0], "the breaker is tripped", func() bool { return w.tripped(t, m) })
	began := moment{before: time.Now(), after: time.Now()}
	scenes[first].stays(pods[first], began, 6)
	if !w.tripped(t, m) {
		t.Error("the breaker is reset during the outage")
	}

	// There: a pod of that zone goes for another taint while the breaker is tripped.
	sparing := scenes[(first+1)%3]
	n, err := w.admin.CoreV1().Nodes().Get(t.Context(), sparing.node, metav1.GetOptions{})
	must(t, err)
	also := append(slices.Clone(n.Spec.Taints), v1.Taint{Key: "other", Effect: v1.TaintEffectNoExecute})
	must(t, load.SetTaints(t.Context(), w.admin, sparing.node, also...))
	if _, ended := w.deletion(t, pods[(first+1)%3].UID, time.Now().Add(policyLate)); !ended {
		t.Error("the breaker holds a pod for another taint")
	}

	// And back: one node stays dead, which is not more than half.
	back := moment{before: time.Now()}
	for i, s := range scenes {
		if i != first {
			s.ready(true)
		}
	}
	back.after = time.Now()
	scenes[first].stays(pods[first], back, resetAfter.Seconds())
	if _, ended := w.deletion(t, pods[first].UID, back.after.Add(resetAfter+15*time.Second)); !ended {
		t.Errorf("the pod of the node that stays dead did not go after the reset; tripped: %v", w.tripped(t, m))
	}
	if w.tripped(t, m) {
		t.Error("readiness says that the breaker is tripped")
	}
	survivor := pods[(first+2)%3]
	for _, pod := range []*v1.Pod{survivor, neighbour, other} {
		if _, ended := w.deletion(t, pod.UID, time.Now()); ended {
			t.Errorf("%s went", pod.Name)
		}
	}
}

// group is some nodes with their pods, in one zone or in none.
type group struct {
	zone string
	*podLoad
}

func (w *world) group(t *testing.T, zone string, nodes, podsEach int) group {
	t.Helper()
	g := group{zone, newPodLoad(t, w.admin, "slow-"+cmp.Or(zone, "nowhere"), nodes, podsEach)}
	for _, node := range g.Nodes {
		w.on(t, node).place("slow", zone)
	}
	return g
}

func (w *world) rates(t *testing.T) {
	none := w.group(t, "", 2, 8) // two nodes without a zone are one group
	groups := []group{w.group(t, "a", 1, 16), w.group(t, "b", 2, 8), none}
	began := time.Now()
	for _, g := range groups {
		must(t, g.Taint(t.Context(), v1.Taint{Key: "slow", Effect: v1.TaintEffectNoExecute}))
	}
	var all []time.Time
	for _, g := range groups {
		g.gone(t, w.deletions, 0)
		times := w.accepted(t, g.Name, began)
		all = append(all, times...)
		w.bounded(t, "zone "+g.zone, times, 2, 3)
	}
	w.bounded(t, "all", all, 5, 5)
	if ideal, took := time.Duration(len(all))*time.Second/5, time.Since(began); took > ideal*2+policyLate {
		t.Errorf("%d pods took %v, want about %v", len(all), took, ideal)
	}
}

// accepted returns when the API server received the DELETEs of the load's pods that it accepted.
func (w *world) accepted(t *testing.T, name string, since time.Time) (times []time.Time) {
	t.Helper()
	for _, r := range ofPods(writes(t, w.AuditLog(), since)) {
		if r.Verb == "delete" && r.ResponseStatus.Code == 200 && strings.HasPrefix(r.ObjectRef.Name, name+"-") {
			times = append(times, r.RequestReceivedTimestamp)
		}
	}
	return times
}

// bounded requires that no window has more than burst and rate times its length. The API server receives a request some
// time after it was started: a window may be shorter by that.
func (w *world) bounded(t *testing.T, what string, times []time.Time, rate float64, burst int) {
	t.Helper()
	const transit = 300 * time.Millisecond
	slices.SortFunc(times, time.Time.Compare)
	for i := range times {
		for j := i; j < len(times); j++ {
			window := times[j].Sub(times[i])
			if n := j - i + 1; float64(n) > float64(burst)+rate*(window+transit).Seconds() {
				t.Fatalf("%s: %d deletions within %v, want at most %d and %v a second", what, n, window, burst, rate)
			}
		}
	}
	t.Logf("%s: %d deletions within %v", what, len(times), times[len(times)-1].Sub(times[0]).Round(time.Millisecond))
}

// inForce writes a file and waits until it is taken in.
func (w *world) inForce(t *testing.T, m *testcluster.Manager, files *mount, text string) {
	t.Helper()
	const said = "The configuration file has changed and is in force"
	count := func() int { return strings.Count(w.logOf(t, m), said) }
	before := count()
	files.write(t, text)
	until(t, "the file is in force", func() bool { return count() > before })
}
