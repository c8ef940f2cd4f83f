package report

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestTheMedianIsTheMiddle(t *testing.T) {
	for _, test := range []struct {
		figures Series
		want    float64
	}{
		{nil, 0},
		{Series{7}, 7},
		{Series{9, 1, 5}, 5},
		{Series{4, 1, 3, 2}, 2.5},
	} {
		before := slices.Clone(test.figures)
		if got := test.figures.Median(); got != test.want {
			t.Errorf("median of %v: got %v, want %v", test.figures, got, test.want)
		}
		if !slices.Equal(before, test.figures) {
			t.Errorf("%v was put in order for good: %v", before, test.figures)
		}
	}
}

func TestAQuantileIsReachedByItsShare(t *testing.T) {
	hundred := make(Series, 100)
	for i := range hundred {
		hundred[i] = float64(100 - i)
	}
	for _, test := range []struct{ share, want float64 }{{0, 1}, {0.01, 1}, {0.5, 50}, {0.99, 99}, {0.991, 100}, {1, 100}} {
		if got := hundred.Quantile(test.share); got != test.want {
			t.Errorf("share %v of 1 to 100: got %v, want %v", test.share, got, test.want)
		}
	}
	if got := (Series{}).Quantile(0.5); got != 0 {
		t.Errorf("of none: got %v", got)
	}
}

// The quantile is the smallest figure that at least this share of the figures does not exceed, found by counting.
func TestQuantilesAgreeWithCounting(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		figures := Series(rapid.SliceOfN(rapid.Float64Range(-9, 9), 1, 40).Draw(t, "figures"))
		share := float64(rapid.IntRange(0, 100).Draw(t, "percent")) / 100
		want := math.Inf(1)
		for _, candidate := range figures {
			reached := 0
			for _, f := range figures {
				if f <= candidate {
					reached++
				}
			}
			if float64(reached) >= share*float64(len(figures)) {
				want = min(want, candidate)
			}
		}
		if got := figures.Quantile(share); got != want {
			t.Fatalf("share %v of %v: got %v, want %v", share, figures, got, want)
		}
	})
}

func TestRatiosAreTakenRoundByRoundOrOfTheMedian(t *testing.T) {
	for _, test := range []struct{ own, other, want Series }{
		{Series{2, 6}, Series{1, 2}, Series{2, 3}},
		{Series{2, 6}, Series{2}, Series{1, 3}},
		{Series{8}, Series{1, 2, 4}, Series{4}},
		{Series{8}, nil, nil},
		{Series{8, 8}, Series{0, 2}, Series{4}},
	} {
		if got := test.own.over(test.other); !slices.Equal(got, test.want) {
			t.Errorf("%v over %v: got %v, want %v", test.own, test.other, got, test.want)
		}
	}
}

func TestATargetIsJudgedByTheMedian(t *testing.T) {
	row := Row{Unit: "ms", Results: []Result{{Baseline, Series{10, 10, 10}}, {Ours, Series{9, 20, 8}}}}
	for _, test := range []struct {
		target Target
		median float64
		met    bool
	}{
		{AtLeast(0.9, Baseline), 0.9, true},
		{AtLeast(0.91, Baseline), 0.9, false},
		{AtMost(0.9, Baseline), 0.9, true},
		{AtMost(0.89, Baseline), 0.9, false},
		{AtMost(9, ""), 9, true},
		{AtMost(8.9, ""), 9, false},
		{AtLeast(9, ""), 9, true},
		{Reported(Baseline), 0.9, true},
		{AtMost(100, Original), 0, false}, // there is no other subject
		{AtLeast(0, Original), 0, false},
	} {
		row.Targets = []Target{test.target}
		if row.Judge(); row.Targets[0].Median != test.median || row.Targets[0].Met != test.met {
			t.Errorf("%+v: want %v, %v", row.Targets[0], test.median, test.met)
		}
	}
	row.Judged, row.Targets = Baseline, []Target{AtMost(9, "")}
	if row.Judge(); row.Targets[0].Median != 10 || row.Targets[0].Met {
		t.Errorf("another subject is judged: got %+v", row.Targets[0])
	}
}

func TestANumberHasThreeDigitsThatCount(t *testing.T) {
	for _, test := range []struct {
		number float64
		want   string
	}{
		{0, "0"},
		{1, "1"},
		{0.9, "0.9"},
		{1.0 / 3, "0.333"},
		{2.345, "2.35"},
		{12.345, "12.3"},
		{123.456, "123"},
		{12345.6, "12346"},
		{-64.72, "-64.7"},
		{0.00012345, "0.0001"},
		{10, "10"},
		{100, "100"},
	} {
		if got := number(test.number); got != test.want {
			t.Errorf("%v: got %s, want %s", test.number, got, test.want)
		}
	}
}

// sample returns a summary with all kinds of content.
func sample() Summary {
	s := Summary{
		Machine: Machine{Date: "2026-01-02", Cores: 2, CPU: "a chip"}, Rounds: 3,
		Rows: []Row{
			{
				Work: "many pods at once", What: "rate", Unit: "pods/s",
				Results: []Result{{Baseline, Series{100, 110, 120}}, {Ours, Series{95, 88, 120}}, {OriginalDefault, Series{7}}},
				Targets: []Target{AtLeast(0.9, Baseline), AtLeast(30, OriginalDefault), Reported(Original)},
			},
			{Work: "many pods at once", What: "peak memory", Unit: "MB", Results: []Result{{Ours, Series{90}}}, Targets: []Target{AtMost(80, "")}},
			{
				Work: "sizes", What: "cost", Unit: "ms", Judged: "10x", Results: []Result{{"1x", Series{2}}, {"10x", Series{3}}},
				Targets: []Target{AtMost(1.25, "1x")},
			},
			{Work: "sizes", What: "nothing to aim at", Unit: "ms", Results: []Result{{Ours, nil}}, Targets: []Target{Reported("1x")}},
		},
	}
	for i := range s.Rows {
		s.Rows[i].Judge()
	}
	return s
}
