package sim

import (
	"testing"
	"time"
)

func TestAStepOfTheWallClockDoesNotMoveAMoment(t *testing.T) {
	c := newClock(time.Hour, time.Minute)
	planned := c.at(time.Hour + time.Second).Add(time.Minute)
	c.ahead += 24 * time.Hour
	if got := c.moment(planned); got != time.Hour+61*time.Second {
		t.Errorf("got %v", got)
	}
	if c.at(time.Hour + 60*time.Second).After(planned) {
		t.Error("it is due too early")
	}
}
