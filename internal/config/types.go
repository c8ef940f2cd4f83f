package config

import (
	_ "embed"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

// The fields with which every configuration file begins.
const (
	APIVersion = "taint-manager/v1alpha1"
	Kind       = "TaintManagerConfiguration"
)

// Schema is the JSON schema of a configuration file.
//
//go:embed schema.json
var Schema string

// Defaults is a configuration file with every field at its default, and with the descriptions of the fields.
//
//go:embed defaults.yaml
var Defaults string

// Configuration configures taint-manager. Omitted fields keep their defaults.
type Configuration struct {
	// Version of this format.
	APIVersion string `json:"apiVersion" jsonschema:"enum=taint-manager/v1alpha1"`
	// Kind of this object.
	Kind string `json:"kind" jsonschema:"enum=TaintManagerConfiguration"`

	// How pods are evicted.
	Eviction Eviction `json:"eviction,omitzero"`
	// Number of goroutines that compute verdicts, each for its own part of the nodes. 1 to 256.
	Shards int `json:"shards,omitempty" flag:"shards" jsonschema:"minimum=1,maximum=256"`
	// Do not start evictions. They remain scheduled and listed, and start when this is false again. A change takes
	// effect without a restart.
	Paused bool `json:"paused,omitempty" flag:"paused"`
	// Compute and log evictions, but write neither pods nor events. A dry run does not take part in leader election
	// unless --leader-elect=true is given, so it may run next to the controller that evicts.
	DryRun bool `json:"dryRun,omitempty" flag:"dry-run"`
	// Loopback address and port of the status page and its JSON API, such as 127.0.0.1:8080. The page does not
	// authenticate its readers: use kubectl port-forward. "" disables the page.
	StatusAddress string `json:"statusAddress,omitempty" flag:"status-address"`
	// Name of the cluster on the status page, up to 253 printable characters. "" means the host of the API server.
	ClusterName string `json:"clusterName,omitempty" flag:"cluster-name"`
	// Connection to the API server.
	ClientConnection ClientConnection `json:"clientConnection,omitzero"`
	// Lease that the evicting replica holds.
	LeaderElection LeaderElection `json:"leaderElection,omitzero"`
	// HTTPS server of /healthz, /livez, /readyz and /metrics.
	Serving Serving `json:"serving,omitzero"`
	// Authentication of requests for metrics.
	Authentication Authentication `json:"authentication,omitzero"`
	// Authorization of requests for metrics.
	Authorization Authorization `json:"authorization,omitzero"`
	// Logs.
	Logging Logging `json:"logging,omitzero"`

	// Policies: for each pod and taint, the first policy that matches decides. A change takes effect without a restart.
	Policies []policy.Policy `json:"policies,omitempty" jsonschema:"maxItems=100"`
	// Limits on how many pods are evicted at once. A change takes effect without a restart.
	Guards policy.Guards `json:"guards,omitzero"`
}

// Eviction configures how pods are evicted.
type Eviction struct {
	// How pods are evicted that no policy matches: Delete ignores PodDisruptionBudgets, as kube-controller-manager
	// does; Evict obeys them; Ignore evicts only pods that a policy matches. A change takes effect without a restart.
	Method policy.Method `json:"method,omitempty" flag:"eviction-method"`
	// Number of eviction calls younger than one second that may be in flight; three times as many may be in flight in
	// all. 1 to 1000. A change takes effect without a restart.
	Workers int `json:"workers,omitempty" flag:"eviction-workers" jsonschema:"minimum=1,maximum=1000"`
	// Eviction calls per second. 0 means no limit; otherwise 0.001 to 1000000.
	MaxEvictionsPerSecond float64 `json:"maxEvictionsPerSecond,omitempty" flag:"max-evictions-per-second" jsonschema:"minimum=0,maximum=1000000"`
	// Honor tolerations with the operators Lt and Gt, which compare numbers. If false, these match nothing. A change
	// takes effect without a restart.
	ComparisonOperators bool `json:"comparisonOperators,omitempty" flag:"comparison-operators"`
}

// ClientConnection configures the connection to the API server.
type ClientConnection struct {
	// Path of a kubeconfig file. "" means the service account of the pod.
	Kubeconfig string `json:"kubeconfig,omitempty" flag:"kubeconfig"`
	// Requests per second to the API server, except those for the lease. 0 or -1 means no limit, which leaves
	// throttling to the API server's priority and fairness; otherwise 1 to 100000.
	QPS float32 `json:"qps,omitempty" flag:"kube-api-qps" jsonschema:"minimum=-1,maximum=100000"`
	// Requests that may exceed qps at once. 0 means as many as qps allows per second, at most 1000000.
	Burst int `json:"burst,omitempty" flag:"kube-api-burst" jsonschema:"minimum=0,maximum=1000000"`
	// Encoding of requests.
	ContentType string `json:"contentType,omitempty" flag:"kube-api-content-type" jsonschema:"enum=application/vnd.kubernetes.protobuf,enum=application/json"`
}

// The values of ClientConnection.ContentType.
const (
	ContentTypeProtobuf = "application/vnd.kubernetes.protobuf"
	ContentTypeJSON     = "application/json"
)

// LeaderElection has the fields of componentbaseconfig.LeaderElectionConfiguration.
type LeaderElection struct {
	// Evict only while holding the lease. Replicas without it keep their caches and countdowns current.
	LeaderElect bool `json:"leaderElect,omitempty" flag:"leader-elect"`
	// How long other replicas wait after the last renewal before they acquire the lease. Whole seconds from 1s to 1h.
	LeaseDuration metav1.Duration `json:"leaseDuration,omitzero" flag:"leader-elect-lease-duration"`
	// Time that a leader continues without a renewal: below leaseDuration, above 1.2 times retryPeriod.
	RenewDeadline metav1.Duration `json:"renewDeadline,omitzero" flag:"leader-elect-renew-deadline"`
	// Time between two attempts to acquire or renew the lease, at least 10ms.
	RetryPeriod metav1.Duration `json:"retryPeriod,omitzero" flag:"leader-elect-retry-period"`
	// Kind of object that serves as the lock.
	ResourceLock string `json:"resourceLock,omitempty" flag:"leader-elect-resource-lock" jsonschema:"enum=leases"`
	// Name of the lease.
	ResourceName string `json:"resourceName,omitempty" flag:"leader-elect-resource-name"`
	// Namespace of the lease and of the journal (ConfigMaps with the policies and the time each taint was set).
	ResourceNamespace string `json:"resourceNamespace,omitempty" flag:"leader-elect-resource-namespace"`
}

// Serving configures the HTTPS server.
type Serving struct {
	// IP address to listen on. 0.0.0.0 or :: means all interfaces.
	BindAddress string `json:"bindAddress,omitempty" flag:"bind-address"`
	// Port to listen on, 1 to 65535. 0 disables the server.
	SecurePort int `json:"securePort,omitempty" flag:"secure-port" jsonschema:"minimum=0,maximum=65535"`
	// Directory of the TLS certificate. "" keeps a self-signed certificate in memory.
	CertDir string `json:"certDir,omitempty"`
	// File of the TLS certificate. It requires tlsPrivateKeyFile.
	TLSCertFile string `json:"tlsCertFile,omitempty"`
	// File of the private key of tlsCertFile.
	TLSPrivateKeyFile string `json:"tlsPrivateKeyFile,omitempty"`
	// Cipher suites. Empty means those of Go, which is advised.
	TLSCipherSuites []string `json:"tlsCipherSuites,omitempty" flag:"tls-cipher-suites"`
	// IDs of the elliptic curves. Empty means those of Go, which is advised.
	TLSCurvePreferences []int32 `json:"tlsCurvePreferences,omitempty" flag:"tls-curve-preferences"`
	// Minimum TLS version. "" means VersionTLS12.
	TLSMinVersion string `json:"tlsMinVersion,omitempty" flag:"tls-min-version"`
	// Streams per HTTP/2 connection. 0 means Go's default.
	HTTP2MaxStreamsPerConnection int `json:"http2MaxStreamsPerConnection,omitempty" jsonschema:"minimum=0"`
	// Serve HTTP/1.1 only.
	DisableHTTP2Serving bool `json:"disableHttp2Serving,omitempty"`
	// Use SO_REUSEADDR.
	PermitAddressSharing bool `json:"permitAddressSharing,omitempty"`
	// Use SO_REUSEPORT.
	PermitPortSharing bool `json:"permitPortSharing,omitempty"`
	// Serve profiles at /debug/pprof to clients that may get this path.
	Profiling bool `json:"profiling,omitempty"`
}

// Authentication configures the authentication of requests for metrics.
type Authentication struct {
	// Path of the kubeconfig file for TokenReviews. "" means clientConnection.kubeconfig.
	Kubeconfig string `json:"kubeconfig,omitempty"`
	// File of the certificate authority of clients. "" means that of the cluster.
	ClientCAFile string `json:"clientCAFile,omitempty"`
	// Do not read missing settings from the cluster.
	SkipLookup bool `json:"skipLookup,omitempty"`
	// Continue if the settings cannot be read from the cluster.
	TolerateLookupFailure bool `json:"tolerateLookupFailure,omitempty"`
	// Time for which answers of TokenReviews are cached.
	TokenWebhookCacheTTL metav1.Duration `json:"tokenWebhookCacheTTL,omitzero"`
	// File of the certificate authority of authenticating proxies. "" means that of the cluster.
	RequestheaderClientCAFile string `json:"requestheaderClientCAFile,omitempty"`
	// Common names of client certificates of authenticating proxies. Empty means any.
	RequestheaderAllowedNames []string `json:"requestheaderAllowedNames,omitempty"`
	// Headers that hold user names.
	RequestheaderUsernameHeaders []string `json:"requestheaderUsernameHeaders,omitempty"`
	// Headers that hold UIDs.
	RequestheaderUIDHeaders []string `json:"requestheaderUIDHeaders,omitempty"`
	// Headers that hold groups.
	RequestheaderGroupHeaders []string `json:"requestheaderGroupHeaders,omitempty"`
	// Prefixes of headers that hold extra attributes.
	RequestheaderExtraHeadersPrefix []string `json:"requestheaderExtraHeadersPrefix,omitempty"`
}

// Authorization configures the authorization of requests for metrics.
type Authorization struct {
	// Path of the kubeconfig file for SubjectAccessReviews. "" means clientConnection.kubeconfig.
	Kubeconfig string `json:"kubeconfig,omitempty"`
	// Paths that every client may get.
	AlwaysAllowPaths []string `json:"alwaysAllowPaths,omitempty"`
	// Time for which permissions are cached.
	WebhookCacheAuthorizedTTL metav1.Duration `json:"webhookCacheAuthorizedTTL,omitzero"`
	// Time for which denials are cached.
	WebhookCacheUnauthorizedTTL metav1.Duration `json:"webhookCacheUnauthorizedTTL,omitzero"`
}

// Logging configures the logs.
type Logging struct {
	// Format of the logs.
	Format string `json:"format,omitempty" flag:"logging-format" jsonschema:"enum=text,enum=json"`
	// Maximum time between two flushes of the logs.
	FlushFrequency metav1.Duration `json:"flushFrequency,omitzero" flag:"log-flush-frequency"`
	// Verbosity. 0 logs the least; 4 suits debugging.
	Verbosity int32 `json:"verbosity,omitempty" flag:"v" jsonschema:"minimum=0"`
	// Verbosity of single files, such as pool=4,api=2. Only for format text.
	VModule string `json:"vmodule,omitempty" flag:"vmodule"`
}

// Policy returns the settings that affect verdicts.
func (c *Configuration) Policy() policy.Config {
	rules := taint.Rules{NoComparison: !c.Eviction.ComparisonOperators}
	return policy.Config{Rules: rules, Method: c.Eviction.Method, Policies: c.Policies, Guards: c.Guards}
}
