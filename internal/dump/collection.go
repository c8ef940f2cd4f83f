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

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Collection is what one tool wrote into one folder or archive, at one time.
type Collection struct {
	Root  string // the path of the folder or archive; empty for files that the user says to belong together
	Tool  *Tool  // nil if it is not known
	Holes []Hole

	Objects, Nodes int // numbers of those that are read

	// Namespaces are those whose pods the tool has read, as far as the places of files show it. AllNamespaces is set if
	// all are listed.
	Namespaces    map[string]bool
	AllNamespaces bool

	// PodLists has the namespaces of the pods that are in a list or an array, and "" if a PodList has no items.
	PodLists map[string]bool

	visit Visit

	// Folders with nodes, with pods while the tool is not known, and with files named "pods". Files that the user gives
	// one by one do not count.
	nodes, pods, podFiles map[string]bool
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
	case p.alone():
		root = t.Joined
	}
	c := t.Collections[root]
	if c == nil {
		c = &Collection{
			Root: root, Tool: tool, visit: t.visit(root), Namespaces: map[string]bool{}, PodLists: map[string]bool{},
			nodes: map[string]bool{}, pods: map[string]bool{}, podFiles: map[string]bool{},
		}
		t.Collections[root] = c
	}
	if tool != nil {
		if namespace, ok := within(below, tool.namespace); ok {
			c.Namespaces[namespace] = true
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
	return c.Tool != nil && c.Tool.namespace != "" && !c.Namespaces[namespace]
}

// add passes on an object of a file.
func (c *Collection) add(object metav1.Object, listed bool, in place) {
	c.Objects++
	switch object.(type) {
	case *v1.Node:
		c.Nodes++
		if !in.alone() {
			c.nodes[strings.TrimSuffix(in.folder(), "/nodes")] = true // "nodes" has a file for each
		}
	case *v1.Pod:
		if listed {
			c.PodLists[object.GetNamespace()] = true
		}
		if c.Tool == nil && !in.alone() { // a tool may write a folder for each pod
			c.pods[in.folder()] = true
		}
	}
	c.visit(object, times(object))
}

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
func (t *Tree) text(p place, from *bufio.Reader) error {
	c := t.collection(p)
	if c.Tool != nil && c.Tool.writesErrors(p.path) {
		return t.failures(p, c.Tool, from)
	}
	ahead, _ := from.Peek(from.Size()) // the next read returns an error again
	promising := wantedBegins.Match(ahead) || isWanted(stem(p.path))
	r := &reader{
		Decoder: &t.decoder, collection: c, file: p, hole: func(h Hole) { t.hole(p, h) },
		text: &objectLines{from: from, most: largest},
	}
	err := r.all(t.buffer(p.depth+1, r.text))
	if r.text.logs {
		c.Tool = &clusterInfo
	}
	if err == nil || p.alone() || errors.Is(err, errTooMuch) {
		return err
	}
	if r.wanted > 0 || promising {
		r.hole(Hole{What: err.Error() + ", so objects may be missing"})
	}
	return nil
}

// failures notes which requests for objects that are read failed, as the tool wrote them down.
func (t *Tree) failures(p place, tool *Tool, from io.Reader) error {
	const most = 1 << 20
	text, err := io.ReadAll(io.LimitReader(from, most))
	for _, found := range tool.failures.FindAllSubmatch(text, -1) {
		group := func(name string) string { return string(found[tool.failures.SubexpIndex(name)]) }
		if resource := group("resource"); resource == "" || isWanted(resource) {
			message := beginning(strings.Join(strings.Fields(group("message")), " "), 300)
			t.hole(p, Hole{What: "a request of " + tool.Name + " failed: " + message, Namespace: group("namespace")})
		}
	}
	return err
}

// Recognize recognizes the tool of a collection, after all has been read. It returns an error if the collection has the
// nodes or the pods of several clusters or times.
func (c *Collection) Recognize() error {
	if c.Tool != nil {
		return nil
	}
	nodes := slices.Sorted(maps.Keys(c.nodes))
	if len(nodes) > 1 {
		return fmt.Errorf("the folders %s have separate nodes", strings.Join(nodes, " and "))
	}
	for _, folder := range nodes {
		if other := c.podsBeside(folder); other != "" {
			return fmt.Errorf("the folders %s and %s have separate pods", folder, other)
		}
	}
	for folder := range c.podFiles {
		if !c.nodes[path.Dir(folder)] {
			return nil
		}
	}
	for folder := range c.podFiles {
		c.Tool = &clusterInfo
		c.Namespaces[path.Base(folder)] = true
	}
	return nil
}

// podsBeside returns a folder with pods that do not belong to the folder with the nodes, which has pods, too: in a file
// that has all, or in folders below. It returns "" if there is none.
func (c *Collection) podsBeside(nodes string) (other string) {
	belong := false
	for _, folder := range slices.Sorted(maps.Keys(c.pods)) {
		inside := nodes == "." || strings.HasPrefix(folder+"/", nodes+"/")
		again := c.podFiles[nodes] && c.podFiles[folder] && folder != nodes
		if inside && !again {
			belong = true
		} else if other == "" {
			other = folder
		}
	}
	if !belong {
		return ""
	}
	return other
}

// wantedBegins finds a kind that is read, in the beginning of a file. It begins with letters, so that it is fast.
var wantedBegins = func() *regexp.Regexp {
	var kinds []string
	for i := range wanted {
		kinds = append(kinds, wanted[i].kind)
	}
	return regexp.MustCompile(`kind"?: *"?(` + strings.Join(kinds, "|") + `)(List)?\b`)
}()
