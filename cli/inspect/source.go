package inspect

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/taint-manager/taint-manager/foresight"
)

// source is where a model is read from: a live cluster or a dump.
type source interface {
	// Read adds what the query asks for to the model.
	Read(ctx context.Context, q query, m *foresight.Model) (reading, error)

	// Journal reads the manager's journal: the partitions of these nodes and that of the guards, or all. The caller has
	// called Read before.
	Journal(ctx context.Context, nodes []string, all bool) *pages

	// Check returns an error if what was read can't answer the query.
	Check(ctx context.Context, q query, m *foresight.Model) error

	// Locate returns the namespace of the one pod that the query is about.
	Locate(q query, m *foresight.Model) (namespace string, err error)

	// String is how messages name the source.
	String() string

	// hint suggests what to do when the requested object does not exist: with a live cluster, to look
	// with that command of kubectl.
	hint(kubectl string) string
}

// query describes what to read.
type query struct {
	namespace string // empty: all
	pod       string // the only one; empty: all

	nodes  []string // the only ones whose pods are selected; nil: all
	labels string   // of the selected pods

	// budgets means that budgets are read; needed means that there is no answer without them.
	budgets, needed bool

	// hidden permits an answer by the journal alone where the nodes can't be listed.
	hidden bool

	// allNodes means that all nodes are read for the one pod, if the user may list them, for the breakers.
	allNodes bool

	// namespaces means that namespaces are read, for the policies that select by their labels.
	namespaces bool

	// tainted means that no pods are needed while no node is tainted.
	tainted bool
}

// reading is what was read beside the objects.
type reading struct {
	node   string    // of the one pod, if the query is about one in a live cluster
	hidden bool      // the nodes can't be listed
	spaces string    // why namespaces can't be read; "" if they were, or are not needed
	at     time.Time // the time of the cluster's state; zero if not known
	aged   string    // a note that this is long ago, or ""
	dumped bool      // an object that is missing may only be missing from the dump
}

// seen is a model that was read, with information about the reading.
type seen struct {
	*foresight.Model
	reading
	journal *pages
}

// see reads a model, as of that time; if it is zero, as of the time of the reading.
func see(ctx context.Context, from source, q query, m *foresight.Model, at time.Time) (seen, error) {
	read, err := from.Read(ctx, q, m)
	if err != nil {
		return seen{}, err
	}
	m.SetRead(read.at)
	if at.IsZero() {
		at = read.at
	} else {
		read.aged = ""
	}
	read.at = at
	if err := from.Check(ctx, q, m); err != nil {
		return seen{}, err
	}
	nodes := m.Tainted(q.nodes)
	if q.pod != "" {
		nodes = m.Tainted([]string{read.node})
	}
	found := from.Journal(ctx, nodes, read.hidden)
	if read.hidden {
		m.ReplaceByRecords(found.all(), at)
	} else {
		for _, page := range found.all() {
			m.AddRecords(page, at)
		}
	}
	m.SetGuards(found.guards())
	m.Begin(at)
	return seen{m, read, found}, m.Twice()
}

// notes returns the notes about the reading, which every answer has.
func (s *seen) notes() []string {
	var list []string
	if s.aged != "" {
		list = append(list, s.aged)
	}
	if s.dumped {
		list = append(list, s.Lacks()...)
	}
	return list
}

// unjudged returns a clause for each group of pods without a prediction. In a live cluster, a missing object does
// not exist.
func (s *seen) unjudged(nodes []string) []string {
	if !s.dumped {
		return nil
	}
	return s.Unjudged(nodes)
}

// sourceFlags are the flags of a source.
type sourceFlags struct {
	kube
	files           []string
	journalLocation journalLocation
}

func (p *sourceFlags) flags(fs *pflag.FlagSet) {
	p.kube.flags(fs)
	fs.StringArrayVarP(&p.files, "filename", "f", nil,
		"Instead: a dump of the cluster, the `FILE` that 'kubectl get nodes,pods,pdb -A -o json' (or yaml) wrote, be it compressed by gzip or zstd; - is the standard input. May be given several times.")
}

// check returns an error for flags that contradict each other.
func (p *sourceFlags) check() error {
	if given := p.given(); len(p.files) > 0 && given != "" {
		return fmt.Errorf("--filename and %s exclude each other; give the dump or the cluster", given)
	}
	return p.kube.check()
}

// open opens the cluster or the dump. For a cluster it sets the namespace of the context, unless everywhere is set.
func (p *sourceFlags) open(cmd *cobra.Command, everywhere bool) (source, error) {
	if len(p.files) > 0 {
		return &dumped{files: p.files, in: cmd.InOrStdin(), messages: cmd.ErrOrStderr(), journal: p.journalLocation.noPages()}, nil
	}
	return p.live(cmd.ErrOrStderr(), everywhere)
}

func (p *sourceFlags) live(messages io.Writer, everywhere bool) (liveCluster, error) {
	to, err := p.reach()
	if err != nil {
		return liveCluster{}, err
	}
	if p.namespace == "" && !everywhere {
		p.namespace = to.namespace
	}
	return liveCluster{to, messages, time.Now, &p.journalLocation}, nil
}

// cannotSay returns the error for a printed answer that is incomplete.
func cannotSay(incomplete []string) error {
	if len(incomplete) == 0 {
		return nil
	}
	return fmt.Errorf("cannot say all: %s", joined(incomplete))
}
