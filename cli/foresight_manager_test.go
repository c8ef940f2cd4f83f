package cli_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/internal/status"
)

// answerAsManager implements what pending needs of a manager with one of these characters: leads, shop, night, standby,
// leaderless, dry, tripped, troubled, starts, newer, other, broken.
func answerAsManager(w http.ResponseWriter, r *http.Request, character string) {
	if !strings.HasSuffix(r.URL.Path, "/api/v1/snapshot") {
		http.NotFound(w, r)
		return
	}
	if tag := r.URL.Query().Get("since"); tag != "" {
		answerChanges(w, tag)
		return
	}
	s := managed()
	switch character {
	case "shop":
		s = managedShop()
	case "night":
		s = managedNight()
	case "standby":
		s.Manager.Role, s.Manager.Leader = status.Standby, "other_2"
	case "leaderless":
		s.Manager.Role, s.Manager.Leader = status.Standby, ""
	case "dry":
		s.Manager.DryRun, s.Manager.Trouble = true, "nodes can't be watched since 11:00"
	case "tripped":
		s.Manager.Trips, s.Manager.Idle = managersTrips(), []string{"breaker db can never trip: its nodeSelector selects no node"}
	case "troubled":
		s.Manager.Spared = []status.SparedNode{{Name: "n9", NotReadySince: s.At.Add(-time.Hour)}, {Name: "n8"}}
		s.Nodes = append(s.Nodes, status.Node{Name: "n8", Taints: []status.Taint{{Taint: "node.kubernetes.io/out-of-service:NoExecute"}}})
		s.Evictions[1].Own = true
		s.Manager.Pace = &status.Pace{EvictionsPerSecond: 0.01, Delayed: 1, Last: s.At.Add(100 * time.Second), Evictions: 2}
		gone := &s.Evictions[0]
		gone.State, gone.DeletedBy, gone.ExposedSince = eviction.StateDue, "the DaemonSet controller", gone.Deadline
		s.Evictions[1].Returned, s.Evictions[1].Owner = 2, &status.Owner{Kind: "Job", Group: "batch.volcano.sh", Name: "train"}
	case "starts":
		s.Manager.Synced = false
	case "newer":
		s.APIVersion = "status.taint-manager/v2"
	case "other":
		s.APIVersion = "v1"
	case "broken":
		text, _ := json.Marshal(status.Error{TypeMeta: status.TypeMeta{APIVersion: status.APIVersion, Kind: status.KindError}, Message: "it takes too long; try again"})
		answer(w, http.StatusServiceUnavailable, string(text))
		return
	}
	answer(w, http.StatusOK, string(must(json.Marshal(s))))
}

// answerChanges answers with an eviction that is added to two others, then with its end, and then with nothing.
func answerChanges(w http.ResponseWriter, tag string) {
	due := `{"uid":"u3","namespace":"bank","pod":"c","node":"n4","state":"due","deadline":"2026-05-01T12:00:00Z","taint":"disk:NoExecute","exposedSince":"2026-05-01T12:00:00Z","because":"because"}`
	scheduled := strings.NewReplacer(`"due"`, `"scheduled"`, "u3", "u4", `"c"`, `"d"`, "bank", "shop").Replace(due)
	begin := `{"apiVersion":"status.taint-manager/v1alpha1","kind":"Changes","at":"2026-05-01T12:00:01Z","manager":{"role":"leading","synced":true},`
	switch tag {
	case "1":
		answer(w, http.StatusOK, begin+`"tag":"2","evictions":[`+due+`,`+scheduled+`]}`)
	case "2":
		answer(w, http.StatusOK, begin+`"tag":"3","gone":["u4","u2"],"evicted":[{"uid":"u4"}]}`)
	default:
		w.WriteHeader(http.StatusNoContent)
	}
}

// managersTrips are the trips of which "tripped" tells, as its journal has them, and one of an older manager.
func managersTrips() []status.Trip {
	began := time.Date(2026, 5, 1, 10, 59, 50, 0, time.UTC)
	return []status.Trip{
		{Breaker: "half", Since: began, Reset: "Automatic"}, {Breaker: "zones", Group: "c", Since: began.In(time.FixedZone("", 3600)), Reset: "Manual"}, {Breaker: "old", Since: began},
	}
}

// managed returns the manager's snapshot.
func managed() status.Snapshot {
	noon := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	one := status.Eviction{
		UID: "u1", Namespace: "shop", Pod: "a", Node: "n2", State: eviction.StateBlocked, Deadline: noon.Add(-time.Minute),
		Taint: "network=slow:NoExecute", ExposedSince: noon.Add(-6 * time.Minute), Because: "because",
		NextTry: noon.Add(12 * time.Second), Attempts: 3, Cause: "pdb", Message: "Cannot evict pod.",
	}
	two := status.Eviction{
		UID: "u2", Namespace: "shop", Pod: "b", Node: "n4", State: eviction.StateScheduled, Deadline: noon.Add(90 * time.Second),
		Taint: "disk:NoExecute", ExposedSince: noon, Because: "because", NextTry: noon.Add(90 * time.Second),
	}
	return status.Snapshot{
		TypeMeta: status.TypeMeta{APIVersion: status.APIVersion, Kind: status.KindSnapshot}, At: noon, Tag: "1",
		Manager:   status.Manager{Version: "v1", Identity: "me_1", Role: status.Leading, Leader: "me_1", Synced: true},
		Evictions: []status.Eviction{one, two}, Nodes: []status.Node{{Name: "n2"}, {Name: "n4"}},
	}
}

// managedNight returns a snapshot with pods that are held, wait for a rate and for the end of the pause, and one whose
// eviction is accepted.
func managedNight() status.Snapshot {
	s := managed()
	of := func(name string, state eviction.State, change func(*status.Eviction)) status.Eviction {
		e := s.Evictions[1]
		e.UID, e.Pod, e.State, e.Deadline, e.NextTry = name, name, state, s.At.Add(-10*time.Minute), time.Time{}
		change(&e)
		return e
	}
	s.Evictions = []status.Eviction{
		of("held-0", eviction.StateHeld, func(e *status.Eviction) { e.HeldBy = "breaker outage" }),
		of("limited-0", eviction.StateDue, func(e *status.Eviction) { e.WaitsFor, e.WaitsForRate = "rate cluster", "cluster" }),
		of("paused-0", eviction.StateDue, func(e *status.Eviction) { e.WaitsFor = "the end of the pause" }),
		of("terminating-0", eviction.StateTerminating, func(e *status.Eviction) { e.Attempts, e.Cause = 2, "pdb" }),
		of("web-5d4f8c7b9-7b67d", eviction.StateTerminating, func(e *status.Eviction) {
			e.UID, e.Policy = "0d36d2b4-da99-4e2e-87db-8247b9fbe3c8", "drain"
		}),
	}
	return s
}

// managedShop returns the manager's snapshot of the shop: one pod is blocked, one waits for a place, and one was evicted.
func managedShop() status.Snapshot {
	s := managed()
	blocked, slow := &s.Evictions[0], &s.Evictions[1]
	blocked.Pod, blocked.UID = "api-5d4f8c7b9-q8zvw", "8ef2f453-edd6-4abe-83c5-bd5edf521700"
	blocked.Budget, blocked.Owner = "api", &status.Owner{Kind: "Deployment", Name: "api"}
	slow.Pod, slow.UID, slow.State = "logs-0", "3f8b6c57-5216-4826-84fb-e2037e8cd0e5", eviction.StateDue
	slow.WaitsFor = "a place: namespace shop already has 32 calls in flight, half of what is free"
	s.Evicted = []status.Evicted{{Namespace: "shop", Pod: "web-5d4f8c7b9-zzbrp", UID: "gone", At: s.At.Add(-2 * time.Minute)}}
	return s
}
