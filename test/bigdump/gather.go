package bigdump

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Form is how the objects of a cluster are written: [Cluster.JSON] or [Cluster.YAML].
type Form func(Cluster) (io.Reader, error)

// MustGather returns the cluster as "oc adm must-gather" writes it, in a tar archive: the nodes, the pods, and then
// each pod again with a log of this many bytes, which repeats a pod's text. Each other file is a List in this form.
func (c Cluster) MustGather(in Form, log int) (io.Reader, error) {
	nodes, err1 := list(Cluster{Nodes: c.Nodes}, in, 0)
	pods, err2 := list(c, in, c.Nodes)
	one, err3 := in(c)
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, err
	}
	const root = "must-gather/"
	nodes.name, pods.name = root+"cluster-scoped-resources/core/nodes.yaml", root+"namespaces/shop/core/pods.yaml"
	objects := one.(*reader)
	printed := strings.Repeat(objects.podOf(0), log/len(objects.podOf(0))+1)[:log]
	return &archive{entry: strings.NewReader(""), file: func(number int) (f file, ok bool) {
		pod := (number - 2) / 2
		name := fmt.Sprintf("%snamespaces/shop/pods/pod-%d/", root, pod)
		switch {
		case number == 0:
			return nodes, true
		case number == 1:
			return pods, true
		case pod == c.Nodes*c.PodsPerNode:
			return file{}, false
		case number%2 == 0:
			text := objects.next + objects.podOf(pod) + objects.ending
			return file{name + "pod.yaml", int64(len(text)), strings.NewReader(text)}, true
		}
		return file{name + "c/c/logs/current.log", int64(log), strings.NewReader(printed)}, true
	}}, nil
}

// list returns a file with the objects of a cluster, from number first on. It generates them twice, because a tar
// archive has the size of a file before its text.
func list(c Cluster, in Form, first int) (file, error) {
	counted, err1 := in(c)
	text, err2 := in(c)
	if err := errors.Join(err1, err2); err != nil {
		return file{}, err
	}
	counted.(*reader).written, text.(*reader).written = first, first
	size, err := io.Copy(io.Discard, counted)
	return file{size: size, text: text}, err
}

// file is a file of an archive.
type file struct {
	name string
	size int64
	text io.Reader
}

// archive is a tar archive whose files are generated while it is read.
type archive struct {
	file   func(number int) (f file, ok bool)
	number int       // of the next file
	entry  io.Reader // what Read reads from
	ended  bool      // entry is the end mark
}

func (a *archive) Read(p []byte) (int, error) {
	for {
		n, err := a.entry.Read(p)
		switch {
		case n > 0:
			return n, nil
		case a.ended || !errors.Is(err, io.EOF):
			return 0, err
		}
		if err := a.open(); err != nil {
			return 0, err
		}
	}
}

// open opens the next file or, after the last one, the end mark.
func (a *archive) open() error {
	const block = 512
	f, ok := a.file(a.number)
	if !ok {
		a.entry, a.ended = bytes.NewReader(make([]byte, 2*block)), true
		return nil
	}
	a.number++
	var header bytes.Buffer
	if err := tar.NewWriter(&header).WriteHeader(&tar.Header{Name: f.name, Mode: 0o644, Size: f.size}); err != nil {
		return fmt.Errorf("writing a header: %w", err)
	}
	a.entry = io.MultiReader(&header, f.text, bytes.NewReader(make([]byte, -f.size&(block-1))))
	return nil
}
