package config

import (
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/taint-manager/taint-manager/policy"
)

// AddFlags binds the flags of evictions and of the whole process to c.
func (c *Configuration) AddFlags(fs *pflag.FlagSet) {
	e := &c.Eviction
	fs.Var(methodValue{&e.Method}, "eviction-method", "How to evict pods that no policy matches: "+
		"delete (ignore PodDisruptionBudgets, as the built-in controller does), evict (respect budgets), "+
		"or ignore (do not evict these pods).")
	fs.IntVar(&e.Workers, "eviction-workers", e.Workers, "Number of eviction calls that may run at the "+
		"same time, 1 to 1000. While calls take longer than 1s, up to three times as many may run.")
	fs.IntVar(&c.Shards, "shards", c.Shards, "Number of goroutines that compute evictions, 1 to 256.")
	fs.Float64Var(&e.MaxEvictionsPerSecond, "max-evictions-per-second", e.MaxEvictionsPerSecond,
		"Maximum number of eviction calls per second, 0.001 to 1000000. 0 means no limit.")
	fs.BoolVar(&e.ComparisonOperators, "comparison-operators", e.ComparisonOperators,
		"Honor tolerations with the operators Lt and Gt, which compare numbers. If false, these match nothing.")
	fs.BoolVar(&c.Paused, "paused", c.Paused, "Do not start evictions. They remain scheduled and listed.")
	fs.BoolVar(&c.DryRun, "dry-run", c.DryRun, "Compute and log evictions, but change no pods and create no events. "+
		"Disables leader election unless --leader-elect=true is given.")
	fs.StringVar(&c.StatusAddress, "status-address", c.StatusAddress, "Loopback address and port of the status page, "+
		`such as 127.0.0.1:8080. "" disables the page.`)
	fs.StringVar(&c.ClusterName, "cluster-name", c.ClusterName,
		`Name of the cluster on the status page. "" means the host of the API server.`)
}

// AddFlags binds the flags of the connection to the API server to c.
func (c *ClientConnection) AddFlags(fs *pflag.FlagSet) {
	fs.StringVar(&c.Kubeconfig, "kubeconfig", c.Kubeconfig,
		`Path of a kubeconfig file. "" means the in-cluster service account.`)
	fs.Float32Var(&c.QPS, "kube-api-qps", c.QPS, "Maximum number of requests per second to the API server, except "+
		"those for the lease. 0 or -1 means no limit.")
	fs.IntVar(&c.Burst, "kube-api-burst", c.Burst, "Maximum burst of requests to the API server. 0 means the "+
		"value of --kube-api-qps.")
	fs.StringVar(&c.ContentType, "kube-api-content-type", c.ContentType, "Encoding of requests to the API "+
		"server: "+ContentTypeProtobuf+" or "+ContentTypeJSON+". Does not apply to reading pods and nodes.")
}

// AddFlags binds the flags of leader election to l.
func (l *LeaderElection) AddFlags(fs *pflag.FlagSet) {
	fs.BoolVar(&l.LeaderElect, "leader-elect", l.LeaderElect, "Evict only while holding the lease. "+
		"With --dry-run, the default is false.")
	fs.DurationVar(&l.LeaseDuration.Duration, "leader-elect-lease-duration", l.LeaseDuration.Duration,
		"How long other replicas wait after the last renewal before they acquire the lease, in whole seconds.")
	fs.DurationVar(&l.RenewDeadline.Duration, "leader-elect-renew-deadline", l.RenewDeadline.Duration,
		"How long the leader retries renewing the lease before giving up. Must be less than the lease duration.")
	fs.DurationVar(&l.RetryPeriod.Duration, "leader-elect-retry-period", l.RetryPeriod.Duration,
		"Time between two attempts to acquire or renew the lease.")
	fs.StringVar(&l.ResourceLock, "leader-elect-resource-lock", l.ResourceLock,
		"Kind of object that serves as the lock. Only leases is supported.")
	fs.StringVar(&l.ResourceName, "leader-elect-resource-name", l.ResourceName, "Name of the lease.")
	fs.StringVar(&l.ResourceNamespace, "leader-elect-resource-namespace", l.ResourceNamespace,
		"Namespace of the lease and of the journal (ConfigMaps with the policies and the time each taint was set).")
}

// FlagOf returns the flag that sets the field at a path; "" if there is none.
func FlagOf(path string) (flag string) {
	t := reflect.TypeFor[Configuration]()
	for name := range strings.SplitSeq(path, ".") {
		fields, names := fieldsOf(t)
		i := slices.Index(names, name)
		if i < 0 {
			return ""
		}
		t, flag = fields[i].typ, fields[i].flag
	}
	return flag
}

// methodValue is the value of a flag for a method.
type methodValue struct{ to *policy.Method }

func (m methodValue) String() string { return m.to.Word() }
func (m methodValue) Type() string   { return "string" }

// Set accepts the spelling of flags and the spelling of files, delete and Delete. Validation refuses any other text.
func (m methodValue) Set(text string) error {
	*m.to = policy.Method(text)
	for _, known := range policy.Methods() {
		if text == strings.ToLower(known) {
			*m.to = policy.Method(known)
		}
	}
	return nil
}
