package dispatch

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/eviction"
)

// Candidate is an eviction whose time has come. It is immutable once offered.
type Candidate struct {
	UID             types.UID
	Namespace, Node string

	// Workload is a hash of the labels by which webhooks may select the pod.
	Workload uint64

	Priority int32
	Deadline time.Time

	// Ways are the requests that may be sent now, the preferred request first. There is at least one.
	Ways []eviction.Request

	// NodeLabels are the labels of the node. With the key of a request's taint they say which rates count the request.
	NodeLabels map[string]string

	// Own reports whether the pod belongs to this program.
	Own Own

	// Done is called once, by the goroutine of the call, when the call has ended. It must not block.
	Done func(Ended)
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
