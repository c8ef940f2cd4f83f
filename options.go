package taintmanager

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/internal/config"
	"github.com/taint-manager/taint-manager/internal/evict"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

// Method is the way in which pods are evicted: Delete, Evict or Ignore.
type Method = policy.Method

const (
	// Delete patches the pod's condition DisruptionTarget and deletes the pod; PodDisruptionBudgets do not apply. The
	// built-in controller does the same.
	Delete = policy.Delete

	// Evict creates an Eviction, which obeys PodDisruptionBudgets.
	Evict = policy.Evict

	// Ignore evicts only pods that a policy matches. It is for a manager that runs next to another taint manager.
	Ignore = policy.Ignore
)

// Eviction is one call for an [Evictor] to make. Evictors must not modify its pod and verdict.
type Eviction = eviction.Request

// Outcome is the result of an eviction call; package eviction has the kinds.
type Outcome = eviction.Outcome

// View is the state of one eviction, with its pod and verdict.
type View = eviction.View

// Evictor makes one eviction call and waits for its end. At most 3*Workers goroutines call it, and never two at once
// for the same pod. It must return when the context ends, because from then on this process must not evict.
type Evictor interface {
	Evict(ctx context.Context, e Eviction) Outcome
}

// ConfirmingEvictor is an Evictor whose calls take several requests: it calls confirm before each of them.
type ConfirmingEvictor interface {
	Evictor
	EvictConfirmed(ctx context.Context, e Eviction, confirm Confirmation) Outcome
}

// Confirmation reports whether a request of an eviction call may still be sent. If not, the call ends with the outcome.
type Confirmation = func(ctx context.Context) (outcome Outcome, ok bool)

// EventSink stores events. It must be safe for concurrent use, and give up when the context ends. No eviction waits for
// it.
type EventSink interface {
	Create(ctx context.Context, event *v1.Event) error
}

// Options are the settings of a [Manager]. The zero value is the default.
type Options struct {
	// Shards is the number of goroutines that decide; each owns a part of the nodes. 0 means 8.
	Shards int

	// Workers is the maximum number of eviction calls in flight that are younger than a second; three times as many may
	// be in flight. 0 means 32.
	Workers int

	// MaxEvictionsPerSecond limits how many eviction calls start in a second. 0 means no limit.
	MaxEvictionsPerSecond float64

	// Method applies to pods that no policy matches. Empty means Delete.
	Method Method

	// Policies decide which taints evict which pods, and how. For each pod and taint the first policy that matches
	// decides; if none matches, Method does. [Manager.SetPolicies] replaces them.
	Policies []policy.Policy

	// Guards limit how many pods are evicted at once.
	Guards policy.Guards

	// Paused keeps all eviction calls from starting. The evictions stay scheduled and visible.
	Paused bool

	// DryRun makes the manager decide and log, but write nothing: no pod is changed, and no event is sent.
	DryRun bool

	// Rules are the settings that affect verdicts.
	Rules taint.Rules

	// CallTimeout bounds one eviction call. 0 means 35 s, because admission webhooks may take 30 s.
	CallTimeout time.Duration

	// DrainTimeout bounds how long Run waits for calls in flight after its context has ended. 0 means 10 s.
	DrainTimeout time.Duration

	// Watching is the client that lists and watches nodes, and also pods if New gets no informer. It must be a client
	// of the same cluster; it may have other connections or limits. Nil means New's client.
	Watching kubernetes.Interface

	// Leading is called right before each eviction call starts; if it returns false, the call does not start. It must
	// check the leader's own clock, because an elector cancels its context late: use Leading of package leader's
	// Election, or wrap your elector's lock in a leader.Lock, and check IsLeader and Fresh. Nil means that only Lead's
	// context decides.
	Leading func() bool

	// OwnPod is the UID of the pod in which this process runs, from the downward API's metadata.uid. The manager evicts
	// this pod and its siblings (the pods with the same controlling owner) last, and one at a time: once no other
	// eviction waits, but at the latest a minute after they are due. After the eviction of one, the next waits until
	// another replica is Ready, at most a minute. If OwnPod is set, a caller's informer must keep each pod's owners and
	// its condition Ready. Empty means unknown: the manager treats all pods alike.
	OwnPod types.UID

	// Evictor replaces the calls to the API server. Nil means the calls of Method. In both cases a GET of the node
	// confirms the taint before each call, or before each request if the evictor is a [ConfirmingEvictor]. If Evictor
	// is set and Method is empty, the evictor chooses the method where no policy decides.
	Evictor Evictor

	// Events stores the events. Nil means core/v1 events, created with the client.
	Events EventSink

	// Journal stores the starts of taints across restarts: [NewJournal] stores them in ConfigMaps. Nil means
	// that nothing is stored, and a restart begins the countdown of a taint without timeAdded again.
	Journal Journal

	// Identity names this process in the journal, for people who read it. Use the identity of this process in the
	// leader election.
	Identity string

	// Ahead bounds how far this process's wall clock is ahead of the API server's at the time now; negative means
	// behind. The age of a time from the API is the smaller of its ages by the two clocks. Any goroutine may call
	// Ahead. The method Ahead of a [ServerClock] measures the bounds. Nil means that the clocks agree.
	Ahead func(now time.Time) (least, most time.Duration)

	// Ended is called after each eviction call, with its outcome and the time of its end, by up to 3*Workers
	// goroutines. It must not block. Nil means no call.
	Ended func(e Eviction, o Outcome, at time.Time)

	// Registerer registers the metrics. Nil means no metrics.
	Registerer prometheus.Registerer

	// Logger is the manager's logger. The zero value, which is also logr.Discard(), means klog's logger; to log
	// nothing, pass logr.FromSlogHandler(slog.DiscardHandler).
	Logger logr.Logger
}

// drainTimeout is the default of Options.DrainTimeout.
const drainTimeout = 10 * time.Second

// complete sets the defaults, and rejects invalid options.
func (o *Options) complete() error {
	switch {
	case o.DryRun && o.Evictor != nil:
		return errors.New("taintmanager: Options.DryRun and Options.Evictor are both set; a dry run calls no evictor: set only one of them")
	case o.CallTimeout < 0 || o.DrainTimeout < 0:
		return fmt.Errorf("taintmanager: Options.CallTimeout is %v and Options.DrainTimeout %v; they must be positive, or 0 for the default", o.CallTimeout, o.DrainTimeout)
	}
	if err := o.configure(); err != nil {
		return err
	}
	o.CallTimeout = cmp.Or(o.CallTimeout, evict.CallTimeout)
	o.DrainTimeout = cmp.Or(o.DrainTimeout, drainTimeout)
	if o.Leading == nil {
		o.Leading = func() bool { return true }
	}
	if o.Ended == nil {
		o.Ended = func(Eviction, Outcome, time.Time) {}
	}
	if o.Logger.GetSink() == nil {
		o.Logger = klog.Background().WithName("taint-manager")
	}
	return nil
}

// configure sets the defaults of the options that package config also has, and validates these options.
func (o *Options) configure() error {
	c := config.Default()
	o.Shards = cmp.Or(o.Shards, c.Shards)
	o.Workers = cmp.Or(o.Workers, c.Eviction.Workers)
	o.Method = cmp.Or(o.Method, c.Eviction.Method)
	c.Shards, c.Eviction.Workers, c.Eviction.Method = o.Shards, o.Workers, o.Method
	c.Eviction.MaxEvictionsPerSecond = o.MaxEvictionsPerSecond
	errs := c.Validate()
	for _, e := range errs {
		name := strings.TrimPrefix(e.Field, "eviction.")
		e.Field = "Options." + strings.ToUpper(name[:1]) + name[1:]
	}
	if err := errs.ToAggregate(); err != nil {
		return fmt.Errorf("taintmanager: %w", err)
	}
	return nil
}
