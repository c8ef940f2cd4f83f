package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"

	"github.com/taint-manager/taint-manager/config"
	"github.com/taint-manager/taint-manager/internal/truncate"
)

// The results of a reload: a metric's label.
const (
	resultAccepted = "accepted"
	resultRefused  = "refused"
)

// reloadMetrics are the metrics of the configuration file.
type reloadMetrics struct {
	reloads *prometheus.CounterVec
	refused prometheus.Gauge
}

func newReloadMetrics(r prometheus.Registerer) (*reloadMetrics, error) {
	m := &reloadMetrics{
		reloads: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "taint_manager_config_reloads_total",
			Help: "Changes of the configuration file, by result: accepted or refused.",
		}, []string{"result"}),
		refused: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "taint_manager_config_refused",
			Help: "1 while the present content of the configuration file is refused, and an earlier one is in force.",
		}),
	}
	m.reloads.WithLabelValues(resultAccepted)
	m.reloads.WithLabelValues(resultRefused)
	if err := errors.Join(r.Register(m.reloads), r.Register(m.refused)); err != nil {
		return nil, fmt.Errorf("registering metrics of the configuration file: %w", err)
	}
	return m, nil
}

// eventTimeout bounds the write of one event.
const eventTimeout = 5 * time.Second

// leaseEvents returns a function that writes a warning as an event of the lease. It returns nil in a dry run, which
// writes nothing, and without leader election, as there is no lease.
func leaseEvents(client kubernetes.Interface, c config.Configuration, identity string) func(ctx context.Context, message string) {
	e := c.LeaderElection
	if c.DryRun || !e.LeaderElect {
		return nil
	}
	return func(ctx context.Context, message string) {
		ctx, cancel := context.WithTimeout(ctx, eventTimeout)
		defer cancel()
		now := metav1.Now()
		event := &v1.Event{
			ObjectMeta: metav1.ObjectMeta{Namespace: e.ResourceNamespace, Name: fmt.Sprintf("%s.%x", e.ResourceName, now.UnixNano())},
			InvolvedObject: v1.ObjectReference{
				APIVersion: "coordination.k8s.io/v1", Kind: "Lease", Namespace: e.ResourceNamespace, Name: e.ResourceName,
			},
			Type: v1.EventTypeWarning, Reason: "ConfigurationRefused", Message: truncate.Text(identity + ": " + message),
			FirstTimestamp: now, LastTimestamp: now, Count: 1,
			Source: v1.EventSource{Component: "taint-manager", Host: identity}, ReportingController: "taint-manager", ReportingInstance: identity,
		}
		if _, err := client.CoreV1().Events(event.Namespace).Create(ctx, event, metav1.CreateOptions{}); err != nil {
			klog.FromContext(ctx).Error(err, "The event about the configuration file was not written")
		}
	}
}
