package breaker_test

import (
	"math"
	"time"
)

// zero is the moment from which the tests count seconds.
var zero = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func at(seconds float64) time.Time {
	return zero.Add(time.Duration(math.Round(seconds * float64(time.Second))))
}

func in(zone string) map[string]string { return map[string]string{"zone": zone} }
