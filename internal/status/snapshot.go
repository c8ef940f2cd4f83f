package status

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/eviction"
)

// APIVersion is the version of all answers. Fields may be added; none changes its meaning.
const APIVersion = "status.taint-manager/v1alpha1"

// Kinds of answers.
const (
	KindSnapshot     = "Snapshot"
	KindChanges      = "Changes"
	KindEvictionList = "EvictionList"
	KindNodeList     = "NodeList"
	KindError        = "Error"
)

// Roles of a replica.
const (
	Leading = "leading" // it evicts
	Standby = "standby" // another replica evicts, if one leads
)

// TypeMeta is the version and kind of an answer.
type TypeMeta struct {
	APIVersion string `json:"apiVersion"` // status.taint-manager/v1alpha1
	Kind       string `json:"kind"`       // Snapshot, Changes, EvictionList, NodeList or Error
}

// Snapshot is the state at one moment.
type Snapshot struct {
	TypeMeta

	// At is the time of the snapshot, by the manager's clock.
	At time.Time `json:"at"`

	// Tag identifies the snapshot in a request for what has changed since.
	Tag string `json:"tag"`

	Manager Manager `json:"manager"`
	Totals  Totals  `json:"totals"`

	// Evictions in all states, earliest deadline first.
	Evictions []Eviction `json:"evictions"`

	// Nodes with taints that evict, in the order of their names.
	Nodes []Node `json:"nodes"`

	// Evicted has this replica's evictions of the last hour, oldest first: at most the latest 4096.
	Evicted []Evicted `json:"evicted"`

	// Minutes of the last hour with evictions by this replica, oldest first. They count those that Evicted omits, too.
	Minutes []Minute `json:"minutes"`
}

// Manager is the replica that answers.
type Manager struct {
	Version  string `json:"version,omitempty"`
	Identity string `json:"identity,omitempty"` // as the lease names it

	// Role is "leading" or "standby".
	Role string `json:"role"`

	// Leader is the identity of the replica that leads, if known.
	Leader string `json:"leader,omitempty"`

	// DryRun: no pod is evicted; evictions that would happen are shown.
	DryRun bool `json:"dryRun,omitempty"`

	// Cluster is --cluster-name, else the host and port of the API server. A user, a path and a query in the server's
	// URL are not shown, because they may be secret.
	Cluster string `json:"cluster,omitempty"`

	// EvictionMethod is how pods are evicted: "delete", "evict" or "ignore".
	EvictionMethod string `json:"evictionMethod,omitempty"`

	// MaxEvictionsPerSecond is the maximum number of eviction calls that start in a second; omitted if there is no
	// limit.
	MaxEvictionsPerSecond float64 `json:"maxEvictionsPerSecond,omitempty"`

	// Synced: all pods and nodes have been read. Until then, nothing is decided.
	Synced bool `json:"synced"`

	// Trouble says why the cluster can't be watched, and since when, in a sentence.
	Trouble string `json:"trouble,omitempty"`

	// Paused: no eviction call starts.
	Paused bool `json:"paused,omitempty"`

	// Trips are the tripped breakers, one for each group of nodes.
	Trips []Trip `json:"trips,omitempty"`

	// Idle has a message for each breaker that can't trip as intended, whatever taints the current nodes get.
	Idle []string `json:"idle,omitempty"`

	// Spared are nodes that are unreachable or not ready according to their NoSchedule taints, but have no such taint
	// that evicts, so their outage starts no countdown.
	Spared []SparedNode `json:"spared,omitempty"`

	// Pace says how rates delay the evictions; omitted if they delay none.
	Pace *Pace `json:"pace,omitempty"`

	// Policies are the names of the policies, in their order.
	Policies []string `json:"policies,omitempty"`

	// Part says that not all evictions and nodes are shown, in a sentence; omitted if all are. Totals count all.
	Part string `json:"part,omitempty"`

	// Warning is what an operator should look at while evictions continue, in a sentence.
	Warning string `json:"warning,omitempty"`
}

// Trip is a breaker that holds the evictions of a group of nodes.
type Trip struct {
	Breaker string    `json:"breaker"`
	Group   string    `json:"group,omitempty"` // the value of the label topologyKey
	Since   time.Time `json:"since"`

	// Reset is how the trip ends: "Automatic" or "Manual"; omitted while the configuration has no such breaker.
	Reset string `json:"reset,omitempty"`
}

// SparedNode is a node whose outage starts no countdown.
type SparedNode struct {
	Name string `json:"name"`

	// NotReadySince is when the node's condition Ready stopped being True; omitted if unknown.
	NotReadySince time.Time `json:"notReadySince,omitzero"`
}

// Pace describes the limit that delays evictions the longest, assuming that the limit's buckets are full now and that
// each call succeeds.
type Pace struct {
	Rate               string  `json:"rate,omitempty"` // name of the rate; omitted for maxEvictionsPerSecond
	EvictionsPerSecond float64 `json:"evictionsPerSecond"`
	Delayed            int     `json:"delayed"` // number of evictions that the limit delays

	// Last is the earliest time at which the last delayed eviction can start.
	Last      time.Time `json:"last"`
	Evictions int       `json:"evictions"` // number of evictions that the limit applies to, up to the last delayed one
}

// Totals count evictions by their state.
type Totals struct {
	Scheduled   int `json:"scheduled"`
	Held        int `json:"held"`
	Due         int `json:"due"`
	InFlight    int `json:"inFlight"`
	Blocked     int `json:"blocked"`
	Refused     int `json:"refused"`
	Delayed     int `json:"delayed"`
	Terminating int `json:"terminating"`

	// EvictedLastHour is the number of all pods that this replica has evicted in the last 60 minutes.
	EvictedLastHour int `json:"evictedLastHour"`
}

// Eviction is one pod that is to be evicted.
type Eviction struct {
	UID       string         `json:"uid"`
	Namespace string         `json:"namespace"`
	Pod       string         `json:"pod"`
	Node      string         `json:"node"`
	Owner     *Owner         `json:"owner,omitempty"` // omitted for a pod without a controller
	State     eviction.State `json:"state"`

	// Deadline is the time before which the pod is not evicted.
	Deadline time.Time `json:"deadline"`

	// Taint that evicts the pod, as key=value:effect.
	Taint string `json:"taint"`

	// ExposedSince is the start of the countdown.
	ExposedSince time.Time `json:"exposedSince"`

	// Because is the reason, in the words of events and the log.
	Because string `json:"because"`

	// Own is set if the pod belongs to taint-manager, which evicts its own pods last, one at a time.
	Own bool `json:"own,omitempty"`

	// Returned is how often, in the last hour, earlier pods of the owner were evicted from this node for this taint;
	// omitted if less than twice.
	Returned int `json:"returned,omitempty"`

	// Policy is the name of the policy that decides; omitted if none matches.
	Policy string `json:"policy,omitempty"`

	// Method is what the next call does: "delete" or "evict". Omitted for a held pod.
	Method string `json:"method,omitempty"`

	// DeleteAt is when the pod is deleted if its eviction is still refused; omitted if never.
	DeleteAt time.Time `json:"deleteAt,omitzero"`

	// HeldBy names what holds the pod: "policy quarantine", "breaker zone-outage (eu-1a)". The state is held unless
	// another taint evicts the pod.
	HeldBy string `json:"heldBy,omitempty"`

	// DeletedBy is "the DaemonSet controller" if it deletes the pod, whatever taint-manager does; else omitted.
	DeletedBy string `json:"deletedBy,omitempty"`

	// WaitsFor says what a due eviction waits for, in the words of docs/reference/states.md. Omitted if it does not
	// wait.
	WaitsFor string `json:"waitsFor,omitempty"`

	// WaitsForRate is the name of the rate for which a due eviction waits; "max-evictions-per-second" if that flag
	// limits all calls.
	WaitsForRate string `json:"waitsForRate,omitempty"`

	// NextTry is when the next call may start; omitted in the states held, in-flight and terminating.
	NextTry time.Time `json:"nextTry,omitzero"`

	// Attempts is the number of calls made for the pod.
	Attempts int `json:"attempts,omitempty"`

	// Cause of the last call's outcome; docs/reference/outcomes.md lists all causes.
	Cause string `json:"cause,omitempty"`

	// Message is the response of the API server to the last call.
	Message string `json:"message,omitempty"`

	// Budget is the PodDisruptionBudget that does not permit the eviction. Omitted if the server's message names none,
	// as with two budgets on one pod.
	Budget string `json:"budget,omitempty"`
}

// Owner is the workload that a pod belongs to: its controller, or the Deployment where the controller is a Deployment's
// ReplicaSet.
type Owner struct {
	Kind  string `json:"kind"`
	Group string `json:"group,omitempty"` // API group; omitted for the core group
	Name  string `json:"name"`
}

// Node is a node with taints that evict: NoExecute, or NoSchedule if a policy names them.
type Node struct {
	Name   string  `json:"name"`
	UID    string  `json:"uid"`
	Taints []Taint `json:"taints"`

	// Evictions is the number of pending evictions on the node.
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
	Because string    `json:"because"` // see Eviction

	// DryRun: no call was sent, and the pod is still there.
	DryRun bool `json:"dryRun,omitempty"`
}

// Minute counts the evictions of one minute. Lateness is the time from deadline to acceptance.
type Minute struct {
	Start           time.Time `json:"start"`
	Evicted         int       `json:"evicted"`
	MeanLateSeconds float64   `json:"meanLateSeconds"`
	MaxLateSeconds  float64   `json:"maxLateSeconds"`
}

// Changes are the differences from an earlier snapshot: evictions and nodes that are new or have changed, in full, and
// pods evicted since. All other fields are those of the current snapshot.
type Changes struct {
	Snapshot
	Since string `json:"since"` // the tag of the earlier snapshot

	Gone      []types.UID `json:"gone"`      // the UIDs of evictions that have ended
	NodesGone []string    `json:"nodesGone"` // the names of nodes that no longer have taints that evict
}

// EvictionList lists the evictions that match a query, earliest deadline first.
type EvictionList struct {
	TypeMeta
	At time.Time `json:"at"`

	// Part is as in the Manager of a snapshot: only the evictions that a snapshot shows are listed and counted.
	Part string `json:"part,omitempty"`

	// Total is the number of evictions that match the query. The items are the first of them, at most limit.
	Total int        `json:"total"`
	Items []Eviction `json:"items"`
}

// NodeList lists all nodes with taints that evict.
type NodeList struct {
	TypeMeta
	At    time.Time `json:"at"`
	Part  string    `json:"part,omitempty"` // as in EvictionList
	Items []Node    `json:"items"`
}

// Error says why a request is refused, in one sentence.
type Error struct {
	TypeMeta
	Message string `json:"message"`
}
