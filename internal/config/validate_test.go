package config_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"pgregory.net/rapid"

	"github.com/taint-manager/taint-manager/internal/config"
	"github.com/taint-manager/taint-manager/policy"
)

// changes are the refused settings, each as a change to the default.
var changes = []struct {
	name string
	make func(c *config.Configuration)
}{
	{"a method that there is not", func(c *config.Configuration) { c.Eviction.Method = "drain" }},
	{"a method in small letters", func(c *config.Configuration) { c.Eviction.Method = "delete" }},
	{"no method", func(c *config.Configuration) { c.Eviction.Method = "" }},
	{"no workers", func(c *config.Configuration) { c.Eviction.Workers = 0 }},
	{"too many workers", func(c *config.Configuration) { c.Eviction.Workers = 1001 }},
	{"no shards", func(c *config.Configuration) { c.Shards = 0 }},
	{"too many shards", func(c *config.Configuration) { c.Shards = 257 }},
	{"a negative rate", func(c *config.Configuration) { c.Eviction.MaxEvictionsPerSecond = -1 }},
	{"a rate too small to be told from none", func(c *config.Configuration) { c.Eviction.MaxEvictionsPerSecond = 1e-300 }},
	{"a rate below all numbers", func(c *config.Configuration) { c.Eviction.MaxEvictionsPerSecond = math.Inf(-1) }},
	{"an infinite rate", func(c *config.Configuration) { c.Eviction.MaxEvictionsPerSecond = math.Inf(1) }},
	{"a rate that is no number", func(c *config.Configuration) { c.Eviction.MaxEvictionsPerSecond = math.NaN() }},
	{"a cluster with a name of two lines", func(c *config.Configuration) { c.ClusterName = "prod\nstaging" }},
	{"a cluster whose name clears the screen", func(c *config.Configuration) { c.ClusterName = "\x1b[2Jprod" }},
	{"a cluster whose name turns round", func(c *config.Configuration) { c.ClusterName = "prod\u202etset" }},
	{"a cluster whose name is a space", func(c *config.Configuration) { c.ClusterName = " " }},
	{"a cluster with a name without end", func(c *config.Configuration) { c.ClusterName = strings.Repeat("x", 254) }},
	{"a page for everybody", func(c *config.Configuration) { c.StatusAddress = "0.0.0.0:8080" }},
	{"a page on any address", func(c *config.Configuration) { c.StatusAddress = ":8080" }},
	{"a page on another host", func(c *config.Configuration) { c.StatusAddress = "127.0.0.1.example.org:8080" }},
	{"a page on a name that looks like loopback", func(c *config.Configuration) { c.StatusAddress = "127.1:8080" }},
	{"a page without a port", func(c *config.Configuration) { c.StatusAddress = "127.0.0.1" }},
	{"a page on a port that there is not", func(c *config.Configuration) { c.StatusAddress = "127.0.0.1:70000" }},
	{"a page on a port of somebody's choice", func(c *config.Configuration) { c.StatusAddress = "127.0.0.1:0" }},
	{"a negative limit on requests", func(c *config.Configuration) { c.ClientConnection.QPS = -2 }},
	{"a limit on requests below all numbers", func(c *config.Configuration) { c.ClientConnection.QPS = float32(math.Inf(-1)) }},
	{"an infinite limit on requests", func(c *config.Configuration) { c.ClientConnection.QPS = float32(math.Inf(1)) }},
	{"requests that hardly flow", func(c *config.Configuration) { c.ClientConnection.QPS = 0.01 }},
	{"requests without number", func(c *config.Configuration) { c.ClientConnection.QPS = float32(math.NaN()) }},
	{"a negative burst", func(c *config.Configuration) { c.ClientConnection.QPS, c.ClientConnection.Burst = 20, -1 }},
	{"a burst too large", func(c *config.Configuration) { c.ClientConnection.QPS, c.ClientConnection.Burst = 20, 1e6+1 }},
	{"a burst without a limit", func(c *config.Configuration) { c.ClientConnection.Burst = 100 }},
	{"a content type that there is not", func(c *config.Configuration) { c.ClientConnection.ContentType = "text/plain" }},
	{"a content type of two lines", func(c *config.Configuration) { c.ClientConnection.ContentType = "application/json\nx" }},
	{"a lease of no time", func(c *config.Configuration) { c.LeaderElection.LeaseDuration.Duration = 0 }},
	{"a lease of one and a half seconds", func(c *config.Configuration) {
		c.LeaderElection.LeaseDuration.Duration = 1500 * time.Millisecond
		c.LeaderElection.RenewDeadline.Duration = time.Second
		c.LeaderElection.RetryPeriod.Duration = 100 * time.Millisecond
	}},
	{"a lease of a day", func(c *config.Configuration) { c.LeaderElection.LeaseDuration.Duration = 24 * time.Hour }},
	{"a lease that ends before it is renewed", func(c *config.Configuration) { c.LeaderElection.RenewDeadline.Duration = 15 * time.Second }},
	{"a renewal that is tried once", func(c *config.Configuration) { c.LeaderElection.RetryPeriod.Duration = 9 * time.Second }},
	{"a renewal that may be tried once", func(c *config.Configuration) { setLease(c, 15*time.Second, 12*time.Second, 10*time.Second) }},
	{"a renewal in the past", func(c *config.Configuration) { c.LeaderElection.RenewDeadline.Duration = -time.Second }},
	{"tries without a pause", func(c *config.Configuration) { c.LeaderElection.RetryPeriod.Duration = 0 }},
	{"tries for ever", func(c *config.Configuration) { c.LeaderElection.RetryPeriod.Duration = math.MaxInt64 }},
	{"a lock of long ago", func(c *config.Configuration) { c.LeaderElection.ResourceLock = "endpoints" }},
	{"a lease without a name", func(c *config.Configuration) { c.LeaderElection.ResourceName = "" }},
	{"a lease's name in capitals", func(c *config.Configuration) { c.LeaderElection.ResourceName = "Taint Manager" }},
	{"a lease's namespace with a dot", func(c *config.Configuration) { c.LeaderElection.ResourceNamespace = "kube.system" }},
}

// refusals returns the content of the golden file: the refusals of each change.
func refusals(t *testing.T) string {
	var got strings.Builder
	for _, change := range changes {
		c := config.Default()
		change.make(&c)
		refusals := c.Validate()
		if len(refusals) == 0 {
			t.Errorf("%s: got no refusal", change.name)
		}
		fmt.Fprintf(&got, "%s:\n", change.name)
		for _, refusal := range refusals {
			fmt.Fprintf(&got, "\t%s\n", refusal.Error())
		}
	}
	return got.String()
}

func TestEveryRefusalReadsAsTheGoldenFileHasIt(t *testing.T) {
	generated(t, "testdata/refusals.golden", refusals(t))
}

func TestSettingsAtTheirLimitsAreTaken(t *testing.T) {
	for name, set := range map[string]func(c *config.Configuration){
		"evict":                    func(c *config.Configuration) { c.Eviction.Method = policy.Evict },
		"one of each":              func(c *config.Configuration) { c.Eviction.Workers, c.Shards = 1, 1 },
		"most of each":             func(c *config.Configuration) { c.Eviction.Workers, c.Shards = 1000, 256 },
		"slowest rate":             func(c *config.Configuration) { c.Eviction.MaxEvictionsPerSecond = 0.001 },
		"fastest rate":             func(c *config.Configuration) { c.Eviction.MaxEvictionsPerSecond = 1e6 },
		"no limit, in kube's way":  func(c *config.Configuration) { c.ClientConnection.QPS = -1 },
		"a limit without burst":    func(c *config.Configuration) { c.ClientConnection.QPS = 1 },
		"a limit and a burst":      func(c *config.Configuration) { c.ClientConnection.QPS, c.ClientConnection.Burst = 20, 30 },
		"JSON":                     func(c *config.Configuration) { c.ClientConnection.ContentType = config.ContentTypeJSON },
		"a cluster with a name":    func(c *config.Configuration) { c.ClusterName = "Prod (EU) 1 – Zürich" },
		"no page":                  func(c *config.Configuration) { c.StatusAddress = "" },
		"a page by name":           func(c *config.Configuration) { c.StatusAddress = "localhost:1" },
		"a page on IPv6":           func(c *config.Configuration) { c.StatusAddress = "[::1]:65535" },
		"a page next to another":   func(c *config.Configuration) { c.StatusAddress = "127.255.0.9:8080" },
		"a short lease":            func(c *config.Configuration) { setLease(c, time.Second, 800*time.Millisecond, 100*time.Millisecond) },
		"a long lease":             func(c *config.Configuration) { setLease(c, time.Hour, 59*time.Minute, time.Minute) },
		"no election, so no lease": func(c *config.Configuration) { c.LeaderElection.LeaderElect = false; setLease(c, 0, 0, 0) },
	} {
		c := config.Default()
		set(&c)
		if refusals := c.Validate(); len(refusals) != 0 {
			t.Errorf("%s: got %v", name, refusals)
		}
	}
}

func setLease(c *config.Configuration, lease, renew, retry time.Duration) {
	c.LeaderElection.LeaseDuration.Duration = lease
	c.LeaderElection.RenewDeadline.Duration = renew
	c.LeaderElection.RetryPeriod.Duration = retry
}

func TestAnElectorTakesWhatIsValid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := config.Default()
		lease := time.Duration(rapid.IntRange(-1, 3700).Draw(t, "lease")) * time.Second
		renew := time.Duration(rapid.Float64Range(-0.1, 1.1).Draw(t, "renew") * float64(lease))
		retry := time.Duration(rapid.Float64Range(-0.1, 1.1).Draw(t, "retry") * float64(renew))
		setLease(&c, lease, renew, retry)
		if len(c.Validate()) > 0 {
			return
		}
		_, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
			Lock:          &resourcelock.LeaseLock{LockConfig: resourcelock.ResourceLockConfig{Identity: "me"}},
			LeaseDuration: lease, RenewDeadline: renew, RetryPeriod: retry,
			Callbacks: leaderelection.LeaderCallbacks{OnStartedLeading: func(context.Context) {}, OnStoppedLeading: func() {}},
		})
		if err != nil {
			t.Fatalf("valid, but: %v", err)
		}
	})
}

// FuzzARefusalIsOneSentence checks for any values that an error names the field and what is allowed, on one line.
func FuzzARefusalIsOneSentence(f *testing.F) {
	f.Add("drain\n", 0, -1, 0.5, float32(0.1), "", int64(0), int64(math.MinInt64), int64(math.MaxInt64), "a b")
	f.Fuzz(func(t *testing.T, method string, workers, shards int, rate float64, qps float32, content string,
		lease, renew, retry int64, name string,
	) {
		c := config.Default()
		c.Eviction.Method, c.Eviction.Workers, c.Shards, c.Eviction.MaxEvictionsPerSecond = policy.Method(method), workers, shards, rate
		c.ClientConnection.QPS, c.ClientConnection.Burst, c.ClientConnection.ContentType = qps, shards, content
		setLease(&c, time.Duration(lease), time.Duration(renew), time.Duration(retry))
		c.LeaderElection.ResourceName, c.LeaderElection.ResourceNamespace, c.LeaderElection.ResourceLock = name, name, name
		for _, refusal := range c.Validate() {
			checkSentence(t, refusal)
		}
	})
}

func checkSentence(t *testing.T, e *field.Error) {
	t.Helper()
	if e.Field == "" || e.Detail == "" || strings.ContainsAny(e.Error(), "\n\r") {
		t.Errorf("got %q", e.Error())
	}
}
