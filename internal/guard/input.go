package guard

import "github.com/taint-manager/taint-manager/policy"

// Config is the configuration on which holds depend.
type Config struct {
	policy.Config

	// Set is the compiled form of the policies.
	Set *policy.Set

	// Paused means that no call starts.
	Paused bool
}

// Input is one thing that happens to a Core: NodesChanged, NamespacesChanged, Ready, RecordRead, LeadershipBegan,
// LeadershipEnded, Reconfigured or TimePassed.
type Input interface{ input() }

// NodesChanged reports nodes that were observed together. They may not have changed.
type NodesChanged struct {
	Changes []NodeChange
	All     bool // there are no other nodes
}

// NamespacesChanged reports the present labels of namespaces.
type NamespacesChanged struct{ Namespaces policy.Namespaces }

// Ready reports that all nodes are known, and that the journal was read or is not available. It comes once.
type Ready struct{ Journaled }

// RecordRead reports the record as the journal has it now.
type RecordRead struct{ Record Record }

// LeadershipBegan reports that this process leads from now on.
type LeadershipBegan struct{ Journaled }

// LeadershipEnded reports that this process no longer leads.
type LeadershipEnded struct{}

// Reconfigured replaces the configuration.
type Reconfigured struct{ Config }

// TimePassed reports that the time of [Core.Next] has come.
type TimePassed struct{}

// Journaled is the record that the journal has. If Known is false, the journal has no record, or cannot be read.
type Journaled struct {
	Record Record
	Known  bool
}

func (NodesChanged) input()      {}
func (NamespacesChanged) input() {}
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
