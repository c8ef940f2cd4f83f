package main

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/test/bench/report"
	"github.com/taint-manager/taint-manager/test/load"
	"github.com/taint-manager/taint-manager/test/testcluster"
)

// second returns a time of the hand-made logs.
func second(s float64) time.Time {
	return time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC).Add(time.Duration(s * float64(time.Second)))
}

// request returns a record of a request that took 10 ms.
func request(at float64, user, verb, resource string, code int, body, answer any) (r load.Request) {
	r.Verb, r.User.Username, r.ObjectRef.Resource, r.ResponseStatus.Code = verb, user, resource, code
	r.RequestReceivedTimestamp, r.StageTimestamp = second(at), second(at+0.01)
	r.RequestObject, _ = json.Marshal(body)
	r.ResponseObject, _ = json.Marshal(answer)
	return r
}

// sets returns a change of the node's NoExecute taints to these keys.
func sets(at float64, version string, keys ...string) load.Request {
	node := v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", ResourceVersion: version}}
	for _, key := range keys {
		node.Spec.Taints = append(node.Spec.Taints, v1.Taint{Key: key, Value: "on", Effect: v1.TaintEffectNoExecute})
	}
	return request(at, "admin", "patch", "nodes", 200, nil, node)
}

func thePod(tolerations ...v1.Toleration) *v1.Pod {
	return &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns-0", Name: "p", UID: "u", CreationTimestamp: metav1.Time{Time: second(0)}},
		Spec:       v1.PodSpec{NodeName: "n", Tolerations: tolerations},
	}
}

// creates returns the creation of the pod at 1 s.
func creates(tolerations ...v1.Toleration) load.Request {
	return request(1, "admin", "create", "pods", 201, nil, thePod(tolerations...))
}

// marks returns a PATCH of the pod by taint-manager.
func marks(at float64) load.Request {
	return request(at, testcluster.ManagerUser, "patch", "pods", 200, nil, metav1.PartialObjectMetadata{ObjectMeta: thePod().ObjectMeta})
}

// deletes returns a DELETE by taint-manager with this precondition.
func deletes(at float64, code int, uid types.UID) load.Request {
	pod := thePod()
	pod.DeletionTimestamp = &metav1.Time{Time: second(at)}
	options := metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}}
	if uid == "" {
		options.Preconditions = nil
	}
	if code >= 300 {
		return request(at, testcluster.ManagerUser, "delete", "pods", code, options, metav1.Status{})
	}
	return request(at, testcluster.ManagerUser, "delete", "pods", code, options, pod)
}

// ends returns an update by the kubelet that shows that the pod terminates.
func ends(at float64) load.Request {
	pod := thePod()
	pod.DeletionTimestamp = &metav1.Time{Time: second(at)}
	return request(at, "kwok", "patch", "pods", 200, nil, pod)
}

func tolerates(key, value string, seconds int64) v1.Toleration {
	t := v1.Toleration{Key: key, Operator: v1.TolerationOpExists, TolerationSeconds: &seconds}
	if value != "" {
		t.Operator, t.Value = v1.TolerationOpEqual, value
	}
	return t
}

func tried(at float64, r load.Request) load.Request {
	var node v1.Node
	_ = json.Unmarshal(r.ResponseObject, &node)
	node.Annotations = map[string]string{triedAnnotation: second(at).Format(time.RFC3339Nano)}
	r.ResponseObject, _ = json.Marshal(node)
	return r
}

func faulty(from, to float64, k kind) fault { return fault{span{second(from), second(to)}, k} }

func TestTheJudge(t *testing.T) {
	ten, forever := tolerates("a", "", 10), v1.Toleration{Operator: v1.TolerationOpExists}
	for name, c := range map[string]struct {
		log    []load.Request
		faults []fault
		want   []string
	}{
		"deleted in time":                          {log: []load.Request{creates(ten), sets(2, "5", "a"), deletes(12.1, 200, "u")}},
		"at once without a toleration":             {log: []load.Request{creates(), sets(2, "5", "a"), deletes(2, 200, "u")}},
		"marked before the record of its creation": {log: []load.Request{sets(0, "5", "a"), marks(1), creates(), deletes(1.1, 200, "u")}},
		"early":                                                 {log: []load.Request{creates(ten), sets(2, "5", "a"), deletes(11.9, 200, "u")}, want: []string{early}},
		"early: the clock began again":                          {log: []load.Request{creates(ten), sets(2, "5", "a"), sets(8, "6"), sets(9, "7", "a"), deletes(13, 200, "u")}, want: []string{early}},
		"early by a pod's own time":                             {log: []load.Request{sets(0, "5", "a"), creates(ten), deletes(10.5, 200, "u")}, want: []string{early}},
		"an earlier try may have set the taint":                 {log: []load.Request{creates(ten), tried(2, sets(5, "5", "a")), deletes(12.1, 200, "u")}},
		"wrong: never tainted":                                  {log: []load.Request{creates(), sets(2, "5"), deletes(3, 200, "u")}, want: []string{wrong}},
		"wrong: before the taint":                               {log: []load.Request{creates(), sets(20, "5", "a"), deletes(3, 200, "u")}, want: []string{wrong}},
		"wrong: tolerated forever":                              {log: []load.Request{creates(forever), sets(2, "5", "a"), deletes(3, 200, "u")}, want: []string{wrong}},
		"wrong: the first toleration that matches counts":       {log: []load.Request{creates(tolerates("b", "", 0), forever, tolerates("a", "", 0)), sets(2, "5", "a"), deletes(3, 200, "u")}, want: []string{wrong}},
		"another value is not tolerated":                        {log: []load.Request{creates(tolerates("a", "off", 60), ten), sets(2, "5", "a"), deletes(12.1, 200, "u")}},
		"the same value is":                                     {log: []load.Request{creates(tolerates("a", "on", 60), ten), sets(2, "5", "a"), deletes(12.1, 200, "u")}, want: []string{early}},
		"wrong: long after the removal":                         {log: []load.Request{creates(), sets(2, "5", "a"), sets(3, "6"), deletes(8.1, 200, "u")}, want: []string{wrong}},
		"confirmed before the removal":                          {log: []load.Request{creates(), sets(2, "5", "a"), sets(3, "6"), deletes(7.9, 200, "u")}},
		"received late by an API server that hung":              {log: []load.Request{creates(), sets(2, "5", "a"), sets(3, "6"), deletes(10, 200, "u")}, faults: []fault{faulty(6, 10, kind{})}},
		"wrong: without the UID":                                {log: []load.Request{creates(), sets(2, "5", "a"), deletes(3, 200, "")}, want: []string{wrong}},
		"wrong: held by the configuration":                      {log: []load.Request{creates(), sets(2, "5", "c"), deletes(15, 200, "u")}, faults: []fault{faulty(2, 40, kind{holds: "c", namespaces: []string{}, wait: reloaded})}, want: []string{wrong}},
		"another taint is not held":                             {log: []load.Request{creates(), sets(2, "5", "c", "a"), deletes(15, 200, "u")}, faults: []fault{faulty(2, 40, kind{holds: "c", namespaces: []string{}, wait: reloaded})}},
		"the configuration was not in force yet":                {log: []load.Request{creates(), sets(2, "5", "c"), deletes(9, 200, "u")}, faults: []fault{faulty(2, 40, kind{holds: "c", namespaces: []string{}, wait: reloaded})}},
		"twice":                                                 {log: []load.Request{creates(), sets(2, "5", "a"), deletes(3, 200, "u"), deletes(4, 200, "u")}, want: []string{twice}},
		"repeated, as the answer was lost":                      {log: []load.Request{creates(), sets(2, "5", "a"), deletes(3, 200, "u"), deletes(4, 200, "u")}, faults: []fault{faulty(2.5, 3.5, kind{losesAnswers: true})}},
		"repeated twice, as one answer was lost":                {log: []load.Request{creates(), sets(2, "5", "a"), deletes(3, 200, "u"), deletes(5, 200, "u"), deletes(6, 200, "u")}, faults: []fault{faulty(2.5, 3.5, kind{losesAnswers: true})}, want: []string{twice}},
		"a refused DELETE is none":                              {log: []load.Request{creates(ten), sets(2, "5", "a"), deletes(3, 403, "u"), deletes(12.1, 200, "u")}},
		"early: carried out, although it is recorded as failed": {log: []load.Request{creates(ten), sets(2, "5", "a"), deletes(3, 504, "u"), ends(13)}, want: []string{early}},
		"early: the record is lost":                             {log: []load.Request{creates(ten), sets(2, "5", "a"), ends(5)}, want: []string{early}},
		"lost":                                                  {log: []load.Request{creates(ten), sets(2, "5", "a")}, want: []string{lost}},
		"lost: much too late":                                   {log: []load.Request{creates(ten), sets(2, "5", "a"), deletes(50, 200, "u")}, want: []string{lost}},
		"delayed by a fault":                                    {log: []load.Request{creates(ten), sets(2, "5", "a"), deletes(50, 200, "u")}, faults: []fault{faulty(10, 45, kind{})}},
		"lost: a fault in another namespace":                    {log: []load.Request{creates(ten), sets(2, "5", "a"), deletes(50, 200, "u")}, faults: []fault{faulty(10, 45, kind{namespaces: []string{"ns-1"}})}, want: []string{lost}},
		"lost, although another taint is held":                  {log: []load.Request{creates(ten), sets(2, "5", "a")}, faults: []fault{faulty(2, 99, kind{holds: "c", namespaces: []string{}})}, want: []string{lost}},
		"held by the configuration":                             {log: []load.Request{creates(), sets(2, "5", "c")}, faults: []fault{faulty(2, 99, kind{holds: "c", namespaces: []string{}})}},
		"the taint is removed in time":                          {log: []load.Request{creates(ten), sets(2, "5", "a"), sets(20, "6")}},
	} {
		h, err := read(c.log, second(100))
		if err != nil {
			t.Fatal(err)
		}
		h.faults = c.faults
		var got []string
		for _, v := range h.judge().violations {
			got = append(got, v.promise)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v: %v", name, got, c.want, h.judge().violations)
		}
	}
}

// The order of the records is that of the answers, which is not that of the changes.
func TestTheStatesOfANodeAreOrderedByVersion(t *testing.T) {
	h, err := read([]load.Request{creates(), sets(3, "6"), sets(2, "5", "a"), sets(4, "6")}, second(100))
	if err != nil {
		t.Fatal(err)
	}
	want := []tainted{{
		v1.Taint{Key: "a", Value: "on", Effect: v1.TaintEffectNoExecute},
		span{second(2), second(2.01)},
		span{second(3), second(3.01)},
	}}
	if got := h.taints["n"]; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestADryRunDeletesNothing(t *testing.T) {
	r := deletes(3, 200, "u")
	r.RequestObject, _ = json.Marshal(metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}})
	h, err := read([]load.Request{creates(), r}, second(100))
	if err != nil || !h.pods["u"].gone.IsZero() || len(h.pods["u"].calls) > 0 {
		t.Errorf("got %+v, %v", h.pods["u"], err)
	}
}

func TestTheTimeWithoutFaults(t *testing.T) {
	at := func(from, to float64) span { return span{second(from), second(to)} }
	for _, c := range []struct {
		faults []span
		want   time.Duration
	}{
		{nil, 10 * time.Second},
		{[]span{at(0, 5), at(30, 40)}, 10 * time.Second},
		{[]span{at(12, 14), at(13, 16), at(12.5, 13)}, 6 * time.Second},
		{[]span{at(0, 12), at(18, 30)}, 6 * time.Second},
		{[]span{at(0, 30)}, 0},
	} {
		if got := at(10, 20).without(c.faults); got != c.want {
			t.Errorf("%v: got %v, want %v", c.faults, got, c.want)
		}
	}
}

func TestTheLeaderIsFlat(t *testing.T) {
	level := func(figures ...float64) (all report.Series) {
		for _, figure := range figures {
			all = append(all, slices.Repeat(report.Series{figure}, int(10*time.Minute/interval))...)
		}
		return all
	}
	for _, c := range []struct {
		name               string
		memory, goroutines report.Series
		want               bool
	}{
		{"level", level(50, 90, 54), level(100, 300, 109), true},
		{"memory grows", level(50, 56), level(100, 100), false},
		{"goroutines grow", level(50, 50), level(100, 111), false},
		{"nobody led", nil, nil, false},
	} {
		r := result{
			options: options{lasts: time.Hour}, memory: c.memory, goroutines: c.goroutines, verdict: &verdict{evictions: 1},
		}
		if got := r.kept(); got != c.want {
			t.Errorf("%s: got %t, want %t", c.name, got, c.want)
		}
	}
}
