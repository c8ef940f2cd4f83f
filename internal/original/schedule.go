package original

import "time"

const (
	// betweenChecks is the least time between two requests. Drains and other deletions are suspicious, too.
	betweenChecks = time.Minute

	// betweenFindings is the least time from a finding to the next request, and so between two reports.
	betweenFindings = time.Hour

	// remembered is how long a finding is shown.
	remembered = 24 * time.Hour
)

// Schedule limits how often a process asks and reports. The zero value has asked for nothing.
type Schedule struct{ next, found time.Time }

// Take reports whether a pod may be asked for now. If so, the next one has to wait.
func (s *Schedule) Take(now time.Time) bool {
	if now.Before(s.next) {
		return false
	}
	s.next = now.Add(betweenChecks)
	return true
}

// Found records a finding.
func (s *Schedule) Found(now time.Time) { s.found, s.next = now, now.Add(betweenFindings) }

// Shows reports whether the last finding is to be shown.
func (s *Schedule) Shows(now time.Time) bool {
	return !s.found.IsZero() && now.Sub(s.found) < remembered
}
