package config

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	componentbaseconfig "k8s.io/component-base/config"

	"github.com/taint-manager/taint-manager/taint"
)

// Method is how a pod is made to go.
type Method string

const (
	// MethodDelete patches the pod's condition DisruptionTarget and deletes the pod; PodDisruptionBudgets
	// are not asked. It is what the original does.
	MethodDelete Method = "delete"

	// MethodEvict asks the eviction subresource, which obeys PodDisruptionBudgets and sets the condition by
	// itself.
	MethodEvict Method = "evict"
)

// ParseMethod takes both spellings of a method, delete and Delete. Any other text is left as it is, to be refused.
func ParseMethod(text string) Method {
	for _, m := range []Method{MethodDelete, MethodEvict} {
		if text == m.written() {
			return m
		}
	}
	return Method(text)
}

// CallTimeout bounds one request of an eviction. It is longer than the 30 s that admission webhooks may
// take, and is no setting of "run".
const CallTimeout = 35 * time.Second

// What KubeAPIContentType takes.
const (
	ContentTypeProtobuf = "application/vnd.kubernetes.protobuf"
	ContentTypeJSON     = "application/json"
)

// Configuration holds the settings of "taint-manager run". The zero value is not valid; see Default.
type Configuration struct {
	// Kubeconfig is the path of the file that says how to reach the API server. Empty: the service
	// account of the pod that this process runs in. Leave it empty in a pod.
	Kubeconfig string

	// KubeAPIQPS limits the requests to the API server, in requests a second, those for the lease
	// excepted. 0, or -1 as other components have it: no limit. Leave it at 0: the API server's
	// priority and fairness is the better brake, and MaxEvictionsPerSecond the one to set for fewer
	// evictions.
	KubeAPIQPS float32

	// KubeAPIBurst is how many requests may be sent at once on top of KubeAPIQPS, in requests. 0: as
	// many as KubeAPIQPS allows in a second, and at least 1. Leave it at 0; anything else is refused
	// while KubeAPIQPS sets no limit.
	KubeAPIBurst int

	// KubeAPIContentType is how requests to the API server are encoded, as a media type. Empty is
	// refused. Leave it at protobuf; JSON is for reading the traffic.
	KubeAPIContentType string

	// EvictionMethod is how pods are made to go. Empty is refused. Leave it at "delete" to do as the
	// original, which passes PodDisruptionBudgets by; choose "evict" where they are to be obeyed,
	// and a pod may wait for ever for one.
	EvictionMethod Method

	// EvictionWorkers is how many eviction calls may be under way at once, in the whole process, each for
	// its first second at most. 0 is refused. Leave it at 32: more gains nothing, and the API server's
	// other clients get less.
	EvictionWorkers int

	// MaxSlowEvictions is how many eviction calls that take longer than a second, because of an admission
	// webhook for instance, may be under way beside them. 0 is refused. Leave it at 64: with 32 workers
	// that is just below what the API server's defaults let such clients have under way.
	MaxSlowEvictions int

	// Shards is how many goroutines judge pods, each for its own part of the nodes. 0 is refused.
	// Leave it at 8, which carry the largest clusters; the number does not bound the evictions.
	Shards int

	// MaxEvictionsPerSecond limits how many eviction calls start in a second, in the whole cluster.
	// 0: no limit. Set it where workloads can't bear that all pods of many nodes go at once.
	MaxEvictionsPerSecond float64

	// Paused starts no eviction call. All evictions stay planned and visible, and go on once it is false.
	// False: evicts. Set it to look into what is due before it goes.
	Paused bool

	// DryRun judges and logs, and writes neither to pods nor events. False: evicts. Use it to see
	// what would go, beside whatever evicts now, and turn LeaderElection off with it, as the command
	// line does: a dry run that leads keeps the others from evicting.
	DryRun bool

	// ComparisonOperators lets tolerations with the operators Lt and Gt count, as Default does.
	// False: such tolerations match nothing, which is how the original judges while its feature gate
	// TaintTolerationComparisonOperators is off. Leave it on but to reproduce that.
	ComparisonOperators bool

	// StatusAddress is where the page and its JSON are served, as host:port. Empty: nowhere. Only
	// loopback is taken, because whoever reaches it may read it: kubectl port-forward guards it.
	// Where the port is in use, the rest goes on without it. Leave it as it is; set another port where
	// two run on one host.
	StatusAddress string

	// ClusterName is what people call the cluster; the page shows it. Empty: the host of the API server.
	// Set it where that host says little, as in a pod.
	ClusterName string

	// LeaderElection is how one of several processes is chosen to evict, while the others keep their
	// caches warm. LeaderElect false: this process evicts at once, whoever else does; leave it on.
	// ResourceLock must be "leases"; ResourceNamespace and ResourceName name the Lease.
	// LeaseDuration is how long a leader that is not heard of is waited for, in whole seconds;
	// RenewDeadline how long a leader goes on without a renewal; RetryPeriod the time between two
	// tries. Zero durations and empty names are refused. Leave them at 15 s, 10 s and 2 s, and set
	// all processes alike.
	LeaderElection componentbaseconfig.LeaderElectionConfiguration
}

// Default is what a taint manager runs with when nothing else is said. It is valid.
func Default() Configuration {
	return Configuration{
		KubeAPIContentType:  ContentTypeProtobuf,
		EvictionMethod:      MethodDelete,
		EvictionWorkers:     32,
		MaxSlowEvictions:    64,
		Shards:              8,
		ComparisonOperators: true,
		StatusAddress:       "127.0.0.1:8080",
		LeaderElection: componentbaseconfig.LeaderElectionConfiguration{
			LeaderElect:       true,
			LeaseDuration:     metav1.Duration{Duration: 15 * time.Second},
			RenewDeadline:     metav1.Duration{Duration: 10 * time.Second},
			RetryPeriod:       metav1.Duration{Duration: 2 * time.Second},
			ResourceLock:      leases,
			ResourceName:      "taint-manager",
			ResourceNamespace: "kube-system",
		},
	}
}

// Rules are the settings that change what a verdict is.
func (c Configuration) Rules() taint.Rules {
	return taint.Rules{NoComparison: !c.ComparisonOperators}
}
