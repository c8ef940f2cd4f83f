package main

import (
	"math"
	"testing"
	"time"
)

func TestAnOutcomeCountsFromTheBeginning(t *testing.T) {
	began := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var times []time.Time
	for i := 100; i >= 1; i-- {
		times = append(times, began.Add(time.Duration(i)*100*time.Millisecond))
	}
	o := outcomeOf(times, began)
	near := func(a, b float64) bool { return math.Abs(a-b) < 1e-9 }
	if !near(o[rate], 10) || !near(o[first], 100) || !near(o[median], 5) || !near(o[p99], 9.9) || !near(o[last], 10) {
		t.Errorf("got %v", o)
	}
}

func TestTheCommandLineNamesWhatItRefuses(t *testing.T) {
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"-rounds=0"}, "-rounds=0: there must be one round at least; leave it out for 3"},
		{[]string{"-work=burst,brust"}, `-work=burst,brust: there is no work "brust"; choose among burst,overloaded,instant,idle,evict,population`},
	} {
		if _, err := parse(test.args); err == nil || err.Error() != test.want {
			t.Errorf("%v: got %v, want %s", test.args, err, test.want)
		}
	}
	o, err := parse([]string{"-work=idle,population"})
	if err != nil || o.rounds != 3 || len(o.works) != 2 {
		t.Errorf("got %+v, %v", o, err)
	}
	if o, err := parse(nil); err != nil || len(o.works) != 6 {
		t.Errorf("got %+v, %v", o, err)
	}
}
