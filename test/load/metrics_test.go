package load

import "testing"

func TestTheSeriesOfAMetricAreAddedUp(t *testing.T) {
	const metrics = "# TYPE reads counter\nreads{of=\"nodes\",verb=\"GET\"} 3\nreads{of=\"nodes\",verb=\"LIST\"} 5\nreads_total 100\nreads{of=\"pods\",verb=\"GET\"} 1e1\nplain 7\n"
	for _, c := range []struct {
		name  string
		words []string
		want  float64
	}{{"reads", nil, 18}, {"reads", []string{`verb="GET"`}, 13}, {"reads", []string{`verb="GET"`, `of="nodes"`}, 3}, {"plain", nil, 7}, {"read", nil, 0}} {
		if got := Sum(metrics, c.name, c.words...); got != c.want {
			t.Errorf("%s %v: got %v, want %v", c.name, c.words, got, c.want)
		}
	}
}
