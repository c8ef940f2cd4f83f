package answer

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/taint-manager/taint-manager/cli/terminal"
	"github.com/taint-manager/taint-manager/internal/config"
	"github.com/taint-manager/taint-manager/internal/foresight"
	"github.com/taint-manager/taint-manager/internal/status"
	"github.com/taint-manager/taint-manager/taint"
)

// MomentFlag adds --at.
func MomentFlag(fs *pflag.FlagSet, at *string, meaning string) {
	fs.StringVar(at, "at", "", meaning+" `TIME` is now, +1h, or a time in RFC 3339, such as 2026-05-01T12:00:00Z. If "+
		"left out, now, or with a dump that is over ten minutes old, its own time.")
}

// Moment returns the given time, or zero if there is none: "now", a time from now such as "+1h", or a time as the
// API writes it. Now is in whole seconds, as in the API.
func Moment(at string) (time.Time, error) {
	switch {
	case at == "":
		return time.Time{}, nil
	case at == "now":
		return time.Now().Truncate(time.Second), nil
	case at[0] == '+' || at[0] == '-':
		if by, err := time.ParseDuration(at); err == nil {
			return time.Now().Truncate(time.Second).Add(by), nil
		}
	}
	parsed, err := time.Parse(time.RFC3339, at)
	if err != nil {
		return time.Time{}, config.Refusal{Flag: "at", Value: at, Allowed: "it takes now, times from now such as " +
			"+1h, and times such as 2026-05-01T12:00:00Z", Next: "leave it out for now"}
	}
	return parsed, nil
}

// When describes the time of an eviction relative to a moment: "now", "in 5m0s", or "within 5m0s" if only the latest
// time is known.
func When(f *foresight.Prediction, from time.Time) string {
	switch {
	case !f.Evict && f.HeldBy != "":
		return "held"
	case !f.Evict:
		return "stays"
	case !f.At.After(from):
		return "now"
	case f.Earliest != nil:
		return "within " + Lasting(from, *f.At)
	}
	return "in " + Lasting(from, *f.At)
}

// Lasting formats the time between two moments, in days if it is long. A duration could hold only 292 years.
func Lasting(from, to time.Time) string {
	const day = 24 * 60 * 60
	seconds := to.Unix() - from.Unix()
	if seconds >= 4*day {
		return fmt.Sprintf("%d days", seconds/day)
	}
	return to.Sub(from).Round(time.Second).String()
}

// Stamp returns the absolute time of the eviction, or the two times between which it is; "" if the pod stays.
func Stamp(f *foresight.Prediction) string {
	switch {
	case !f.Evict:
		return ""
	case f.Earliest != nil:
		return taint.Stamp(*f.Earliest) + " to " + taint.Stamp(*f.At)
	}
	return taint.Stamp(*f.At)
}

// Clock returns the latest time of the eviction, rounded up to the second, without the date if that is the one of
// the question; "" if the pod stays.
func Clock(f *foresight.Prediction, from time.Time) string {
	if !f.Evict {
		return ""
	}
	at := f.At.UTC().Add(time.Second - 1).Truncate(time.Second)
	written := at.Format("15:04:05Z")
	if at.Format(time.DateOnly) != from.UTC().Format(time.DateOnly) {
		written = taint.Stamp(at)
	}
	if f.Earliest != nil {
		return "by " + written
	}
	return written
}

// ShortReason returns the reason in short: untolerated, or after how long.
func ShortReason(f *foresight.Prediction) string {
	if !f.Evict || f.ExposedSince == nil {
		return ""
	}
	seconds := f.At.Unix() - f.ExposedSince.Unix()
	if f.Toleration == "" && seconds == 0 {
		return "untolerated"
	}
	return fmt.Sprintf("after %ds", seconds)
}

// Decider names the policy that decides, when it deletes a pod whose eviction is refused, and what holds the pod.
func Decider(f *foresight.Prediction, from time.Time) string {
	switch {
	case f.HeldBy != "" && !f.Evict:
		return "held by " + f.HeldBy
	case f.DeleteAt != nil:
		return f.Policy + ", deletes " + When(&foresight.Prediction{Evict: true, At: f.DeleteAt}, from)
	}
	return f.Policy
}

// ByPolicies reports whether a policy or a breaker decides about one of the pods.
func ByPolicies[T interface{ Decided() bool }](pods []T) bool {
	return slices.ContainsFunc(pods, func(p T) bool { return p.Decided() })
}

// Because returns the taint without the effect NoExecute, which most have.
func Because(f *foresight.Prediction) string { return strings.TrimSuffix(f.Taint, ":NoExecute") }

// AtTheLatest returns the absolute time of the eviction.
func AtTheLatest(f *foresight.Prediction) string {
	if f.Earliest == nil {
		return "at " + taint.Stamp(*f.At)
	}
	return "at " + taint.Stamp(*f.At) + " at the latest"
}

// StateColour returns the colour of a state of an eviction.
func StateColour(state string) terminal.Colour {
	switch state {
	case status.Blocked, status.Refused, status.Delayed:
		return terminal.Bad
	}
	return terminal.Plain
}
