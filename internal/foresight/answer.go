package foresight

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// APIVersion is the version of the answers in JSON.
const APIVersion = "taint-manager/v1alpha1"

// Header begins each answer.
type Header struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"`  // Plan, Explanation or Pending
	Rules      string    `json:"rules"` // the rules that were applied: taint-manager
	At         time.Time `json:"at"`    // the --at time; in a plan, when the nodes get the taints
}

func header(kind string, at time.Time) Header {
	return Header{APIVersion, kind, "taint-manager", *utc(at)}
}

// Remarks end each answer.
type Remarks struct {
	// By says whose policies were applied; empty for those of --config, and if the default rules are in force.
	By string `json:"by,omitempty"`

	Trips []Trip `json:"trips,omitempty"` // the tripped breakers; in a plan, after its changes

	// Incomplete has a message for each unknown that may change the answer. If it is not empty, an empty list of pods
	// proves nothing.
	Incomplete []string `json:"incomplete,omitempty"`
	Warnings   []string `json:"warnings,omitempty"` // likely mistakes
	WarnFirst  bool     `json:"-"`                  // the first warning comes before the answer
	Notes      []string `json:"notes,omitempty"`    // what the answer omits, and other remarks
}

func (r *Remarks) note(format string, values ...any) {
	r.Notes = append(r.Notes, fmt.Sprintf(format, values...))
}

// Said returns the remarks.
func (r *Remarks) Said() *Remarks { return r }

// All returns the warnings, the notes, and what the answer lacks.
func (r *Remarks) All() []string {
	all := slices.Concat(r.Warnings, r.Notes)
	if err := r.CannotSay(); err != nil {
		return append(all, err.Error())
	}
	return all
}

// Headline completes the first sentence of an answer: it appends whose rules judged the pods, if that needs saying.
func (r *Remarks) Headline(s string) string {
	if r.By != "" {
		s += ", " + r.By
	}
	return s + "."
}

// CannotSay returns an error if the answer is incomplete.
func (r *Remarks) CannotSay() error {
	if len(r.Incomplete) == 0 {
		return nil
	}
	return errors.New("incomplete answer: " + r.gap())
}

// gap returns a clause with everything that is unknown.
func (r *Remarks) gap() string { return strings.Join(r.Incomplete, "; and ") }

// PodRef identifies a pod of an answer.
type PodRef struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	UID       string `json:"uid"`
	Node      string `json:"node"`
	Owner     *Owner `json:"owner,omitempty"`
}

func (p *pod) ref() PodRef {
	return PodRef{Namespace: p.Namespace, Name: p.Name, UID: string(p.UID), Node: p.Node, Owner: p.owner}
}

// String returns the namespace and the name.
func (p *PodRef) String() string { return p.Namespace + "/" + p.Name }

// compare orders pods by namespace, name and UID.
func (p *PodRef) compare(other *PodRef) int {
	return cmp.Or(strings.Compare(p.Namespace, other.Namespace), strings.Compare(p.Name, other.Name),
		strings.Compare(p.UID, other.UID))
}

// namesOf returns the namespaces and names of the pods that satisfy a condition.
func namesOf[P fmt.Stringer](pods []P, satisfy func(P) bool) (names []string) {
	for _, p := range pods {
		if satisfy(p) {
			names = append(names, p.String())
		}
	}
	return names
}

// Count returns a number of things: "1 pod", "3 pods".
func Count(n int, thing string) string { return fmt.Sprintf("%d %s%s", n, thing, Verb(n, "", "s")) }

// Verb returns the form of a word, such as a verb, for a number of things.
func Verb(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// ShortList joins names. Of a long list it names the first ones and counts the rest.
func ShortList(names []string) string {
	const most = 5
	if rest := len(names) - most; rest > 1 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), rest)
	}
	return strings.Join(names, ", ")
}

// utc returns the time as answers in JSON have it: in UTC.
func utc(t time.Time) *time.Time {
	t = t.UTC().Round(0)
	return &t
}

func countIf(n *int, condition bool) {
	if condition {
		*n++
	}
}
