package taintmanager

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"

	"github.com/taint-manager/taint-manager/config"
	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/journal/store"
	"github.com/taint-manager/taint-manager/taint"
)

// Method is how a pod is made to go: Delete or Evict.
type Method = config.Method

const (
	// Delete patches the pod's condition DisruptionTarget and deletes the pod; PodDisruptionBudgets
	// are not asked. It is what the original does.
	Delete = config.MethodDelete

	// Evict asks the eviction subresource, which obeys PodDisruptionBudgets.
	Evict = config.MethodEvict
)

// Eviction is one call that an [Evictor] is asked to make. Its pod and verdict are to be read only.
type Eviction = eviction.Request

// Outcome is what an eviction call has come to; see the Kind constants of package shard.
type Outcome = eviction.Outcome

// View is what is known of one eviction: its pod, verdict and state.
type View = eviction.View

// Evictor makes one eviction call and waits for its end. It is called by as many goroutines as there
// are workers and slow evictions, never twice at a time for one pod. It gives up when the context ends: this process
// may not evict any longer then.
type Evictor interface {
	Evict(ctx context.Context, e Eviction) Outcome
}

// EventSink stores events. It is called by few goroutines, and never in the way of an eviction.
type EventSink interface {
	Create(ctx context.Context, event *v1.Event) error
}

// Journal keeps since when each taint is there, over restarts; package journal/store has one.
type Journal = store.Partitions

// Options are the settings of a [Manager]. The zero value is the default.
type Options struct {
	// Shards is how many goroutines judge; each owns a slice of the nodes. 0: 8.
	Shards int

	// Workers is how many eviction calls may be under way at once, each for its first second at most.
	// 0: 32.
	Workers int

	// MaxSlowEvictions is how many eviction calls that take longer may be under way beside them. 0: 64.
	MaxSlowEvictions int

	// MaxEvictionsPerSecond limits how many eviction calls start in a second. 0: no limit.
	MaxEvictionsPerSecond float64

	// Method is how pods are made to go. Empty: Delete.
	Method Method

	// Paused starts no eviction call. All evictions stay planned and visible.
	Paused bool

	// DryRun judges and logs, and writes nothing: no pod is touched, no event is sent.
	DryRun bool

	// Rules are the settings that change what a verdict is.
	Rules taint.Rules

	// CallTimeout bounds one eviction call. 0: 35 s, as admission webhooks may take 30.
	CallTimeout time.Duration

	// DrainTimeout bounds how long Run waits, once its context has ended, for calls under way.
	// 0: 10 s.
	DrainTimeout time.Duration

	// Watching makes the requests that list and watch nodes, and pods where New is given no informer: a
	// client of the same cluster with other connections or limits. Nil: New's client.
	Watching kubernetes.Interface

	// Leading is asked right before each eviction call starts; a call that it denies does not
	// start. Nil: Lead's context alone decides. The leader's own clock belongs here, because an elector
	// cancels its context late: Leading of an Election of package leader, or what its Lock adds to
	// an elector of the caller's own.
	Leading func() bool

	// Evictor replaces the calls to the API server. Nil: the calls that Method names. Either way a
	// GET of the node confirms the taint before each call, or before each request of an evictor that asks:
	// see evict.ConfirmingEvictor.
	Evictor Evictor

	// Events stores the events. Nil: core/v1 events through the client.
	Events EventSink

	// Journal keeps since when each taint is there: [store.NewConfigMaps] does so in ConfigMaps. Nil:
	// nothing is kept, and a restart starts countdowns anew whose taints carry no timeAdded.
	Journal Journal

	// LastLed is until when another process is known to have led: the renewTime of the lease, read
	// before this process stands for election, as LastLed of package leader does. By it a journal that could not be written is told
	// from one that nobody was there to write. Zero: nothing is known; the journal is believed.
	LastLed time.Time

	// Ahead says by how much ages are too long that are taken, at this moment, from times of the API and this
	// process's wall clock: as far as that clock is ahead of the API server's. They are shortened by it; a negative
	// answer counts as 0. It is called by several goroutines. [skew.Clock.Ahead] measures it. Nil: the clocks are taken
	// to be in step.
	Ahead func(now time.Time) time.Duration

	// Ended is told of each eviction call that has ended, and when. It is called by as many
	// goroutines as Evictor, and must not block. Nil: nobody is told.
	Ended func(e Eviction, o Outcome, at time.Time)

	// Registerer takes the metrics. Nil: none are kept.
	Registerer prometheus.Registerer

	// Logger takes the log. The zero value, which is also logr.Discard(), logs to klog's logger; to log
	// nothing, give logr.FromSlogHandler(slog.DiscardHandler).
	Logger logr.Logger
}

// drainTimeout is the default of Options.DrainTimeout.
const drainTimeout = 10 * time.Second

// complete puts in the defaults, and refuses what can't be.
func (o *Options) complete() error {
	switch {
	case o.DryRun && o.Evictor != nil:
		return errors.New("taintmanager: Options.DryRun and Options.Evictor are both set; a dry run calls no evictor: leave one out")
	case o.CallTimeout < 0 || o.DrainTimeout < 0:
		return fmt.Errorf("taintmanager: Options.CallTimeout is %v and Options.DrainTimeout %v; give times above 0, or 0 for the default", o.CallTimeout, o.DrainTimeout)
	}
	if err := o.configure(); err != nil {
		return err
	}
	o.CallTimeout = cmp.Or(o.CallTimeout, config.CallTimeout)
	o.DrainTimeout = cmp.Or(o.DrainTimeout, drainTimeout)
	if o.Logger.GetSink() == nil {
		o.Logger = klog.Background().WithName("taint-manager")
	}
	return nil
}

// configure completes and checks the options that are settings of package config, too.
func (o *Options) configure() error {
	c := config.Default()
	o.Shards = cmp.Or(o.Shards, c.Shards)
	o.Workers = cmp.Or(o.Workers, c.EvictionWorkers)
	o.MaxSlowEvictions = cmp.Or(o.MaxSlowEvictions, c.MaxSlowEvictions)
	o.Method = cmp.Or(o.Method, c.EvictionMethod)
	c.Shards, c.EvictionWorkers, c.MaxSlowEvictions, c.EvictionMethod = o.Shards, o.Workers, o.MaxSlowEvictions, o.Method
	c.MaxEvictionsPerSecond = o.MaxEvictionsPerSecond
	names := map[string]string{
		"shards": "Shards", "eviction-workers": "Workers", "max-slow-evictions": "MaxSlowEvictions",
		"eviction-method": "Method", "max-evictions-per-second": "MaxEvictionsPerSecond",
	}
	for _, r := range c.Validate() {
		return fmt.Errorf("taintmanager: Options.%s is %s; %s, and its zero value is the default", names[r.Flag], r.Value, r.Allowed)
	}
	return nil
}
