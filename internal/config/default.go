package config

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/taint-manager/taint-manager/policy"
)

// Port is the default port of HTTPS. No component of Kubernetes uses it; their ports are 10248 to 10260.
const Port = 10270

// Default returns the configuration without a flag or file. It is valid.
func Default() Configuration {
	tenSeconds := metav1.Duration{Duration: 10 * time.Second}
	return Configuration{
		APIVersion:       APIVersion,
		Kind:             Kind,
		Eviction:         Eviction{Method: policy.Delete, Workers: 32, ComparisonOperators: true},
		Shards:           8,
		StatusAddress:    "127.0.0.1:8080",
		ClientConnection: ClientConnection{ContentType: ContentTypeProtobuf},
		LeaderElection: LeaderElection{
			LeaderElect:       true,
			LeaseDuration:     metav1.Duration{Duration: 15 * time.Second},
			RenewDeadline:     tenSeconds,
			RetryPeriod:       metav1.Duration{Duration: 2 * time.Second},
			ResourceLock:      leases,
			ResourceName:      "taint-manager",
			ResourceNamespace: "kube-system",
		},
		Serving: Serving{BindAddress: "0.0.0.0", SecurePort: Port},
		Authentication: Authentication{
			TolerateLookupFailure:           true, // metrics matter less than evictions
			TokenWebhookCacheTTL:            tenSeconds,
			RequestheaderUsernameHeaders:    []string{"x-remote-user"},
			RequestheaderGroupHeaders:       []string{"x-remote-group"},
			RequestheaderExtraHeadersPrefix: []string{"x-remote-extra-"},
		},
		Authorization: Authorization{
			AlwaysAllowPaths:            []string{"/healthz", "/readyz", "/livez"},
			WebhookCacheAuthorizedTTL:   tenSeconds,
			WebhookCacheUnauthorizedTTL: tenSeconds,
		},
		Logging: Logging{Format: "text", FlushFrequency: metav1.Duration{Duration: 5 * time.Second}},
	}
}
