package differential

import (
	"slices"
	"strconv"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// longest is the longest toleration, in seconds, that ends within a history.
const longest = 60

func (g *generator) newPod(name string) *v1.Pod {
	p := &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Namespace: "default", UID: g.uid(name), ResourceVersion: "1",
			CreationTimestamp: g.ago(pick(g, 0, 3, 50, 50, 50, 50)),
		},
		Spec:   v1.PodSpec{NodeName: pick(g, "n1", "n1", "n2")},
		Status: v1.PodStatus{Phase: pick(g, v1.PodRunning, v1.PodRunning, v1.PodPending)},
	}
	if g.chance(10) {
		p.Spec.NodeName = ""
	}
	if g.chance(3) {
		p.Annotations = map[string]string{v1.MirrorPodAnnotationKey: "x"}
	}
	if p.Spec.NodeName != "" && g.chance(30) {
		p.Status.Conditions = []v1.PodCondition{{
			Type: v1.PodScheduled, Status: v1.ConditionTrue, LastTransitionTime: g.ago(pick(g, 0, 2, 40, 40, 40)),
		}}
	}
	for range pick(g, 0, 1, 2, 2, 3, 4) {
		p.Spec.Tolerations = append(p.Spec.Tolerations, g.toleration())
	}
	if g.chance(50) { // otherwise most pods are evicted at once, which shows little
		p.Spec.Tolerations = append(p.Spec.Tolerations, v1.Toleration{Operator: v1.TolerationOpExists, TolerationSeconds: g.seconds()})
	}
	g.pods[name] = p
	return p
}

func (g *generator) toleration() v1.Toleration {
	t := v1.Toleration{
		Key: pick(g, append(keys, "")...), Operator: v1.TolerationOpExists,
		Effect: pick(g, v1.TaintEffectNoExecute, v1.TaintEffectNoExecute, "", "", v1.TaintEffectNoSchedule),
	}
	switch {
	case t.Key == "disk" && g.chance(50):
		t.Operator, t.Value = pick(g, v1.TolerationOpEqual, ""), pick(g, "slow", "broken")
	case t.Key == "load" && g.chance(70):
		t.Operator, t.Value = pick(g, v1.TolerationOpLt, v1.TolerationOpGt), strconv.Itoa(g.IntN(10))
	}
	t.TolerationSeconds = g.seconds()
	return t
}

// seconds returns the tolerationSeconds of a toleration, mostly short ones.
func (g *generator) seconds() *int64 {
	var s int64
	switch at := g.IntN(100); {
	case at < 25:
		return nil
	case at < 90:
		s = pick(g, int64(5), 10, 30, longest, longest)
	case at < 94:
		s = pick(g, int64(0), -1, -1<<63)
	case at < 96:
		s = pick(g, int64(100000), 9223372036) // at most a time.Duration
	case at < 99:
		s = pick(g, int64(9223372037), 18446744074, 18446744080, 55340232222) // longer
	default:
		s = pick(g, int64(300000000000), 1<<63-1) // past the year 9999
	}
	return &s
}

func (g *generator) createPod() bool {
	name := "p" + strconv.Itoa(1+g.IntN(4))
	return g.pods[name] == nil && g.podChanged(created, g.newPod(name))
}

func (g *generator) deletePod() bool {
	p := one(g, g.pods)
	if p == nil {
		return false
	}
	delete(g.pods, p.Name)
	return g.podChanged(deleted, p)
}

// replacePod replaces a pod by another of the same name, mostly of the same template.
func (g *generator) replacePod() bool {
	old := one(g, g.pods)
	if old == nil {
		return false
	}
	p := g.newPod(old.Name)
	if g.chance(70) {
		p.Spec.Tolerations = slices.Clone(old.Spec.Tolerations)
	}
	v := pick(g, replaced, turned)
	if p.Spec.NodeName == "" {
		v = replaced // the watch of bound pods would not show the new pod at all
	}
	return g.podChanged(v, p)
}

func (g *generator) bindPod() bool {
	p := one(g, g.pods)
	if p == nil || p.Spec.NodeName != "" {
		return false
	}
	p.Spec.NodeName = pick(g, "n1", "n2")
	return g.podChanged(updated, p)
}

// editTolerations makes an edit that the API server allows: seconds may change, and tolerations may be added.
func (g *generator) editTolerations() bool {
	p := one(g, g.pods)
	if p == nil {
		return false
	}
	list := slices.Clone(p.Spec.Tolerations)
	if len(list) > 0 && g.chance(70) {
		list[g.IntN(len(list))].TolerationSeconds = g.seconds()
	} else {
		list = slices.Insert(list, g.IntN(len(list)+1), g.toleration())
	}
	p.Spec.Tolerations = list
	return g.podChanged(updated, p)
}

func (g *generator) finishPod() bool {
	p := one(g, g.pods)
	if p == nil {
		return false
	}
	p.Status.Phase = pick(g, v1.PodSucceeded, v1.PodFailed)
	return g.podChanged(updated, p)
}

// terminatePod begins the pod's deletion by another client, with a grace period that outlasts the history.
func (g *generator) terminatePod() bool {
	p := one(g, g.pods)
	if p == nil {
		return false
	}
	now := g.ago(0)
	p.DeletionTimestamp = &now
	return g.podChanged(updated, p)
}

// touchPod makes a change that evicts no pod.
func (g *generator) touchPod() bool {
	p := one(g, g.pods)
	if p == nil {
		return false
	}
	p.Labels = map[string]string{"touched": strconv.Itoa(len(g.out.changes))}
	return g.podChanged(updated, p)
}
