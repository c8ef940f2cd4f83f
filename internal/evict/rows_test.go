package evict

import (
	"fmt"
	"strings"
)

// String returns the set in words.
func (v verb) String() string {
	if v == anyVerb {
		return "any"
	}
	var words []string
	for i, word := range []string{"patch", "preflight", "delete", "evict", "get node"} {
		if v&(1<<i) != 0 {
			words = append(words, word)
		}
	}
	return strings.Join(words, ", ")
}

// outcomeRow is one row of the table of outcomes, in words.
type outcomeRow struct {
	Request string // patch, preflight, delete, evict, several of them, or any
	Answer  string // HTTP status code or a range of them; "none" when no HTTP answer came
	Sign    string // what else the answer shows; empty when nothing else is asked
	Outcome string // the outcome's kind; "go on" when the next request of the call follows
	Cause   string // the outcome's cause; may be empty
	Means   string // what it means
}

// outcomeRows returns the table of outcomes in its order: the first row that matches an answer counts.
func outcomeRows() []outcomeRow {
	rows := make([]outcomeRow, len(rules))
	for i, r := range rules {
		rows[i] = outcomeRow{r.verbs.String(), r.codes(), r.sign, r.outcome(), r.cause, r.means}
	}
	return rows
}

func (r *rule) codes() string {
	switch {
	case r.high == 0:
		return "none"
	case r.low == r.high:
		return fmt.Sprint(r.low)
	case r.high == 999:
		return "any other"
	}
	return fmt.Sprintf("%d-%d", r.low, r.high)
}

func (r *rule) outcome() string {
	if r.kind == proceed {
		return "go on"
	}
	return r.kind.String()
}
