package config

import (
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	componentbaseconfig "k8s.io/component-base/config"

	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

// Method is the way in which a pod is evicted.
type Method string

const (
	// MethodDelete patches the pod's condition DisruptionTarget and deletes the pod; PodDisruptionBudgets do not apply.
	// The original does the same.
	MethodDelete Method = "delete"

	// MethodEvict creates an Eviction, which obeys PodDisruptionBudgets. The API server sets the condition itself.
	MethodEvict Method = "evict"

	// MethodIgnore evicts no pod: only policies do. It is for a process beside another taint manager.
	MethodIgnore Method = "ignore"
)

// methods returns all methods.
func methods() []Method { return []Method{MethodDelete, MethodEvict, MethodIgnore} }

// CallTimeout bounds one request of an eviction. It is longer than the 30 s that admission webhooks may take. It is not
// a setting of "run".
const CallTimeout = 35 * time.Second

// The values of KubeAPIContentType.
const (
	ContentTypeProtobuf = "application/vnd.kubernetes.protobuf"
	ContentTypeJSON     = "application/json"
)

// Configuration holds the settings of "taint-manager run". The zero value is not valid; see Default.
type Configuration struct {
	// Kubeconfig is the path of the file with the address and credentials for the API server. Empty: the service
	// account of the pod that this process runs in. Leave it empty in a pod.
	Kubeconfig string

	// KubeAPIQPS limits the requests to the API server, in requests a second. Requests for the lease do not count. 0,
	// or -1 as in other components: no limit. Leave it at 0: the API server's priority and fairness limits better, and
	// MaxEvictionsPerSecond is the setting for fewer evictions.
	KubeAPIQPS float32

	// KubeAPIBurst is the number of requests that may be sent at once in excess of KubeAPIQPS. 0: as many as KubeAPIQPS
	// allows in a second, and at least 1. Leave it at 0; anything else is refused while KubeAPIQPS sets no limit.
	KubeAPIBurst int

	// KubeAPIContentType is the encoding of requests to the API server, as a media type. Empty is refused. Leave it at
	// protobuf; JSON is for reading the traffic.
	KubeAPIContentType string

	// EvictionMethod is the way in which pods are evicted. Empty is refused. Leave it at "delete" to do the same as the
	// original, which ignores PodDisruptionBudgets; choose "evict" to obey them. A pod may then wait for ever for a
	// budget. Choose "ignore" to evict only by policies, beside another taint manager.
	EvictionMethod Method

	// EvictionWorkers is the maximum number of eviction calls under way in the whole process, each for its first second
	// at most. 0 is refused. Leave it at 32: more gains nothing, and leaves less for the API server's other clients.
	EvictionWorkers int

	// MaxSlowEvictions is the maximum number of eviction calls under way, in addition to EvictionWorkers, that take
	// longer than a second, for example because of an admission webhook. 0 is refused. Leave it at 64: 64 slow calls
	// and 32 others are just below the number of calls that API servers allow such a client by default.
	MaxSlowEvictions int

	// Shards is the number of goroutines that decide about pods, each for its own part of the nodes. 0 is refused.
	// Leave it at 8, which is enough for the largest clusters; the number does not limit the evictions.
	Shards int

	// MaxEvictionsPerSecond limits how many eviction calls start in a second, in the whole cluster. 0: no limit. Set it
	// if workloads cannot tolerate that all pods of many nodes are evicted at once.
	MaxEvictionsPerSecond float64

	// Paused starts no eviction call. All evictions stay scheduled and visible, and continue once it is false. False:
	// evicts. Set it to see which pods are due before they are evicted.
	Paused bool

	// DryRun decides and logs, and writes neither pods nor events. False: evicts. Use it to see which pods would be
	// evicted, in parallel with the controller that evicts now. Turn LeaderElection off with it, as the command line
	// does: while a dry run leads, the other replicas do not evict.
	DryRun bool

	// ComparisonOperators makes tolerations with the operators Lt and Gt count, as in Default. False: such tolerations
	// match nothing, as in the original while its feature gate TaintTolerationComparisonOperators is off. Leave it on,
	// except to do the same as an original without the feature gate.
	ComparisonOperators bool

	// StatusAddress is where the page and its JSON are served, as host:port. Empty: nowhere. Only loopback addresses
	// are allowed, because everybody who can connect may read the page; kubectl port-forward restricts access. If the
	// port is in use, the process runs without the page. Leave it as it is, or set another port if two processes run on
	// one host.
	StatusAddress string

	// ClusterName is the name of the cluster on the page. Empty: the host of the API server. Set it if that host means
	// little to readers, for example in a pod.
	ClusterName string

	// LeaderElection chooses one of several processes to evict, while the others keep their caches warm. LeaderElect
	// false: this process evicts at once, regardless of other processes; leave it on. ResourceLock must be "leases";
	// ResourceNamespace and ResourceName name the Lease. LeaseDuration is how long candidates wait for a leader that
	// does not renew the lease, in whole seconds; RenewDeadline is how long a leader continues without a renewal;
	// RetryPeriod is the time between two attempts. Zero durations and empty names are refused. Leave them at 15 s, 10
	// s and 2 s, and set them equally in all processes.
	LeaderElection componentbaseconfig.LeaderElectionConfiguration
}

// Default returns the configuration without any flag or file. It is valid.
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

// Policy returns the method in the words of policies.
func (m Method) Policy() policy.Method {
	if m == "" {
		return ""
	}
	return policy.Method(strings.ToUpper(string(m[:1])) + string(m[1:]))
}

// Rules returns the settings that affect verdicts.
func (c Configuration) Rules() taint.Rules {
	return taint.Rules{NoComparison: !c.ComparisonOperators}
}
