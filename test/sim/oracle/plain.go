package oracle

import (
	"time"

	v1 "k8s.io/api/core/v1"
)

// dueBy returns the latest deadline that a pod may have by the true history alone, for a process that has seen
// nothing before the moment quiet; far if the pod stays.
func (o *Oracle) dueBy(story *podStory, quiet time.Duration) time.Duration {
	if story.pod.Annotations[v1.MirrorPodAnnotationKey] != "" {
		return far
	}
	due := far
	for _, node := range o.nodes {
		if node.name != story.pod.Spec.NodeName || node.gone != none {
			continue
		}
		now := &node.versions[len(node.versions)-1]
		for i := range now.taints {
			t := &now.taints[i]
			tolerated, forever := tolerates(story.pod.Spec.Tolerations, t.Key, t.Value)
			if t.Effect == v1.TaintEffectNoExecute && !forever {
				start := max(story.bound, node.setAt(now.version, t), quiet)
				due = min(due, later(start, tolerated))
			}
		}
	}
	return due
}

func finished(story *podStory) bool {
	phase := story.pod.Status.Phase
	return phase == v1.PodSucceeded || phase == v1.PodFailed
}
