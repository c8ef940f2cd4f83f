package dump

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/taint-manager/taint-manager/internal/truncate"
)

// Collection is what one tool wrote into one folder or archive, at one time.
type Collection struct {
	Root           string // the path of the folder or archive; empty for files that the user says to belong together
	Tool           *Tool  // nil if it is not known
	Holes          []Hole
	Objects, Nodes int // numbers of those that are read

	Namespaces map[string]bool // those whose pods the tool has read, as the places of files show it; "" if it lists all
	PodLists   map[string]bool // those of the pods in lists and arrays, and "" if there is a PodList

	visit                 Visit
	nodes, pods, podFiles map[string]bool // folders with nodes, pods, and files named "pods"; of files in folders only
}

// Hole is what may be missing in a collection.
type Hole struct {
	What      string // a clause
	Namespace string // the only one that it concerns; empty if that is not known
}

func (t *Tree) collection(p place) *Collection {
	root := p.root
	if p.alone() {
		root = t.Joined
	}
	c := t.Collections[root]
	if c == nil {
		c = &Collection{
			Root: root, Tool: p.tool, visit: t.visit(root), Namespaces: map[string]bool{}, PodLists: map[string]bool{},
			nodes: map[string]bool{}, pods: map[string]bool{}, podFiles: map[string]bool{},
		}
		t.Collections[root] = c
	}
	if p.tool != nil && p.tool.namespaces != nil {
		if found := p.tool.namespaces.FindStringSubmatch(p.below); found != nil {
			c.Namespaces[found[1]] = true
		}
	}
	if strings.HasPrefix(path.Base(p.path), "pods.") {
		c.podFiles[p.folder()] = true
	}
	return c
}

// Lacks reports whether a list of the pods of a namespace is missing, although the tool writes one for each namespace.
func (c *Collection) Lacks(namespace string) bool {
	return c.Tool != nil && c.Tool.namespaces != nil && !c.Namespaces[namespace]
}

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
	if c.Holes = append(c.Holes, h); len(c.Holes) > mostHoles {
		more := Hole{What: "more files or objects of " + p.argument + " can't be read"}
		c.Holes = append(c.Holes[:mostHoles-1], more)
	}
}

// text reads a file of objects. An error in a file that was given alone is returned; in a folder or an archive it is a
// hole if the file may have had objects that are read, and otherwise the file is skipped.
func (t *Tree) text(p place, from *bufio.Reader) error {
	if p.hasErrors() {
		return t.failures(p, from)
	}
	ahead, _ := from.Peek(from.Size()) // the next read returns an error again
	r := &reader{
		Decoder: &t.decoder, tree: t, collection: t.collection(p), file: p, lines: &objectLines{from: from},
		promising: wantedBegins.Match(ahead) || promises.MatchString(p.path),
	}
	err := r.lines.failure(r.all())
	if r.lines.logs {
		r.collection.Tool = &clusterInfo
	}
	if err == nil || p.alone() || errors.Is(err, errTooMuch) {
		return err
	}
	if r.promising {
		t.hole(p, Hole{What: err.Error() + ", so objects may be missing"})
	}
	return nil
}

// failures notes which requests for objects that are read failed, as the tool wrote them down.
func (t *Tree) failures(p place, from io.Reader) error {
	const most = 1 << 20
	text, err := io.ReadAll(io.LimitReader(from, most))
	pattern := p.tool.failures
	for _, found := range pattern.FindAllSubmatch(text, -1) {
		group := func(name string) string { return string(found[pattern.SubexpIndex(name)]) }
		if resource := group("resource"); resource == "" || wantedNames.MatchString(resource) {
			message := truncate.Text(strings.Join(strings.Fields(group("message")), " "))
			t.hole(p, Hole{What: "a request of " + p.tool.Name + " failed: " + message, Namespace: group("namespace")})
		}
	}
	return err
}

// Recognize recognizes the tool, after all has been read. It returns an error if the collection has the nodes or the
// pods of several clusters or times.
func (c *Collection) Recognize() error {
	nodes := slices.Sorted(maps.Keys(c.nodes))
	if c.Tool != nil || len(nodes) == 0 {
		return nil
	}
	home, pods := nodes[0], slices.Sorted(maps.Keys(c.pods))
	others := slices.DeleteFunc(slices.Clone(pods), func(folder string) bool {
		twice := c.podFiles[home] && c.podFiles[folder] && folder != home // each has all pods
		return !twice && (home == "." || strings.HasPrefix(folder+"/", home+"/"))
	})
	switch {
	case len(nodes) > 1:
		return fmt.Errorf("the folders %s have separate nodes", strings.Join(nodes, " and "))
	case len(others) > 0 && len(others) < len(pods):
		return fmt.Errorf("the folders %s and %s have separate pods", home, others[0])
	}
	for folder := range c.podFiles {
		if c.Tool = nil; path.Dir(folder) != home {
			break
		}
		c.Tool, c.Namespaces[path.Base(folder)] = &clusterInfo, true
	}
	return nil
}
