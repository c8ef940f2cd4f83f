// Package bigdump writes dumps of clusters of any size, as "kubectl get nodes,pods,pdb -A" does, for tests and
// benchmarks. A dump is generated while it is read, and is never in memory as a whole.
package bigdump

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
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

// JSON returns the cluster as "-o json" writes it.
func (c Cluster) JSON() (io.Reader, error) {
	node, pod, err := templates(func(o any) ([]byte, error) {
		text, err := json.MarshalIndent(o, "        ", "    ")
		return append([]byte("        "), text...), err
	})
	return &reader{
		cluster: c, node: node, pod: pod, between: ",\n",
		next:   "{\n    \"apiVersion\": \"v1\",\n    \"items\": [\n",
		ending: "\n    ],\n    \"kind\": \"List\",\n    \"metadata\": {\n        \"resourceVersion\": \"\"\n    }\n}\n",
	}, err
}

// YAML returns the cluster as "-o yaml" writes it.
func (c Cluster) YAML() (io.Reader, error) {
	node, pod, err := templates(func(o any) ([]byte, error) {
		text, err := yaml.Marshal(o)
		return append([]byte("- "), bytes.ReplaceAll(bytes.TrimSpace(text), []byte("\n"), []byte("\n  "))...), err
	})
	return &reader{
		cluster: c, node: node, pod: pod, between: "\n",
		next:   "apiVersion: v1\nitems:\n",
		ending: "\nkind: List\nmetadata:\n  resourceVersion: \"\"\n",
	}, err
}

// template is an object as text, split where its number, node and owner belong.
type template []string

func templates(marshal func(any) ([]byte, error)) (node, pod template, err error) {
	for _, t := range []struct {
		object any
		into   *template
	}{{exampleNode(), &node}, {examplePod(), &pod}} {
		text, err := marshal(t.object)
		if err != nil {
			return nil, nil, fmt.Errorf("writing a template: %w", err)
		}
		*t.into = strings.Split(string(text), "@")
	}
	return node, pod, nil
}

// write writes the object with each "N" at the beginning of a part replaced by its number, "D" by that of its owner
// and "H" by that of its host.
func (t template) write(w *bytes.Buffer, number, owner, host int) {
	w.WriteString(t[0])
	for _, piece := range t[1:] {
		switch piece[0] {
		case 'N':
			fmt.Fprintf(w, "%d", number)
		case 'D':
			fmt.Fprintf(w, "%d", owner)
		case 'H':
			fmt.Fprintf(w, "%d", host)
		}
		w.WriteString(piece[1:])
	}
}

// reader generates one object after the other.
type reader struct {
	cluster   Cluster
	node, pod template
	between   string
	ending    string

	next    string // the text before the next object
	written int    // objects
	ended   bool
	buffer  bytes.Buffer
}

func (r *reader) Read(p []byte) (int, error) {
	for r.buffer.Len() == 0 {
		if r.ended {
			return 0, io.EOF
		}
		r.one()
	}
	return r.buffer.Read(p)
}

// one writes one object, or the text after the last one.
func (r *reader) one() {
	number := r.written - r.cluster.Nodes
	switch {
	case r.written < r.cluster.Nodes:
		r.buffer.WriteString(r.next)
		r.node.write(&r.buffer, r.written, 0, r.written)
	case number < r.cluster.Nodes*r.cluster.PodsPerNode:
		r.buffer.WriteString(r.next)
		r.pod.write(&r.buffer, number, number/replicas, number%r.cluster.Nodes)
	default:
		r.buffer.WriteString(r.ending)
		r.ended = true
	}
	r.next = r.between
	r.written++
}
