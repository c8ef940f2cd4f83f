package inspect

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/taint-manager/taint-manager/cli/terminal"
	"github.com/taint-manager/taint-manager/dump"
)

// dumped is a cluster in a file; "-" is the standard input.
type dumped struct {
	file     string
	in       io.Reader // for "-"
	messages io.Writer
}

// read tells of all objects of the dump. It notes what one might expect in it, and is not there.
func (d dumped) read(_ context.Context, to dump.Visitor) error {
	from, size, err := d.open()
	if err != nil {
		return fmt.Errorf("%s can't be read: %w; %s", d, err, d.howToWrite())
	}
	defer from.Close()
	p := terminal.NewProgress(d.messages, "Reading "+d.String(), size)
	defer p.End()
	pods, budgets := 0, 0
	to.Pod, to.Budget = counting(&pods, to.Pod), counting(&budgets, to.Budget)
	if err := dump.Read(terminal.Reading{Reader: from, Progress: p}, to); err != nil {
		return fmt.Errorf("%s can't be used: %w; %s", d, err, d.howToWrite())
	}
	if pods == 0 {
		note(d.messages, d.String()+" has no pods")
	}
	if budgets == 0 && to.Budget != nil {
		note(d.messages, d.String()+" has no PodDisruptionBudgets")
	}
	return nil
}

// counting counts the calls of tell; nil stays nil.
func counting[T any](n *int, tell func(T)) func(T) {
	if tell == nil {
		return nil
	}
	return func(object T) {
		*n++
		tell(object)
	}
}

func (d dumped) open() (io.ReadCloser, int64, error) {
	if d.file == "-" {
		return io.NopCloser(d.in), 0, nil
	}
	file, err := os.Open(d.file)
	if err, ok := errors.AsType[*os.PathError](err); ok {
		return nil, 0, err.Err // without the path, which the message has named
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

// String is how messages name the dump.
func (d dumped) String() string {
	if d.file == "-" {
		return "the standard input"
	}
	return d.file
}

// howToWrite is the next step wherever the dump is of no use.
func (d dumped) howToWrite() string {
	file, form := d.file, "yaml"
	if file == "-" {
		file = "dump.json"
	}
	if strings.HasSuffix(file, ".json") {
		form = "json"
	}
	return fmt.Sprintf("write it with 'kubectl get nodes,pods,pdb -A -o %s > %s'", form, file)
}

// next does not name the command: it is the dump that counts.
func (d dumped) next(string) string { return "ask for what is in it, or " + d.howToWrite() }
