package fieldmask

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
	"pgregory.net/rapid"
)

// usualPod returns a pod of about 5 kB, with all the fields of a real one.
func usualPod() *v1.Pod {
	at := metav1.NewTime(time.Unix(1_700_000_000, 0))
	var env []v1.EnvVar
	for j := range 25 {
		env = append(env, v1.EnvVar{Name: fmt.Sprintf("SOME_SETTING_%d", j), Value: strings.Repeat("value ", 12)})
	}
	return &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: "web-frontend-7d9c6b5f4-00001", GenerateName: "web-frontend-7d9c6b5f4-", Namespace: "team-a",
			UID: uid(1), ResourceVersion: "1001", Generation: 1, CreationTimestamp: at,
			Labels: map[string]string{
				"app.kubernetes.io/name": "web-frontend", "app.kubernetes.io/part-of": "shop", "pod-template-hash": "7d9c6b5f4",
			},
			Annotations:     map[string]string{"checksum/config": strings.Repeat("0123456789abcdef", 4)},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web-frontend-7d9c6b5f4", UID: uid(0), Controller: new(true)}},
			ManagedFields: []metav1.ManagedFieldsEntry{{
				Manager: "kube-controller-manager", Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "v1", Time: &at,
				FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(strings.Repeat(`{"f:metadata":{"f:labels":`, 30) + "{}" + strings.Repeat("}}", 30)),
			}},
		},
		Spec: v1.PodSpec{
			NodeName: "ip-10-0-0-17.eu-central-1.compute.internal", Priority: new(int32(0)), TerminationGracePeriodSeconds: new(int64(30)),
			ServiceAccountName: "default", SchedulerName: "default-scheduler", RestartPolicy: v1.RestartPolicyAlways,
			Containers: []v1.Container{{
				Name: "web", Image: "registry.example.com/team/service:v1.2.3", Env: env,
				Resources: v1.ResourceRequirements{Requests: v1.ResourceList{v1.ResourceCPU: resource.MustParse("100m"), v1.ResourceMemory: resource.MustParse("1Gi")}},
			}},
			Tolerations: []v1.Toleration{
				{Key: v1.TaintNodeNotReady, Operator: v1.TolerationOpExists, Effect: v1.TaintEffectNoExecute, TolerationSeconds: new(int64(300))},
				{Key: v1.TaintNodeUnreachable, Operator: v1.TolerationOpExists, Effect: v1.TaintEffectNoExecute, TolerationSeconds: new(int64(300))},
			},
		},
		Status: v1.PodStatus{
			Phase: v1.PodRunning, PodIP: "10.64.3.7", HostIP: "10.0.0.1", StartTime: &at,
			Conditions: []v1.PodCondition{
				{Type: v1.PodReadyToStartContainers, Status: v1.ConditionTrue, LastTransitionTime: at},
				{Type: v1.PodInitialized, Status: v1.ConditionTrue, LastTransitionTime: at},
				{Type: v1.PodReady, Status: v1.ConditionTrue, LastTransitionTime: at},
				{Type: v1.ContainersReady, Status: v1.ConditionTrue, LastTransitionTime: at},
				{Type: v1.PodScheduled, Status: v1.ConditionTrue, LastTransitionTime: at},
			},
			ContainerStatuses: []v1.ContainerStatus{{
				Name: "web", Ready: true, Image: "registry.example.com/team/service:v1.2.3", ContainerID: "containerd://" + strings.Repeat("0f", 32),
				State: v1.ContainerState{Running: &v1.ContainerStateRunning{StartedAt: at}},
			}},
		},
	}
}

// usualNode returns a node with all the fields that are used, and more.
func usualNode() *v1.Node {
	at := metav1.NewTime(time.Unix(1_700_000_000, 0))
	return &v1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name: "node-1", UID: uid(1), ResourceVersion: "17", CreationTimestamp: at,
			Labels: map[string]string{"kubernetes.io/hostname": "node-1", "topology.kubernetes.io/zone": "a"},
		},
		Spec: v1.NodeSpec{PodCIDR: "10.0.0.0/24", Taints: []v1.Taint{
			{Key: v1.TaintNodeNotReady, Effect: v1.TaintEffectNoExecute, TimeAdded: &at},
			{Key: "dedicated", Value: "db", Effect: v1.TaintEffectNoSchedule},
		}},
		Status: v1.NodeStatus{Images: []v1.ContainerImage{{Names: []string{"registry.example.com/team/service:v1.2.3"}}}},
	}
}

// usualNamespace returns a namespace with all the fields of a real one.
func usualNamespace() *v1.Namespace {
	return &v1.Namespace{
		ObjectMeta: metav1.ObjectMeta{
			Name: "team-a", UID: uid(2), ResourceVersion: "18", CreationTimestamp: metav1.NewTime(time.Unix(1_700_000_000, 0)),
			Labels:      map[string]string{"kubernetes.io/metadata.name": "team-a", "tier": "prod"},
			Annotations: map[string]string{"owner": "a@example.com"},
		},
		Spec:   v1.NamespaceSpec{Finalizers: []v1.FinalizerName{v1.FinalizerKubernetes}},
		Status: v1.NamespaceStatus{Phase: v1.NamespaceActive},
	}
}

// expired returns the status by which the API server ends a watch whose resourceVersion is too old.
func expired() *metav1.Status {
	return &metav1.Status{Status: metav1.StatusFailure, Reason: metav1.StatusReasonExpired, Code: 410, Message: "too old"}
}

// projected returns an object with only its used fields.
func projected(object runtime.Object) runtime.Object {
	switch o := object.(type) {
	case *v1.Pod:
		var conditions []v1.PodCondition
		for _, c := range o.Status.Conditions {
			if c.Type == v1.PodScheduled || c.Type == v1.DisruptionTarget {
				conditions = append(conditions, v1.PodCondition{Type: c.Type, Status: c.Status, LastTransitionTime: c.LastTransitionTime})
			}
		}
		return &v1.Pod{
			ObjectMeta: projectedMeta(&o.ObjectMeta),
			Spec: v1.PodSpec{
				NodeName: o.Spec.NodeName, Tolerations: o.Spec.Tolerations, Priority: o.Spec.Priority,
				TerminationGracePeriodSeconds: o.Spec.TerminationGracePeriodSeconds,
			},
			Status: v1.PodStatus{Phase: o.Status.Phase, Conditions: conditions},
		}
	case *v1.Node:
		return &v1.Node{ObjectMeta: projectedMeta(&o.ObjectMeta), Spec: v1.NodeSpec{Taints: o.Spec.Taints}}
	case *v1.Namespace:
		return &v1.Namespace{ObjectMeta: projectedMeta(&o.ObjectMeta)}
	}
	return object
}

func projectedMeta(m *metav1.ObjectMeta) metav1.ObjectMeta {
	made := metav1.ObjectMeta{
		Name: m.Name, Namespace: m.Namespace, UID: m.UID, ResourceVersion: m.ResourceVersion, Generation: m.Generation,
		CreationTimestamp: m.CreationTimestamp, DeletionTimestamp: m.DeletionTimestamp, Labels: m.Labels,
	}
	for _, key := range []string{v1.MirrorPodAnnotationKey, metav1.InitialEventsAnnotationKey} {
		if value, there := m.Annotations[key]; there {
			metav1.SetMetaDataAnnotation(&made, key, value)
		}
	}
	for _, owner := range m.OwnerReferences {
		if owner.Controller != nil && *owner.Controller {
			made.OwnerReferences = append(made.OwnerReferences,
				metav1.OwnerReference{Kind: owner.Kind, Name: owner.Name, Controller: owner.Controller})
		}
	}
	return made
}

func uid(i int) types.UID { return types.UID(fmt.Sprintf("0b7c6a0e-5d1f-4c58-9a3e-%012d", i)) }

// frameOf returns an event as the API server writes it.
func frameOf(t rapid.TB, kind watch.EventType, object runtime.Object) []byte {
	t.Helper()
	return framed(eventWith(t, kind, encoded(t, object)))
}

// eventWith returns an event with the encoded object.
func eventWith(t rapid.TB, kind watch.EventType, raw []byte) []byte {
	t.Helper()
	message, err := (&metav1.WatchEvent{Type: string(kind), Object: runtime.RawExtension{Raw: raw}}).Marshal()
	must(t, err)
	return message
}

// framed returns a message after its length.
func framed(message []byte) []byte {
	return slices.Concat(binary.BigEndian.AppendUint32(nil, uint32(len(message))), message)
}

// encoded returns an object as the API server writes it.
func encoded(t rapid.TB, object runtime.Object) []byte {
	t.Helper()
	var b bytes.Buffer
	encoder := scheme.Codecs.EncoderForVersion(protobuf.NewSerializer(scheme.Scheme, scheme.Scheme), v1.SchemeGroupVersion)
	must(t, encoder.Encode(object, &b))
	return b.Bytes()
}

func must(t rapid.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
