package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
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
		if v := row.Judge(test.target); v.Median != test.median || v.Met != test.met {
			t.Errorf("%+v: got %v, met %v; want %v, %v", test.target, v.Median, v.Met, test.median, test.met)
		}
	}
	row.Judged = Baseline
	if v := row.Judge(AtMost(9, "")); v.Median != 10 || v.Met {
		t.Errorf("another subject is judged: got %+v", v)
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
	return Summary{
		Machine: Machine{Date: "2026-01-02", Cores: 2, CPU: "a <chip> & more"}, Rounds: 3,
		Rows: []Row{
			{
				Work: "many pods at once", What: "rate", Unit: "pods/s",
				Results: []Result{{Baseline, Series{100, 110, 120}}, {Ours, Series{95, 88, 120}}, {OriginalDefault, Series{7}}},
				Targets: []Target{AtLeast(0.9, Baseline), AtLeast(30, OriginalDefault), Reported(Original)},
			},
			{Work: "many pods at once", What: "peak <memory>", Unit: "MB", Results: []Result{{Ours, Series{90}}}, Targets: []Target{AtMost(80, "")}},
			{
				Work: "sizes", What: "cost", Unit: "ms", Judged: "10x", Results: []Result{{"1x", Series{2}}, {"10x", Series{3}}},
				Targets: []Target{AtMost(1.25, "1x")},
			},
			{Work: "sizes", What: "nothing to aim at", Unit: "ms", Results: []Result{{Ours, nil}}, Targets: []Target{Reported("1x")}},
		},
	}
}

func TestTheTableShowsFiguresRatiosAndWhatIsMissed(t *testing.T) {
	const want = `2026-01-02, 2 cores, 3 rounds; medians, and in brackets the lowest and the highest round.

Many pods at once
what           taint-manager       beside               its figure            ratio             target         met
rate           95 pods/s (88-120)  plain workers        110 pods/s (100-120)  0.95 (0.8-1)      at least 0.9   yes
                                   original, default    7 pods/s              13.6 (12.6-17.1)  at least 30    NO
                                   original, no limits  none                  none              reported       
peak <memory>  90 MB                                                                            at most 80 MB  NO

Sizes
what               10x   beside  its figure  ratio  target        met
cost               3 ms  1x      2 ms        1.5    at most 1.25  NO
nothing to aim at  none  1x      none        none   reported      
`
	if got := Table(sample()); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func TestTheJSONHasEveryRoundAndEveryVerdict(t *testing.T) {
	text, err := JSON(sample())
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Machine Machine
		Rounds  int
		Rows    []struct {
			Work, What, Judged string
			Results            []Result
			Targets            []struct {
				Target
				Verdict
			}
		}
	}
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if got.Rounds != 3 || got.Machine.Cores != 2 || len(got.Rows) != 4 || len(got.Rows[0].Targets) != 3 {
		t.Fatalf("got %s", text)
	}
	first, last := got.Rows[0].Targets[0], got.Rows[2].Targets[0]
	if !first.Met || first.Median != 0.95 || len(first.Rounds) != 3 || first.Of != Baseline || first.Limit != 0.9 {
		t.Errorf("the first target: got %+v", first)
	}
	if last.Met || last.Median != 1.5 || got.Rows[2].Judged != "10x" {
		t.Errorf("the last target: got %+v", last)
	}
	if rounds := got.Rows[0].Results[1].Rounds; !slices.Equal(rounds, Series{95, 88, 120}) {
		t.Errorf("the rounds: got %v", rounds)
	}
}

func TestThePictureIsWellFormedAndShowsAllFigures(t *testing.T) {
	picture := SVG(sample())
	bars, words := 0, ""
	for decoder := xml.NewDecoder(bytes.NewReader(picture)); ; {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, picture)
		}
		switch token := token.(type) {
		case xml.StartElement:
			if token.Name.Local == "rect" {
				bars++
			}
		case xml.CharData:
			words += string(token)
		}
	}
	want := 0
	for _, row := range sample().Rows {
		want += len(row.Results)
	}
	if bars != want {
		t.Errorf("got %d bars, want %d", bars, want)
	}
	for _, text := range []string{
		"Many pods at once", "110 pods/s", "95 pods/s", "✓ 0.95 of plain workers, target: at least 0.9",
		"✗ 13.6 of original, default, target: at least 30", "✗ target: at most 80 MB", "peak <memory>", "prefers-color-scheme: dark",
	} {
		if !strings.Contains(words, text) {
			t.Errorf("the picture does not say %q", text)
		}
	}
	if !bytes.Equal(picture, SVG(sample())) {
		t.Error("the same figures give another picture")
	}
}
