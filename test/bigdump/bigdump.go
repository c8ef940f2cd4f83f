// Package bigdump writes dumps of clusters of any size, as "kubectl get nodes,pods,pdb -A" does, for tests and
// benchmarks. A dump is generated while it is read, and is never in memory as a whole.
package bigdump

import (
	"archive/tar"
	"bufio"
	"bytes"
	_ "embed" // for the examples
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// Cluster describes the cluster of a dump. Its nodes are named node-0, node-1 and so on, each with the label
// rack=NUMBER; each has PodsPerNode pods in the namespace shop, which tolerate not-ready and unreachable for 300 s
// and belong to Deployments of 50 replicas.
type Cluster struct {
	Nodes, PodsPerNode int
}

const replicas = 50

// Form is how the objects of a cluster are written: [Cluster.JSON] or [Cluster.YAML].
type Form func(Cluster) (io.Reader, error)

// JSON returns the cluster as "-o json" writes it.
func (c Cluster) JSON() (io.Reader, error) {
	node, err1 := toJSON(exampleNode)
	pod, err2 := toJSON(examplePod)
	return &list{cluster: c, text: text{
		begins: "{\n    \"apiVersion\": \"v1\",\n    \"items\": [\n", node: node, pod: pod, between: ",\n",
		ends: "\n    ],\n    \"kind\": \"List\",\n    \"metadata\": {\n        \"resourceVersion\": \"\"\n    }\n}\n",
	}}, errors.Join(err1, err2)
}

// YAML returns the cluster as "-o yaml" writes it.
func (c Cluster) YAML() (io.Reader, error) {
	return &list{cluster: c, text: text{
		begins: "apiVersion: v1\nitems:\n", node: toItem(exampleNode), pod: toItem(examplePod), between: "\n",
		ends: "\nkind: List\nmetadata:\n  resourceVersion: \"\"\n",
	}}, nil
}

// list is a List that is generated once it is read.
type list struct {
	text
	cluster Cluster
	from    io.Reader // nil before the first Read
}

func (l *list) Read(p []byte) (int, error) {
	if l.from == nil {
		l.from = generated(func(w io.Writer) error { return l.write(w, l.nodes(l.cluster), l.pods(l.cluster)) })
	}
	return l.from.Read(p)
}

// MustGather returns the cluster as "oc adm must-gather" writes it, in a tar archive: the nodes, the pods, and then
// each pod again with a log of this many bytes, which repeats a pod's text. Each other file is a List in this form.
func (c Cluster) MustGather(in Form, log int) (io.Reader, error) {
	whole, err := in(c)
	if err != nil {
		return nil, err
	}
	t := whole.(*list).text
	return generated(func(w io.Writer) error {
		archive := tar.NewWriter(w)
		const root = "must-gather/"
		err1 := t.file(archive, root+"cluster-scoped-resources/core/nodes.yaml", t.nodes(c))
		err2 := t.file(archive, root+"namespaces/shop/core/pods.yaml", t.pods(c))
		if err := errors.Join(err1, err2); err != nil {
			return err
		}
		number := 0
		for pod := range t.pods(c) {
			dir := fmt.Sprintf("%snamespaces/shop/pods/pod-%d/", root, number)
			printed := strings.Repeat(pod, log/len(pod)+1)[:log]
			err1 := t.file(archive, dir+"pod.yaml", slices.Values([]string{pod}))
			err2 := archive.WriteHeader(&tar.Header{Name: dir + "c/c/logs/current.log", Mode: 0o644, Size: int64(log)})
			_, err3 := io.WriteString(archive, printed)
			if err := errors.Join(err1, err2, err3); err != nil {
				return err
			}
			number++
		}
		return archive.Close()
	}), nil
}

// generated returns what a function writes, while it writes it.
func generated(write func(io.Writer) error) io.Reader {
	from, to := io.Pipe()
	go func() {
		buffered := bufio.NewWriterSize(to, 64<<10)
		_ = to.CloseWithError(errors.Join(write(buffered), buffered.Flush())) // always nil
	}()
	return from
}

// The objects: a node of about 4 kB, and a pod of about 8 kB of JSON.
var (
	//go:embed node.yaml
	exampleNode string
	//go:embed pod.yaml
	examplePod string
)

// text is what a List has in one form. A node and a pod are formats of fmt, whose arguments are the object's own
// number, its owner's and its host's.
type text struct{ begins, node, pod, between, ends string }

var format = strings.NewReplacer("%", "%%", "@N", "%[1]d", "@D", "%[2]d", "@H", "%[3]d")

func toJSON(object string) (string, error) {
	plain, err := yaml.YAMLToJSON([]byte(object))
	if err != nil {
		return "", fmt.Errorf("reading an example: %w", err)
	}
	indented := bytes.NewBufferString("        ")
	if err := json.Indent(indented, plain, "        ", "    "); err != nil {
		return "", fmt.Errorf("writing an example: %w", err)
	}
	return format.Replace(indented.String()), nil
}

// toItem writes an object of YAML as an item of a list.
func toItem(object string) string {
	return format.Replace("- " + strings.ReplaceAll(strings.TrimSpace(object), "\n", "\n  "))
}

func (t text) nodes(c Cluster) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := 0; i < c.Nodes && yield(fmt.Sprintf(t.node, i, 0, i)); i++ {
		}
	}
}

func (t text) pods(c Cluster) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := 0; i < c.Nodes*c.PodsPerNode && yield(fmt.Sprintf(t.pod, i, i/replicas, i%c.Nodes)); i++ {
		}
	}
}

// write writes a List of these objects.
func (t text) write(w io.Writer, objects ...iter.Seq[string]) error {
	before := t.begins
	for _, some := range objects {
		for object := range some {
			if _, err := io.WriteString(w, before+object); err != nil {
				return err
			}
			before = t.between
		}
	}
	_, err := io.WriteString(w, t.ends)
	return err
}

// file writes a List as a file of an archive. It generates the List twice, because an archive has the size of a file
// before its text.
func (t text) file(archive *tar.Writer, name string, objects iter.Seq[string]) error {
	var size counter
	err1 := t.write(&size, objects)
	err2 := archive.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(size)})
	return errors.Join(err1, err2, t.write(archive, objects))
}

type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}
