package breaker

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/taint-manager/taint-manager/policy"
)

// Config is the configuration on which holds depend.
type Config struct {
	policy.Config

	// Set is the compiled form of the policies.
	Set *policy.Set

	// Paused means that no call starts.
	Paused bool
}

// loaded returns the configuration as loaded now: a resetBefore in the future ends the trips up to now, but no later
// trip.
func (c Config) loaded(now time.Time) Config {
	c.Guards.Breakers = slices.Clone(c.Guards.Breakers)
	for i := range c.Guards.Breakers {
		if b := &c.Guards.Breakers[i]; b.ResetBefore != nil && b.ResetBefore.After(now) {
			b.ResetBefore = &metav1.Time{Time: now}
		}
	}
	return c
}

// Input is one thing that happens to a Core: NodesChanged, NamespacesChanged, PodsHeld, Ready, RecordRead,
// LeadershipBegan, LeadershipEnded, Reconfigured or TimePassed.
type Input interface{ input() }

// NodesChanged reports nodes that were observed together. Some of them may not have changed.
type NodesChanged struct {
	Changes []NodeChange
	All     bool // there are no other nodes
}

// NamespacesChanged reports the present labels of namespaces.
type NamespacesChanged struct{ Namespaces policy.Namespaces }

// PodsHeld reports that a policy holds more pods than before, or fewer.
type PodsHeld struct {
	Policy string
	Pods   int // the difference
}

// Ready reports that all nodes are known. It comes once. Its record counts if this process already leads.
type Ready struct{ Journaled }

// RecordRead reports the record of the journal that was unread when the term began, or that another process has stored
// since.
type RecordRead struct{ Record Record }

// LeadershipBegan reports that this process leads from now on.
type LeadershipBegan struct{ Journaled }

// LeadershipEnded reports that this process no longer leads.
type LeadershipEnded struct{}

// Reconfigured replaces the configuration.
type Reconfigured struct{ Config }

// TimePassed reports that the time of [Core.Next] has come.
type TimePassed struct{}

// Journaled is the record that the journal has. If Known is false, the journal has no record, or it was not read.
// Unread means that it may still be read: RecordRead follows, and until then all evictions that a breaker may hold are
// held.
type Journaled struct {
	Record Record
	Known  bool
	Unread bool
}

func (NodesChanged) input()      {}
func (NamespacesChanged) input() {}
func (PodsHeld) input()          {}
func (Ready) input()             {}
func (RecordRead) input()        {}
func (LeadershipBegan) input()   {}
func (LeadershipEnded) input()   {}
func (Reconfigured) input()      {}
func (TimePassed) input()        {}

// Effects are the results of a step.
type Effects struct {
	// Judge is the judge from now on; nil if it has not changed.
	Judge *policy.Judge

	// Record is the record to store; nil if there is nothing new.
	Record *Record

	// Events are the trips and resets to report; a process that does not lead reports none.
	Events []Event
}
