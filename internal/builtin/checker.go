// Package builtin detects that the built-in controller, the taint-eviction-controller of kube-controller-manager,
// also evicts pods: another client has deleted a pod whose eviction is still pending in this process, and the
// pod's managedFields name a taint manager other than this program.
//
// [Checker.Overtaken] takes such a pod and never blocks. [Checker.Run] reads the pod from the API server, at most once
// a minute, and not for an hour after a finding. It reports the built-in controller in the log, in a metric, and by
// [Checker.Trouble]. It needs no permission beyond listing pods.
package builtin

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"

	"github.com/taint-manager/taint-manager/eviction"
)

const (
	timeout         = 10 * time.Second // of one request
	betweenChecks   = time.Minute      // between two requests, because drains and other deletions are suspicious, too
	betweenFindings = time.Hour        // from a finding to the next request, and so between two reports
	remembered      = 24 * time.Hour   // how long a finding is shown
)

// Options are the settings of a [Checker]. Client, Broken and Leading are required.
type Options struct {
	Client kubernetes.Interface

	// Own is the field manager of this program and of its other replicas. Empty means unknown: nothing is checked.
	Own string

	// Broken names the settings whose promises the built-in controller breaks.
	Broken func() []string

	// Leading reports whether this process leads. On other replicas, the leader's evictions look overtaken.
	Leading func() bool

	Logger logr.Logger
}

// Checker checks evictions that were overtaken while this process leads. Its methods are safe for concurrent use.
type Checker struct {
	options    Options
	seen       prometheus.Gauge
	candidates chan eviction.Overtaken

	mu      sync.Mutex
	next    time.Time // of the next request, at the earliest
	finding Finding   // the last one; zero before the first
}

// New returns a checker that does nothing before Run.
func New(o Options) *Checker {
	return &Checker{
		options: o, candidates: make(chan eviction.Overtaken, 1),
		seen: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "taint_manager_builtin_seen_timestamp_seconds",
			Help: "When kube-controller-manager was last seen to evict a pod whose eviction waited here; 0: never.",
		}),
	}
}

// Collectors returns the metric.
func (c *Checker) Collectors() []prometheus.Collector {
	return []prometheus.Collector{c.seen}
}

// Overtaken receives an eviction that was overtaken. It never blocks.
func (c *Checker) Overtaken(o eviction.Overtaken) {
	now := time.Now()
	if c.options.Own == "" || !c.options.Leading() || !Suspicious(o, now) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if now.Before(c.next) {
		return
	}
	c.next = now.Add(betweenChecks)
	select {
	case c.candidates <- o:
	default:
	}
}

// Run checks until the context ends.
func (c *Checker) Run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case o := <-c.candidates:
			c.check(ctx, o)
		}
	}
}

// check reads the pod, and reports the built-in controller if it has marked the pod.
func (c *Checker) check(ctx context.Context, o eviction.Overtaken) {
	pod, err := c.read(ctx, o)
	if err != nil {
		c.options.Logger.V(2).Info("Whether the built-in controller runs was not checked", "err", err)
		return
	}
	writer := Writer(pod)
	if writer == "" || writer == c.options.Own {
		return
	}
	f := Finding{Pod: o.Pod.Key(), Node: o.Pod.Node, Writer: writer, At: time.Now()}
	c.mu.Lock()
	c.finding, c.next = f, f.At.Add(betweenFindings)
	c.mu.Unlock()
	c.seen.Set(float64(f.At.Unix()))
	c.options.Logger.Error(nil, "The built-in controller still runs", "pod", klog.KRef(o.Pod.Namespace, o.Pod.Name),
		"uid", o.Pod.UID, "node", f.Node, "writer", writer, "breaks", c.options.Broken(), "remedy", Remedy)
}

// read returns the pod from a list, which needs no further permission; an empty pod if the pod is gone.
func (c *Checker) read(ctx context.Context, o eviction.Overtaken) (*v1.Pod, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	list, err := c.options.Client.CoreV1().Pods(o.Pod.Namespace).List(ctx, metav1.ListOptions{
		FieldSelector: fields.OneTermEqualSelector(metav1.ObjectNameField, o.Pod.Name).String(),
	})
	if err != nil {
		return nil, fmt.Errorf("listing pod %s by its name: %w", o.Pod.Key(), err)
	}
	for i := range list.Items {
		if list.Items[i].UID == o.Pod.UID {
			return &list.Items[i], nil
		}
	}
	return &v1.Pod{}, nil
}

// Trouble returns the last finding as a warning, for a day; otherwise nil.
func (c *Checker) Trouble() error {
	c.mu.Lock()
	f := c.finding
	c.mu.Unlock()
	if time.Since(f.At) >= remembered {
		return nil
	}
	return errors.New(f.Warning(c.options.Broken()))
}
