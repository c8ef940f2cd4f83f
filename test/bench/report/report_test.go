package report

import (
	"math"
	"slices"
	"strings"
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
		{Series{4, 1, 3, 2}, 2},
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
	for _, test := range []struct {
		target  Target
		figures Series
		verdict string
	}{
		{Target{"", least, 0.9}, Series{0.8, 0.9, 2}, "met"},
		{Target{"", least, 0.91}, Series{0.8, 0.9, 2}, "**missed**"},
		{Target{"", most, 0.9}, Series{0.8, 0.9, 2}, "met"},
		{Target{"", most, 0.89}, Series{0.8, 0.9, 2}, "**missed**"},
		{Target{"", reported, 0}, Series{0.8, 0.9, 2}, ""},
		{Target{"", most, 100}, nil, "**missed**"}, // nothing was measured
		{Target{"", least, 0}, nil, "**missed**"},
	} {
		if got := test.target.verdict(test.figures); got != test.verdict {
			t.Errorf("%+v of %v: got %q, want %q", test.target, test.figures, got, test.verdict)
		}
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

// sample returns a Report with all kinds of content.
func sample() Report {
	return Report{
		Date: "2026-01-02", Cores: 2, CPU: "a chip", Rounds: 3,
		Rows: []Row{
			{
				Work: "many pods at once", What: "rate", Unit: "pods/s",
				Rounds:  map[string]Series{"plain workers": {100, 110, 120}, Ours: {95, 88, 120}, "built-in, default": {7}},
				Targets: []Target{{"plain workers", least, 0.9}, {"built-in, default", least, 30}, {Builtin, reported, 0}},
			},
			{Work: "many pods at once", What: "peak memory", Unit: "MB", Rounds: map[string]Series{Ours: {90}}, Targets: []Target{{"", most, 80}}},
			{Work: "sizes", What: "nothing to aim at", Unit: "ms", Targets: []Target{{"plain workers", reported, 0}}},
		},
	}
}

func TestTheDocumentGetsTheTablesInThePlaceOfTheOldOnes(t *testing.T) {
	document := "before\n" + tableBegins + "old\n" + tableEnds + "after\n"
	once, err := insert(document, sample())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"before\n" + tableBegins, tableEnds + "after\n", "| **Many pods at once** | | | | | |",
		"| rate | 95 pods/s (88-120) | plain workers: 110 pods/s (100-120) | 0.95 (0.8-1) | at least 0.9 | met |",
		"|  |  | built-in, default: 7 pods/s | 13.6 (12.6-17.1) | at least 30 | **missed** |",
		"|  |  | built-in, no limits: none | none | reported |  |",
		"| peak memory | 90 MB |  |  | at most 80 MB | **missed** |",
		"| nothing to aim at | none | plain workers: none | none | reported |  |",
	} {
		if !strings.Contains(once, want) {
			t.Errorf("the document lacks %q:\n%s", want, once)
		}
	}
	if strings.Contains(once, "old\n") {
		t.Error("the document has the old table")
	}
	if twice, err := insert(once, sample()); err != nil || twice != once {
		t.Errorf("again: %v, and another document:\n%s", err, twice)
	}
	for _, bad := range []string{"", tableBegins, tableEnds, tableEnds + tableBegins} {
		if _, err := insert(bad, sample()); err == nil {
			t.Errorf("%q has a place for the table", bad)
		}
	}
}
