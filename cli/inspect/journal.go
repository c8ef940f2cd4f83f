package inspect

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/spf13/pflag"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/taint-manager/taint-manager/config"
	"github.com/taint-manager/taint-manager/guard"
	"github.com/taint-manager/taint-manager/journal"
	"github.com/taint-manager/taint-manager/journal/store"
	"github.com/taint-manager/taint-manager/taint"
)

// journalLocation is the location of the manager's journal: beside its lease, which the same flags of "run" name.
type journalLocation struct{ lease, space string }

func (l *journalLocation) flags(fs *pflag.FlagSet) {
	usual := config.Default().LeaderElection
	fs.StringVar(&l.lease, "leader-elect-resource-name", usual.ResourceName, "`NAME` of the manager's lease, as it runs with. Its journal is in the ConfigMaps NAME-journal-0 to -7.")
	fs.StringVar(&l.space, "leader-elect-resource-namespace", usual.ResourceNamespace, "`NAMESPACE` of the manager's lease and journal.")
}

// name returns the name of the ConfigMaps without their numbers.
func (l *journalLocation) name() string {
	return store.NameFor(l.lease)
}

func (l *journalLocation) String() string {
	return fmt.Sprintf("the ConfigMaps %s-0 to -%d in namespace %s", l.name(), journal.Partitions-1, l.space)
}

// pages are the partitions of a journal that were read, and the errors of the others.
type pages struct {
	location *journalLocation
	found    map[int]found // by number
}

// found is a partition, or the reason why it could not be read.
type found struct {
	journal.Partition
	writing journal.Writing
	absent  bool
	err     error
}

func (l *journalLocation) noPages() *pages { return &pages{l, map[int]found{}} }

// take stores the present version of a partition.
func (p *pages) take(number int, sheet journal.StoredPartition, err error) {
	one := found{absent: sheet.Version == "", err: err}
	if err == nil {
		one.Partition, _, one.err = journal.Decode(number, sheet.Data)
		one.writing = journal.Writing{At: one.Written, Stored: sheet.Stored}
	}
	for name, record := range one.Records {
		record.Writing = one.writing
		one.Records[name] = record
	}
	if err == nil && one.err != nil {
		one.err = fmt.Errorf("%s: %w", sheet.Name, one.err)
	}
	p.found[number] = one
}

// all returns the partitions that could be read, in the order of their numbers.
func (p *pages) all() []journal.Partition {
	var list []journal.Partition
	for _, number := range slices.Sorted(maps.Keys(p.found)) {
		if one := p.found[number]; one.err == nil {
			list = append(list, one.Partition)
		}
	}
	return list
}

// guards returns the record of guards and holds, with its writing; nil if it is not known.
func (p *pages) guards() (*guard.Record, journal.Writing) {
	one := p.found[journal.GuardsPartition]
	if one.err != nil {
		return nil, journal.Writing{}
	}
	return one.Guards, one.writing
}

// missing returns a clause that says why the journal is incomplete, or "".
func (p *pages) missing() string {
	absent := 0
	for _, number := range slices.Sorted(maps.Keys(p.found)) {
		switch one := p.found[number]; {
		case apierrors.IsForbidden(one.err):
			return fmt.Sprintf("this user may not list %s", p.location)
		case one.err != nil:
			return fmt.Sprintf("the journal can't be read (%v)", one.err)
		case one.absent:
			absent++
		}
	}
	if absent == len(p.found) {
		return fmt.Sprintf("there is no journal (%s)", p.location)
	}
	return ""
}

// without returns a note about what an answer lacks without the journal.
func (p *pages) without() []string {
	if why := p.missing(); why != "" {
		return []string{why + ", so since when a taint is there is known only where it has a timeAdded"}
	}
	return nil
}

// stale returns a note that the journal is not being written; written is zero if it is.
func stale(written time.Time) []string {
	if written.IsZero() {
		return nil
	}
	return []string{"the journal was last written at " + taint.Stamp(written) + ": no taint-manager seems to lead, so perhaps no pod is evicted"}
}

// Journal reads the partitions of the nodes and that of the guards, or all of them.
func (c liveCluster) Journal(ctx context.Context, nodes []string, all bool) *pages {
	from := store.NewConfigMaps(c.client, c.location.space, c.location.name())
	read := c.location.noPages()
	var reading sync.WaitGroup
	var taking sync.Mutex
	for number := range journal.Partitions {
		if !all && number != journal.GuardsPartition && !slices.ContainsFunc(nodes, func(n string) bool { return journal.PartitionOf(n) == number }) {
			continue
		}
		reading.Go(func() {
			sheet, err := from.Read(ctx, number)
			taking.Lock()
			defer taking.Unlock()
			read.take(number, sheet, err)
		})
	}
	reading.Wait()
	return read
}

// visit stores a ConfigMap of a dump, if it is a partition of the journal.
func (p *pages) visit(m *v1.ConfigMap) {
	number := slices.Index(store.PartitionNames(p.location.name()), m.Name)
	if number >= 0 && m.Namespace == p.location.space {
		p.take(number, journal.StoredPartition{Name: "ConfigMap " + m.Namespace + "/" + m.Name, Version: "dumped", Data: m.Data}, nil)
	}
}
