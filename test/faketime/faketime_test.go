package faketime

import (
	"strings"
	"testing"
	"time"
)

func TestAReadingCarriesBothClocks(t *testing.T) {
	wall := time.Date(2026, 3, 4, 5, 6, 7, 8, time.UTC)
	a, b := Of(wall, 10*time.Second), Of(wall.Add(time.Hour), 11*time.Second)
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
