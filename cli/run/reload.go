package run

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"

	taintmanager "github.com/taint-manager/taint-manager"
	"github.com/taint-manager/taint-manager/internal/config"
	"github.com/taint-manager/taint-manager/internal/truncate"
	"github.com/taint-manager/taint-manager/policy"
)

const (
	readEvery    = 500 * time.Millisecond // between two readings of the configuration file
	wholeAfter   = 2 * time.Second        // how long the content must be unchanged until the file counts as whole
	applyTimeout = 30 * time.Second       // for the manager to take in a configuration: it may list namespaces
	retryRefused = 30 * time.Second       // between two tries of a refused file: permissions may have been granted
	eventTimeout = 5 * time.Second        // for the write of one event
)

// stability decides whether a file is whole.
type stability struct {
	last  []byte
	since time.Time // of the first reading of last
}

// Step takes a reading in, and reports whether the file is whole. A writer may be under way until the content has not
// changed for wholeAfter. now is a time of this process's clock, never a time of the file.
func (s *stability) Step(now time.Time, content []byte) (whole bool) {
	if s.since.IsZero() || !bytes.Equal(content, s.last) {
		s.last, s.since = content, now
	}
	return now.Sub(s.since) >= wholeAfter
}

// reloader takes in changes of the configuration file while the process runs: all of a file or nothing of it.
type reloader struct {
	setPolicies func(context.Context, taintmanager.Policies) (policy.Diff, error)
	event       func(ctx context.Context, message string) // reports a refused file; nil: no events
	reviews     reviewer
	metrics     *configMetrics

	started    *settings // that the process has started with
	current    *settings // the latest that was taken in
	file       stability
	considered []byte    // the content that was considered last
	refused    time.Time // when the content was refused; zero if it is in force

	trouble atomic.Pointer[error] // why the file is not in force as a whole
}

// run reads the file until the context ends.
func (r *reloader) run(ctx context.Context) {
	tick := time.NewTicker(readEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		held := pausedBeside(r.started.configFile, r.current.held)
		if held {
			r.hold(ctx, held)
		}
		content, err := readConfigFile(r.started.configFile, nil)
		if err != nil {
			content = []byte(err.Error()) // an error is whole by the same rule
		}
		if r.file.Step(time.Now(), content) {
			r.compare(ctx, content, err)
			r.hold(ctx, held) // not before the file, which may take the pause over
		}
	}
}

// compare takes in a whole file, or refuses it, if it differs from the latest file that was considered. A refused file
// is considered again after a while. err says why the file can't be read.
func (r *reloader) compare(ctx context.Context, content []byte, err error) {
	same, inForce := bytes.Equal(content, r.considered), r.refused.IsZero()
	if same && (inForce || time.Since(r.refused) < retryRefused) {
		return
	}
	if err == nil {
		err = r.consider(ctx, content)
	}
	r.considered, r.refused = content, time.Time{}
	if err != nil && ctx.Err() == nil {
		r.refused = time.Now()
		r.refuse(ctx, err, same)
	}
}

// startable is a refusal of a file with which a process would start.
type startable struct{ error }

// consider takes in a file, or returns why the file is refused.
func (r *reloader) consider(ctx context.Context, content []byte) error {
	next, err := r.started.withFile(content)
	if err != nil {
		return err
	}
	if err := r.permitted(ctx, next); err != nil {
		return err
	}
	next.held = r.current.held
	if err := r.take(ctx, next, "The configuration file has changed and is in force"); err != nil {
		return startable{fmt.Errorf("taking in the configuration file: %w", err)}
	}
	var trouble error
	if fields := r.started.needRestart(next); len(fields) > 0 {
		trouble = fmt.Errorf("changed fields that require a restart: %d", len(fields))
		klog.FromContext(ctx).Info("Changes in the configuration file require a restart", "configFile",
			next.configFile, "fields", fields)
	}
	r.trouble.Store(&trouble)
	r.metrics.reloads.WithLabelValues(resultAccepted).Inc()
	r.metrics.inForce(next)
	next.warn(klog.FromContext(ctx))
	return nil
}

// take gives the manager the settings that it can take in, and logs what has changed.
func (r *reloader) take(ctx context.Context, next *settings, what string) error {
	bounded, cancel := context.WithTimeout(ctx, applyTimeout)
	defer cancel()
	diff, err := r.setPolicies(bounded, taintmanager.Policies{
		Policies: next.Policies, Guards: next.Guards, Method: next.Eviction.Method, Rules: next.Rules(),
		Paused: next.paused(), Workers: next.Eviction.Workers,
	})
	if err != nil {
		return err
	}
	r.current = next
	klog.FromContext(ctx).Info(what, "configFile", next.configFile, "policies", len(next.Policies),
		"rates", len(next.Guards.Rates), "breakers", len(next.Guards.Breakers), "paused", next.paused(),
		"podsCompared", diff.Pods, "podsDue", diff.Due, "podsEarlier", diff.Earlier, "podsLater", diff.Later,
		"podsHeld", diff.Held, "podsFree", diff.Free)
	return nil
}

// permitted returns an error if the settings need permissions that are missing. Permissions that the settings in force
// also need do not matter.
func (r *reloader) permitted(ctx context.Context, next *settings) error {
	had := r.current.rules()
	added := slices.DeleteFunc(next.rules(), func(r rule) bool { return slices.ContainsFunc(had, r.within) })
	bounded, cancel := context.WithTimeout(ctx, reviewTimeout)
	defer cancel()
	denied, err := missing(bounded, r.reviews, added)
	switch {
	case err != nil:
		return startable{fmt.Errorf("reviewing the permissions that the configuration file needs: %w", err)}
	case len(denied) == 0:
		return nil
	case slices.ContainsFunc(denied, func(r rule) bool { return r.required }):
		return next.grants(denied, "the API server")
	}
	return startable{next.grants(denied, "the API server")}
}

// refuse notes that the file is not taken in, and reports the refusal unless it is the same again.
func (r *reloader) refuse(ctx context.Context, cause error, again bool) {
	const refused = "is refused, and the last one that was taken in stays in force"
	_, starts := errors.AsType[startable](cause)
	trouble := errors.New("the file " + refused + "; the log says why")
	if !starts {
		trouble = errors.New("the file " + refused + "; a restart would not start; the log says why")
	}
	r.trouble.Store(&trouble)
	if again {
		return
	}
	r.metrics.refused.Set(1)
	r.metrics.reloads.WithLabelValues(resultRefused).Inc()
	klog.FromContext(ctx).Error(cause, "The configuration file "+refused, "configFile", r.started.configFile,
		"restartWouldStart", starts)
	if r.event != nil {
		r.event(ctx, fmt.Sprintf("The configuration file %s %s: %v", r.started.configFile, refused, cause))
	}
}

// Trouble returns nil if the configuration file is in force as a whole; otherwise it returns the consequence of its
// refusal, or how many of its fields need a restart. It names nothing of the file, so that it may be shown to
// everybody; the log does. A nil reloader follows no file.
func (r *reloader) Trouble() error {
	if r == nil {
		return nil
	}
	if trouble := r.trouble.Load(); trouble != nil {
		return *trouble
	}
	return nil
}

// leaseEvents returns a function that writes a warning as an event of the lease. It returns nil in a dry run, which
// writes nothing, and without leader election, as there is no lease.
func leaseEvents(
	client kubernetes.Interface, c config.Configuration, identity string,
) func(ctx context.Context, message string) {
	lease := v1.ObjectReference{
		APIVersion: "coordination.k8s.io/v1", Kind: "Lease", Namespace: c.LeaderElection.ResourceNamespace,
		Name: c.LeaderElection.ResourceName,
	}
	if c.DryRun || !c.LeaderElection.LeaderElect {
		return nil
	}
	return func(ctx context.Context, message string) {
		ctx, cancel := context.WithTimeout(ctx, eventTimeout)
		defer cancel()
		now := metav1.Now()
		_, err := client.CoreV1().Events(lease.Namespace).Create(ctx, &v1.Event{
			ObjectMeta:     metav1.ObjectMeta{Namespace: lease.Namespace, GenerateName: lease.Name + "."},
			InvolvedObject: lease, Type: v1.EventTypeWarning, Reason: "ConfigurationRefused",
			Message: truncate.Text(identity + ": " + message), FirstTimestamp: now, LastTimestamp: now, Count: 1,
			Source:              v1.EventSource{Component: "taint-manager", Host: identity},
			ReportingController: "taint-manager", ReportingInstance: identity,
		}, metav1.CreateOptions{})
		if err != nil {
			klog.FromContext(ctx).Error(err, "The event about the configuration file was not written")
		}
	}
}

// pausedFile is the name of the file beside the configuration file that pauses evictions: a key of the same ConfigMap,
// which an operator can set with one line, and which a release does not overwrite.
const pausedFile = "paused"

// pausedBeside reports whether the file beside the configuration file pauses evictions: it does unless it is missing,
// empty or false. If the folder cannot be read, pausedBeside returns its last result.
func pausedBeside(configFile string, last bool) bool {
	content, err := os.ReadFile(filepath.Join(filepath.Dir(configFile), pausedFile))
	if errors.Is(err, fs.ErrNotExist) {
		_, gone := os.Stat(configFile)
		return last && gone != nil
	}
	if err != nil {
		return last
	}
	value := strings.ToLower(strings.TrimSpace(string(content)))
	return value != "" && value != "false"
}

// hold takes in the file that pauses evictions. It counts beside a configuration file that is refused, too.
func (r *reloader) hold(ctx context.Context, held bool) {
	if held == r.current.held {
		return
	}
	next := *r.current
	next.held = held
	if err := r.take(ctx, &next, "The file that pauses evictions has changed"); err != nil {
		klog.FromContext(ctx).Error(err, "The file that pauses evictions was not taken in; it is tried again")
	}
}

// The results of a reload: a metric's label.
const (
	resultAccepted = "accepted"
	resultRefused  = "refused"
)

// configMetrics are the metrics of the configuration.
type configMetrics struct {
	info    *prometheus.GaugeVec
	success prometheus.Gauge
	reloads *prometheus.CounterVec
	refused prometheus.Gauge
}

// newConfigMetrics registers the metrics, and shows the settings as in force.
func newConfigMetrics(registerer prometheus.Registerer, s *settings) *configMetrics {
	register := promauto.With(registerer)
	gauge := func(name, help string) prometheus.GaugeOpts {
		return prometheus.GaugeOpts{Name: "taint_manager_config_" + name, Help: help}
	}
	m := &configMetrics{
		info: register.NewGaugeVec(gauge("info", "1 for the configuration in force: the first 16 digits of the SHA-256 hash "+
			"of its file, empty without a file, and the eviction method."), []string{"hash", "method"}),
		success: register.NewGauge(gauge("last_reload_success_timestamp_seconds",
			"When the configuration in force was taken in: at the start, or at its last change.")),
		reloads: register.NewCounterVec(prometheus.CounterOpts(gauge("reloads_total",
			"Changes of the configuration file, by result: accepted or refused.")), []string{"result"}),
		refused: register.NewGauge(gauge("refused",
			"1 while the present content of the configuration file is refused, and an earlier one is in force.")),
	}
	m.reloads.WithLabelValues(resultAccepted)
	m.reloads.WithLabelValues(resultRefused)
	m.inForce(s)
	return m
}

// inForce shows that the settings are in force.
func (c *configMetrics) inForce(s *settings) {
	hash := ""
	if len(s.content) > 0 {
		hash = fmt.Sprintf("%x", sha256.Sum256(s.content))[:16]
	}
	c.info.Reset()
	c.info.WithLabelValues(hash, s.Eviction.Method.Word()).Set(1)
	c.success.SetToCurrentTime()
	c.refused.Set(0)
}
