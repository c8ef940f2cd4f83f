package policy

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// index finds the policies that may match a pair by the taint's key, the pod's namespace and a label of the pod, so
// that the others need not be evaluated.
type index struct {
	labels []string            // the keys of the labels by which policies are found
	keyed  map[string]*numbers // policies that name a taint by its exact key
	rest   numbers             // policies that name taints by a prefix, or none
}

// indexedLabels is the number of labels by which policies are found: those that most policies name.
const indexedLabels = 2

// numbers are the numbers of policies.
type numbers struct {
	named map[string]*byLabel // policies that name namespaces without *
	rest  byLabel
}

// byLabel are lists of the numbers of policies, each ascending: those that require one value of an indexed label, by
// that label, and the others.
type byLabel struct {
	labelled map[label][]int32
	rest     []int32
}

type label struct{ key, value string }

func newIndex(policies []compiled) index {
	ix := index{labels: frequentLabels(policies), keyed: map[string]*numbers{}}
	for i := range policies {
		m := &policies[i].match
		if len(m.taints) == 0 {
			ix.add(&ix.rest, int32(i), m)
		}
		for _, t := range m.taints {
			ix.add(ix.of(t), int32(i), m)
		}
	}
	return ix
}

// frequentLabels returns the keys of the labels of which most policies require one value.
func frequentLabels(policies []compiled) []string {
	count := map[string]int{}
	for i := range policies {
		for j := range policies[i].match.pods {
			if r := &policies[i].match.pods[j]; r.exact() {
				count[r.key]++
			}
		}
	}
	keys := slices.SortedFunc(maps.Keys(count), func(a, b string) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a, b))
	})
	return keys[:min(len(keys), indexedLabels)]
}

// of returns the lists for a taint of a match.
func (ix *index) of(t Taint) *numbers {
	if t.Key == "" {
		return &ix.rest
	}
	if ix.keyed[t.Key] == nil {
		ix.keyed[t.Key] = &numbers{}
	}
	return ix.keyed[t.Key]
}

// add appends a policy to the lists of its namespaces.
func (ix *index) add(n *numbers, i int32, m *matcher) {
	by := ix.labelOf(m.pods)
	if len(m.namespaces) == 0 || strings.Contains(strings.Join(m.namespaces, ""), "*") {
		n.rest.add(i, by)
		return
	}
	if n.named == nil {
		n.named = map[string]*byLabel{}
	}
	for _, name := range m.namespaces {
		if n.named[name] == nil {
			n.named[name] = &byLabel{}
		}
		n.named[name].add(i, by)
	}
}

// labelOf returns the indexed label of which the selector requires one value; the zero label if there is none.
func (ix *index) labelOf(s selector) label {
	for _, key := range ix.labels {
		for i := range s {
			if s[i].key == key && s[i].exact() {
				return label{key, s[i].in[0]}
			}
		}
	}
	return label{}
}

func (b *byLabel) add(i int32, by label) {
	if by == (label{}) {
		b.rest = appendOnce(b.rest, i)
		return
	}
	if b.labelled == nil {
		b.labelled = map[label][]int32{}
	}
	b.labelled[by] = appendOnce(b.labelled[by], i)
}

// appendOnce appends the number unless it is the last one: a policy may name a key twice.
func appendOnce(list []int32, i int32) []int32 {
	if len(list) > 0 && list[len(list)-1] == i {
		return list
	}
	return append(list, i)
}

// candidates yields the policies that may match a pair, in their order, each once.
type candidates struct {
	lists [4 * (1 + indexedLabels)][]int32
	n     int
}

func (ix *index) candidates(key, namespace string, labels map[string]string) (c candidates) {
	c.take(ix, &ix.rest, namespace, labels)
	if keyed := ix.keyed[key]; keyed != nil {
		c.take(ix, keyed, namespace, labels)
	}
	return c
}

// take adds the lists for a namespace and labels.
func (c *candidates) take(ix *index, n *numbers, namespace string, labels map[string]string) {
	c.takeLists(ix, &n.rest, labels)
	if named := n.named[namespace]; named != nil {
		c.takeLists(ix, named, labels)
	}
}

func (c *candidates) takeLists(ix *index, b *byLabel, labels map[string]string) {
	c.add(b.rest)
	if b.labelled == nil {
		return
	}
	for _, key := range ix.labels {
		if value, ok := labels[key]; ok {
			c.add(b.labelled[label{key, value}])
		}
	}
}

func (c *candidates) add(list []int32) {
	if len(list) > 0 {
		c.lists[c.n] = list
		c.n++
	}
}

// next returns the number of the next policy; -1 after the last one.
func (c *candidates) next() int {
	first := int32(-1)
	lists := c.lists[:c.n]
	for _, list := range lists {
		if len(list) > 0 && (first < 0 || list[0] < first) {
			first = list[0]
		}
	}
	for i, list := range lists {
		if len(list) > 0 && list[0] == first {
			lists[i] = list[1:]
		}
	}
	return int(first)
}
