// Package source reads the input of plan, explain and pending: a live cluster, a dump, the manager's journal, or a
// running manager. It also has the flags for them, and loads the rules by which a command computes verdicts.
package source

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/taint-manager/taint-manager/cli/flags"
	"github.com/taint-manager/taint-manager/device"
	"github.com/taint-manager/taint-manager/internal/foresight"
	"github.com/taint-manager/taint-manager/internal/hint"
	"github.com/taint-manager/taint-manager/internal/journal"
)

// Source is a live cluster or a dump.
type Source interface {
	// String is how messages name the source.
	String() string

	// Hint suggests what to do when the requested object does not exist: for a live cluster, to run that kubectl
	// command.
	Hint(kubectl string) string

	// read adds the objects of the scope, and reads the manager's journal. It returns an error if what was read can't
	// answer the question.
	read(ctx context.Context, s *Scope, to *foresight.Builder) (foresight.Reading, error)
}

// Scope selects the objects that a question needs.
type Scope struct {
	// Rules judge the pods. Compared is another configuration that judges them, too, or nil.
	Rules    foresight.Ruleset
	Compared *foresight.Ruleset

	// Running returns the rules of a manager that runs with this configuration. Nil means that Rules are not those of
	// the running manager.
	Running func(journal.Config) (foresight.Ruleset, error)

	// Focus selects the pods that are kept.
	Focus foresight.Focus

	// Pod is the only pod, by its name; empty for all.
	Pod string

	// Nodes are the nodes whose pods are selected; nil for all.
	Nodes []string

	// At is the time of the question.
	At foresight.Moment

	// Scheduled means that the question is about present evictions only: pods are needed only if a node is tainted, and
	// budgets are not needed.
	Scheduled bool

	// Devices means that taints of devices are needed even if no pod that was read may use a device.
	Devices bool

	// AllPods means that pods are needed even while no node is tainted.
	AllPods bool

	// NoBudgets means that the user says that there are no budgets.
	NoBudgets bool
}

// namespaces reports whether the labels of namespaces are needed.
func (s *Scope) namespaces() bool {
	return s.Rules.Needs().NamespaceLabels || s.Compared != nil && s.Compared.Needs().NamespaceLabels
}

// Load reads the scope, and returns the model that answers questions about it.
func Load(ctx context.Context, from Source, of *Scope) (*foresight.Model, error) {
	s := new(*of) // its rules become those of the manager
	focus := s.Focus
	if s.Pod != "" {
		focus.Namespace = "" // no other pods are read
	}
	to := foresight.NewBuilder(s.Rules, focus)
	read, err := from.read(ctx, s, to)
	if n := to.Budgets(); err == nil && s.NoBudgets && n > 0 {
		err = fmt.Errorf("--no-budgets cannot be used: %s has %s", from, foresight.Count(n, "PodDisruptionBudget"))
	}
	if err != nil {
		return nil, err
	}
	read.From = from.String()
	return to.Load(read, s.At)
}

// checkNodes returns an error if a node of the question does not exist.
func (s *Scope) checkNodes(of *foresight.Builder, from Source) error {
	wanted := s.Nodes
	if s.Focus.Nodes != nil {
		wanted = s.Focus.Nodes.Names
	}
	return WithHint(of.CheckNodes(wanted), from)
}

// WithHint adds the next step to an error about a question that does not fit the cluster.
func WithHint(err error, from Source) error {
	q, ok := errors.AsType[*foresight.QuestionError](err)
	if !ok {
		return err
	}
	return hint.Add(fmt.Errorf("%w in %s%s", err, from, flags.Nearest(q.Typed, q.Names)), "%s", from.Hint(q.Kubectl))
}

// noPod returns the error for a pod that does not exist and that no event names. others are the names of other pods,
// and elsewhere the pods of its name in other namespaces.
func (s *Scope) noPod(from Source, others, elsewhere []string, next string) error {
	meant, name := flags.Nearest(s.Pod, others), s.Pod
	if len(elsewhere) > 0 {
		meant = " (did you mean " + flags.JoinWords(elsewhere, "or") + "?)"
	}
	if s.Focus.Namespace != "" {
		name = s.Focus.Namespace + "/" + name
	}
	return hint.Add(fmt.Errorf("%s has no pod %s%s and no event about it", from, name, meant), "%s", next)
}

// Flags are the flags of a source: of a dump, or of a cluster, which is found as kubectl finds it, by $KUBECONFIG or
// ~/.kube/config, or by the service account of the pod in which the program runs.
type Flags struct {
	Namespace  string
	Everywhere bool // set by --all-namespaces

	// NoBudgets is set if the user says that there are no PodDisruptionBudgets.
	NoBudgets bool

	kubeconfig string
	overrides  clientcmd.ConfigOverrides // of the kubeconfig
	ofCluster  *pflag.FlagSet            // has all flags of the cluster
	files      []string
	kubernetes string // the version of Kubernetes of a dump
	location   location
	userAgent  string
}

// NewFlags returns flags whose client sends the user agent to API servers.
func NewFlags(userAgent string) Flags { return Flags{userAgent: userAgent} }

// Bind adds the flags of the cluster or the dump, and those of the journal.
func (f *Flags) Bind(cluster, journal *pflag.FlagSet) {
	f.bindKube(cluster)
	cluster.StringArrayVarP(&f.files, "filename", "f", nil,
		"Read this dump instead of the cluster: a `FILE` written by \"kubectl get nodes,pods,pdb -A -o json\" (or yaml), "+
			"or a folder or an archive (tar or zip) of such files; \"-\" is standard input. Can be repeated.")
	cluster.StringVar(&f.kubernetes, "kubernetes-version", "", "With -f, the `VERSION` of Kubernetes, such as 1.37, "+
		"which determines which device taints evict pods. Without -f, the version is read from the API server.")
	f.location.flags(journal)
}

// BindNoBudgets adds the flag of commands that read PodDisruptionBudgets.
func (f *Flags) BindNoBudgets(fs *pflag.FlagSet) {
	fs.BoolVar(&f.NoBudgets, "no-budgets", false, "Assume that no PodDisruptionBudget exists. If budgets cannot "+
		"be read and this flag is not set, answers that need them are incomplete (exit code 1).")
}

// Dumped reports whether a dump is given.
func (f *Flags) Dumped() bool { return len(f.files) > 0 }

// Open opens the cluster or the dump, and returns the namespace to use: that of the flag or, if there is none, that of
// a cluster's context, unless everywhere is set. Empty stands for all.
func (f *Flags) Open(cmd *cobra.Command, everywhere bool) (from Source, namespace string, err error) {
	if f.Dumped() {
		d := &dumped{files: f.files, in: cmd.InOrStdin(), location: f.location}
		if f.kubernetes != "" {
			d.version, err = kubernetesVersion(f.kubernetes)
		}
		return d, f.Namespace, err
	}
	return f.Live(everywhere)
}

// kubernetesVersion returns the version that is written as 1.37, v1.37.2 or v1.37.2-vendor.3.
func kubernetesVersion(written string) (device.Version, error) {
	v, err := version.ParseGeneric(written)
	if err != nil || v.Major() != 1 {
		return 0, fmt.Errorf("invalid Kubernetes version %q: must be written as 1.37", written)
	}
	return device.Version(v.Minor()*1000 + min(v.Patch(), 999)), nil
}
