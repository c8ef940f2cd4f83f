package inspect

import (
	"context"
	"errors"

	"github.com/spf13/pflag"

	"github.com/taint-manager/taint-manager/dump"
)

// source is a cluster to be read: the real one, or a dump.
type source interface {
	// read tells of all objects.
	read(ctx context.Context, to dump.Visitor) error

	// String is how messages name the source.
	String() string

	// next is the next step for who has asked for what is not there: with the real cluster, to look
	// with that command of kubectl.
	next(kubectl string) string
}

// sourceFlags is where a cluster is to be read from, as the flags say it.
type sourceFlags struct {
	kube
	file            string
	journalLocation journalLocation
}

func (p *sourceFlags) flags(fs *pflag.FlagSet) {
	p.kube.flags(fs)
	fs.StringVarP(&p.file, "filename", "f", "",
		"Instead: a dump of the cluster, the `FILE` that 'kubectl get nodes,pods,pdb -A -o yaml' (or json) wrote; - is the standard input.")
}

// check refuses flags that contradict each other.
func (p *sourceFlags) check() error {
	if p.file != "" && (p.kubeconfig != "" || p.context != "") {
		return errors.New("--filename and --kubeconfig or --context exclude each other; give the dump or the cluster")
	}
	return nil
}
