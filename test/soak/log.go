package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/test/load"
	"github.com/taint-manager/taint-manager/test/testcluster"
)

// triedAnnotation is when the change of a node's taints was first tried. The API server may have carried out an earlier
// try than the one in its log.
const triedAnnotation = "soak/tried"

// auditPolicy logs what the judge reads.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
omitManagedFields: true
rules:
- level: RequestResponse
  verbs: [create, update, patch, delete]
  resources: [{group: "", resources: [nodes, nodes/status, pods, pods/status]}]
- level: None
`

// state is a state of a node, and the bounds of when it was stored.
type state struct {
	span
	version uint64
	taints  []v1.Taint
}

// read returns what these requests did to nodes and pods until the end.
func read(requests []load.Request, end time.Time) (*history, error) {
	h := &history{taints: map[string][]tainted{}, pods: map[types.UID]*pod{}, end: end}
	states := map[string][]state{}
	for i := range requests {
		r := &requests[i]
		var err error
		switch {
		case r.ObjectRef.Resource == "nodes" && r.ResponseStatus.Code < 300:
			err = addState(states, r)
		case r.ObjectRef.Resource == "pods":
			err = h.addPod(r)
		}
		if err != nil {
			return nil, fmt.Errorf("%s of %s %s at %v: %w", r.Verb, r.ObjectRef.Resource, r.ObjectRef.Name,
				r.RequestReceivedTimestamp, err)
		}
	}
	for node, list := range states {
		h.taints[node] = taintsOf(list, end.AddDate(1, 0, 0))
	}
	return h, nil
}

func addState(states map[string][]state, r *load.Request) error {
	var node v1.Node
	if err := json.Unmarshal(r.ResponseObject, &node); err != nil {
		return err
	}
	version, err := strconv.ParseUint(node.ResourceVersion, 10, 64)
	if err != nil {
		return err
	}
	s := state{timeOf(r), version, node.Spec.Taints}
	tried, err := time.Parse(time.RFC3339Nano, node.Annotations[triedAnnotation])
	if err == nil && tried.Before(s.from) {
		s.from = tried
	}
	states[node.Name] = append(states[node.Name], s)
	return nil
}

// taintsOf returns when the taints were set and removed, in the order of their beginnings.
func taintsOf(states []state, never time.Time) (all []tainted) {
	slices.SortStableFunc(states, func(a, b state) int { return cmp.Compare(a.version, b.version) })
	set := map[string]int{} // the index in the list all of each taint that is set, by key
	for _, s := range states {
		left := maps.Clone(set)
		for _, taint := range s.taints {
			if taint.Effect != v1.TaintEffectNoExecute {
				continue
			}
			if _, known := left[taint.Key]; !known {
				set[taint.Key] = len(all)
				all = append(all, tainted{taint, s.span, span{never, never}})
			}
			delete(left, taint.Key)
		}
		for key, i := range left {
			all[i].ends = s.span
			delete(set, key)
		}
	}
	return all
}

// addPod adds what a request says of a pod: its state afterwards and, if it is a DELETE by taint-manager, the call.
func (h *history) addPod(r *load.Request) error {
	var after v1.Pod
	var options metav1.DeleteOptions
	if r.ResponseStatus.Code < 300 {
		if err := json.Unmarshal(r.ResponseObject, &after); err != nil {
			return err
		}
	}
	if r.Verb == "delete" && len(r.RequestObject) > 0 {
		if err := json.Unmarshal(r.RequestObject, &options); err != nil {
			return err
		}
	}
	if len(options.DryRun) > 0 {
		return nil
	}
	if after.UID != "" {
		h.seen(&after, r)
	}
	if r.Verb == "delete" && r.User.Username == testcluster.ManagerUser {
		p := h.pods[cmp.Or(after.UID, uidOf(options))]
		if p != nil { // a DELETE of a pod without a state was refused
			p.calls = append(p.calls, call{timeOf(r), r.ResponseStatus.Code, uidOf(options)})
		}
	}
	return nil
}

// seen adds a state of a pod. Records are in the order of the answers, so one of a PATCH by taint-manager, which is
// answered with metadata alone, may come before that of the creation.
func (h *history) seen(after *v1.Pod, r *load.Request) {
	p, at := h.pods[after.UID], timeOf(r)
	if p == nil {
		p = &pod{Pod: after, bound: span{after.CreationTimestamp.Time, at.to}}
		h.pods[after.UID] = p
	}
	if p.Spec.NodeName == "" {
		p.Pod = after
	}
	if r.Verb == "create" {
		p.bound = at
	}
	if after.DeletionTimestamp != nil && (p.gone.IsZero() || at.to.Before(p.gone)) {
		p.gone = at.to
	}
}

func uidOf(o metav1.DeleteOptions) types.UID {
	if o.Preconditions == nil || o.Preconditions.UID == nil {
		return ""
	}
	return *o.Preconditions.UID
}

func timeOf(r *load.Request) span { return span{r.RequestReceivedTimestamp, r.StageTimestamp} }
