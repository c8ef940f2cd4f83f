package dump

import (
	"bufio"
	"bytes"
	"encoding/json"
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

	objects     int // that are read
	visit       Visit
	nodes       map[string]bool // folders whose files have nodes
	nodesFiles  map[string]bool // folders of files named "nodes"
	podsFolders map[string]bool // folders of the folders of files named "pods"
	lists       map[string]bool // namespaces that have a list of pods
}

// Hole is what may be missing in a collection.
type Hole struct {
	What      string // a clause
	Namespace string // the only one that it concerns; empty if that is not known
}

// collection returns the collection to which a file belongs.
func (t *Tree) collection(p place) *Collection {
	tool, folder := toolOf(p.path)
	root := ""
	switch {
	case tool != nil || p.archive != "":
		root = path.Join(p.argument, p.archive, folder)
	case p.path == "":
		root = t.joined
	}
	c := t.Collections[root]
	if c == nil {
		c = &Collection{
			Root: root, Tool: tool, visit: t.visit(root), nodes: map[string]bool{}, nodesFiles: map[string]bool{},
			podsFolders: map[string]bool{}, lists: map[string]bool{},
		}
		t.Collections[root] = c
	}
	return c
}

// Join makes the collection of this root the one to which files belong that are given alone.
func (t *Tree) Join(root string) { t.joined = root }

// Lacks reports whether a namespace has no list of pods where the tool writes one for each.
func (c *Collection) Lacks(namespace string) bool {
	return c.Tool != nil && c.Tool.pods != "" && !c.lists[namespace]
}

// IsEmpty reports whether nothing was found that matters.
func (c *Collection) IsEmpty() bool { return c.objects == 0 && len(c.Holes) == 0 }

// HasNodes reports whether the collection has nodes.
func (c *Collection) HasNodes() bool { return len(c.nodes) > 0 }

// text reads a file of objects. An error in a file that was given alone is returned; in a folder or an archive it is a
// hole if the file may have had objects that are read, and otherwise the file is skipped.
func (t *Tree) text(p place, r *bufio.Reader) error {
	c, alone := t.collection(p), p.path == ""
	if writesErrors(c.Tool, p.path) {
		return c.addErrors(p, r)
	}
	ahead, _ := r.Peek(r.Size()) // the next read returns an error again
	promising := wantedBegins.Match(ahead) || wantedNames[stem(p.path)]
	c.notePlace(p)
	to := &receiver{loose: !alone, nulls: c.Tool != nil && c.Tool.nulls, to: func(object any, times []time.Time) {
		c.objects++
		c.noteNode(p, object)
		c.visit(object, times)
	}}
	to.hole = func(h Hole) {
		h.What = p.String() + ": " + h.What
		c.Holes = append(c.Holes, h)
	}
	err := read(r, to)
	if to.logs {
		c.Tool = &clusterInfo
	}
	switch {
	case err == nil, !alone && to.wanted == 0 && !promising:
		return nil
	case alone:
		return err
	}
	to.hole(Hole{What: err.Error() + ", so objects may be missing"})
	return nil
}

// noteNode takes note of the folder of a node's file.
func (c *Collection) noteNode(p place, object any) {
	if _, ok := object.(*v1.Node); !ok {
		return
	}
	folder := path.Dir(p.inner())
	if path.Base(folder) == "nodes" { // a file for each
		folder = path.Dir(folder)
	}
	c.nodes[folder] = true
}

// notePlace takes note of the names by which the output of cluster-info dump is recognized.
func (c *Collection) notePlace(p place) {
	if c.Tool != nil && matches(c.Tool.pods, path.Base(path.Dir(p.path))) {
		c.lists[stem(p.path)] = true
	}
	switch folder := path.Dir(p.inner()); stem(p.path) {
	case "nodes":
		c.nodesFiles[folder] = true
	case "pods":
		c.podsFolders[path.Dir(folder)] = true
	}
}

// Recognize recognizes the tool of a collection, after all has been read. It returns an error if the collection has the
// nodes of several clusters or times.
func (c *Collection) Recognize() error {
	if c.Tool != nil {
		return nil
	}
	if len(c.nodes) > 1 && len(c.nodesFiles) > 1 {
		return fmt.Errorf("the folders %s have nodes of their own; give one of them",
			strings.Join(slices.Sorted(maps.Keys(c.nodes)), " and "))
	}
	if len(c.nodesFiles) == 1 && maps.Equal(c.nodesFiles, c.podsFolders) {
		c.Tool = &clusterInfo
	}
	return nil
}

// writesErrors reports whether the tool writes into this file which requests failed.
func writesErrors(t *Tool, name string) bool {
	of := func(pattern string) bool { return matches(pattern, path.Base(name)) }
	return t != nil && slices.ContainsFunc(t.errors, of)
}

// addErrors adds the requests that failed, as the tool wrote them down: as JSON of whatever form, or as lines.
func (c *Collection) addErrors(p place, r io.Reader) error {
	const most = 1 << 20
	text, err := io.ReadAll(io.LimitReader(r, most))
	if err != nil {
		return p.wrong(err)
	}
	var document any
	failed := []string{string(bytes.TrimSpace(text))}
	if json.Unmarshal(text, &document) == nil {
		failed = failures(document, stem(p.path) != "query-time")
	}
	for _, message := range failed {
		if message != "" {
			what := p.String() + ": a request of " + c.Tool.Name + " failed: " + beginning(message, 300)
			c.Holes = append(c.Holes, Hole{What: what})
		}
	}
	return nil
}

// failures returns the messages in a document: all of its texts, or those of members named error.
func failures(document any, all bool) (list []string) {
	switch d := document.(type) {
	case string:
		if all && d != "" {
			list = append(list, d)
		}
	case []any:
		for _, value := range d {
			list = append(list, failures(value, all)...)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(d)) {
			for _, message := range failures(d[name], all || strings.EqualFold(name, "error")) {
				list = append(list, name+": "+message)
			}
		}
	}
	return list
}

// wantedBegins finds a kind that is read, in the beginning of a file.
var wantedBegins = func() *regexp.Regexp {
	var kinds []string
	for i := range wanted {
		kinds = append(kinds, wanted[i].kind)
	}
	return regexp.MustCompile(`\bkind"?: *"?(` + strings.Join(kinds, "|") + `)(List)?\b`)
}()

// wantedNames are the names of files that have nothing but objects that matter.
var wantedNames = map[string]bool{
	"nodes": true, "pods": true, "poddisruptionbudgets": true, "core_v1_nodes": true, "core_v1_pods": true,
}
