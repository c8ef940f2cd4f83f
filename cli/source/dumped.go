package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"

	"github.com/taint-manager/taint-manager/cli/flags"
	"github.com/taint-manager/taint-manager/internal/dump"
	"github.com/taint-manager/taint-manager/internal/foresight"
)

// dumped is a cluster in files; "-" is the standard input.
type dumped struct {
	files    []string
	in       io.Reader // for "-"
	location location

	pages      *foresight.Journal
	newest     time.Time // latest time in the dump that is not after now
	budgets    int
	events     int
	namespaces []string // that are objects of the dump
	others     []string // names of the pods other than the one of the scope
	elsewhere  []string // pods of that name in other namespaces
}

// oldAfter is the age from which a dump is evaluated as of its own time.
const oldAfter = 10 * time.Minute

func (d *dumped) read(_ context.Context, s *Scope, to *foresight.Builder) (r foresight.Reading, err error) {
	now := time.Now()
	d.pages = d.location.none()
	d.pages.Lease.Unknown = d.String() + " has no Lease of a manager"
	visit := d.visitor(s, to, now)
	for _, file := range d.files {
		if err := d.readFile(file, visit); err != nil {
			return r, err
		}
	}
	r.Dumped, r.At, r.Newest, r.Journal = true, now.Truncate(time.Second), d.newest, d.pages
	if !d.newest.IsZero() && now.Sub(d.newest) > oldAfter {
		r.At, r.Aged = d.newest, true
	}
	if d.pages.Now = d.newest; d.newest.IsZero() {
		d.pages.Now = r.At
	}
	r.AsRunning = s.Running != nil
	if err := s.judge(d.pages, to); err != nil {
		return r, err
	}
	if !s.Scheduled && !s.NoBudgets && d.budgets == 0 {
		r.BudgetsUnknown = d.String() + " has no PodDisruptionBudgets"
	}
	if d.events == 0 {
		r.EventsUnknown = d.String() + " has no events"
	}
	if in := to.Namespaces(); len(in) == 1 && s.Pod == "" && s.Focus.Namespace == "" {
		r.Warnings = []string{fmt.Sprintf("all pods in %s are in namespace %s: was -A left out?", d, in[0])}
	}
	return r, d.check(s, to, &r)
}

// visitor adds the objects of the scope.
func (d *dumped) visitor(s *Scope, to *foresight.Builder, now time.Time) dump.Visit {
	inQuestion := func(namespace, name string) bool {
		return s.Pod == "" || name == s.Pod && (s.Focus.Namespace == "" || s.Focus.Namespace == namespace)
	}
	return func(object any, times []time.Time) {
		for _, t := range times {
			if t.After(d.newest) && !t.After(now) {
				d.newest = t
			}
		}
		switch o := object.(type) {
		case *v1.ConfigMap:
			d.addPage(o)
		case *coordinationv1.Lease:
			d.addLease(o)
		case *v1.Namespace:
			d.namespaces = append(d.namespaces, o.Name)
		case *policyv1.PodDisruptionBudget:
			if s.Scheduled {
				return
			}
			d.budgets++
		case *v1.Pod:
			if !inQuestion(o.Namespace, o.Name) {
				d.addOther(s, o)
				return
			}
		case *v1.Event:
			d.events++
			of, shows := o.InvolvedObject, s.Pod != "" || s.Scheduled && o.Reason == foresight.EvictionReason
			if !shows || of.Kind != "Pod" || !inQuestion(of.Namespace, of.Name) {
				return
			}
		}
		to.Add(object)
	}
}

// addOther notes a pod that is not the one of the scope.
func (d *dumped) addOther(s *Scope, p *v1.Pod) {
	if p.Name == s.Pod {
		d.elsewhere = append(d.elsewhere, p.Namespace+"/"+p.Name)
	}
	d.others = append(d.others, p.Name)
}

func (d *dumped) readFile(file string, to dump.Visit) error {
	err := d.visit(file, to)
	if failed, ok := errors.AsType[*os.PathError](err); ok {
		return fmt.Errorf("%s can't be read: %w; %s", name(file), failed.Err, howToWrite)
	}
	if err != nil {
		return fmt.Errorf("%s can't be used: %w; %s", name(file), err, howToWrite)
	}
	return nil
}

func (d *dumped) visit(file string, to dump.Visit) error {
	if file == "-" {
		return dump.Read(d.in, to)
	}
	opened, err := os.Open(file)
	if err != nil {
		return err
	}
	defer opened.Close()
	return dump.Read(opened, to)
}

// check returns an error if the dump has no nodes or no pods, or lacks those of the scope. It notes a namespace without
// pods that is in the dump.
func (d *dumped) check(s *Scope, of *foresight.Builder, r *foresight.Reading) error {
	namespace := s.Focus.Namespace
	switch {
	case s.Pod != "":
		return d.checkPod(s, of.Find(s.Pod))
	case !of.HasNodes():
		return fmt.Errorf("%s has no nodes, so taints are unknown; %s", d, howToWrite)
	case of.Pods("") == 0:
		return fmt.Errorf("%s has no pods; %s", d, howToWrite)
	case namespace != "" && of.Pods(namespace) == 0 && slices.Contains(d.namespaces, namespace):
		r.Notes = append(r.Notes, "there are no pods in namespace "+namespace)
	case namespace != "" && of.Pods(namespace) == 0:
		return fmt.Errorf("%s has no pods in "+
			"namespace %s%s; %s", d, namespace, flags.Nearest(namespace, of.Namespaces()), d.Hint(""))
	}
	return s.checkNodes(of, d)
}

// checkPod returns an error unless there is one pod of that name. The pod may be known only from an event.
func (d *dumped) checkPod(s *Scope, namespaces []string) error {
	switch {
	case len(namespaces) > 1:
		return fmt.Errorf("there are pods %s in the namespaces %s of %s; choose one "+
			"with --namespace", s.Pod, flags.JoinWords(namespaces, "and"), d)
	case len(namespaces) == 1:
		return nil
	}
	return s.noPod(d, d.others, d.elsewhere, d.Hint(""))
}

// String returns the dump's name in messages.
func (d *dumped) String() string {
	var names []string
	for _, file := range d.files {
		names = append(names, name(file))
	}
	return flags.JoinWords(names, "and")
}

// name returns the name of a file in messages.
func name(file string) string {
	switch file {
	case "-":
		return "the standard input"
	case "":
		return `--filename=""`
	}
	return file
}

// howToWrite is the next step if the dump can't be used. It names no file, so that no file is overwritten.
const howToWrite = "create a dump with 'kubectl get nodes,pods,pdb -A -o json > FILE'"

// Hint does not suggest the kubectl command, because the answer depends on the dump.
func (d *dumped) Hint(string) string { return "check the name, or " + howToWrite }
