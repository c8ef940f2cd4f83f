package dump

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
)

// Collection is what one tool wrote into one folder or archive, at one time.
type Collection struct {
	Root  string // the path of the folder or archive; empty for files that the user says to belong together
	Tool  *Tool  // nil if it is not known
	Holes []Hole

	AllNamespaces bool // all are listed

	// PodLists has the namespaces of the pods that are in a list or an array, and "" if a PodList has no items.
	PodLists map[string]bool

	objects    int // that are read
	visit      Visit
	nodes      map[string]bool // folders with nodes; false: they are in files that the user has given one by one
	pods       map[string]bool // folders with pods, false as for nodes; empty if the tool is known
	podFiles   map[string]bool // folders of files named "pods"
	namespaces map[string]bool // whose pods the tool has read
}

// Hole is what may be missing in a collection.
type Hole struct {
	What      string // a clause
	Namespace string // the only one that it concerns; empty if that is not known
	Skipped   string // the kind of an object that was skipped; empty if it may be any number of objects
}

// collection returns the collection to which a file belongs.
func (t *Tree) collection(p place) *Collection {
	tool, folder, below := toolOf(p.path)
	root := ""
	switch {
	case tool != nil || p.archive != "":
		root = path.Join(p.argument, p.archive, folder)
	case p.path == "":
		root = t.Joined
	}
	c := t.Collections[root]
	if c == nil {
		c = &Collection{
			Root: root, Tool: tool, visit: t.visit(root),
			nodes: map[string]bool{}, pods: map[string]bool{}, podFiles: map[string]bool{},
			namespaces: map[string]bool{}, PodLists: map[string]bool{},
		}
		t.Collections[root] = c
	}
	if tool != nil {
		if namespace, ok := within(below, tool.namespace); ok {
			c.namespaces[namespace] = true
		}
		_, all := within(below, tool.namespaces)
		c.AllNamespaces = c.AllNamespaces || all
	}
	if stem(p.path) == "pods" {
		c.podFiles[p.folder()] = true
	}
	return c
}

// Lacks reports whether a list of the pods of a namespace is missing, although the tool writes one for each namespace.
func (c *Collection) Lacks(namespace string) bool {
	return c.Tool != nil && c.Tool.namespace != "" && !c.namespaces[namespace]
}

// Namespaces returns the namespaces whose pods the tool has read, as far as the places of files show it.
func (c *Collection) Namespaces() []string { return slices.Sorted(maps.Keys(c.namespaces)) }

// HasObjects reports whether the collection has objects that are read.
func (c *Collection) HasObjects() bool { return c.objects > 0 }

// HasNodes reports whether the collection has nodes.
func (c *Collection) HasNodes() bool { return len(c.nodes) > 0 }

// hole notes what may be missing because of a file.
func (t *Tree) hole(p place, h Hole) {
	c := t.collection(p)
	h.What = p.String() + ": " + h.What
	if len(c.Holes) == mostHoles {
		c.Holes[mostHoles-1] = Hole{What: "more files or objects of " + p.argument + " can't be read"}
		return
	}
	c.Holes = append(c.Holes, h)
}

// text reads a file of objects. An error in a file that was given alone is returned; in a folder or an archive it is a
// hole if the file may have had objects that are read, and otherwise the file is skipped.
func (t *Tree) text(p place, r *bufio.Reader) error {
	c, alone := t.collection(p), p.path == ""
	hole := func(h Hole) { t.hole(p, h) }
	if c.Tool != nil && c.Tool.writesErrors(p.path) {
		return c.Tool.readErrors(r, hole)
	}
	ahead, _ := r.Peek(r.Size()) // the next read returns an error again
	promising := wantedBegins.Match(ahead) || wantedNames[stem(p.path)]
	nulls := c.Tool != nil && c.Tool.nulls
	to := &receiver{by: &t.decoder, loose: !alone, nulls: nulls, hole: hole, pods: c.PodLists}
	folder := p.folder()
	to.to = func(object any, times []time.Time) {
		c.objects++
		switch object.(type) {
		case *v1.Node:
			c.nodes[strings.TrimSuffix(folder, "/nodes")] = !alone // "nodes" has a file for each
		case *v1.Pod:
			if c.Tool == nil { // a tool may write a folder for each pod
				c.pods[folder] = !alone
			}
		}
		c.visit(object, times)
	}
	err := read(r, t.buffer(p.depth+1, nil), to)
	if to.logs {
		c.Tool = &clusterInfo
	}
	switch {
	case alone, errors.Is(err, errTooMuch):
		return err
	case err == nil, to.wanted == 0 && !promising:
		return nil
	}
	hole(Hole{What: err.Error() + ", so objects may be missing"})
	return nil
}

// Recognize recognizes the tool of a collection, after all has been read. It returns an error if the collection has the
// nodes or the pods of several clusters or times.
func (c *Collection) Recognize() error {
	if c.Tool != nil {
		return nil
	}
	alone := func(folder string) bool { return !c.nodes[folder] }
	folders := slices.DeleteFunc(slices.Sorted(maps.Keys(c.nodes)), alone)
	if len(folders) > 1 {
		return fmt.Errorf("the folders %s have nodes of their own; give one of them", strings.Join(folders, " and "))
	}
	for _, folder := range folders {
		if other := c.podsBeside(folder); other != "" {
			return fmt.Errorf("the folders %s and %s have pods of their own; give one of them", folder, other)
		}
	}
	for folder := range c.podFiles {
		if !c.nodes[path.Dir(folder)] {
			return nil
		}
	}
	for folder := range c.podFiles {
		c.Tool = &clusterInfo
		c.namespaces[path.Base(folder)] = true
	}
	return nil
}

// podsBeside returns a folder with pods that do not belong to the folder with the nodes, which has pods, too: in a file
// that has all, or in folders below. It returns "" if there is none.
func (c *Collection) podsBeside(nodes string) string {
	folders := slices.DeleteFunc(slices.Sorted(maps.Keys(c.pods)), func(folder string) bool { return !c.pods[folder] })
	others := slices.DeleteFunc(slices.Clone(folders), func(folder string) bool {
		inside := nodes == "." || strings.HasPrefix(folder+"/", nodes+"/")
		again := c.podFiles[nodes] && c.podFiles[folder] && folder != nodes
		return inside && !again
	})
	if len(others) == 0 || len(others) == len(folders) {
		return ""
	}
	return others[0]
}

// readErrors reads which requests failed, as the tool wrote them down.
func (t *Tool) readErrors(r io.Reader, hole func(Hole)) error {
	const most = 1 << 20
	text, err := io.ReadAll(io.LimitReader(r, most))
	if err != nil {
		return err
	}
	for _, found := range t.failures.FindAllSubmatch(text, mostHoles) {
		message := strings.Join(strings.Fields(string(found[0])), " ")
		hole(Hole{What: "a request of " + t.Name + " failed: " + beginning(message, 300), Namespace: string(found[1])})
	}
	return nil
}

// wantedBegins finds a kind that is read, in the beginning of a file. It begins with letters, so that it is fast.
var wantedBegins = func() *regexp.Regexp {
	var kinds []string
	for i := range wanted {
		kinds = append(kinds, wanted[i].kind)
	}
	return regexp.MustCompile(`kind"?: *"?(` + strings.Join(kinds, "|") + `)(List)?\b`)
}()

// wantedNames are the names of files that have nothing but objects that matter.
var wantedNames = map[string]bool{
	"nodes": true, "pods": true, "events": true, "poddisruptionbudgets": true, "core_v1_nodes": true,
	"core_v1_pods": true,
}
