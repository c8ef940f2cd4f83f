package sim

import (
	"strings"
	"testing"
	"time"
)

func TestAReadingCarriesBothClocks(t *testing.T) {
	wall := time.Date(2026, 3, 4, 5, 6, 7, 8, time.UTC)
	a, b := reading(wall, 10*time.Second), reading(wall.Add(time.Hour), 11*time.Second)
	if !a.Round(0).Equal(wall) || !strings.HasSuffix(a.String(), " m=+10.000000000") {
		t.Errorf("got %v, want %v at 10 s", a, wall)
	}
	if got := b.Sub(a); got != time.Second {
		t.Errorf("the difference is %v by the monotonic clock, want 1 s", got)
	}
	if got := b.Sub(wall); got != time.Hour {
		t.Errorf("the difference to a wall time is %v, want 1 h", got)
	}
	if year := time.Date(1885, 1, 1, 0, 0, 0, 0, time.UTC).Unix(); year != -2682288000 {
		t.Errorf("1885 begins at %d", year)
	}
}

func TestAStepOfTheWallClockDoesNotMoveAMoment(t *testing.T) {
	c := newClock(time.Hour, time.Minute)
	planned := c.at(time.Hour + time.Second).Add(time.Minute)
	c.offset += 24 * time.Hour
	if got := c.moment(planned); got != time.Hour+61*time.Second {
		t.Errorf("got %v", got)
	}
	if c.at(time.Hour + 60*time.Second).After(planned) {
		t.Error("it is due too early")
	}
}
