package source

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/spf13/pflag"
	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/internal/config"
	"github.com/taint-manager/taint-manager/internal/foresight"
	"github.com/taint-manager/taint-manager/internal/journal"
	"github.com/taint-manager/taint-manager/internal/journal/store"
)

// location is the location of the manager's journal: next to its lease, which the same flags of "run" name.
type location struct{ lease, namespace string }

func (l *location) flags(fs *pflag.FlagSet) {
	usual := config.Default().LeaderElection
	fs.StringVar(&l.lease, "leader-elect-resource-name", usual.ResourceName, "The `NAME` of the Lease by which the "+
		"replicas elect the one that evicts. The journal (policies and when each taint was set) is in the ConfigMaps "+
		"NAME-journal-0 to -7 and NAME-journal-state.")
	fs.StringVar(&l.namespace, "leader-elect-resource-namespace", usual.ResourceNamespace, "The `NAMESPACE` of "+
		"taint-manager's lease and journal.")
}

// name returns the name of the ConfigMaps without their numbers.
func (l location) name() string { return store.NameFor(l.lease) }

// none returns a journal of which nothing was read.
func (l location) none() *foresight.Journal {
	all := fmt.Sprintf("ConfigMaps %s-* in namespace %s", l.name(), l.namespace)
	state := fmt.Sprintf("ConfigMap %s/%s", l.namespace, store.Names(l.name())[journal.StateObject])
	return foresight.NewJournal(all, state, grantIn(l.namespace, "role"))
}

// journal reads the objects of the journal from this number on, and the Lease.
func (c Cluster) journal(ctx context.Context, first int) *foresight.Journal {
	from, read := store.NewConfigMaps(c.client, c.location.namespace, c.location.name()), c.location.none()
	read.Read = time.Now()
	var reading sync.WaitGroup
	var adding sync.Mutex
	for number := first; number <= journal.StateObject; number++ {
		reading.Go(func() {
			stored, err := from.Read(ctx, number)
			adding.Lock()
			defer adding.Unlock()
			read.Add(number, stored, err)
		})
	}
	read.Lease = c.readLease(ctx)
	reading.Wait()
	read.Now = c.now()
	return read
}

// inEveryNamespace is the ConfigMap that kube-controller-manager keeps in every namespace.
const inEveryNamespace = "kube-root-ca.crt"

// addPage adds a ConfigMap of a dump to pages, if it is the journal's. If it occurs twice, the newer state counts.
func (c *collected) addPage(m *v1.ConfigMap) {
	if m.Namespace != c.location.namespace {
		return
	}
	c.allPages = c.allPages || m.Name == inEveryNamespace
	number := slices.Index(store.Names(c.location.name()), m.Name)
	if number < 0 {
		return
	}
	// Each ConfigMap of the journal has the head that DecodeState reads. Add records what can't be read.
	head, _ := journal.DecodeState(map[string]string{journal.Head: m.Data[journal.Head]})
	if c.to.IsNew("ConfigMap", m, head.Written) {
		c.pages.Add(number, journal.StoredPartition{
			Name: "ConfigMap " + m.Namespace + "/" + m.Name, Version: "dumped", Data: m.Data,
		}, nil)
	}
}
