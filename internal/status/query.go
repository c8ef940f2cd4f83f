package status

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/taint-manager/taint-manager/eviction"
)

const (
	defaultLimit = 500
	maxLimit     = 10000
)

// filters are the parameters that select evictions.
var filters = []string{"node", "namespace", "taint", "policy", "state"}

// query selects evictions.
type query struct {
	filters map[string][]string // by parameter; an empty list selects all
	limit   int
}

// parseQuery refuses unknown and malformed parameters, which would filter nothing. An empty value counts as no value.
func parseQuery(raw string) (q query, err error) {
	q = query{filters: map[string][]string{}, limit: defaultLimit}
	values, err := url.ParseQuery(raw)
	if err != nil {
		return q, fmt.Errorf("invalid query: %w; separate parameters with &, and encode %% as %%25 and ; as %%3B", err)
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		list := slices.DeleteFunc(strings.Split(strings.Join(values[name], ","), ","),
			func(s string) bool { return s == "" })
		switch {
		case slices.Contains(filters, name):
			q.filters[name] = list
			if name == "state" {
				err = checkStates(list)
			}
		case name != "limit":
			err = fmt.Errorf("unknown parameter %q: must be node, namespace, taint, policy, state or limit", name)
		case len(list) > 0:
			q.limit, err = parseLimit(list[0])
		}
		if err != nil {
			return query{}, err
		}
	}
	return q, nil
}

func checkStates(list []string) error {
	var all []string
	for _, state := range eviction.States() {
		all = append(all, string(state))
	}
	for _, state := range list {
		if !slices.Contains(all, state) {
			return fmt.Errorf("unknown state %q: must be one or more of %s", state, strings.Join(all, ", "))
		}
	}
	return nil
}

func parseLimit(value string) (int, error) {
	n, err := strconv.Atoi(value)
	if err != nil || n < 1 || n > maxLimit {
		return 0, fmt.Errorf("invalid limit %q: must be between 1 and %d, inclusive", value, maxLimit)
	}
	return n, nil
}

// list returns the list that the query asks for, without its items, and the views of the items.
func (q *query) list(s *sample) (l EvictionList, views []*eviction.View) {
	l = EvictionList{
		TypeMeta: TypeMeta{APIVersion, KindEvictionList}, At: s.head.At, Part: s.head.Manager.Part, Items: []Eviction{},
	}
	for _, v := range s.ordered() {
		if q.matches(v) {
			views = append(views, v)
		}
	}
	l.Total = len(views)
	return l, views[:min(q.limit, len(views))]
}

func (q *query) matches(v *eviction.View) bool {
	t := v.Verdict.Taint
	return q.selects("node", v.Verdict.Node) && q.selects("namespace", v.Pod.Namespace) &&
		q.selects("state", string(v.State)) && q.selects("policy", v.Policy) &&
		(q.selects("taint", t.Key) || q.selects("taint", t.ToString()))
}

// selects reports whether a filter names the value; an empty filter names all.
func (q *query) selects(filter, value string) bool {
	list := q.filters[filter]
	return len(list) == 0 || slices.Contains(list, value)
}
