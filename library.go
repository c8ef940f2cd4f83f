package taintmanager

import (
	"context"
	"net/http"
	"time"

	"k8s.io/client-go/kubernetes"

	"github.com/taint-manager/taint-manager/internal/journal"
	"github.com/taint-manager/taint-manager/internal/journal/store"
	"github.com/taint-manager/taint-manager/internal/skew"
)

// Journal stores the starts of taints durably, in partitions with the numbers 0 to 7, and the state of the manager,
// which has the number 8. [NewJournal] returns one that uses ConfigMaps. Several goroutines call its methods. Errors
// should be those of k8s.io/apimachinery/pkg/api/errors if that package has a fitting one: a term does not wait for a
// partition that is Forbidden.
type Journal interface {
	// Read reads the content as it is now. A partition that does not exist has no version.
	Read(ctx context.Context, number int) (StoredPartition, error)

	// Write replaces the content of this version, or creates the partition if the version is empty, and returns the new
	// version. If the partition has another version by now, it stores nothing and returns an error.
	Write(ctx context.Context, number int, content StoredPartition) (version string, err error)
}

// StoredPartition is the content of a partition, or of the state, of a [Journal].
type StoredPartition struct {
	Name    string            // identifies it in messages
	Version string            // changes with each write; empty while nothing is stored. Only the Journal interprets it
	Data    map[string]string // must not be modified
}

// NewJournal returns a Journal in the ConfigMaps NAME-0 to NAME-7 and NAME-state of the namespace. A leader creates
// them. The client needs get, create and update of configmaps there.
func NewJournal(client kubernetes.Interface, namespace, name string) Journal {
	return configMaps{store.NewConfigMaps(client, namespace, name)}
}

type configMaps struct{ objects store.Objects }

func (c configMaps) Read(ctx context.Context, number int) (StoredPartition, error) {
	content, err := c.objects.Read(ctx, number)
	return StoredPartition(content), err
}

func (c configMaps) Write(ctx context.Context, number int, content StoredPartition) (string, error) {
	return c.objects.Write(ctx, number, journal.StoredPartition(content))
}

// objects adapts a Journal to package store.
type objects struct{ journal Journal }

func (o objects) Read(ctx context.Context, number int) (journal.StoredPartition, error) {
	content, err := o.journal.Read(ctx, number)
	return journal.StoredPartition(content), err
}

func (o objects) Write(ctx context.Context, number int, content journal.StoredPartition) (string, error) {
	return o.journal.Write(ctx, number, StoredPartition(content))
}

// ServerClock measures how far this process's clock is ahead of the API server's, from the responses to a client. It is
// safe for concurrent use.
type ServerClock struct{ clock *skew.Clock }

// NewServerClock returns a clock without measurements.
func NewServerClock() *ServerClock { return &ServerClock{skew.New()} }

// RoundTripper returns next, wrapped so that the clock reads the Date header of its successful responses. It is
// for [k8s.io/client-go/rest.Config.Wrap].
func (c *ServerClock) RoundTripper(next http.RoundTripper) http.RoundTripper {
	return c.clock.RoundTripper(next)
}

// Ahead returns by how much this process's wall clock is ahead of the API server's now, at least and at most; both are
// 0 if nothing is known. It waits for the end of a search. It is meant for [Options.Ahead].
func (c *ServerClock) Ahead(now time.Time) (least, most time.Duration) { return c.clock.Ahead(now) }

// Search sends a request every 50 ms until the difference of the clocks is known to 100 ms, for 2 s at most. It does so
// in a goroutine of its own, and must be called before Ahead. The request must go through RoundTripper, and end with
// its context. Without a search, a deadline that counts from a timestamp may be a second late after a restart.
func (c *ServerClock) Search(ctx context.Context, request func(context.Context)) {
	c.clock.Search(ctx, request)
}
