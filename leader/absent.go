package leader

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/yaml"
)

// absentError says that the lease does not exist, and that this process may not create it.
type absentError struct {
	lease string // namespace/name
	cause error
}

// Error names the command that creates the lease.
func (a *absentError) Error() string {
	return fmt.Sprintf("the Lease %s does not exist, and this process may not create it, so it can't lead; create it with %s", a.lease, a.command())
}

// Unwrap returns the API server's answer.
func (a *absentError) Unwrap() error { return a.cause }

// command returns the command that creates the lease; kubectl has no shorter one for leases. Logs would escape the
// double quotes of JSON, and kubectl 1.30 takes all that begins with a brace for JSON.
func (a *absentError) command() string {
	namespace, name, _ := strings.Cut(a.lease, "/")
	return fmt.Sprintf("(echo 'apiVersion: coordination.k8s.io/v1'; echo 'kind: Lease'; echo 'metadata: {namespace: %s, name: %s}') | kubectl apply -f -", scalar(namespace), scalar(name))
}

// scalar returns a name as a string of YAML: quoted if it would be a number, a boolean or a null otherwise.
func scalar(name string) string {
	var value any
	if err := yaml.Unmarshal([]byte(name), &value); err == nil && value == name {
		return name
	}
	return strconv.Quote(name)
}

// Trouble returns nil unless the lease does not exist and this process may not create it, or a yield has failed. In the
// first case the error names the command that creates the lease; a candidate takes the lease within seconds once it
// exists. In the second case the error says that this process leads on, see [Election.FailedYield].
func (e *Election) Trouble() error {
	if absent := e.lock.absent.Load(); absent != nil {
		return absent
	}
	return e.failedYieldError()
}

// Register registers the metrics of a missing lease and of failed yields; nil registers none.
func (e *Election) Register(r prometheus.Registerer) error {
	if r == nil {
		return nil
	}
	missing := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "taint_manager_lease_missing",
		Help: "1 while the lease of the leader election does not exist and this process may not create it; the log has the command that creates it.",
	}, func() float64 {
		if e.lock.absent.Load() != nil {
			return 1
		}
		return 0
	})
	failed := prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: "taint_manager_failed_yields_total",
		Help: "How often this process gave the lease back so that another one evicts its pod, no other process took the lease for its duration, and this process led on.",
	}, func() float64 { return float64(e.yields.failures.Load()) })
	if err := errors.Join(r.Register(missing), r.Register(failed)); err != nil {
		return fmt.Errorf("registering the metrics of the lease: %w", err)
	}
	return nil
}
