package differential

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// begin is when the controllers begin to watch. It is within a second, as API times are whole seconds.
var begin = time.Date(2000, 1, 1, 1, 0, 0, int(500*time.Millisecond), time.UTC)

// generator generates a history that an API server would accept.
type generator struct {
	*rand.Rand
	nodes map[string]*v1.Node
	pods  map[string]*v1.Pod
	born  int // objects so far, for their UIDs
	at    time.Duration
	out   history
}

// generate returns the history of a seed, which is always the same.
func generate(seed uint64) *history {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 1)), nodes: map[string]*v1.Node{}, pods: map[string]*v1.Pod{}}
	for i := range 1 + g.IntN(2) {
		g.newNode("n" + strconv.Itoa(i+1))
	}
	for i := range g.IntN(4) {
		g.newPod("p" + strconv.Itoa(i+1))
	}
	for _, name := range slices.Sorted(maps.Keys(g.nodes)) {
		g.out.nodes = append(g.out.nodes, g.nodes[name].DeepCopy())
	}
	for _, name := range slices.Sorted(maps.Keys(g.pods)) {
		g.out.pods = append(g.out.pods, g.pods[name].DeepCopy())
	}
	second := 1 + g.IntN(10)
	for i := range 1 + g.IntN(14) {
		g.at = time.Duration(second)*time.Second + time.Duration(i+1)*time.Millisecond
		g.step()
		second += g.IntN(15)
	}
	g.out.end = g.at + 2*longest*time.Second
	return &g.out
}

// odds returns the possible changes, each with its weight.
func (g *generator) odds() []odd {
	return []odd{
		{20, g.setTaint},
		{14, g.liftTaint},
		{4, g.liftAll},
		{8, g.takeTurns},
		{4, g.touchNode},
		{2, g.deleteNode},
		{2, g.replaceNode},
		{16, g.createPod},
		{4, g.deletePod},
		{3, g.replacePod},
		{3, g.bindPod},
		{6, g.editTolerations},
		{2, g.finishPod},
		{2, g.terminatePod},
		{3, g.touchPod},
	}
}

type odd struct {
	weight int
	do     func() bool // returns false if the change is not possible now
}

// step makes one change.
func (g *generator) step() {
	odds := g.odds()
	sum := 0
	for _, o := range odds {
		sum += o.weight
	}
	for {
		at := g.IntN(sum)
		i := 0
		for ; at >= odds[i].weight; i++ {
			at -= odds[i].weight
		}
		if odds[i].do() {
			return
		}
	}
}

func (g *generator) chance(percent int) bool { return g.IntN(100) < percent }

func pick[T any](g *generator, list ...T) T { return list[g.IntN(len(list))] }

// one picks an object, or returns nil if there is none.
func one[T any](g *generator, objects map[string]*T) *T {
	if len(objects) == 0 {
		return nil
	}
	return objects[pick(g, slices.Sorted(maps.Keys(objects))...)]
}

func (g *generator) uid(name string) types.UID {
	g.born++
	return types.UID(fmt.Sprintf("%s-%d", name, g.born))
}

// ago returns an API time some seconds before now, or after it if negative.
func (g *generator) ago(seconds int) metav1.Time {
	return metav1.Time{Time: begin.Add(g.at).Truncate(time.Second).Add(-time.Duration(seconds) * time.Second)}
}

func (g *generator) nodeChanged(v verb, n *v1.Node) bool {
	g.out.changes = append(g.out.changes, change{at: g.at, verb: v, node: n.DeepCopy()})
	return true
}

func (g *generator) podChanged(v verb, p *v1.Pod) bool {
	g.out.changes = append(g.out.changes, change{at: g.at, verb: v, pod: p.DeepCopy()})
	return true
}
