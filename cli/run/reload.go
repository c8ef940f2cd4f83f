package run

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/klog/v2"

	taintmanager "github.com/taint-manager/taint-manager"
	"github.com/taint-manager/taint-manager/config"
	"github.com/taint-manager/taint-manager/policy"
)

const (
	// readEvery is the time between two reads of the configuration file. A change is taken in once two reads agree, so
	// that a file that is being written is not taken for the whole.
	readEvery = 500 * time.Millisecond

	// applyTimeout bounds how long the manager may take to get what a new configuration needs.
	applyTimeout = 30 * time.Second

	// considerAgain is the time after which a refused file is considered again, because permissions may have been
	// granted since.
	considerAgain = 30 * time.Second
)

// reloadable is the part of a manager that a new configuration concerns.
type reloadable interface {
	SetPolicies(ctx context.Context, p taintmanager.Policies) (policy.Diff, error)
}

// reloader takes in changes of the configuration file while the process runs: all of a file or nothing of it.
type reloader struct {
	manager reloadable
	started *settings // that the process has started with
	reviews reviewer
	metrics *reloadMetrics
	event   func(ctx context.Context, message string) // reports a refused file; nil: no events

	current  *settings // the latest that was taken in
	inForce  []byte    // its content
	read     []byte    // the content that was read last
	refused  []byte    // the content that is refused; nil if none is
	refusing time.Time // since when

	mu      sync.Mutex
	trouble error // what the refusal means; nil if the file is in force
	pending int   // the number of fields that need a restart
}

// newReloader returns a reloader for a process that has started with these settings.
func newReloader(s *settings, m reloadable, reviews reviewer, metrics *reloadMetrics, event func(ctx context.Context, message string)) *reloader {
	return &reloader{
		manager: m, started: s, current: s, inForce: s.content, reviews: reviews, metrics: metrics, event: event,
	}
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
			r.look(ctx)
		}
	}
}

// look reads the file once, and considers it if it has changed.
func (r *reloader) look(ctx context.Context) {
	data, err := readConfigFile(r.started.configFile, nil)
	if err != nil {
		r.refuse(ctx, []byte(err.Error()), errNoRestart, err)
		return
	}
	stable := bytes.Equal(data, r.read)
	r.read = data
	switch {
	case !stable:
	case bytes.Equal(data, r.inForce):
		r.restored(ctx)
	case r.refused == nil || !bytes.Equal(data, r.refused) || time.Since(r.refusing) >= considerAgain:
		r.consider(ctx, data)
	}
}

// restored notes that the file has the content in force again.
func (r *reloader) restored(ctx context.Context) {
	if r.refused == nil {
		return
	}
	r.accept()
	klog.FromContext(ctx).Info("The configuration file has the content again that is in force", "configFile", r.started.configFile)
}

// consider takes in a file, or refuses it.
func (r *reloader) consider(ctx context.Context, data []byte) {
	next, file, err := r.started.reread(data)
	if err != nil {
		r.refuse(ctx, data, errNoRestart, err)
		return
	}
	if consequence, err := r.permitted(ctx, next); err != nil {
		r.refuse(ctx, data, consequence, err)
		return
	}
	bounded, cancel := context.WithTimeout(ctx, applyTimeout)
	defer cancel()
	diff, err := r.manager.SetPolicies(bounded, next.replaceable())
	if err != nil {
		r.refuse(ctx, data, errStays, fmt.Errorf("taking in the configuration file: %w", err))
		return
	}
	r.inForce, r.current = data, next
	r.accept()
	r.report(ctx, next, file, diff)
}

// permitted returns an error if permissions are missing that the settings need, and that those in force do not need.
func (r *reloader) permitted(ctx context.Context, next *settings) (consequence, err error) {
	had := r.current.permissions()
	added := slices.DeleteFunc(next.permissions(), func(p permission) bool {
		return slices.ContainsFunc(had, p.same)
	})
	bounded, cancel := context.WithTimeout(ctx, optionalPatience)
	defer cancel()
	denied, err := missing(bounded, r.reviews, added)
	switch {
	case err != nil:
		return errStays, fmt.Errorf("reviewing the permissions that the configuration file needs: %w", err)
	case len(denied) == 0:
		return nil, nil
	case slices.ContainsFunc(denied, next.vital):
		return errNoRestart, next.grants(denied, "the API server")
	}
	return errStays, next.grants(denied, "the API server")
}

// accept notes that the file is in force.
func (r *reloader) accept() {
	r.refused = nil
	r.metrics.refused.Set(0)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.trouble = nil
}

// The consequences of a refusal.
var (
	errStays     = errors.New("the file is refused, and the last one that was taken in stays in force; the log says why")
	errNoRestart = errors.New("the file is refused, and the last one that was taken in stays in force; a restart would not start; the log says why")
)

// refuse notes, once for each content, that the file is not taken in.
func (r *reloader) refuse(ctx context.Context, data []byte, consequence, why error) {
	if ctx.Err() != nil {
		return
	}
	again := r.refused != nil && bytes.Equal(data, r.refused)
	r.refused, r.refusing = data, time.Now()
	r.mu.Lock()
	r.trouble = consequence
	r.mu.Unlock()
	if again {
		return
	}
	r.metrics.refused.Set(1)
	r.metrics.reloads.WithLabelValues(resultRefused).Inc()
	klog.FromContext(ctx).Error(why, "The configuration file is refused, and the last one that was taken in stays in force",
		"configFile", r.started.configFile, "restartWouldStart", !errors.Is(consequence, errNoRestart))
	if r.event != nil {
		r.event(ctx, fmt.Sprintf("The configuration file %s is refused, and the last one that was taken in stays in force: %v", r.started.configFile, why))
	}
}

// report logs what a file that was taken in changes.
func (r *reloader) report(ctx context.Context, next *settings, file *config.File, diff policy.Diff) {
	logger := klog.FromContext(ctx)
	r.metrics.reloads.WithLabelValues(resultAccepted).Inc()
	logger.Info("The configuration file has changed and is in force", "configFile", next.configFile,
		"policies", len(next.policies), "rates", len(next.guards.Rates), "breakers", len(next.guards.Breakers), "paused", next.Paused,
		"podsCompared", diff.Pods, "podsDue", diff.Due, "podsEarlier", diff.Earlier, "podsLater", diff.Later, "podsHeld", diff.Held, "podsFree", diff.Free)
	next.warn(logger)
	restart := r.started.needRestart(next, file)
	for _, line := range restart {
		logger.Info("A field of the configuration file needs a restart", "field", line)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pending = len(restart)
}

// Trouble returns nil if the configuration file is in force; otherwise it returns what its refusal means. It names
// nothing of the file, so that it may be shown to everybody; the log does.
func (r *reloader) Trouble() error {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.trouble
}

// Pending returns the number of fields of the file that take effect with a restart.
func (r *reloader) Pending() int {
	if r == nil {
		return 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.pending
}
