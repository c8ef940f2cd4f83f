package run

import (
	"crypto/sha256"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// The results of a reload: a metric's label.
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

// newConfigMetrics registers the metrics, and shows the settings as in force.
func newConfigMetrics(r prometheus.Registerer, s *settings) *configMetrics {
	register := promauto.With(r)
	m := &configMetrics{
		info: register.NewGaugeVec(prometheus.GaugeOpts{
			Name: "taint_manager_config_info",
			Help: "1 for the configuration in force: the first 16 digits of the SHA-256 hash of its file, empty without a " +
				"file, and the eviction method.",
		}, []string{"hash", "method"}),
		success: register.NewGauge(prometheus.GaugeOpts{
			Name: "taint_manager_config_last_reload_success_timestamp_seconds",
			Help: "When the configuration in force was taken in: at the start, or at its last change.",
		}),
		reloads: register.NewCounterVec(prometheus.CounterOpts{
			Name: "taint_manager_config_reloads_total",
			Help: "Changes of the configuration file, by result: accepted or refused.",
		}, []string{"result"}),
		refused: register.NewGauge(prometheus.GaugeOpts{
			Name: "taint_manager_config_refused",
			Help: "1 while the present content of the configuration file is refused, and an earlier one is in force.",
		}),
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
	c.info.WithLabelValues(hash, string(s.EvictionMethod)).Set(1)
	c.success.SetToCurrentTime()
	c.refused.Set(0)
}
