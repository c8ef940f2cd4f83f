package run

import (
	"crypto/sha256"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// The results of a reload, as values of a metric's label.
const (
	resultAccepted = "accepted"
	resultRefused  = "refused"
)

// configMetrics are the metrics of the configuration.
type configMetrics struct {
	info    *prometheus.GaugeVec
	success prometheus.Gauge
	reloads *prometheus.CounterVec
	refused prometheus.Gauge
}

// newConfigMetrics registers the metrics, which show that the settings are in force.
func newConfigMetrics(registerer prometheus.Registerer, s *settings) *configMetrics {
	register := promauto.With(registerer)
	gauge := func(name, help string) prometheus.GaugeOpts {
		return prometheus.GaugeOpts{Name: "taint_manager_config_" + name, Help: help}
	}
	m := &configMetrics{
		info: register.NewGaugeVec(gauge("info", "1 for the configuration in force: the first 16 digits of the SHA-256 hash "+
			"of its file, empty without a file, and the eviction method."), []string{"hash", "method"}),
		success: register.NewGauge(gauge("last_reload_success_timestamp_seconds",
			"When the configuration in force was taken in: at the start, or at its last change.")),
		reloads: register.NewCounterVec(prometheus.CounterOpts(gauge("reloads_total",
			"Changes of the configuration file, by result: accepted or refused.")), []string{"result"}),
		refused: register.NewGauge(gauge("refused",
			"1 while the present content of the configuration file is refused, and an earlier one is in force.")),
	}
	m.reloads.WithLabelValues(resultAccepted)
	m.reloads.WithLabelValues(resultRefused)
	m.inForce(s)
	return m
}

// inForce shows that the settings are in force.
func (c *configMetrics) inForce(s *settings) {
	hash := ""
	if len(s.content) > 0 {
		hash = fmt.Sprintf("%x", sha256.Sum256(s.content))[:16]
	}
	c.info.Reset()
	c.info.WithLabelValues(hash, s.Eviction.Method.Word()).Set(1)
	c.success.SetToCurrentTime()
	c.refused.Set(0)
}
