package foresight

import (
	"fmt"
	"reflect"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"

	"github.com/taint-manager/taint-manager/internal/journal"
	"github.com/taint-manager/taint-manager/taint"
)

// Manager is what was read of the manager by whose rules pods are judged: its Lease, and the state in its journal. The
// zero value stands for a question that names the rules itself.
type Manager struct {
	// At is when the manager was read, by the API server's clock; in a dump, its newest time.
	At time.Time

	// Read is when the reading began, by this machine's clock.
	Read time.Time

	// Asked reports whether the manager's rules are asked for. Named names the ConfigMap of the state in messages.
	Asked bool
	Named string

	// Lease is nil if there is none. LeaseUnknown says why the Lease could not be read.
	Lease        *coordinationv1.LeaseSpec
	LeaseUnknown string

	// State is the zero value if there is none. Unknown says why the state could not be read.
	State   journal.State
	Unknown string
}

// freshness is whether something is renewed again and again.
type freshness uint8

const (
	never freshness = iota // there is nothing to renew
	old
	fresh
)

// written returns whether the journal is being written.
func (m *Manager) written() freshness {
	switch {
	case m.State.Written.IsZero():
		return never
	case m.At.Sub(m.State.Written) > writtenEvery:
		return old
	}
	return fresh
}

// renewed returns whether the Lease is being renewed. A Lease that was released has no holder.
func (m *Manager) renewed() freshness {
	if m.Lease == nil {
		return never
	}
	renew, seconds, holder := m.Lease.RenewTime, m.Lease.LeaseDurationSeconds, m.Lease.HolderIdentity
	if renew == nil || seconds == nil || holder == nil || *holder == "" ||
		m.At.Sub(renew.Time) > time.Duration(*seconds)*time.Second {
		return old
	}
	return fresh
}

// Ended returns when the manager last wrote its journal, if it does not run any longer; otherwise zero.
func (m *Manager) Ended() time.Time {
	if m.Asked && m.written() == old && m.renewed() != fresh && m.LeaseUnknown == "" {
		return m.State.Written
	}
	return time.Time{}
}

// by says by whose rules pods are judged; "" if by those that the question names, or by those of a manager without a
// configuration.
func (m *Manager) by() string {
	switch ended := m.Ended(); {
	case m.State.Config == nil:
		return ""
	case !ended.IsZero():
		return "No manager is running; judged by the policies of the one that last wrote its journal at " +
			taint.Stamp(ended)
	case isDefault(m.State.Config):
		return ""
	}
	return "by the policies of the running manager"
}

// isDefault reports whether a configuration is that of a manager without a configuration file, as far as it decides.
func isDefault(c *journal.Config) bool {
	return (c.Method == "" || c.Method == "Delete") && len(c.Policies)+len(c.Guards.Rates)+len(c.Guards.Breakers) == 0 &&
		!c.Paused && !c.NoComparison
}

// gaps returns why the rules of the manager are not known for certain. An all-clear by default rules needs that neither
// a Lease nor a state of the journal exists.
func (m *Manager) gaps() []string {
	const next = "so by which policies pods are evicted is not known; give --config"
	switch {
	case !m.Asked:
		return nil
	case m.Unknown != "":
		return []string{m.Unknown + ", " + next}
	case m.State.Config == nil && (m.written() != never || m.State.Guards != nil):
		return []string{m.Named + " has no configuration of the manager, " + next}
	case m.State.Config == nil && m.LeaseUnknown != "":
		return []string{m.LeaseUnknown + ", and there is no " + m.Named + ", " + next}
	case m.State.Config == nil && m.Lease != nil:
		return []string{"there is a Lease of a manager, but no " + m.Named + ", " + next}
	case m.State.Config != nil && m.written() == old && m.renewed() == fresh:
		return []string{fmt.Sprintf("the manager can't write its journal, which was last written at %s, so its policies "+
			"may have changed", taint.Stamp(m.State.Written))}
	case m.State.Config != nil && m.written() == old && m.LeaseUnknown != "":
		return []string{fmt.Sprintf("%s, and the journal was last written at %s, so whether a manager runs is not known",
			m.LeaseUnknown, taint.Stamp(m.State.Written))}
	}
	return nil
}

// SameRules reports whether another reading shows the same configuration, or does not show one because of a failure.
func (m *Manager) SameRules(later *Manager) bool {
	return later.Unknown != "" || reflect.DeepEqual(m.State.Config, later.State.Config)
}

// Heartbeat is a proof that the manager lives: when it wrote the state of its journal, by its clock, and when the
// reading of that began, by this machine's.
type Heartbeat struct{ Written, Read time.Time }

// UpdateManager takes in a later reading of the manager, and returns the former one. The rules stay as they are. What
// can't be read leaves the configuration as it was.
func (m *Model) UpdateManager(later Manager) (before Manager) {
	before = m.reading.Manager
	if later.Unknown != "" {
		later.State = before.State
	}
	m.reading.Manager = later
	return before
}
