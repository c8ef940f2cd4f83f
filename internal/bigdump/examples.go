package bigdump

import (
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
)

func created() metav1.Time {
	return metav1.NewTime(time.Date(2026, 5, 1, 8, 0, 0, 0, time.UTC))
}

// exampleNode is a node of about 4 kB.
func exampleNode() *v1.Node {
	n := &v1.Node{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Node"},
		ObjectMeta: metav1.ObjectMeta{
			Name: "node-@N", UID: "0b5cf6f2-0000-4000-8000-@N", CreationTimestamp: created(),
			Labels: map[string]string{"rack": "@N", "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"},
		},
		Spec: v1.NodeSpec{PodCIDR: "10.1.0.0/24", ProviderID: "cloud:///zone/node-@N"},
	}
	for _, condition := range []v1.NodeConditionType{
		v1.NodeReady, v1.NodeMemoryPressure, v1.NodeDiskPressure,
		v1.NodePIDPressure,
	} {
		n.Status.Conditions = append(n.Status.Conditions, v1.NodeCondition{
			Type: condition, Status: v1.ConditionTrue, Reason: "KubeletHasSufficientMemory",
			Message:           "kubelet has sufficient memory available",
			LastHeartbeatTime: created(), LastTransitionTime: created(),
		})
	}
	for range 20 {
		n.Status.Images = append(n.Status.Images, v1.ContainerImage{
			Names: []string{"registry.example/shop/web:v1.2.3:" + strings.Repeat("5", 64)}, SizeBytes: 123456789,
		})
	}
	return n
}

// examplePod is a pod of about 8 kB of JSON.
func examplePod() *v1.Pod {
	yes, seconds := true, int64(300)
	p := &v1.Pod{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{
			Name: "web-@D-5d4f8c7b9-@N", Namespace: "shop", UID: "7f6de1a2-0000-4000-8000-@N",
			CreationTimestamp: created(),
			Labels: map[string]string{
				"app": "web-@D", "pod-template-hash": "5d4f8c7b9",
				"app.kubernetes.io/part-of": "shop",
			},
			Annotations: map[string]string{"prometheus.io/scrape": "true", "checksum/config": strings.Repeat("c0ffee",
				10)},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web-@D-5d4f8c7b9",
				UID: types.UID(strings.Repeat("a", 36)), Controller: &yes, BlockOwnerDeletion: &yes,
			}},
		},
		Spec: v1.PodSpec{
			NodeName: "node-@H", ServiceAccountName: "web", SchedulerName: "default-scheduler",
			RestartPolicy: v1.RestartPolicyAlways,
			Tolerations: []v1.Toleration{
				{
					Key: v1.TaintNodeNotReady, Operator: v1.TolerationOpExists, Effect: v1.TaintEffectNoExecute,
					TolerationSeconds: &seconds,
				},
				{
					Key: v1.TaintNodeUnreachable, Operator: v1.TolerationOpExists, Effect: v1.TaintEffectNoExecute,
					TolerationSeconds: &seconds,
				},
			},
			Volumes: []v1.Volume{{
				Name: "kube-api-access",
				VolumeSource: v1.VolumeSource{Projected: &v1.ProjectedVolumeSource{
					Sources: []v1.VolumeProjection{{
						ServiceAccountToken: &v1.ServiceAccountTokenProjection{Path: "token"},
					}},
				}},
			}},
		},
		Status: v1.PodStatus{Phase: v1.PodRunning, HostIP: "10.0.0.1", PodIP: "10.1.0.1", QOSClass: v1.PodQOSBurstable},
	}
	for _, name := range []string{"web", "proxy"} {
		p.Spec.Containers = append(p.Spec.Containers, container(name))
		p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, v1.ContainerStatus{
			Name: name, Ready: true, Image: "registry.example/shop/web:v1.2.3",
			ImageID:     "registry.example/shop/web:v1.2.3:" + strings.Repeat("5", 64),
			ContainerID: "containerd://" + strings.Repeat("4", 64),
			State:       v1.ContainerState{Running: &v1.ContainerStateRunning{StartedAt: created()}},
		})
	}
	for _, condition := range []v1.PodConditionType{
		v1.PodScheduled, v1.PodInitialized, v1.ContainersReady,
		v1.PodReady,
	} {
		p.Status.Conditions = append(p.Status.Conditions, v1.PodCondition{
			Type: condition, Status: v1.ConditionTrue,
			LastTransitionTime: created(),
		})
	}
	return p
}

func container(name string) v1.Container {
	probe := &v1.Probe{ProbeHandler: v1.ProbeHandler{HTTPGet: &v1.HTTPGetAction{
		Path: "/healthz",
		Port: intstr.FromInt32(8080),
	}}, PeriodSeconds: 10}
	c := v1.Container{
		Name: name, Image: "registry.example/shop/web:v1.2.3", Args: []string{"--listen=:8080", "--log=json"},
		Ports:         []v1.ContainerPort{{ContainerPort: 8080, Name: "http", Protocol: v1.ProtocolTCP}},
		LivenessProbe: probe, ReadinessProbe: probe,
		Resources: v1.ResourceRequirements{Requests: v1.ResourceList{
			v1.ResourceCPU: resource.MustParse("100m"), v1.ResourceMemory: resource.MustParse("256Mi"),
		}},
		VolumeMounts: []v1.VolumeMount{{
			Name:      "kube-api-access",
			MountPath: "/var/run/secrets/kubernetes.io/serviceaccount", ReadOnly: true,
		}},
	}
	for _, variable := range []string{"HTTP_PROXY", "DATABASE_URL", "CACHE_URL", "LOG_LEVEL", "REGION"} {
		c.Env = append(c.Env, v1.EnvVar{Name: variable, Value: "value of " + variable})
	}
	return c
}
