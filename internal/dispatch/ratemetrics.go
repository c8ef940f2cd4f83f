package dispatch

import (
	"github.com/prometheus/client_golang/prometheus"
)

// rateCollector shows the rates of a dispatcher when they are asked for, as a bucket fills all the time.
type rateCollector struct {
	dispatcher      *Dispatcher
	tokens, waiters *prometheus.Desc
}

// NewRateCollector returns the metrics of the dispatcher's rates.
func NewRateCollector(d *Dispatcher) prometheus.Collector {
	label := []string{"rate"}
	return &rateCollector{
		dispatcher: d,
		tokens: prometheus.NewDesc("taint_manager_rate_tokens",
			"Evictions that each rate permits now, in the group of nodes that has the fewest.", label, nil),
		waiters: prometheus.NewDesc("taint_manager_rate_waiting",
			"Evictions that are due and wait for each rate, or did until their present call; those apart that are blocked, "+
				"refused or delayed.", label, nil),
	}
}

// Describe implements prometheus.Collector.
func (r *rateCollector) Describe(to chan<- *prometheus.Desc) {
	to <- r.tokens
	to <- r.waiters
}

// Collect implements prometheus.Collector.
func (r *rateCollector) Collect(to chan<- prometheus.Metric) {
	waiting := map[string]int{}
	for w, n := range r.dispatcher.Waits() {
		waiting[w.Rate] += n
	}
	for _, level := range r.dispatcher.Levels() {
		to <- prometheus.MustNewConstMetric(r.tokens, prometheus.GaugeValue, float64(level.Tokens), level.Rate)
		to <- prometheus.MustNewConstMetric(r.waiters, prometheus.GaugeValue, float64(waiting[level.Rate]), level.Rate)
	}
}
