package leader

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
)

var leases = schema.GroupResource{Group: "coordination.k8s.io", Resource: "leases"}

// leaseStore is an API server that stores one lease and rejects writes to an old version of it.
type leaseStore struct {
	mu      sync.Mutex
	lease   *coordinationv1.Lease
	version int
}

// newLeaseStore returns a store whose lease has been released, so that a candidate takes it at once.
func newLeaseStore() *leaseStore {
	s := &leaseStore{lease: released()}
	s.lease.ResourceVersion = "0"
	return s
}

func (l *leaseStore) get() (*coordinationv1.Lease, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lease == nil {
		return nil, apierrors.NewNotFound(leases, "lease")
	}
	return l.lease.DeepCopy(), nil
}

func (l *leaseStore) put(lease *coordinationv1.Lease) (*coordinationv1.Lease, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lease == nil && lease.ResourceVersion != "" {
		return nil, apierrors.NewNotFound(leases, "lease")
	}
	if l.lease != nil && lease.ResourceVersion != l.lease.ResourceVersion {
		return nil, apierrors.NewConflict(leases, "lease", errors.New("it has changed"))
	}
	l.version++
	l.lease = lease.DeepCopy()
	l.lease.ResourceVersion = strconv.Itoa(l.version)
	return l.lease.DeepCopy(), nil
}

// link is the path from one client to the leaseStore. It can be cut off. If it has a chance, requests and responses are
// delayed or lost on it; a request that its client has given up may still arrive.
type link struct {
	coordinationclient.LeaseInterface
	leaseStore *leaseStore
	chance     *rand.Rand // nil: each response comes at once
	off        atomic.Bool
}

func (l *link) Leases(string) coordinationclient.LeaseInterface { return l }

func (l *link) Get(ctx context.Context, _ string, _ metav1.GetOptions) (*coordinationv1.Lease, error) {
	return l.call(ctx, l.leaseStore.get)
}

func (l *link) Create(
	ctx context.Context, lease *coordinationv1.Lease, _ metav1.CreateOptions,
) (*coordinationv1.Lease, error) {
	return l.put(ctx, lease)
}

func (l *link) Update(
	ctx context.Context, lease *coordinationv1.Lease, _ metav1.UpdateOptions,
) (*coordinationv1.Lease, error) {
	return l.put(ctx, lease)
}

// empty is a client that replaces the lease by one without a spec.
func (l *leaseStore) empty() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.version++
	l.lease = &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: "lease", ResourceVersion: strconv.Itoa(l.version)}}
}

// clearHolder is a client that removes the holder from the lease, and nothing else.
func (l *leaseStore) clearHolder() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.version++
	l.lease = l.lease.DeepCopy()
	l.lease.ResourceVersion = strconv.Itoa(l.version)
	l.lease.Spec.HolderIdentity = new("")
}

// remove is a client that deletes the lease.
func (l *leaseStore) remove() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lease = nil
}

func (l *link) put(ctx context.Context, lease *coordinationv1.Lease) (*coordinationv1.Lease, error) {
	sent := lease.DeepCopy()
	return l.call(ctx, func() (*coordinationv1.Lease, error) { return l.leaseStore.put(sent) })
}

// answer is the response on a link.
type answer struct {
	lease *coordinationv1.Lease
	err   error
}

func (l *link) call(ctx context.Context, do func() (*coordinationv1.Lease, error)) (*coordinationv1.Lease, error) {
	switch {
	case l.off.Load():
		return nil, errors.New("connection refused")
	case l.chance == nil:
		return do()
	}
	there, back, lost := l.delay(), l.delay(), l.chance.IntN(6) == 0
	answered := make(chan answer, 1)
	go func() {
		time.Sleep(there)
		lease, err := do()
		time.Sleep(back)
		answered <- answer{lease, err}
	}()
	select {
	case a := <-answered:
		if lost {
			return nil, errors.New("connection reset")
		}
		return a.lease, a.err
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(5 * time.Second): // the timeout of the lease's client
		return nil, errors.New("timeout")
	}
}

// delay is usually short, and sometimes longer than a client waits.
func (l *link) delay() time.Duration {
	most := []time.Duration{10 * time.Millisecond, 10 * time.Millisecond, time.Second, 8 * time.Second}
	return time.Duration(l.chance.Int64N(int64(most[l.chance.IntN(len(most))])))
}

func TestTwoNeverLeadAtTheSameTimeHoweverBadTheNetworkAndWhateverHappensToTheLease(t *testing.T) {
	happens := maps.Clone(losses)
	happens["left alone"] = func(*leaseStore) {}
	for name, disturb := range happens {
		for seed := range uint64(25) {
			t.Run(fmt.Sprintf("%s, seed %d", name, seed), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { rivals(t, seed, disturb) })
			})
		}
	}
}

// rivals has three candidates that compete for ten minutes. Once all have read the lease, the lease is disturbed. Leaders
// take up to 3 s to end their calls.
func rivals(t *testing.T, seed uint64, disturb func(*leaseStore)) {
	defer time.Sleep(time.Minute) // until the last request has arrived
	s := &leaseStore{}
	var all []*candidate
	for i, name := range []string{"one", "other", "newcomer"} {
		l := &link{leaseStore: s, chance: rand.New(rand.NewPCG(seed, uint64(i)))}
		all = append(all, &candidate{Election: New(Defaults(), l, name), drain: time.Duration(seed%4) * time.Second})
	}
	defer all[0].start(t)()
	defer all[1].start(t)()
	defer all[2].start(t)()
	chance := rand.New(rand.NewPCG(seed, 3))
	disturbed := 3*time.Minute + time.Duration(chance.Int64N(int64(2*time.Minute)))
	led := 0
	const step = 50 * time.Millisecond
	for now := time.Duration(0); now < 10*time.Minute; now += step {
		time.Sleep(step)
		if now < disturbed && now+step >= disturbed {
			disturb(s)
		}
		leaders := slices.DeleteFunc(slices.Clone(all), func(c *candidate) bool { return !c.Leading() })
		if len(leaders) > 1 {
			t.Fatalf("%s and %s lead after %s", leaders[0].lock.Identity(), leaders[1].lock.Identity(), now)
		}
		led += len(leaders)
	}
	if share := time.Duration(led) * step; share < time.Minute {
		t.Errorf("somebody led for %s of 10 minutes", share)
	}
}
