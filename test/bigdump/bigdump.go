// Package bigdump writes dumps of clusters of any size, as "kubectl get nodes,pods,pdb -A" does, for tests and
// benchmarks. A dump is generated while it is read, and is never in memory as a whole.
package bigdump

import (
	"bytes"
	_ "embed" // for the examples
	"encoding/json"
	"errors"
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

// The objects: a node of about 4 kB, and a pod of about 8 kB of JSON.
var (
	//go:embed node.yaml
	exampleNode string
	//go:embed pod.yaml
	examplePod string
)

// format makes an object a format of fmt, whose arguments are its own number, its owner's and its host's.
var format = strings.NewReplacer("%", "%%", "@N", "%[1]d", "@D", "%[2]d", "@H", "%[3]d")

// JSON returns the cluster as "-o json" writes it.
func (c Cluster) JSON() (io.Reader, error) {
	node, err1 := toJSON(exampleNode)
	pod, err2 := toJSON(examplePod)
	return &reader{
		cluster: c, node: node, pod: pod, between: ",\n",
		next:   "{\n    \"apiVersion\": \"v1\",\n    \"items\": [\n",
		ending: "\n    ],\n    \"kind\": \"List\",\n    \"metadata\": {\n        \"resourceVersion\": \"\"\n    }\n}\n",
	}, errors.Join(err1, err2)
}

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

// YAML returns the cluster as "-o yaml" writes it.
func (c Cluster) YAML() (io.Reader, error) {
	return &reader{
		cluster: c, node: toItem(exampleNode), pod: toItem(examplePod), between: "\n",
		next:   "apiVersion: v1\nitems:\n",
		ending: "\nkind: List\nmetadata:\n  resourceVersion: \"\"\n",
	}, nil
}

// toItem writes an object of YAML as an item of a list.
func toItem(object string) string {
	return format.Replace("- " + strings.ReplaceAll(strings.TrimSpace(object), "\n", "\n  "))
}

// reader generates one object after the other.
type reader struct {
	cluster   Cluster
	node, pod string // formats
	between   string
	ending    string

	next    string // the text before the next object
	written int    // objects
	buffer  bytes.Buffer
}

func (r *reader) Read(p []byte) (int, error) {
	if r.buffer.Len() == 0 {
		r.generate()
	}
	return r.buffer.Read(p) // io.EOF after the last object
}

// generate writes one object or, after the last one, the ending.
func (r *reader) generate() {
	number, pods := r.written-r.cluster.Nodes, r.cluster.Nodes*r.cluster.PodsPerNode
	switch {
	case number < 0:
		fmt.Fprintf(&r.buffer, r.next+r.node, r.written, 0, r.written)
	case number < pods:
		r.buffer.WriteString(r.next + r.podOf(number))
	case number == pods:
		r.buffer.WriteString(r.ending)
	}
	r.next = r.between
	r.written++
}

func (r *reader) podOf(number int) string {
	return fmt.Sprintf(r.pod, number, number/replicas, number%r.cluster.Nodes)
}
