package store_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"

	"github.com/taint-manager/taint-manager/internal/journal"
	"github.com/taint-manager/taint-manager/internal/journal/store"
)

// notebook stores a journal in memory. It is also the source.
type notebook struct {
	mu     sync.Mutex
	stored [journal.StateObject + 1]journal.StoredPartition
	writes int
	broken error  // of each call; nil: calls succeed
	node   string // the only one with a record; empty: none
}

func (n *notebook) Read(_ context.Context, number int) (journal.StoredPartition, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.stored[number], n.broken
}

func (n *notebook) Write(_ context.Context, number int, content journal.StoredPartition) (string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.broken != nil {
		return "", n.broken
	}
	n.writes++
	content.Version = strconv.Itoa(n.writes)
	n.stored[number] = content
	return content.Version, nil
}

// do runs a function that reads or changes the notebook.
func (n *notebook) do(f func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	f()
}

func (n *notebook) Records(partition int) map[string]journal.Record {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.node == "" || partition != journal.PartitionOf(n.node) {
		return nil
	}
	return map[string]journal.Record{n.node: {UID: "u"}}
}

func (n *notebook) ApplyRecord(string, journal.Record, journal.LastWatch) {}

// keeping runs a keeper in a bubble. It leads, and its notebook is empty.
func keeping(
	t *testing.T, change func(*store.Options),
	test func(t *testing.T, k *store.Keeper, n *notebook, guards *[]store.Guards),
) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		n, guards, synced := &notebook{}, []store.Guards{}, make(chan struct{})
		close(synced)
		o := store.Options{
			CoreOptions: store.CoreOptions{Source: n, Leading: func() bool { return true }, Config: []byte(`{"method":"Evict"}`)},
			Objects:     n, Synced: synced, Watched: func() journal.LastWatch { return journal.LastWatch{} }, Logger: logr.Discard(),
			GuardsRead: func(g store.Guards) { guards = append(guards, g) },
		}
		change(&o)
		k := store.New(o)
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { k.Run(ctx) })
		test(t, k, n, &guards)
		cancel()
		running.Wait()
	})
}

func TestAKeeperReadsAndPublishesBeforeATermAndWritesChangesDuringIt(t *testing.T) {
	keeping(t, func(*store.Options) {}, func(t *testing.T, k *store.Keeper, n *notebook, guards *[]store.Guards) {
		began := k.Begin(t.Context())
		if state, _ := n.Read(t.Context(), journal.StateObject); !began || state.Data[journal.ConfigKey] != `{"method":"Evict"}` {
			t.Errorf("it has begun: %v; published is %v", began, state.Data)
		}
		if len(*guards) != 1 || !(*guards)[0].Read {
			t.Errorf("guards: %+v", *guards)
		}
		time.Sleep(10 * time.Second)
		n.do(func() { n.node = nodeOf3() })
		k.NodeChanged(nodeOf3())
		time.Sleep(2 * time.Second)
		if p, _ := n.Read(t.Context(), 3); p.Data[nodeOf3()] == "" {
			t.Errorf("stored is %v", p)
		}
		if err := k.Trouble(); err != nil {
			t.Error(err)
		}
	})
}

func TestAKeeperThatMayNotWriteBeginsATermNevertheless(t *testing.T) {
	for name, change := range map[string]func(*store.Options){
		"it only reads":         func(o *store.Options) { o.ReadOnly = true },
		"another process leads": func(o *store.Options) { o.Leading = func() bool { return false } },
		"nothing is stored":     func(o *store.Options) { o.Objects = nil },
	} {
		keeping(t, change, func(t *testing.T, k *store.Keeper, n *notebook, _ *[]store.Guards) {
			if !k.Begin(t.Context()) {
				t.Errorf("%s: the term does not begin", name)
			}
			k.NodeChanged(nodeOf3())
			time.Sleep(time.Minute)
			n.do(func() {
				if n.writes > 0 || k.Trouble() != nil {
					t.Errorf("%s: %d writes; %v", name, n.writes, k.Trouble())
				}
			})
		})
	}
}

func TestATermThatEndsFirstDoesNotBegin(t *testing.T) {
	keeping(t, func(*store.Options) {}, func(t *testing.T, k *store.Keeper, _ *notebook, _ *[]store.Guards) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if k.Begin(ctx) {
			t.Error("it has begun")
		}
	})
}

func TestTroubleSaysHowManyObjectsHaveWhichProblem(t *testing.T) {
	keeping(t, func(*store.Options) {}, func(t *testing.T, k *store.Keeper, n *notebook, _ *[]store.Guards) {
		n.do(func() { n.broken = errors.New("no answer") })
		k.Begin(t.Context())
		if err := k.Trouble(); err == nil || !strings.Contains(err.Error(), "ConfigMaps with problems: 9 unread;") {
			t.Errorf("got %v", err)
		}
		n.do(func() { n.broken = nil })
		time.Sleep(time.Minute)
		if err := k.Trouble(); err != nil {
			t.Errorf("once it is mended: %v", err)
		}
	})
}
