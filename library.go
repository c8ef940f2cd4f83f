package taintmanager

import (
	"k8s.io/client-go/kubernetes"

	"github.com/taint-manager/taint-manager/internal/breaker"
	"github.com/taint-manager/taint-manager/internal/evict"
	"github.com/taint-manager/taint-manager/internal/journal"
	"github.com/taint-manager/taint-manager/internal/journal/store"
	"github.com/taint-manager/taint-manager/internal/skew"
)

// Trip says that a breaker is tripped for a group of nodes, and since when.
type Trip = breaker.TripRecord

// Journal stores the starts of taints durably, in partitions, and the state of the manager. [NewJournal] returns one
// that uses ConfigMaps.
type Journal = store.Objects

// StoredPartition is the content of a partition, or of the state, of a [Journal].
type StoredPartition = journal.StoredPartition

// NewJournal returns a Journal in the ConfigMaps NAME-0 to NAME-7 and NAME-state of the namespace. A leader creates
// them. The client needs get, create and update of configmaps there.
func NewJournal(client kubernetes.Interface, namespace, name string) Journal {
	return store.NewConfigMaps(client, namespace, name)
}

// ConfirmingEvictor is an Evictor whose calls take several requests. It calls the [Confirmation] before each of them.
type ConfirmingEvictor = evict.ConfirmingEvictor

// Confirmation reports whether a request of an eviction call may still be sent.
type Confirmation = evict.Confirmation

// ServerClock measures how far this process's clock is ahead of the API server's, from the responses to a client. Its
// method Ahead is meant for [Options.Ahead].
type ServerClock = skew.Clock

// NewServerClock returns a clock without measurements. Its method RoundTripper wraps the transport of a client.
func NewServerClock() *ServerClock { return skew.New() }
