package main

import (
	"fmt"
	"strings"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/test/load"
)

const (
	podsEach  = 10  // on a node; the first of them is its lone pod
	teams     = 100 // namespaces; all pods of a node are in one
	tolerates = 10  // the seconds for which pods tolerate the short taint
)

// The keys of the taints. Pods tolerate no other taint with the effect NoExecute.
const (
	loneKey  = "scale/lone"  // all pods tolerate it except the lone ones
	shortKey = "scale/short" // all pods tolerate it for some seconds
	longKey  = "scale/long"  // all pods tolerate it for an hour
)

const podUID = "10000000-0000-4000-8000-00000" // followed by the number of the pod

// The stages of a pod.
const (
	running  = iota
	marked   // it has the condition DisruptionTarget
	deleting // it has a deletionTimestamp, too
	stages
)

// podTemplates are the forms of a pod, by whether it is a lone one, and by its stage.
type podTemplates [2][stages]*template

// newPodTemplates returns pods of 4.5 kB.
func newPodTemplates() (t podTemplates) {
	for lone := range t {
		for stage := range t[lone] {
			t[lone][stage] = newTemplate("Pod", newPod(lone == 1, stage))
		}
	}
	return t
}

func newPod(lone bool, stage int) *v1.Pod {
	pod := load.Pod("web-"+placeholders[ownNumber], "node-"+placeholders[nodeNumber],
		map[string]string{"app": "web", "pod-template-hash": "5d4f8c7b9", "app.kubernetes.io/part-of": "shop"})
	pod.Namespace, pod.ResourceVersion = placeholders[teamNumber], placeholders[version]
	pod.UID = types.UID(podUID + placeholders[ownNumber])
	pod.CreationTimestamp = metav1.Unix(1700000000, 0)
	pod.OwnerReferences = []metav1.OwnerReference{{
		APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web-5d4f8c7b9", Controller: new(true),
		UID: "20000000-0000-4000-8000-000000000000",
	}}
	for key, seconds := range map[string]*int64{
		v1.TaintNodeNotReady: new(int64(300)), v1.TaintNodeUnreachable: new(int64(300)),
		shortKey: new(int64(tolerates)), longKey: new(int64(3600)), loneKey: nil,
	} {
		if key != loneKey || !lone {
			pod.Spec.Tolerations = append(pod.Spec.Tolerations, v1.Toleration{
				Key: key, Operator: v1.TolerationOpExists, Effect: v1.TaintEffectNoExecute, TolerationSeconds: seconds,
			})
		}
	}
	conditions := []v1.PodConditionType{v1.PodScheduled, v1.PodInitialized, v1.ContainersReady, v1.PodReady}
	if stage == deleting {
		pod.DeletionTimestamp, pod.DeletionGracePeriodSeconds = &pod.CreationTimestamp, new(int64(0))
	}
	if stage >= marked {
		conditions = append(conditions, v1.DisruptionTarget)
	}
	for _, c := range conditions {
		pod.Status.Conditions = append(pod.Status.Conditions,
			v1.PodCondition{Type: c, Status: v1.ConditionTrue, LastTransitionTime: pod.CreationTimestamp})
	}
	pod.Status.Phase = v1.PodRunning
	return pod
}

// newNodeTemplate returns a node of 3 kB with taints of these keys.
func newNodeTemplate(keys ...string) *template {
	node := load.ReadyNode("node-" + placeholders[nodeNumber])
	node.UID = "30000000-0000-4000-8000-000000888888"
	node.ResourceVersion, node.CreationTimestamp = placeholders[version], metav1.Unix(1600000000, 0)
	node.Labels = map[string]string{v1.LabelHostname: node.Name, v1.LabelTopologyZone: "zone-a"}
	for _, key := range keys {
		node.Spec.Taints = append(node.Spec.Taints, v1.Taint{Key: key, Effect: v1.TaintEffectNoExecute})
	}
	for i := range 20 {
		name := fmt.Sprintf("registry.example.com/team/service-%d@sha256:%s", i, strings.Repeat("a1b2", 16))
		node.Status.Images = append(node.Status.Images, v1.ContainerImage{Names: []string{name}})
	}
	return newTemplate("Node", node)
}

// newBookmarkTemplate returns the object of a bookmark of this kind; if ends is set, of the one that ends the list in a
// watch.
func newBookmarkTemplate(kind string, ends bool) *template {
	m := metav1.ObjectMeta{ResourceVersion: placeholders[version]}
	if ends {
		m.Annotations = map[string]string{metav1.InitialEventsAnnotationKey: "true"}
	}
	return newTemplate(kind, &metav1.PartialObjectMetadata{ObjectMeta: m})
}
