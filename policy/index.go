package policy

import "strings"

// index finds the policies that may match a pair by the taint's key and the pod's namespace, so that the others need
// not be evaluated.
type index struct {
	keyed map[string]*numbers // policies that name a taint by its exact key
	rest  numbers             // policies that name taints by a prefix, or none
}

// numbers are lists of the numbers of policies, each ascending.
type numbers struct {
	named map[string][]int32 // policies that name namespaces without *
	rest  []int32
}

func newIndex(policies []compiled) index {
	ix := index{keyed: map[string]*numbers{}}
	for i := range policies {
		m := &policies[i].match
		if len(m.taints) == 0 {
			ix.rest.add(int32(i), m.namespaces)
		}
		for _, t := range m.taints {
			ix.of(t).add(int32(i), m.namespaces)
		}
	}
	return ix
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

// add appends a policy to the lists.
func (n *numbers) add(i int32, namespaces []string) {
	if len(namespaces) == 0 || strings.Contains(strings.Join(namespaces, ""), "*") {
		n.rest = appendOnce(n.rest, i)
		return
	}
	if n.named == nil {
		n.named = map[string][]int32{}
	}
	for _, name := range namespaces {
		n.named[name] = appendOnce(n.named[name], i)
	}
}

// appendOnce appends the number unless it is the last one: a policy may name a key twice.
func appendOnce(list []int32, i int32) []int32 {
	if len(list) > 0 && list[len(list)-1] == i {
		return list
	}
	return append(list, i)
}

// candidates yields the policies that may match a pair, in their order, each once.
type candidates [4][]int32

func (ix *index) candidates(key, namespace string) candidates {
	c := candidates{ix.rest.rest, ix.rest.named[namespace]}
	if keyed := ix.keyed[key]; keyed != nil {
		c[2], c[3] = keyed.rest, keyed.named[namespace]
	}
	return c
}

// next returns the number of the next policy; -1 after the last one.
func (c *candidates) next() int {
	first := int32(-1)
	for _, list := range c {
		if len(list) > 0 && (first < 0 || list[0] < first) {
			first = list[0]
		}
	}
	for i, list := range c {
		if len(list) > 0 && list[0] == first {
			c[i] = list[1:]
		}
	}
	return int(first)
}
