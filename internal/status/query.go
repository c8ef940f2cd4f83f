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

// filters are the parameters that select evictions.
var filters = []string{"node", "namespace", "taint", "policy", "state"}

// query selects evictions.
type query struct {
	filters map[string][]string // by parameter; an empty list selects all
	limit   int
	after   position // of the last eviction that was returned; zero at the start
}

// position is the place of an eviction in the order of all evictions.
type position struct {
	deadline time.Time
	uid      string
}

// parseQuery refuses unknown and unreadable parameters: they would filter nothing. An empty value is the same as none.
func parseQuery(raw string) (q query, err error) {
	q = query{filters: map[string][]string{}, limit: defaultLimit}
	values, err := url.ParseQuery(raw)
	if err != nil {
		return q, fmt.Errorf("the query is refused (%w); join parameters with &, and write %% as %%25 and ; as %%3B", err)
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
		case name != "limit" && name != "after":
			err = fmt.Errorf("there is no parameter %q; give node, namespace, taint, policy, state, limit or after", name)
		case len(list) == 0:
		case name == "limit":
			q.limit, err = parseLimit(list[0])
		default:
			q.after, err = parsePosition(list[0])
		}
		if err != nil {
			return query{}, err
		}
	}
	return q, nil
}

func checkStates(list []string) error {
	all := eviction.Words()
	for _, state := range list {
		if !slices.Contains(all, state) {
			return fmt.Errorf("there is no state %q; give one or more of %s", state, strings.Join(all, ", "))
		}
	}
	return nil
}

func parseLimit(value string) (int, error) {
	n, err := strconv.Atoi(value)
	if err != nil || n < 1 || n > maxLimit {
		return 0, fmt.Errorf("the limit %q is refused; give 1 to %d, or leave it out for %d", value, maxLimit, defaultLimit)
	}
	return n, nil
}

func parsePosition(value string) (position, error) {
	text, err := base64.RawURLEncoding.DecodeString(value)
	millis, uid, found := strings.Cut(string(text), " ")
	n, wrong := strconv.ParseInt(millis, 10, 64)
	if err != nil || wrong != nil || !found {
		return position{}, fmt.Errorf("the place %q is refused; give what the field next of the page before says, or leave after out for the first page", value)
	}
	return position{time.UnixMilli(n), uid}, nil
}

// String returns the value of the parameter after.
func (p position) String() string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%d %s", p.deadline.UnixMilli(), p.uid))
}

// before reports whether the position is before that of the view.
func (p position) before(v *eviction.View) bool {
	order := stamp(v.Verdict.At).Compare(p.deadline)
	return order > 0 || order == 0 && string(v.Pod.UID) > p.uid
}

// page returns the page of evictions that the query asks for, with an empty list, and the views for this list.
func (q *query) page(s *sample) (l EvictionList, views []*eviction.View) {
	l = EvictionList{TypeMeta: TypeMeta{APIVersion, KindEvictionList}, At: s.head.At, Items: []Eviction{}}
	for _, v := range s.ordered() {
		if !q.matches(v) {
			continue
		}
		l.Total++
		if q.after.before(v) {
			views = append(views, v)
		}
	}
	if len(views) > q.limit {
		views = views[:q.limit]
		last := views[q.limit-1]
		l.Next = position{stamp(last.Verdict.At), string(last.Pod.UID)}.String()
	}
	return l, views
}

func (q *query) matches(v *eviction.View) bool {
	t := v.Verdict.Taint
	return q.selects("node", v.Verdict.Node) && q.selects("namespace", v.Pod.Namespace) &&
		q.selects("state", v.Word()) && q.selects("policy", v.Policy) &&
		(q.selects("taint", t.Key) || q.selects("taint", t.ToString()))
}

// selects reports whether a filter names the value; an empty filter names all.
func (q *query) selects(filter, value string) bool {
	list := q.filters[filter]
	return len(list) == 0 || slices.Contains(list, value)
}
