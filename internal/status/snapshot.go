package status

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/eviction"
)

// APIVersion of everything that is answered. Fields may be added to it; none changes its meaning.
const APIVersion = "status.taint-manager/v1alpha1"

// Kinds of what is answered.
const (
	KindSnapshot     = "Snapshot"
	KindChanges      = "Changes"
	KindEvictionList = "EvictionList"
	KindNodeList     = "NodeList"
	KindError        = "Error"
)

// The states of an eviction.
const (
	Scheduled = eviction.WordScheduled // its deadline has not come
	Held      = eviction.WordHeld      // a policy or a breaker keeps it from being evicted
	Due       = eviction.WordDue       // its deadline has come: it waits for its turn or the next try
	InFlight  = eviction.WordInFlight  // a call is under way
	Blocked   = eviction.WordBlocked   // a PodDisruptionBudget does not permit it now
	Refused   = eviction.WordRefused   // admission or a missing permission forbids it
	Delayed   = eviction.WordDelayed   // another cause has failed its calls several times in a row
	Done      = eviction.WordDone      // the API server has accepted the deletion, and the pod is still there
)

// Roles of a replica.
const (
	Leading = "leading" // it evicts
	Standby = "standby" // another one does
)

// TypeMeta is the version and kind of an answer.
type TypeMeta struct {
	APIVersion string `json:"apiVersion"` // status.taint-manager/v1alpha1
	Kind       string `json:"kind"`       // Snapshot, Changes, EvictionList, NodeList or Error
}

// Snapshot is the state at one moment.
type Snapshot struct {
	TypeMeta

	// At is the moment, by the manager's clock.
	At time.Time `json:"at"`

	// Tag names the snapshot in a request for what has changed since.
	Tag string `json:"tag"`

	Manager Manager `json:"manager"`
	Totals  Totals  `json:"totals"`

	// Evictions in all states, earliest deadline first.
	Evictions []Eviction `json:"evictions"`

	// Nodes that carry taints that evict, by name.
	Nodes []Node `json:"nodes"`

	// Evicted are the latest evictions by this replica within an hour, oldest first: at most 4096.
	Evicted []Evicted `json:"evicted"`

	// Minutes of the last hour in which this replica evicted, oldest first. They count all evictions.
	Minutes []Minute `json:"minutes"`
}

// Manager is the replica that answers.
type Manager struct {
	Version  string `json:"version,omitempty"`
	Identity string `json:"identity,omitempty"` // as the lease names it

	// Role is "leading" or "standby".
	Role string `json:"role"`

	// Leader is the identity of the replica that leads, if that is known.
	Leader string `json:"leader,omitempty"`

	// DryRun: no pod is evicted; those that would be are shown.
	DryRun bool `json:"dryRun,omitempty"`

	// Cluster is --cluster-name, else the host and port of the API server. A user, a path and a query of the server's
	// URL are not shown, as they may hold a secret.
	Cluster string `json:"cluster,omitempty"`

	// EvictionMethod is how pods are evicted: "delete", "evict" or "ignore".
	EvictionMethod string `json:"evictionMethod,omitempty"`

	// MaxEvictionsPerSecond is how many eviction calls may start in a second; left out: no limit.
	MaxEvictionsPerSecond float64 `json:"maxEvictionsPerSecond,omitempty"`

	// Synced: all pods and nodes have been seen. Before that nothing is decided.
	Synced bool `json:"synced"`

	// Trouble is why the cluster can't be watched, and since when, in a sentence.
	Trouble string `json:"trouble,omitempty"`

	// Paused: no call starts.
	Paused bool `json:"paused,omitempty"`

	// Trips are the breakers that are tripped, for each group of nodes.
	Trips []Trip `json:"trips,omitempty"`

	// Idle has a clause for each breaker that can't trip as it is meant to, whatever taints the present nodes get.
	Idle []string `json:"idle,omitempty"`

	// Spared are the nodes that are not ready or unreachable by their NoSchedule taints, but have no such taint that
	// evicts: no countdown runs because of the outage.
	Spared []SparedNode `json:"spared,omitempty"`

	// Pace is how rates delay the evictions; left out if they delay none.
	Pace *Pace `json:"pace,omitempty"`

	// Policies are the names of the policies, in their order.
	Policies []string `json:"policies,omitempty"`

	// Warning is what an operator should look at while evictions go on, in a sentence.
	Warning string `json:"warning,omitempty"`
}

// Trip is a breaker that holds the evictions of a group of nodes.
type Trip struct {
	Breaker string    `json:"breaker"`
	Group   string    `json:"group,omitempty"` // the value of the label topologyKey
	Since   time.Time `json:"since"`

	// Reset is how the trip ends: "Automatic" or "Manual"; left out while the configuration has no such breaker.
	Reset string `json:"reset,omitempty"`
}

// SparedNode is a node on which no countdown runs because of its outage.
type SparedNode struct {
	Name string `json:"name"`

	// NotReadySince is since when the node's condition Ready is not True; left out if that is unknown.
	NotReadySince time.Time `json:"notReadySince,omitzero"`
}

// Pace is how the limit that delays evictions the longest does so, if its buckets are full and each call succeeds.
type Pace struct {
	Rate               string  `json:"rate,omitempty"` // its name; left out for maxEvictionsPerSecond
	EvictionsPerSecond float64 `json:"evictionsPerSecond"`
	Delayed            int     `json:"delayed"` // how many evictions it delays

	// Last is when the last of them can start at the earliest, as the last of so many Evictions.
	Last      time.Time `json:"last"`
	Evictions int       `json:"evictions"`
}

// Totals count evictions by their state.
type Totals struct {
	Scheduled int `json:"scheduled"`
	Held      int `json:"held"`
	Due       int `json:"due"`
	InFlight  int `json:"inFlight"`
	Blocked   int `json:"blocked"`
	Refused   int `json:"refused"`
	Delayed   int `json:"delayed"`
	Done      int `json:"done"`

	// EvictedLastHour is how many pods this replica has evicted in the last 60 minutes: all of them.
	EvictedLastHour int `json:"evictedLastHour"`
}

// Eviction is one pod that is to be evicted.
type Eviction struct {
	UID       string `json:"uid"`
	Namespace string `json:"namespace"`
	Pod       string `json:"pod"`
	Node      string `json:"node"`
	Owner     *Owner `json:"owner,omitempty"` // left out for a pod without a controller
	State     string `json:"state"`           // as docs/api.md lists them

	// Deadline is the time before which the pod is not evicted.
	Deadline time.Time `json:"deadline"`

	// Taint because of which the pod goes, as key=value:effect.
	Taint string `json:"taint"`

	// ExposedSince is the start of the exposure from which the deadline counts.
	ExposedSince time.Time `json:"exposedSince"`

	// Because is the reason in the words that events and the log have.
	Because string `json:"because"`

	// Own is set if the pod belongs to taint-manager, which evicts its own pods last, one at a time.
	Own bool `json:"own,omitempty"`

	// Returned is how often pods of the owner were evicted from the node because of the taint before this one came
	// there, within the last hour; left out if less than twice.
	Returned int `json:"returned,omitempty"`

	// Policy is the name of the policy that decides; left out if none matches.
	Policy string `json:"policy,omitempty"`

	// Method is what the next call does: "delete" or "evict". Left out of a pod that is held.
	Method string `json:"method,omitempty"`

	// DeleteAt is when a pod that is evicted is deleted if its eviction stays refused; left out if never.
	DeleteAt time.Time `json:"deleteAt,omitzero"`

	// HeldBy names what holds the pod: "policy quarantine", "breaker zone-outage (eu-1a)". The state is held unless the
	// pod goes because of another taint.
	HeldBy string `json:"heldBy,omitempty"`

	// DeletedBy is "the DaemonSet controller" if it deletes the pod, whatever this program does; else left out.
	DeletedBy string `json:"deletedBy,omitempty"`

	// WaitsFor says what a due eviction waits for: "its turn", "rate cluster", "the end of the pause", "the API
	// server", or "a place: namespace shop already has 32 calls in flight, half of what is free". Left out if it does not wait.
	WaitsFor string `json:"waitsFor,omitempty"`

	// WaitsForRate is the name of the rate for which a due eviction waits; "max-evictions-per-second" if that flag
	// limits all calls.
	WaitsForRate string `json:"waitsForRate,omitempty"`

	// NextTry is when the next call may start; left out while a call is under way, and when done.
	NextTry time.Time `json:"nextTry,omitzero"`

	// Attempts is how many calls were made for the pod.
	Attempts int `json:"attempts,omitempty"`

	// Cause of the last call's outcome, as docs/reference/outcomes.md lists them.
	Cause string `json:"cause,omitempty"`

	// Message of the API server to the last call.
	Message string `json:"message,omitempty"`

	// Budget is the PodDisruptionBudget that does not permit the eviction. Left out if the server's message names none,
	// as with two budgets on one pod.
	Budget string `json:"budget,omitempty"`
}

// Owner is the workload that a pod belongs to: its controller, or the Deployment where the controller is a Deployment's
// ReplicaSet.
type Owner struct {
	Kind  string `json:"kind"`
	Group string `json:"group,omitempty"` // of the API; left out for the core group
	Name  string `json:"name"`
}

// Node is a node that carries taints that evict: NoExecute, or NoSchedule that a policy names.
type Node struct {
	Name   string  `json:"name"`
	UID    string  `json:"uid"`
	Taints []Taint `json:"taints"`

	// Evictions is how many are pending on the node.
	Evictions int `json:"evictions"`
}

// Taint is a taint that evicts, and its start.
type Taint struct {
	Taint string    `json:"taint"`
	Since time.Time `json:"since"`
}

// Evicted is a pod whose eviction the API server has accepted.
type Evicted struct {
	UID       string    `json:"uid"`
	Namespace string    `json:"namespace"`
	Pod       string    `json:"pod"`
	Node      string    `json:"node"`
	Owner     *Owner    `json:"owner,omitempty"`
	Taint     string    `json:"taint"`
	Deadline  time.Time `json:"deadline"`

	// At is when the API server accepted the deletion.
	At      time.Time `json:"at"`
	Because string    `json:"because"` // as of an Eviction

	// DryRun: nothing was sent, and the pod is still there.
	DryRun bool `json:"dryRun,omitempty"`
}

// Minute counts the evictions of one minute. Lateness is the time from deadline to acceptance.
type Minute struct {
	Start           time.Time `json:"start"`
	Evicted         int       `json:"evicted"`
	MeanLateSeconds float64   `json:"meanLateSeconds"`
	MaxLateSeconds  float64   `json:"maxLateSeconds"`
}

// Changes are what differs from an earlier snapshot. The evictions and nodes are those that are new or have changed, in
// full; evicted are those since then; all other fields are those of the present snapshot.
type Changes struct {
	Snapshot
	Since string `json:"since"` // the tag of the earlier snapshot

	Gone      []types.UID `json:"gone"`      // the UIDs of evictions that have ended
	NodesGone []string    `json:"nodesGone"` // the names of nodes that have no such taints now
}

// EvictionList is the evictions that match a query, earliest deadline first.
type EvictionList struct {
	TypeMeta
	At time.Time `json:"at"`

	// Total is how many evictions match the query. The items are the first of them, as many as limit says.
	Total int        `json:"total"`
	Items []Eviction `json:"items"`
}

// NodeList is all nodes that carry taints that evict.
type NodeList struct {
	TypeMeta
	At    time.Time `json:"at"`
	Items []Node    `json:"items"`
}

// Error is why a request is refused, in one sentence.
type Error struct {
	TypeMeta
	Message string `json:"message"`
}
