package status

import (
	"encoding/base64"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/taint-manager/taint-manager/eviction"
)

const (
	defaultLimit = 500
	maxLimit     = 10000
)

// query selects evictions. Empty lists select all.
type query struct {
	nodes, namespaces, taints, policies, states []string
	limit                                       int

	// after is the position of the last eviction that was returned; nil at the start.
	after *position
}

// position is that of an eviction in the order of all.
type position struct {
	deadline time.Time
	uid      string
}

// parseQuery refuses unknown parameters: one that is misspelt would filter nothing.
func parseQuery(values url.Values) (query, error) {
	q := query{limit: defaultLimit}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if err := q.set(name, values[name]); err != nil {
			return query{}, err
		}
	}
	return q, nil
}

// set sets a parameter; an empty value is the same as none.
func (q *query) set(name string, values []string) error {
	list := slices.DeleteFunc(strings.Split(strings.Join(values, ","), ","), func(s string) bool { return s == "" })
	switch name {
	case "node":
		q.nodes = list
	case "namespace":
		q.namespaces = list
	case "taint":
		q.taints = list
	case "policy":
		q.policies = list
	case "state":
		q.states = list
		return checkStates(list)
	case "limit":
		return q.setLimit(list)
	case "after":
		return q.setAfter(list)
	default:
		return fmt.Errorf("there is no parameter %q; give node, namespace, taint, policy, state, limit or after", name)
	}
	return nil
}

func checkStates(list []string) error {
	for _, state := range list {
		if !slices.Contains(States(), state) {
			return fmt.Errorf("there is no state %q; give one or more of %s", state, strings.Join(States(), ", "))
		}
	}
	return nil
}

func (q *query) setLimit(list []string) error {
	if len(list) == 0 {
		return nil
	}
	value := list[0]
	n, err := strconv.Atoi(value)
	if err != nil || n < 1 || n > maxLimit {
		return fmt.Errorf("the limit %q is refused; give 1 to %d, or leave it out for %d", value, maxLimit,
			defaultLimit)
	}
	q.limit = n
	return nil
}

func (q *query) setAfter(list []string) error {
	if len(list) == 0 {
		return nil
	}
	value := list[0]
	text, err := base64.RawURLEncoding.DecodeString(value)
	millis, uid, found := strings.Cut(string(text), " ")
	n, wrong := strconv.ParseInt(millis, 10, 64)
	if err != nil || wrong != nil || !found {
		return fmt.Errorf("the place %q is refused; give what the field next of the page before says, or leave after out for the first page", value)
	}
	q.after = &position{time.UnixMilli(n), uid}
	return nil
}

// String returns the value of the parameter after.
func (p position) String() string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%d %s", p.deadline.UnixMilli(), p.uid))
}

// page returns the page of evictions that the query asks for, and what its empty list is to hold.
func (q *query) page(s *sample) (EvictionList, []*eviction.View) {
	var matching []*eviction.View
	for _, v := range s.ordered() {
		if q.matches(v) {
			matching = append(matching, v)
		}
	}
	l := EvictionList{TypeMeta: TypeMeta{APIVersion, KindEvictionList}, At: s.at, Total: len(matching)}
	rest := matching[q.start(matching):]
	if len(rest) > q.limit {
		rest = rest[:q.limit]
		last := rest[len(rest)-1]
		l.Next = position{stamp(last.Verdict.At), string(last.Pod.UID)}.String()
	}
	l.Items = []Eviction{}
	return l, rest
}

// start returns the index of the first one after the position asked for.
func (q *query) start(views []*eviction.View) int {
	if q.after == nil {
		return 0
	}
	for i := range views {
		at := stamp(views[i].Verdict.At)
		if at.After(q.after.deadline) || at.Equal(q.after.deadline) && string(views[i].Pod.UID) > q.after.uid {
			return i
		}
	}
	return len(views)
}

func (q *query) matches(v *eviction.View) bool {
	return among(q.nodes, v.Verdict.Node) && among(q.namespaces, v.Pod.Namespace) &&
		among(q.states, v.Word()) && among(q.policies, v.Policy) &&
		(among(q.taints, v.Verdict.Taint.Key) || among(q.taints, v.Verdict.Taint.ToString()))
}

// among reports whether a list names the value; an empty list names all.
func among(list []string, value string) bool { return len(list) == 0 || slices.Contains(list, value) }
