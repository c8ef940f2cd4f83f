// Package registry registers metrics so that several managers of one process can share them.
package registry

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
)

// Register registers a collector, or replaces it by the equal one that the registry already has. It returns an error if
// another collector has the name.
func Register[C prometheus.Collector](r prometheus.Registerer, c *C) error {
	err := r.Register(*c)
	if already, ok := errors.AsType[prometheus.AlreadyRegisteredError](err); ok {
		if existing, ok := already.ExistingCollector.(C); ok {
			*c = existing
			return nil
		}
	}
	return err
}
