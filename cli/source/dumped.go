package source

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"

	"github.com/taint-manager/taint-manager/cli/flags"
	"github.com/taint-manager/taint-manager/device"
	"github.com/taint-manager/taint-manager/internal/dump"
	"github.com/taint-manager/taint-manager/internal/foresight"
	"github.com/taint-manager/taint-manager/internal/hint"
	"github.com/taint-manager/taint-manager/taint"
)

// dumped is a cluster in files, folders and archives; "-" is the standard input.
type dumped struct {
	files    []string
	in       io.Reader // for "-"
	location location
	version  device.Version // of Kubernetes; 0 if it is unknown
}

// collected is what was read from one [dump.Collection] of a dump.
type collected struct {
	*dumped
	to *foresight.Builder

	pages      *foresight.Journal // from the ConfigMaps of the journal and the Lease
	allPages   bool               // the dump lists the ConfigMaps of the journal's namespace
	newest     time.Time          // latest time in the dump that is not after now
	budgets    int
	events     int
	namespaces []string        // that are objects of the dump
	others     []string        // names of the pods other than the one of the scope
	elsewhere  []string        // pods of that name in other namespaces
	podsIn     map[string]bool // namespaces of pods
}

// oldAfter is the age from which on a dump is evaluated as of its own time.
const oldAfter = 10 * time.Minute

func (d *dumped) read(_ context.Context, s *Scope, to *foresight.Builder) (r foresight.Reading, err error) {
	now := time.Now()
	all := map[string]*collected{}
	tree := dump.NewTree(func(root string) dump.Visit {
		c := &collected{dumped: d, to: to.New(dump.Masked), pages: d.location.none(), podsIn: map[string]bool{}}
		c.pages.Lease.Unknown = d.String() + " has no Lease of a manager"
		if s.Pod != "" && (s.Running != nil || s.Rules.Limited()) {
			c.to.SetWholeCluster(c.to.WholeCluster())
		}
		all[root] = c
		return c.visitor(s, now)
	})
	newest := func() (last string) {
		age := func(a, b string) int { return all[a].newest.Compare(all[b].newest) }
		without := func(root string) bool { return tree.Collections[root].Nodes == 0 }
		with := slices.DeleteFunc(slices.Sorted(maps.Keys(all)), without)
		if len(with) == 0 {
			return ""
		}
		return slices.MaxFunc(with, age)
	}
	if err := d.readFiles(tree, newest); err != nil {
		return r, err
	}
	from, err := d.choose(tree, all, newest(), &r)
	if err != nil {
		return r, err
	}
	c := all[from.Root]
	err = c.finish(s, from, now, &r)
	*to = *c.to
	return r, err
}

// readFiles reads folders and archives first: a file that is given in addition belongs to the newest collection.
func (d *dumped) readFiles(tree *dump.Tree, newest func() string) error {
	var last []string
	for _, file := range d.files {
		if info, err := os.Stat(file); err == nil && !info.IsDir() && !dump.IsArchive(file) || file == "-" {
			last = append(last, file)
		} else if err := d.readFile(file, tree); err != nil {
			return err
		}
	}
	tree.Joined = newest()
	for _, file := range last {
		if err := d.readFile(file, tree); err != nil {
			return err
		}
	}
	return nil
}

func (d *dumped) readFile(file string, to *dump.Tree) error {
	err := d.visit(file, to)
	if failed, ok := errors.AsType[*os.PathError](err); ok && failed.Path == file {
		return hint.Add(fmt.Errorf("cannot read %s: %w", FileName(file), failed.Err), howToWrite)
	}
	if err != nil {
		return hint.Add(fmt.Errorf("cannot use %s: %w", FileName(file), err), howToWrite)
	}
	return nil
}

func (d *dumped) visit(file string, to *dump.Tree) error {
	if file == "-" {
		return to.File(FileName(file), d.in)
	}
	opened, err := os.Open(file)
	if err != nil {
		return err
	}
	defer opened.Close()
	if info, err := opened.Stat(); err != nil || !info.IsDir() {
		return to.File(file, opened)
	}
	root, err := os.OpenRoot(file)
	if err != nil {
		return err
	}
	defer root.Close()
	return to.Folder(file, root.FS())
}

// choose returns the newest collection, and adds a note about the others. It does not combine them, because their nodes
// and pods would be of different times. If none has nodes, there must be only one.
func (d *dumped) choose(
	tree *dump.Tree, all map[string]*collected, newest string, r *foresight.Reading,
) (*dump.Collection, error) {
	maps.DeleteFunc(tree.Collections, func(_ string, c *dump.Collection) bool {
		return c.Objects == 0 && len(c.Holes) == 0
	})
	dated := func(root string) string {
		if t := all[root].newest; !t.IsZero() {
			return cmp.Or(root, "the rest") + " of " + taint.Stamp(t)
		}
		return cmp.Or(root, "the rest")
	}
	var others []string
	var holes []dump.Hole // gaps that belong to no collection
	for _, root := range slices.Sorted(maps.Keys(tree.Collections)) {
		c := tree.Collections[root]
		if err := c.Recognize(); err != nil {
			return nil, hint.Add(fmt.Errorf("cannot use %s: %w", d, err), "Specify only one of these folders.")
		}
		switch {
		case root == newest:
		case c.Nodes > 0:
			others = append(others, dated(root))
		case c.Objects > 0:
			unused := fmt.Sprintf("%s has no nodes of its own and was not used", cmp.Or(root, "the rest"))
			r.Missing = append(r.Missing, unused)
		default:
			holes = append(holes, c.Holes...)
		}
	}
	chosen := tree.Collections[newest]
	switch {
	case len(tree.Collections) == 1:
		for _, c := range tree.Collections {
			chosen, r.Missing, holes = c, nil, nil
		}
	case chosen == nil:
		return nil, hint.Add(fmt.Errorf("%s has no nodes, so taints are unknown", d), howToWrite)
	case len(others) > 0:
		r.Notes = append(r.Notes, fmt.Sprintf("%s has %d collections; only the newest was used (%s), and not %s", d,
			len(others)+1, dated(newest), flags.JoinWords(others, "and")))
	}
	chosen.Holes = append(chosen.Holes, holes...)
	return chosen, nil
}

// finish completes the reading, and returns an error if what was read can't answer the question.
func (c *collected) finish(s *Scope, from *dump.Collection, now time.Time, r *foresight.Reading) error {
	r.Dumped, r.At, r.Newest, r.Journal = true, now.Truncate(time.Second), c.newest, c.pages
	if !c.newest.IsZero() && now.Sub(c.newest) > oldAfter {
		r.At, r.Aged = c.newest, true
	}
	if c.pages.Now = c.newest; c.newest.IsZero() {
		c.pages.Now = r.At
	}
	if c.allPages {
		c.pages.Complete()
	}
	r.AsRunning, r.Kubernetes = s.Running != nil, c.version
	if err := s.judge(c.pages, c.to); err != nil {
		return err
	}
	if c.budgets == 0 && !s.Scheduled && !s.NoBudgets {
		r.BudgetsUnknown = c.String() + " has no PodDisruptionBudgets"
	}
	if c.events == 0 {
		r.EventsUnknown = c.String() + " has no events"
	}
	c.addHoles(s, from, r)
	err := c.check(s, c.to, r)
	if may := r.MayLackPods(); err != nil && may != "" {
		return fmt.Errorf("%w; the dump may be incomplete: %s", err, may)
	}
	return err
}

// addHoles records what may be missing from the dump. If that may change the answer, the answer is incomplete.
func (c *collected) addHoles(s *Scope, from *dump.Collection, r *foresight.Reading) {
	for _, h := range from.Holes {
		addHole(r, h.What, h.Namespace == "" || s.Focus.Namespace == "" || s.Focus.Namespace == h.Namespace)
	}
	if r.PodNamespaces = from.PodLists; len(from.PodLists) > 1 {
		delete(from.PodLists, "") // the namespace of an empty list is unknown
	}
	in := slices.Sorted(maps.Keys(c.podsIn))
	tool := from.Tool
	if tool == nil {
		if len(in) == 1 && s.Pod == "" && s.Focus.Namespace == "" {
			r.Warnings = append(r.Warnings, fmt.Sprintf("all pods in %s are in namespace %s: was 'kubectl get' run without -A?", c,
				in[0]))
		}
		return
	}
	maps.Copy(c.podsIn, from.Namespaces) // the dump has a list of their pods, which may be empty
	delete(c.podsIn, "")
	in = slices.Sorted(maps.Keys(c.podsIn))
	r.PodNamespaces = c.podsIn
	maps.DeleteFunc(r.PodNamespaces, func(name string, _ bool) bool { return from.Lacks(name) })
	unusual := func(name string) bool { return !slices.Contains(tool.Namespaces, name) }
	switch {
	case tool.Namespaces != nil && !slices.ContainsFunc(in, unusual):
		what := fmt.Sprintf("%s has pods of the namespaces %s only, which is all that %s writes without %s", c,
			flags.JoinWords(tool.Namespaces, "and"), tool.Name, tool.Flag)
		addHole(r, what, unusual(s.Focus.Namespace))
	case !from.Namespaces[""]:
		addHole(r, fmt.Sprintf("%s has pods of the namespaces %s; if there are others, their pods are missing", c,
			foresight.ShortList(in)), s.Focus.Namespace == "" && s.Pod == "" && !s.Scheduled)
	}
	slices.Sort(c.namespaces) // one may be in two files
	lacking := slices.DeleteFunc(slices.Compact(c.namespaces), func(name string) bool {
		return !from.Lacks(name) || s.Focus.Namespace != "" && s.Focus.Namespace != name
	})
	if len(lacking) > 0 {
		r.Missing = append(r.Missing, fmt.Sprintf("%s has no list of pods of the namespaces %s", c,
			foresight.ShortList(lacking)))
	}
	if tool.Lacks != "" {
		r.Notes = append(r.Notes, tool.Name+" writes no "+tool.Lacks)
	}
	if tool.LeavesOut != "" {
		r.PodsLeftOut = tool.Name + " leaves out " + tool.LeavesOut
		r.Notes = append(r.Notes, r.PodsLeftOut)
	}
}

// addHole records what may be missing; only in a note if it can't change the answer.
func addHole(r *foresight.Reading, what string, matters bool) {
	if matters {
		r.Missing = append(r.Missing, what)
	} else {
		r.Notes = append(r.Notes, what)
	}
}

// visitor returns a function that adds the objects of the scope.
func (c *collected) visitor(s *Scope, now time.Time) dump.Visit {
	inQuestion := func(namespace, name string) bool {
		return s.Pod == "" || name == s.Pod && (s.Focus.Namespace == "" || s.Focus.Namespace == namespace)
	}
	return func(object any, times []time.Time) {
		for _, t := range times {
			if t.After(c.newest) && !t.After(now) {
				c.newest = t
			}
		}
		switch o := object.(type) {
		case *v1.ConfigMap:
			c.addPage(o)
		case *coordinationv1.Lease:
			c.addLease(o)
		case *v1.Namespace:
			c.namespaces = append(c.namespaces, o.Name)
		case *policyv1.PodDisruptionBudget:
			if s.Scheduled {
				return
			}
			c.budgets++
		case *v1.Pod:
			c.podsIn[o.Namespace] = true
			if !inQuestion(o.Namespace, o.Name) {
				c.addOther(s, o)
				c.to.AddElsewhere(o)
				return
			}
		case *v1.Event:
			c.events++
			of, shows := o.InvolvedObject, s.Pod != "" || s.Scheduled && o.Reason == foresight.EvictionReason
			if !shows || of.Kind != "Pod" || !inQuestion(of.Namespace, of.Name) {
				return
			}
		}
		c.to.Add(object)
	}
}

// addOther records a pod that is not the pod of the scope.
func (c *collected) addOther(s *Scope, p *v1.Pod) {
	if p.Name == s.Pod {
		c.elsewhere = append(c.elsewhere, p.Namespace+"/"+p.Name)
	}
	c.others = append(c.others, p.Name)
}

// check returns an error if the dump has no nodes or no pods, or lacks those of the scope. It adds a note about a
// namespace of the dump that has no pods.
func (c *collected) check(s *Scope, of *foresight.Builder, r *foresight.Reading) error {
	namespace := s.Focus.Namespace
	switch {
	case s.Pod != "":
		return c.checkPod(s, of.Find(s.Pod))
	case !of.HasNodes():
		return hint.Add(fmt.Errorf("%s has no nodes, so taints are unknown", c), howToWrite)
	case of.Pods("") == 0:
		return hint.Add(fmt.Errorf("%s has no pods", c), howToWrite)
	case namespace != "" && of.Pods(namespace) == 0 && slices.Contains(c.namespaces, namespace):
		r.Notes = append(r.Notes, c.String()+" has no pods in namespace "+namespace)
	case namespace != "" && of.Pods(namespace) == 0:
		return hint.Add(fmt.Errorf("%s has no pods in namespace %s%s", c, namespace,
			flags.Nearest(namespace, of.Namespaces())), "%s", c.Hint(""))
	}
	return s.checkNodes(of, c)
}

// checkPod returns an error unless there is one pod of that name. The pod may be known only from an event.
func (c *collected) checkPod(s *Scope, namespaces []string) error {
	switch {
	case len(namespaces) > 1:
		err := fmt.Errorf("%s has a pod %s in the namespaces %s", c, s.Pod, flags.JoinWords(namespaces, "and"))
		return hint.Add(err, "Choose one with --namespace.")
	case len(namespaces) == 1:
		return nil
	}
	return s.noPod(c, c.others, c.elsewhere, c.Hint(""))
}

// String returns the dump's name in messages.
func (d *dumped) String() string {
	const most = 3
	var names []string
	for _, file := range d.files[:min(most, len(d.files))] {
		names = append(names, FileName(file))
	}
	if more := len(d.files) - most; more > 0 {
		names = append(names, foresight.Count(more, "more file"))
	}
	return flags.JoinWords(names, "and")
}

// FileName returns the name of a file in messages.
func FileName(file string) string {
	switch file {
	case "-":
		return "STDIN" // as in messages of kubectl
	case "":
		return `--filename=""`
	}
	return file
}

// howToWrite is the next step if the dump can't be used. It names no file, so that no file is overwritten.
const howToWrite = "Create a dump with " + dumpCommand + "."

const dumpCommand = "'kubectl get nodes,pods,pdb -A -o json > FILE'"

// Hint does not suggest the kubectl command, because the answer depends on the dump.
func (d *dumped) Hint(string) string {
	return "Check the name, or create a new dump with " + dumpCommand + "."
}
