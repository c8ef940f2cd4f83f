package inspect

import (
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"github.com/taint-manager/taint-manager/config"
	"github.com/taint-manager/taint-manager/foresight"
	"github.com/taint-manager/taint-manager/taint"
)

func addMomentFlag(fs *pflag.FlagSet, at *string, meaning string) {
	fs.StringVar(at, "at", "", meaning+" as `TIME` in RFC 3339, such as 2026-05-01T12:00:00Z. Now, if left out.")
}

// moment is the time that is given; where none is, now, in whole seconds as the API has them.
func moment(at string) (time.Time, error) {
	if at == "" {
		return time.Now().Truncate(time.Second), nil
	}
	parsed, err := time.Parse(time.RFC3339, at)
	if err != nil {
		return time.Time{}, config.Refusal{Flag: "at", Value: at, Allowed: "it takes times such as 2026-05-01T12:00:00Z", Next: "leave it out for now"}
	}
	return parsed, nil
}

// when says from a moment when a pod goes: "now", "in 5m0s", or "within 5m0s" where only the latest time
// is known.
func when(f *foresight.Prediction, from time.Time) string {
	switch {
	case !f.Evict:
		return "stays"
	case !f.At.After(from):
		return "now"
	case f.Earliest != nil:
		return "within " + lasting(from, *f.At)
	}
	return "in " + lasting(from, *f.At)
}

// lasting is the time between two, in days where it is long. A duration would hold 292 years only.
func lasting(from, to time.Time) string {
	const day = 24 * 60 * 60
	seconds := to.Unix() - from.Unix()
	if seconds >= 4*day {
		return fmt.Sprintf("%d days", seconds/day)
	}
	return to.Sub(from).Round(time.Second).String()
}

// stamp is the absolute time when a pod goes, or between which two; empty when it stays.
func stamp(f *foresight.Prediction) string {
	switch {
	case !f.Evict:
		return ""
	case f.Earliest != nil:
		return taint.Stamp(*f.Earliest) + " to " + taint.Stamp(*f.At)
	}
	return taint.Stamp(*f.At)
}
