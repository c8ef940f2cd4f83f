package dispatch

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

// Input is one thing that happens to a [Core].
type Input interface {
	apply(c *Core, now time.Time, effects *Effects)
}

// Offered adds a candidate, or replaces the candidate with the same UID. Effects.Taken is false if a call for the UID
// is in flight, or if the outcome of its last call is not settled.
type Offered struct{ Candidate Candidate }

// Withdrawn removes a candidate. Effects.Taken is false if there is none, or if its call has begun; that call is marked
// as withdrawn.
type Withdrawn struct{ UID types.UID }

// Settled moves the outcome of the last call for the UID to Effects.Settled. After that the pod may be offered again.
type Settled struct{ UID types.UID }

// CallEnded reports the outcome of a call.
type CallEnded struct {
	UID     types.UID
	Outcome eviction.Outcome
}

// NodeRead reports the outcome of a GET of a node, and when the GET was sent.
type NodeRead struct {
	Node    string
	Sent    time.Time
	Outcome eviction.Outcome
}

// ServerAnswered reports that the API server has answered a list or a watch.
type ServerAnswered struct{}

// Configured replaces the rates, which must be valid, and the number of workers.
type Configured struct {
	Rates   []policy.Rate
	Workers int
}

// Paused pauses all calls, or ends the pause.
type Paused struct{ Paused bool }

// TermBegan begins a term of leadership: all buckets of rates are empty.
type TermBegan struct{}

// TermEnded ends the term: no further call starts.
type TermEnded struct{}

// TimePassed reports that the time of Effects.Next has come.
type TimePassed struct{}

// Effects are the results of a step, for the caller to carry out.
type Effects struct {
	// Starts are the calls to start, in order.
	Starts []eviction.Request

	// Next is when the next step is due if nothing else happens before; zero if none is due.
	Next time.Time

	// Taken answers Offered and Withdrawn.
	Taken bool

	// Settled answers Settled; nil if there is no outcome to settle.
	Settled *Ended

	// Probe is the node to read, to see whether an outage of the API server is over; empty if none is to be read.
	Probe string

	// Ahead are the nodes to read because their turns are next, so that no call waits for the answer.
	Ahead []string

	// Pause is the cause of a pause of all calls that begins now; empty if none begins.
	Pause string
}

// Candidate is an eviction whose time has come. It is immutable once offered.
type Candidate struct {
	*taint.Pod
	Deadline time.Time

	// Requests are those that may be sent now, the preferred one first. There is at least one.
	Requests []eviction.Request

	// NodeLabels are the node's labels. They and the key of a request's taint determine which rates count the request.
	NodeLabels map[string]string

	// Own reports whether the pod belongs to this program.
	Own Own
}

// Own reports whether a pod belongs to this program.
type Own uint8

// The kinds of pods.
const (
	Other   Own = iota // a pod that does not belong to this program
	Sibling            // the pod of another replica
	Self               // the pod in which this process runs
)

// Ended is the outcome of a call.
type Ended struct {
	Request eviction.Request
	Outcome eviction.Outcome
}
