package inspect

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"

	"github.com/taint-manager/taint-manager/cli/suggest"
	"github.com/taint-manager/taint-manager/cli/terminal"
	"github.com/taint-manager/taint-manager/dump"
	"github.com/taint-manager/taint-manager/foresight"
	"github.com/taint-manager/taint-manager/taint"
)

// dumped is a cluster in files; "-" is the standard input.
type dumped struct {
	files    []string
	in       io.Reader // for "-"
	messages io.Writer
	journal  *pages

	newest  time.Time // latest time in the dump that is not after now
	budgets int
	others  []string // names of the pods other than the one of the query
}

// oldAfter is the age from which a dump is evaluated as of its own time.
const oldAfter = 10 * time.Minute

// Read adds all objects of the dump.
func (d *dumped) Read(_ context.Context, q query, m *foresight.Model) (reading, error) {
	now := time.Now()
	to := d.visitor(q, m, now)
	for _, file := range d.files {
		if err := d.readFile(file, to); err != nil {
			return reading{}, err
		}
	}
	if q.budgets && q.pod == "" && d.budgets == 0 {
		note(d.messages, d.String()+" has no PodDisruptionBudgets")
	}
	r := reading{dumped: true, at: now.Truncate(time.Second)}
	if age := now.Sub(d.newest); !d.newest.IsZero() && age > oldAfter {
		r.at = d.newest
		r.aged = fmt.Sprintf("the newest time in %s is %s, so it is judged as of then; --at=now judges it as of now", d, taint.Stamp(d.newest))
	}
	return r, nil
}

// visitor adds the objects of the query to the model.
func (d *dumped) visitor(q query, m *foresight.Model, now time.Time) dump.Visitor {
	to := dump.Visitor{Node: m.AddNode, Pod: m.AddPod, ConfigMap: d.journal.visit, Namespace: func(n *v1.Namespace) { m.AddNamespace(n.Name, n.Labels) }, Time: func(t time.Time) {
		if t.After(d.newest) && !t.After(now) {
			d.newest = t
		}
	}}
	if q.budgets {
		to.Budget = func(b *policyv1.PodDisruptionBudget) {
			d.budgets++
			m.AddBudget(b)
		}
	}
	if q.pod == "" {
		return to
	}
	to.Pod = func(p *v1.Pod) {
		if q.namespace != "" && q.namespace != p.Namespace || p.Name != q.pod {
			d.others = append(d.others, p.Name)
			return
		}
		m.AddPod(p)
	}
	to.Event = func(e *v1.Event) {
		if o := e.InvolvedObject; o.Kind == "Pod" && o.Name == q.pod && (q.namespace == "" || q.namespace == o.Namespace) {
			m.AddEvent(e)
		}
	}
	return to
}

func (d *dumped) readFile(file string, to dump.Visitor) error {
	from, size, err := d.open(file)
	if err != nil {
		return fmt.Errorf("%s can't be read: %w; %s", name(file), err, d.howToWrite())
	}
	defer from.Close()
	p := terminal.NewProgress(d.messages, "Reading "+name(file), size)
	defer p.End()
	if err := dump.Read(terminal.Reading{Reader: from, Progress: p}, to); err != nil {
		return fmt.Errorf("%s can't be used: %w; %s", name(file), err, d.howToWrite())
	}
	return nil
}

// Journal returns the journal's partitions in the dump.
func (d *dumped) Journal(context.Context, []string, bool) *pages { return d.journal }

// Check returns an error if the dump has no nodes or no pods, or lacks those of the query.
func (d *dumped) Check(_ context.Context, q query, m *foresight.Model) error {
	switch {
	case q.pod != "":
		return nil // its node matters
	case len(m.Nodes()) == 0:
		return fmt.Errorf("%s has no nodes, so it is not known which taints there are; %s", d, d.hint(""))
	case m.Pods("") == 0:
		return fmt.Errorf("%s has no pods, so nothing can be said of them; %s", d, d.hint(""))
	case q.namespace != "" && m.Pods(q.namespace) == 0:
		names := m.Namespaces()
		return fmt.Errorf("%s has no pods in namespace %s%s; %s", d, q.namespace, suggest.Nearest(q.namespace, names), d.hint(""))
	}
	return unknownNodes(q.nodes, m, d)
}

// Locate returns the namespace of the one pod of that name. The pod may be known only from an event.
func (d *dumped) Locate(q query, m *foresight.Model) (namespace string, err error) {
	namespaces := m.Find(q.pod)
	switch {
	case len(namespaces) > 1:
		return "", fmt.Errorf("there are pods %s in the namespaces %s of %s; choose one with --namespace", q.pod, suggest.Listed(namespaces, "and"), d)
	case len(namespaces) == 1:
		return namespaces[0], nil
	case q.namespace == "":
		return "", fmt.Errorf("there is no pod %s in %s%s, and no event names one; %s", q.pod, d, suggest.Nearest(q.pod, d.others), d.hint(""))
	}
	return "", noPod(q.namespace, q.pod, d.String(), d.others, d.hint(""))
}

func (d *dumped) open(name string) (io.ReadCloser, int64, error) {
	if name == "-" {
		return io.NopCloser(d.in), 0, nil
	}
	file, err := os.Open(name)
	if err, ok := errors.AsType[*os.PathError](err); ok {
		return nil, 0, err.Err // without the path, which the message already contains
	}
	if err != nil {
		return nil, 0, err
	}
	info, err := file.Stat()
	switch {
	case err != nil:
		return nil, 0, errors.Join(err, file.Close())
	case info.IsDir():
		return nil, 0, errors.Join(errors.New("it is a directory"), file.Close())
	}
	return file, info.Size(), nil
}

// String returns the dump's name in messages.
func (d *dumped) String() string {
	var names []string
	for _, file := range d.files {
		names = append(names, name(file))
	}
	return suggest.Listed(names, "and")
}

// name returns the name of a file in messages.
func name(file string) string {
	if file == "-" {
		return "the standard input"
	}
	return file
}

// howToWrite is the next step if the dump can't be used. It suggests a file that does not exist yet, so that no file
// is overwritten.
func (d *dumped) howToWrite() string {
	fresh := "dump.json"
	for i := 2; d.taken(fresh); i++ {
		fresh = fmt.Sprintf("dump-%d.json", i)
	}
	return "write it with 'kubectl get nodes,pods,pdb -A -o json > " + fresh + "'"
}

func (d *dumped) taken(name string) bool {
	_, err := os.Lstat(name)
	return err == nil || slices.Contains(d.files, name)
}

// hint does not suggest the kubectl command, because the answer depends on the dump.
func (d *dumped) hint(string) string { return "ask for what is in it, or " + d.howToWrite() }

// joined joins clauses into one.
func joined(clauses []string) string { return strings.Join(clauses, "; and ") }
