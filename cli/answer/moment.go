package answer

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/taint-manager/taint-manager/cli/flags"
	"github.com/taint-manager/taint-manager/cli/terminal"
	"github.com/taint-manager/taint-manager/internal/foresight"
	"github.com/taint-manager/taint-manager/taint"
)

// MomentFlag adds --at.
func MomentFlag(fs *pflag.FlagSet, at *string, meaning string) {
	fs.StringVar(at, "at", "", meaning+" `TIME` is \"now\", an offset such as \"+1h\", or a time such as \"2026-05-01T12:00:00Z\". "+
		"The default is now; for a dump older than ten minutes, it is the newest time in the dump.")
}

// Moment parses the value of --at: "now", an offset from the time of the reading, such as "+1h", or a time as the API
// writes it; zero for "". Now is in whole seconds, as in the API.
func Moment(at string) (foresight.Moment, error) {
	switch {
	case at == "":
		return foresight.Moment{}, nil
	case at == "now":
		return foresight.Moment{At: time.Now().Truncate(time.Second)}, nil
	case at[0] == '+' || at[0] == '-':
		if by, err := time.ParseDuration(at); err == nil {
			return foresight.Moment{After: by}, nil
		}
	}
	parsed, err := time.Parse(time.RFC3339, at)
	if err != nil {
		return foresight.Moment{}, flags.Invalid("at", at, "must be now, an offset such as +1h, or a time such as "+
			"2026-05-01T12:00:00Z")
	}
	return foresight.Moment{At: parsed}, nil
}

// When describes the time of an eviction relative to a moment: "now", "in 5m", "5m ago", or "within 5m" if only a
// range is known.
func When(f *foresight.Prediction, from time.Time) string {
	switch {
	case !f.Evict && f.HeldBy != "":
		return "held"
	case !f.Evict:
		return "stays"
	}
	switch distance := f.At.Sub(from).Round(time.Second); {
	case distance == 0:
		return "now"
	case distance < 0:
		return Lasting(*f.At, from) + " ago"
	case f.Earliest != nil:
		return "within " + Lasting(from, *f.At)
	}
	return "in " + Lasting(from, *f.At)
}

// Lasting formats the time between two moments, in days if it is long. It takes no duration: that ends at 292 years.
func Lasting(from, to time.Time) string {
	const day = 24 * 60 * 60
	seconds := to.Unix() - from.Unix()
	if seconds >= 4*day {
		return fmt.Sprintf("%d days", seconds/day)
	}
	return taint.Brief(to.Sub(from).Round(time.Second))
}

// Stamp returns the absolute time of the eviction. If only a range is known, it returns the latest time or, if the
// whole range is after the moment from, both its ends. For a held pod it returns the time without the hold; "" if the
// pod stays.
func Stamp(f *foresight.Prediction, from time.Time) string {
	switch at := f.Deadline(); {
	case at == nil:
		return ""
	case f.Earliest == nil:
		return taint.Stamp(*at)
	case f.Earliest.After(from):
		return taint.Stamp(*f.Earliest) + " to " + taint.Stamp(*at)
	default:
		return "by " + taint.Stamp(*at)
	}
}

// Clock returns the latest time of the eviction, rounded up to the second, without the date if the question has the
// same date; for a held pod, the time without the hold; "" if the pod stays.
func Clock(f *foresight.Prediction, from time.Time) string {
	latest := f.Deadline()
	if latest == nil {
		return ""
	}
	written := ClockOf(from)(*latest)
	if f.Earliest != nil {
		return "by " + written
	}
	return written
}

// ClockOf returns a function that writes a time, rounded up to the second, without the date if from has it, too.
func ClockOf(from time.Time) func(time.Time) string {
	return func(t time.Time) string {
		t = t.UTC().Add(time.Second - 1).Truncate(time.Second)
		if t.Format(time.DateOnly) != from.UTC().Format(time.DateOnly) {
			return taint.Stamp(t)
		}
		return t.Format("15:04:05Z")
	}
}

// ShortReason returns a short reason: the claim of a tainted device, which other controller deletes the pod, what holds
// it, or the policy that decides; and the time from the start of the countdown to the deadline.
func ShortReason(f *foresight.Prediction, from time.Time) string {
	var reason, separator string
	lasting := shortCountdown(f)
	switch held := f.HeldBy != "" && !f.Evict; {
	case f.Device != nil:
		reason, separator = "claim "+f.Device.Claim, ": "
	case f.DeletedBy != "":
		reason, separator = "deleted by "+f.DeletedBy, ": "
	case held && strings.HasPrefix(lasting, "evicted"):
		reason, separator = "held by "+f.HeldBy, ", otherwise "
	case held:
		reason, separator = "held by "+f.HeldBy, ", "
	case f.Policy != "":
		reason, separator = "policy "+f.Policy, ": "
	}
	if lasting != "" {
		reason += separator + lasting
	}
	if f.DeleteAt != nil && f.Evict {
		at := slices.MaxFunc([]time.Time{*f.DeleteAt, from}, time.Time.Compare)
		reason += "; if refused, deleted " + When(&foresight.Prediction{Evict: true, At: &at}, from)
	}
	if f.Also != nil {
		reason += "; also by taint " + f.Also.Taint + ", " + When(f.Also, from)
	}
	return reason
}

// shortCountdown returns the time from the start of the countdown to the deadline; "" if it is unknown.
func shortCountdown(f *foresight.Prediction) string {
	at := f.Deadline()
	if at == nil || f.ExposedSince == nil {
		return ""
	}
	switch lasting := Lasting(*f.ExposedSince, *at); {
	case f.Toleration == "" && lasting == "0s":
		return "not tolerated"
	case f.Toleration != "" && f.Policy == "" && f.HeldBy == "":
		if f.Earliest != nil {
			return "tolerated for " + lasting + "; taint time unknown"
		}
		return "tolerated for " + lasting
	default:
		return "evicted after " + lasting
	}
}

// AtTheLatest returns the absolute time of the eviction.
func AtTheLatest(f *foresight.Prediction) string {
	if f.Earliest == nil {
		return "at " + taint.Stamp(*f.At)
	}
	return "by " + taint.Stamp(*f.At)
}

// Urgency returns the colour of the time of an eviction.
func Urgency(f *foresight.Prediction, from time.Time) terminal.Colour {
	switch {
	case !f.EvictedOrHeld():
		return terminal.Good
	case f.Evict && !f.At.After(from):
		return terminal.Bad
	}
	return terminal.Warned
}
