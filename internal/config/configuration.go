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

// Configuration holds the settings of "taint-manager run". Settings says what each is for, and which values it takes.
// The zero value is not valid; see Default.
type Configuration struct {
	Kubeconfig            string  // empty: the service account of the pod
	KubeAPIQPS            float32 // 0 or -1: no limit
	KubeAPIBurst          int     // 0: as many as KubeAPIQPS allows in a second
	KubeAPIContentType    string  // a media type
	EvictionMethod        Method
	EvictionWorkers       int // calls under way, each for its first second
	Shards                int
	MaxEvictionsPerSecond float64 // 0: no limit
	Paused                bool
	DryRun                bool
	ComparisonOperators   bool   // false, as in the original without its feature gate: Lt and Gt match nothing
	StatusAddress         string // empty: no page
	ClusterName           string // on the page; empty: the host of the API server

	// LeaderElection has the fields of any component of Kubernetes. ResourceLock is "leases".
	LeaderElection componentbaseconfig.LeaderElectionConfiguration
}

// Default returns the configuration without any flag or file. It is valid.
func Default() Configuration {
	return Configuration{
		KubeAPIContentType:  ContentTypeProtobuf,
		EvictionMethod:      MethodDelete,
		EvictionWorkers:     32,
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
