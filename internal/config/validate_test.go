package config_test

import (
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/taint-manager/taint-manager/internal/config"
)

var update = flag.Bool("update", false, "write the golden files anew")

// changes are the refused settings, each as a change to the default.
var changes = []struct {
	name string
	make func(c *config.Configuration)
}{
	{"a method that there is not", func(c *config.Configuration) { c.EvictionMethod = "drain" }},
	{"a method in capitals", func(c *config.Configuration) { c.EvictionMethod = "Delete" }},
	{"no method", func(c *config.Configuration) { c.EvictionMethod = "" }},
	{"no workers", func(c *config.Configuration) { c.EvictionWorkers = 0 }},
	{"too many workers", func(c *config.Configuration) { c.EvictionWorkers = 1001 }},
	{"no shards", func(c *config.Configuration) { c.Shards = 0 }},
	{"too many shards", func(c *config.Configuration) { c.Shards = 257 }},
	{"a negative rate", func(c *config.Configuration) { c.MaxEvictionsPerSecond = -1 }},
	{"a rate too small to be told from none", func(c *config.Configuration) { c.MaxEvictionsPerSecond = 1e-300 }},
	{"a rate below all numbers", func(c *config.Configuration) { c.MaxEvictionsPerSecond = math.Inf(-1) }},
	{"an infinite rate", func(c *config.Configuration) { c.MaxEvictionsPerSecond = math.Inf(1) }},
	{"a rate that is no number", func(c *config.Configuration) { c.MaxEvictionsPerSecond = math.NaN() }},
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
	{"a negative limit on requests", func(c *config.Configuration) { c.KubeAPIQPS = -2 }},
	{"a limit on requests below all numbers", func(c *config.Configuration) { c.KubeAPIQPS = float32(math.Inf(-1)) }},
	{"an infinite limit on requests", func(c *config.Configuration) { c.KubeAPIQPS = float32(math.Inf(1)) }},
	{"requests that hardly flow", func(c *config.Configuration) { c.KubeAPIQPS = 0.01 }},
	{"requests without number", func(c *config.Configuration) { c.KubeAPIQPS = float32(math.NaN()) }},
	{"a negative burst", func(c *config.Configuration) { c.KubeAPIQPS, c.KubeAPIBurst = 20, -1 }},
	{"a burst too large", func(c *config.Configuration) { c.KubeAPIQPS, c.KubeAPIBurst = 20, 1e6+1 }},
	{"a burst without a limit", func(c *config.Configuration) { c.KubeAPIBurst = 100 }},
	{"a content type that there is not", func(c *config.Configuration) { c.KubeAPIContentType = "text/plain" }},
	{"a content type of two lines", func(c *config.Configuration) { c.KubeAPIContentType = "application/json\nx" }},
	{"a lease of no time", func(c *config.Configuration) { c.LeaderElection.LeaseDuration.Duration = 0 }},
	{"a lease of one and a half seconds", func(c *config.Configuration) {
		c.LeaderElection.LeaseDuration.Duration = 1500 * time.Millisecond
		c.LeaderElection.RenewDeadline.Duration = time.Second
		c.LeaderElection.RetryPeriod.Duration = 100 * time.Millisecond
	}},
	{"a lease of a day", func(c *config.Configuration) { c.LeaderElection.LeaseDuration.Duration = 24 * time.Hour }},
	{"a lease that ends before it is renewed", func(c *config.Configuration) { c.LeaderElection.RenewDeadline.Duration = 15 * time.Second }},
	{"a renewal that is tried once", func(c *config.Configuration) { c.LeaderElection.RetryPeriod.Duration = 9 * time.Second }},
	{"tries without a pause", func(c *config.Configuration) { c.LeaderElection.RetryPeriod.Duration = 0 }},
	{"tries for ever", func(c *config.Configuration) { c.LeaderElection.RetryPeriod.Duration = math.MaxInt64 }},
	{"a lock of long ago", func(c *config.Configuration) { c.LeaderElection.ResourceLock = "endpoints" }},
	{"a lease without a name", func(c *config.Configuration) { c.LeaderElection.ResourceName = "" }},
	{"a lease's name in capitals", func(c *config.Configuration) { c.LeaderElection.ResourceName = "Taint Manager" }},
	{"a lease's namespace with a dot", func(c *config.Configuration) { c.LeaderElection.ResourceNamespace = "kube.system" }},
}

// refusals returns the content of the golden file: the refusals of each change.
func refusals() string {
	var got strings.Builder
	for _, change := range changes {
		c := config.Default()
		change.make(&c)
		fmt.Fprintf(&got, "%s:\n", change.name)
		for _, refusal := range c.Validate() {
			fmt.Fprintf(&got, "\t%s\n", refusal.Error())
		}
	}
	return got.String()
}

func TestEveryRefusalReadsAsTheGoldenFileHasIt(t *testing.T) {
	golden(t, "refusals.golden", refusals())
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s is not current, run go test ./internal/config -update (-want +got):\n%s", path, diff)
	}
}

func TestEachOfTheseChangesIsRefused(t *testing.T) {
	for _, change := range changes {
		c := config.Default()
		change.make(&c)
		if len(c.Validate()) == 0 {
			t.Errorf("%s: got no refusal", change.name)
		}
	}
}

func TestTheDefaultIsValid(t *testing.T) {
	if refusals := config.Default().Validate(); len(refusals) != 0 {
		t.Errorf("got %v", refusals)
	}
}

func TestSettingsAtTheirLimitsAreTaken(t *testing.T) {
	for name, set := range map[string]func(c *config.Configuration){
		"evict":                    func(c *config.Configuration) { c.EvictionMethod = config.MethodEvict },
		"one of each":              func(c *config.Configuration) { c.EvictionWorkers, c.Shards = 1, 1 },
		"most of each":             func(c *config.Configuration) { c.EvictionWorkers, c.Shards = 1000, 256 },
		"slowest rate":             func(c *config.Configuration) { c.MaxEvictionsPerSecond = 0.001 },
		"fastest rate":             func(c *config.Configuration) { c.MaxEvictionsPerSecond = 1e6 },
		"no limit, in kube's way":  func(c *config.Configuration) { c.KubeAPIQPS = -1 },
		"a limit without burst":    func(c *config.Configuration) { c.KubeAPIQPS = 1 },
		"a limit and a burst":      func(c *config.Configuration) { c.KubeAPIQPS, c.KubeAPIBurst = 20, 30 },
		"JSON":                     func(c *config.Configuration) { c.KubeAPIContentType = config.ContentTypeJSON },
		"a cluster with a name":    func(c *config.Configuration) { c.ClusterName = "Prod (EU) 1 – Zürich" },
		"no page":                  func(c *config.Configuration) { c.StatusAddress = "" },
		"a page by name":           func(c *config.Configuration) { c.StatusAddress = "localhost:1" },
		"a page on IPv6":           func(c *config.Configuration) { c.StatusAddress = "[::1]:65535" },
		"a page beside another":    func(c *config.Configuration) { c.StatusAddress = "127.255.0.9:8080" },
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

func TestTheZeroConfigurationIsRefused(t *testing.T) {
	if refusals := (config.Configuration{}).Validate(); len(refusals) == 0 {
		t.Error("got no refusal")
	}
}

// FuzzARefusalIsOneSentence checks for any values that a refusal names flag, value, what is allowed and the next step,
// on one line.
func FuzzARefusalIsOneSentence(f *testing.F) {
	f.Add("drain\n", 0, -1, 0.5, float32(0.1), "", int64(0), int64(math.MinInt64), int64(math.MaxInt64), "a b")
	f.Fuzz(func(t *testing.T, method string, workers, shards int, rate float64, qps float32, content string,
		lease, renew, retry int64, name string,
	) {
		c := config.Default()
		c.EvictionMethod, c.EvictionWorkers, c.Shards, c.MaxEvictionsPerSecond = config.Method(method), workers, shards, rate
		c.KubeAPIQPS, c.KubeAPIBurst, c.KubeAPIContentType = qps, shards, content
		setLease(&c, time.Duration(lease), time.Duration(renew), time.Duration(retry))
		c.LeaderElection.ResourceName, c.LeaderElection.ResourceNamespace, c.LeaderElection.ResourceLock = name, name, name
		for _, refusal := range c.Validate() {
			checkSentence(t, refusal)
		}
	})
}

func checkSentence(t *testing.T, r config.Refusal) {
	t.Helper()
	if r.Flag == "" || r.Allowed == "" || r.Next == "" {
		t.Errorf("a part is empty: %#v", r)
	}
	if strings.ContainsAny(r.Error(), "\n\r") {
		t.Errorf("more than one line: %q", r.Error())
	}
}
