package foresight

import (
	"cmp"
	"fmt"
	"reflect"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"

	"github.com/taint-manager/taint-manager/internal/journal"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

// Lease is the manager's Lease, or why it could not be read. The zero value means that there is none.
type Lease struct {
	Spec    *coordinationv1.LeaseSpec
	Unknown string
}

// renewed reports whether somebody holds the Lease at this time.
func (l *Lease) renewed(at time.Time) bool {
	s := l.Spec
	if s == nil || s.RenewTime == nil || s.LeaseDurationSeconds == nil || *cmp.Or(s.HolderIdentity, new("")) == "" {
		return false
	}
	return at.Sub(s.RenewTime.Time) <= time.Duration(*s.LeaseDurationSeconds)*time.Second
}

// Heartbeat is what 'pending --wait' needs to know about the manager.
type Heartbeat struct {
	// Written is when the manager wrote the state of its journal, as in [journal.Heartbeat]. Read is when reading the
	// state began, by this machine's clock.
	Written, Read time.Time

	Ended bool // no manager is running
}

// Config returns the configuration in force, as the manager published it; nil if it did not, or if that is unknown.
func (j *Journal) Config() *journal.Config { return j.state.Config }

// silent reports whether the state was last written long ago.
func (j *Journal) silent() bool { return j.Now.Sub(j.state.Written) > writtenEvery }

// ended reports whether a manager has written the journal, and none is running any more.
func (j *Journal) ended() bool {
	return j.state.Config != nil && j.silent() && j.Lease.Unknown == "" && !j.Lease.renewed(j.Now)
}

// heartbeat returns the latest heartbeat of the manager; nil if it does not matter, or if there is no manager.
func (m *Model) heartbeat() *Heartbeat {
	j := m.reading.Journal
	if !m.reading.AsRunning || j.state.Written.IsZero() {
		return nil
	}
	return &Heartbeat{j.state.Written, j.Read, j.ended()}
}

// by says whose rules judge the pods; "" for the rules of --config, and if the default rules are known to be in force.
func (m *Model) by() string {
	const underPolicies = "under the policies of "
	switch j := m.reading.Journal; {
	case !m.reading.AsRunning || m.unmanaged():
		return ""
	case j.state.Config == nil:
		return "under the default rules"
	case j.ended():
		return underPolicies + "a manager that no longer runs (its journal was last written at " +
			taint.Stamp(j.state.Written) + ")"
	case isDefault(j.state.Config):
		return ""
	}
	return underPolicies + "the running manager"
}

// isDefault reports whether a configuration decides like a manager without a configuration file.
func isDefault(c *journal.Config) bool {
	return cmp.Or(c.Method, policy.Delete) == policy.Delete && len(c.Policies)+len(c.Guards.Breakers) == 0 &&
		len(c.Guards.Rates) == 0 && c.MaxEvictionsPerSecond == 0 && !c.Paused && !c.NoComparison
}

// ConfigChanged reports whether the manager has published a configuration other than the one that judges the pods.
func (m *Model) ConfigChanged() bool {
	same := reflect.DeepEqual(m.reading.Journal.Config(), m.rules.Running)
	return m.reading.AsRunning && m.unknownConfig() == "" && !same
}

// unknownRules returns a clause that says why the manager may use other rules than these; none if it uses these.
func (m *Model) unknownRules() []string {
	j := m.reading.Journal
	switch unknown := m.unknownConfig(); {
	case !m.reading.AsRunning:
		return nil
	case unknown != "":
		return []string{unknown + ", so the policies in use are unknown; set --config, or --config=none for the " +
			"default rules"}
	case m.ConfigChanged():
		return []string{"the configuration of the manager has changed meanwhile; ask again"}
	case j.state.Config == nil || !j.silent():
		return nil
	case j.Lease.Unknown != "":
		return []string{fmt.Sprintf("%s, and the journal was last written at %s, so it is unknown whether a manager "+
			"runs", j.Lease.Unknown, taint.Stamp(j.state.Written))}
	case j.Lease.renewed(j.Now):
		return []string{fmt.Sprintf("the manager can't write its journal, which was last written at %s, so its policies "+
			"may have changed", taint.Stamp(j.state.Written))}
	}
	return nil
}

// unmanaged reports whether neither a Lease nor a journal exists.
func (m *Model) unmanaged() bool {
	return m.reading.Journal.state.Config == nil && m.unknownConfig() == ""
}

// unknownConfig says why the configuration in force is unknown; "" if it is known, or if neither a Lease nor a journal
// exists.
func (m *Model) unknownConfig() string {
	j := m.reading.Journal
	state, added := j.read[journal.StateObject]
	switch {
	case j.state.Config != nil:
		return ""
	case j.unread() != "":
		return j.unread()
	case m.reading.Dumped && !added:
		return m.reading.From + " has no " + j.stateName
	case !state.absent:
		return j.stateName + " has no " + journal.ConfigKey
	case j.Lease.Unknown != "":
		return j.Lease.Unknown + ", and there is no " + j.stateName
	case j.Lease.Spec != nil || j.absent() < journal.StateObject+1:
		return "there is a Lease or a journal of a manager, but no " + j.stateName
	}
	return ""
}
