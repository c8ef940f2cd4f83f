package config_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/taint-manager/taint-manager/internal/config"
	"github.com/taint-manager/taint-manager/policy"
)

// FuzzValidate sets any values: either they are refused in readable words, or a program can run with them.
func FuzzValidate(f *testing.F) {
	f.Add("delete", 32, 0.0, 8, float32(0), 0, "application/json", int64(15e9), int64(10e9), int64(2e9), "leases", "taint-manager", "kube-system")
	f.Add("evict", -1, math.NaN(), 0, float32(math.Inf(1)), -7, "a\nb", int64(1), int64(-1), int64(math.MaxInt64), "endpoints", "Taint Manager", "a.b")
	f.Fuzz(func(t *testing.T, method string, workers int, rate float64, shards int, qps float32, burst int,
		contentType string, lease, renew, retry int64, lock, name, namespace string,
	) {
		c := config.Default()
		c.Eviction.Method, c.Eviction.Workers, c.Eviction.MaxEvictionsPerSecond, c.Shards = policy.Method(method), workers, rate, shards
		c.ClientConnection.QPS, c.ClientConnection.Burst, c.ClientConnection.ContentType = qps, burst, contentType
		e := &c.LeaderElection
		e.LeaseDuration.Duration, e.RenewDeadline.Duration, e.RetryPeriod.Duration = time.Duration(lease), time.Duration(renew), time.Duration(retry)
		e.ResourceLock, e.ResourceName, e.ResourceNamespace = lock, name, namespace
		refusals := c.Validate()
		for _, r := range refusals {
			checkSentence(t, r)
		}
		if len(refusals) == 0 {
			checkRuns(t, &c)
		}
	})
}

// checkRuns checks what a program needs to run with these settings.
func checkRuns(t *testing.T, c *config.Configuration) {
	e := c.LeaderElection
	if !e.LeaderElect {
		e = config.Default().LeaderElection // not used
	}
	ok := (c.Eviction.Method == policy.Delete || c.Eviction.Method == policy.Evict) &&
		c.Eviction.Workers >= 1 && c.Eviction.Workers <= 1000 && c.Shards >= 1 && c.Shards <= 256 &&
		c.Eviction.MaxEvictionsPerSecond >= 0 && !math.IsInf(c.Eviction.MaxEvictionsPerSecond, 0) &&
		c.ClientConnection.QPS >= -1 && !math.IsInf(float64(c.ClientConnection.QPS), 0) && c.ClientConnection.Burst >= 0 &&
		e.LeaseDuration.Duration > e.RenewDeadline.Duration && e.RenewDeadline.Duration > e.RetryPeriod.Duration && e.RetryPeriod.Duration > 0 &&
		e.ResourceName != "" && e.ResourceNamespace != ""
	if !ok {
		t.Errorf("taken: %+v", *c)
	}
}

// FuzzDecode decodes any data: either they are refused in readable words, or a program can run with them.
func FuzzDecode(f *testing.F) {
	for _, name := range []string{"full.yaml", "policies.yaml"} {
		f.Add(read(f, name))
	}
	for text := range strings.SplitSeq(read(f, "refused.txt"), "\n### ") {
		_, text, _ = strings.Cut(text, "\n")
		f.Add(head + text)
	}
	f.Add(`{"apiVersion": "taint-manager/v1alpha1",	"kind": "TaintManagerConfiguration"}`)
	f.Fuzz(func(t *testing.T, text string) {
		c, refusals := decode(text)
		for _, r := range refusals {
			if strings.ContainsAny(r.Error(), "\n\r") || len(r.Error()) > 2000 {
				t.Errorf("refused with %q", r.Error())
			}
		}
		if len(refusals) == 0 {
			checkRuns(t, &c)
			if more := c.Validate(); len(more) > 0 {
				t.Errorf("taken, and refused by its flags: %v", more)
			}
		}
	})
}
