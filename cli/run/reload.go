package run

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

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
	// readEvery is the time between two readings of the configuration file.
	readEvery = 500 * time.Millisecond

	// wholeAfter is how long a file that is written in place must be unchanged until its content counts as whole.
	wholeAfter = 2 * time.Second

	// applyTimeout bounds the time in which the manager takes in a new configuration, which may need a list of
	// namespaces.
	applyTimeout = 30 * time.Second

	// retryRefused is the time after which a refused file is considered again, because permissions may have been
	// granted since.
	retryRefused = 30 * time.Second

	// eventTimeout bounds the write of one event.
	eventTimeout = 5 * time.Second
)

// reading is the configuration file at one time.
type reading struct {
	mount    string // the folder of the file if a kubelet has made the folder; a change of a mount is a new folder
	size     int64
	modified time.Time
	content  []byte // the text of err if the file can't be read
	err      error
}

// readingOf reads the configuration file. It reads the file to which symbolic links lead now, so that the content
// belongs to the mount.
func readingOf(name string) reading {
	path, err := filepath.EvalSymlinks(name)
	if err != nil {
		path = name // reading it says why
	}
	content, err := readConfigFile(path, nil)
	info, missing := os.Stat(path)
	if err := cmp.Or(err, missing); err != nil {
		return reading{content: []byte(err.Error()), err: err}
	}
	return reading{mount: mountOf(path), size: info.Size(), modified: info.ModTime(), content: content}
}

// mountOf returns the folder of a file below a folder whose name begins with two dots, as the kubelet names the
// folders that it mounts; otherwise it returns "". The kubelet writes such a folder once, before a symbolic link leads
// to it.
func mountOf(path string) string {
	for part := range strings.SplitSeq(filepath.Dir(path), string(filepath.Separator)) {
		if len(part) > len("..") && strings.HasPrefix(part, "..") {
			return filepath.Dir(path)
		}
	}
	return ""
}

func (r reading) equal(other reading) bool {
	return r.mount == other.mount && r.size == other.size && r.modified.Equal(other.modified) &&
		bytes.Equal(r.content, other.content)
}

// stability decides whether a reading shows the whole file.
type stability struct {
	last  reading
	since time.Time // of the first reading that equals the last
	whole bool
}

// Step takes a reading in, and reports whether the file is whole. It is whole at once after the swap of a mount.
// Otherwise a writer may be under way: the file is whole once it has not changed for wholeAfter. now is a time of
// this process's clock, never a time of the file.
func (s *stability) Step(now time.Time, r reading) (whole bool) {
	if r.err != nil {
		r.mount = s.last.mount
	}
	swapped := r.mount != s.last.mount && r.mount != ""
	if !r.equal(s.last) {
		s.since, s.whole = now, swapped
	}
	s.last, s.whole = r, s.whole || now.Sub(s.since) >= wholeAfter
	return s.whole
}

// reloadable is the part of a manager that a new configuration concerns.
type reloadable interface {
	SetPolicies(ctx context.Context, p taintmanager.Policies) (policy.Diff, error)
}

// reloader takes in changes of the configuration file while the process runs: all of a file or nothing of it.
type reloader struct {
	manager reloadable
	started *settings // that the process has started with
	reviews reviewer
	metrics *configMetrics
	event   func(ctx context.Context, message string) // reports a refused file; nil: no events

	file     stability
	current  *settings // the latest that was taken in
	restart  error     // says how many fields of the current file need a restart; nil if none does
	refused  []byte    // the content that is refused; nil if none is
	refusing time.Time // since when

	trouble atomic.Pointer[error] // why the file is not in force as a whole
}

// newReloader returns a reloader for a process that has started with these settings.
func newReloader(
	s *settings, m reloadable, reviews reviewer, metrics *configMetrics,
	event func(ctx context.Context, message string),
) *reloader {
	return &reloader{manager: m, started: s, current: s, reviews: reviews, metrics: metrics, event: event}
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
		r.heed(ctx)
		if read := readingOf(r.started.configFile); r.file.Step(time.Now(), read) {
			r.compare(ctx, read)
		}
	}
}

// compare takes in a whole file, or refuses it, if it differs from the file in force.
func (r *reloader) compare(ctx context.Context, read reading) {
	again := r.refused != nil && bytes.Equal(read.content, r.refused)
	if again && time.Since(r.refusing) < retryRefused {
		return
	}
	consequence, err := errNoRestart, read.err
	switch {
	case err != nil:
	case !bytes.Equal(read.content, r.current.content):
		consequence, err = r.consider(ctx, read.content)
	case r.refused != nil:
		r.accept()
		klog.FromContext(ctx).Info("The configuration file has the content again that is in force", "configFile",
			r.started.configFile)
	}
	if err != nil && ctx.Err() == nil {
		r.refused, r.refusing = read.content, time.Now()
		r.trouble.Store(&consequence)
		if !again {
			r.reportRefusal(ctx, consequence, err)
		}
	}
}

// consider takes in a file, or returns why the file is refused, and the consequence of the refusal.
func (r *reloader) consider(ctx context.Context, content []byte) (consequence, err error) {
	next, err := r.started.reread(content)
	if err != nil {
		return errNoRestart, err
	}
	if consequence, err := r.permitted(ctx, next); err != nil {
		return consequence, err
	}
	next.held = r.current.held
	diff, err := r.set(ctx, next)
	if err != nil {
		return errStays, fmt.Errorf("taking in the configuration file: %w", err)
	}
	r.current = next
	r.report(ctx, diff)
	r.accept()
	return nil, nil
}

// set gives the manager the settings that it can take in.
func (r *reloader) set(ctx context.Context, next *settings) (policy.Diff, error) {
	ctx, cancel := context.WithTimeout(ctx, applyTimeout)
	defer cancel()
	return r.manager.SetPolicies(ctx, taintmanager.Policies{
		Policies: next.Policies, Guards: next.Guards, Method: next.EvictionMethod, Rules: next.Rules(),
		Paused: next.paused(), Workers: next.EvictionWorkers,
	})
}

// permitted returns an error if the settings need permissions that are missing. Permissions that the settings in force
// also need do not matter.
func (r *reloader) permitted(ctx context.Context, next *settings) (consequence, err error) {
	had := r.current.needed()
	added := slices.DeleteFunc(next.needed(), func(r rule) bool {
		return slices.ContainsFunc(had, r.within)
	})
	bounded, cancel := context.WithTimeout(ctx, optionalTimeout)
	defer cancel()
	denied, err := missing(bounded, r.reviews, added)
	switch {
	case err != nil:
		return errStays, fmt.Errorf("reviewing the permissions that the configuration file needs: %w", err)
	case len(denied) == 0:
		return nil, nil
	case slices.ContainsFunc(denied, func(r rule) bool { return r.required }):
		return errNoRestart, next.grants(denied, "the API server")
	}
	return errStays, next.grants(denied, "the API server")
}

// accept notes that the file is in force, except for the fields that need a restart.
func (r *reloader) accept() {
	trouble := r.restart
	r.refused = nil
	r.metrics.inForce(r.current)
	r.trouble.Store(&trouble)
}

// The consequences of a refusal.
var (
	errStays     = errors.New("the file is refused, and the last one that was taken in stays in force; the log says why")
	errNoRestart = errors.New("the file is refused, and the last one that was taken in stays in force; a restart would not start; the log says why")
)

// reportRefusal reports that the file is not taken in.
func (r *reloader) reportRefusal(ctx context.Context, consequence, cause error) {
	const refused = "is refused, and the last one that was taken in stays in force"
	r.metrics.refused.Set(1)
	r.metrics.reloads.WithLabelValues(resultRefused).Inc()
	klog.FromContext(ctx).Error(cause, "The configuration file "+refused, "configFile", r.started.configFile,
		"restartWouldStart", !errors.Is(consequence, errNoRestart))
	if r.event != nil {
		r.event(ctx, fmt.Sprintf("The configuration file %s %s: %v", r.started.configFile, refused, cause))
	}
}

// report logs the changes that the file has made.
func (r *reloader) report(ctx context.Context, diff policy.Diff) {
	logger, next := klog.FromContext(ctx), r.current
	r.metrics.reloads.WithLabelValues(resultAccepted).Inc()
	logger.Info("The configuration file has changed and is in force", "configFile", next.configFile,
		"policies", len(next.Policies), "rates", len(next.Guards.Rates), "breakers", len(next.Guards.Breakers),
		"paused", next.paused(),
		"podsCompared", diff.Pods, "podsDue", diff.Due, "podsEarlier", diff.Earlier, "podsLater", diff.Later,
		"podsHeld", diff.Held, "podsFree", diff.Free)
	next.warn(logger)
	r.restart = nil
	fields := r.started.needRestart(next)
	for _, field := range fields {
		logger.Info("A field of the configuration file needs a restart", "field", field)
	}
	if len(fields) > 0 {
		r.restart = fmt.Errorf("fields of the file that need a restart: %d", len(fields))
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
