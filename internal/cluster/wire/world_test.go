package wire_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
)

// usualPod returns a pod of about 5 kB, with all the fields of a real one.
func usualPod(i int) *v1.Pod {
	at := metav1.NewTime(time.Unix(1_700_000_000, 0))
	var env []v1.EnvVar
	for j := range 25 {
		env = append(env, v1.EnvVar{Name: fmt.Sprintf("SOME_SETTING_%d", j), Value: strings.Repeat("value ", 12)})
	}
	name := fmt.Sprintf("web-frontend-7d9c6b5f4-%05d", i)
	return &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, GenerateName: "web-frontend-7d9c6b5f4-", Namespace: "team-a",
			UID: uid(i), ResourceVersion: fmt.Sprint(1000 + i), Generation: 1, CreationTimestamp: at,
			Labels: map[string]string{
				"app.kubernetes.io/name": "web-frontend", "app.kubernetes.io/part-of": "shop", "pod-template-hash": "7d9c6b5f4",
			},
			Annotations:     map[string]string{"checksum/config": strings.Repeat("0123456789abcdef", 4)},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web-frontend-7d9c6b5f4", UID: uid(0), Controller: new(true)}},
			ManagedFields: []metav1.ManagedFieldsEntry{{
				Manager: "kube-controller-manager", Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "v1", Time: &at,
				FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(strings.Repeat(`{"f:metadata":{"f:labels":{}}}`, 30)),
			}},
		},
		Spec: v1.PodSpec{
			NodeName: fmt.Sprintf("ip-10-0-0-%d.eu-central-1.compute.internal", i%250), Priority: new(int32(0)),
			TerminationGracePeriodSeconds: new(int64(30)),
			ServiceAccountName:            "default", SchedulerName: "default-scheduler", RestartPolicy: v1.RestartPolicyAlways,
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

// usualNode returns a node with all the fields that are decoded, and more.
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

// trimmed returns an object with only the fields that are decoded.
func trimmed(object runtime.Object) runtime.Object {
	switch o := object.(type) {
	case *v1.Pod:
		return new(trimmedPod(*o))
	case *v1.Node:
		return new(trimmedNode(*o))
	case *v1.Namespace:
		return &v1.Namespace{ObjectMeta: trimmedMeta(o.ObjectMeta)}
	case *v1.NamespaceList:
		list := &metav1.List{ListMeta: o.ListMeta}
		for i := range o.Items {
			list.Items = append(list.Items, runtime.RawExtension{Object: trimmed(&o.Items[i])})
		}
		return list
	case *v1.PodList:
		list := &metav1.List{ListMeta: o.ListMeta}
		for i := range o.Items {
			list.Items = append(list.Items, runtime.RawExtension{Object: trimmed(&o.Items[i])})
		}
		return list
	case *v1.NodeList:
		list := &metav1.List{ListMeta: o.ListMeta}
		for i := range o.Items {
			list.Items = append(list.Items, runtime.RawExtension{Object: trimmed(&o.Items[i])})
		}
		return list
	case *metav1.Status:
		o = o.DeepCopy()
		o.TypeMeta = metav1.TypeMeta{}
		return o
	}
	return object
}

func trimmedPod(p v1.Pod) v1.Pod {
	var conditions []v1.PodCondition
	for _, c := range p.Status.Conditions {
		if c.Type == v1.PodScheduled || c.Type == v1.DisruptionTarget {
			conditions = append(conditions, v1.PodCondition{Type: c.Type, Status: c.Status, LastTransitionTime: c.LastTransitionTime})
		}
	}
	return v1.Pod{
		ObjectMeta: trimmedMeta(p.ObjectMeta),
		Spec: v1.PodSpec{
			NodeName: p.Spec.NodeName, Tolerations: p.Spec.Tolerations, Priority: p.Spec.Priority,
			TerminationGracePeriodSeconds: p.Spec.TerminationGracePeriodSeconds,
		},
		Status: v1.PodStatus{Phase: p.Status.Phase, Conditions: conditions},
	}
}

func trimmedNode(n v1.Node) v1.Node {
	return v1.Node{ObjectMeta: trimmedMeta(n.ObjectMeta), Spec: v1.NodeSpec{Taints: n.Spec.Taints}}
}

func trimmedMeta(m metav1.ObjectMeta) metav1.ObjectMeta {
	var annotations map[string]string
	for _, key := range []string{v1.MirrorPodAnnotationKey, metav1.InitialEventsAnnotationKey} {
		if value, there := m.Annotations[key]; there {
			if annotations == nil {
				annotations = map[string]string{}
			}
			annotations[key] = value
		}
	}
	var owners []metav1.OwnerReference
	for _, o := range m.OwnerReferences {
		if o.Controller != nil && *o.Controller {
			owners = append(owners, metav1.OwnerReference{Kind: o.Kind, Name: o.Name, Controller: o.Controller})
		}
	}
	return metav1.ObjectMeta{
		Labels: m.Labels, OwnerReferences: owners, Name: m.Name, Namespace: m.Namespace, UID: m.UID, ResourceVersion: m.ResourceVersion, Generation: m.Generation,
		CreationTimestamp: m.CreationTimestamp, DeletionTimestamp: m.DeletionTimestamp, Annotations: annotations,
	}
}

// whole decodes a body like client-go.
func whole(body []byte) (runtime.Object, error) {
	object, _, err := scheme.Codecs.UniversalDeserializer().Decode(body, nil, nil)
	return object, err
}

func uid(i int) types.UID { return types.UID(fmt.Sprintf("0b7c6a0e-5d1f-4c58-9a3e-%012d", i)) }

// frameOf returns an event as the API server writes it.
func frameOf(t testing.TB, kind watch.EventType, object runtime.Object) []byte {
	t.Helper()
	event := &metav1.WatchEvent{Type: string(kind), Object: runtime.RawExtension{Raw: encoded(t, object)}}
	message, err := event.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return framed(message)
}

// framed returns a message after its length.
func framed(message []byte) []byte {
	return slices.Concat(binary.BigEndian.AppendUint32(nil, uint32(len(message))), message)
}

// encoded returns an object as the API server writes it.
func encoded(t testing.TB, object runtime.Object) []byte {
	t.Helper()
	var b bytes.Buffer
	encoder := scheme.Codecs.EncoderForVersion(protobuf.NewSerializer(scheme.Scheme, scheme.Scheme), v1.SchemeGroupVersion)
	if err := encoder.Encode(object, &b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
