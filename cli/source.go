package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/taint-manager/taint-manager/dump"
)

// source is a cluster to be read: the real one, or a dump.
type source interface {
	// read tells of all objects.
	read(ctx context.Context, to dump.Visitor) error

	// String is how messages name the source.
	String() string

	// next is the next step for who has asked for what is not there, and how to see what is.
	next(kubectl string) string
}

// place is where a cluster is to be read from, as the flags say it.
type place struct{ file string }

func (p *place) flags(fs *pflag.FlagSet) {
	fs.StringVarP(&p.file, "filename", "f", "", "Dump of a cluster: the `FILE` that 'kubectl get nodes,pods,pdb -A -o yaml' (or json) wrote; - is the standard input.")
}

func (p *place) open(cmd *cobra.Command) (source, error) {
	if p.file == "" {
		return nil, errors.New("there is no cluster; give a dump with --filename=FILE")
	}
	return dumped{file: p.file, in: cmd.InOrStdin(), progress: cmd.ErrOrStderr()}, nil
}
