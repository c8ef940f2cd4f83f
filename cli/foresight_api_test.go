package cli_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/yaml"

	"github.com/taint-manager/taint-manager/internal/breaker"
	"github.com/taint-manager/taint-manager/internal/journal"
	"github.com/taint-manager/taint-manager/internal/journal/store"
	"github.com/taint-manager/taint-manager/policy"
)

// shopCharacters are the fake API servers with the objects of the shop, each with its own path.
var shopCharacters = []string{
	"shop",
	"paged",      // returns two objects at a time
	"no-nodes",   // forbids to list or get nodes
	"no-budgets", // forbids to list budgets
	"no-events",  // forbids to list events
	"journal",    // has a journal, in which the taint of n4 starts at 11:59:30.5
	"no-journal", // forbids to get ConfigMaps
	"tripped",    // like journal, and breakers are tripped in it
	"policies",   // has the journal of a manager with policies
	"silent",     // like policies, and the manager can't write its journal
	"ended",      // like policies, and no manager runs any longer
	"newer",      // has the journal of a newer manager
	"leased",     // has the Lease of a manager, and no journal
	"no-lease",   // forbids to get Leases
	"pods-only",  // forbids to list or get anything but pods
	"no-pods",    // forbids to list pods
	"no-spaces",  // forbids to list namespaces
	"nobody",     // does not know the user
	"website",    // is not an API server
	"broken",     // has lost its database
	"alice",      // allows only alice of the group ops, whom others may impersonate
	"slow",       // never answers
	"gpus",       // has the GPUs of docs/examples in place of the shop
	"no-slices",  // like gpus, and forbids to list ResourceSlices
}

// shopAPI implements what plan, explain and pending need of an API server.
type shopAPI struct {
	*httptest.Server
	objects map[string][]object // by resource
	gpus    map[string][]object // those of the characters gpus and no-slices
	trips   object              // the journal's state with trips; only "tripped" has it
}

// object is a JSON object.
type object = map[string]any

func newShopAPI() *shopAPI {
	api := &shopAPI{objects: map[string][]object{"configmaps": {journalPage(), statePage()}, "namespaces": {{"metadata": object{"name": "shop"}}, {"metadata": object{"name": "empty"}}}}, gpus: map[string][]object{}, trips: guardsPage()}
	for file, objects := range map[string]map[string][]object{shop: api.objects, exampleGPUs: api.gpus} {
		var list struct{ Items []object }
		if err := yaml.Unmarshal(must(os.ReadFile(file)), &list); err != nil {
			panic(err)
		}
		for _, o := range list.Items {
			resource := strings.ToLower(o["kind"].(string)) + "s"
			if resource != "configmaps" {
				objects[resource] = append(objects[resource], o)
			}
		}
	}
	api.Server = httptest.NewServer(http.HandlerFunc(api.answer))
	return api
}

// writeKubeconfigs writes a kubeconfig for each character; its context has the namespace shop.
func (s *shopAPI) writeKubeconfigs(dir string) error {
	for _, character := range shopCharacters {
		text := fmt.Appendf(nil, `{"apiVersion": "v1", "kind": "Config", "current-context": "here",
"contexts": [{"name": "here", "context": {"cluster": "c", "user": "u", "namespace": "shop"}}, {"name": "there", "context": {"cluster": "c", "user": "u"}}],
"clusters": [{"name": "c", "cluster": {"server": "%s/%s"}}], "users": [{"name": "u", "user": {"token": "t"}}]}`, s.URL, character)
		if err := os.WriteFile(filepath.Join(dir, character+".kubeconfig"), text, 0o600); err != nil {
			return err
		}
	}
	return nil
}

func (s *shopAPI) answer(w http.ResponseWriter, r *http.Request) {
	character, path, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	resource, namespace, name := parts(path)
	if configs[character] != "" || character == "tripped" || character == "leased" {
		w.Header().Set("Date", "Fri, 01 May 2026 12:00:00 GMT")
	}
	of := s
	if character == "gpus" || character == "no-slices" {
		of = &shopAPI{objects: s.gpus}
	}
	switch {
	case character == "website":
		http.Error(w, "no such page", http.StatusNotFound)
	case character == "nobody":
		refuse(w, http.StatusUnauthorized, "Unauthorized")
	case character == "broken":
		refuse(w, http.StatusInternalServerError, "InternalError")
	case character == "alice" && (r.Header.Get("Impersonate-User") != "alice" || r.Header.Get("Impersonate-Group") != "ops"):
		refuse(w, http.StatusForbidden, "Forbidden")
	case character == "slow":
		<-r.Context().Done()
	case strings.HasPrefix(character, "manager-"):
		answerAsManager(w, r, strings.TrimPrefix(character, "manager-"))
	case slices.Contains(forbidden[character], resource), character == "pods-only" && resource != "pods":
		refuse(w, http.StatusForbidden, "Forbidden")
	case resource == "leases" && (character == "policies" || character == "silent" || character == "leased"):
		reply(w, object{"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": object{"namespace": namespace, "name": name}, "spec": object{
			"holderIdentity": "me_1", "leaseDurationSeconds": 15, "renewTime": "2026-05-01T11:59:58.000000Z",
		}})
	case resource == "leases":
		refuse(w, http.StatusNotFound, "NotFound")
	case resource == "version":
		reply(w, object{"major": "1", "minor": "37", "gitVersion": "v1.37.2"})
	case r.Method != http.MethodGet || kinds[resource] == "":
		refuse(w, http.StatusMethodNotAllowed, "MethodNotAllowed")
	case r.URL.Query().Get("sendInitialEvents") != "":
		refuse(w, http.StatusUnprocessableEntity, "Invalid") // like servers that do not support streamed lists
	case r.URL.Query().Get("watch") != "":
		w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done() // the watch sends no events
	case resource == "configmaps" && character == "tripped":
		tripped := shopAPI{objects: map[string][]object{resource: append([]object{s.trips}, s.objects[resource]...)}}
		tripped.get(w, resource, namespace, name)
	case resource == "configmaps" && configs[character] != "":
		state := stateWith(nil, configs[character])
		if character == "silent" || character == "ended" {
			state["data"].(map[string]string)[journal.Head] = `{"version":1,"written":"2026-05-01T11:50:00Z"}`
		}
		configured := shopAPI{objects: map[string][]object{resource: {state, journalPage()}}}
		configured.get(w, resource, namespace, name)
	case resource == "configmaps":
		refuse(w, http.StatusNotFound, "NotFound")
	case name != "":
		of.get(w, resource, namespace, name)
	default:
		of.list(w, r, resource, namespace, character == "paged")
	}
}

// forbidden are the resources that some characters forbid.
var forbidden = map[string][]string{
	"no-nodes": {"nodes"}, "no-budgets": {"poddisruptionbudgets"}, "no-events": {"events"}, "no-journal": {"configmaps"},
	"no-pods": {"pods"}, "no-lease": {"leases"}, "no-spaces": {"namespaces"}, "no-slices": {"resourceslices"},
}

// drains evicts because of a NoSchedule taint, and holds because of another.
const drains = `{"method":"Delete","policies":[
{"name":"drain","match":{"taints":[{"key":"maintenance","effects":["NoSchedule"]}]},"method":"Delete","tolerations":{"absent":"5m","max":"5m","unlimited":"1h"}},
{"name":"quarantine","match":{"taints":[{"key":"disk"}]},"method":"Hold"}]}`

// configs are the configurations that the managers of some characters have published.
var configs = map[string]string{
	"journal": `{"method":"Delete"}`, "policies": drains, "silent": drains, "ended": drains, "newer": `{"method":"Delete","quotas":1}`,
}

// journalPage returns the journal's partition that owns n4.
func journalPage() object {
	start := time.Date(2026, 5, 1, 11, 59, 30, 5e8, time.UTC)
	disk := journal.TaintState{Start: start}
	disk.Taint = v1.Taint{Key: "disk", Effect: v1.TaintEffectNoExecute}
	record := journal.Record{UID: "1b4ad2d0-0000-4000-8000-0000000000n4", Version: "1", Taints: [][]journal.TaintState{{disk}}}
	data, _ := journal.Encode(journal.Partition{Heartbeat: journal.Heartbeat{Written: start.Add(20 * time.Second)}, Records: map[string]journal.Record{"n4": record}})
	return stored(journal.PartitionOf("n4"), data)
}

// statePage returns the state of the journal.
func statePage() object { return stateWith(nil, `{"method":"Delete"}`) }

// guardsPage returns the state of the journal, in which breakers are tripped.
func guardsPage() object {
	var r breaker.Record
	for _, t := range []breaker.TripRecord{{Breaker: "zones", TopologyKey: "zone", Group: "c"}, {Breaker: "zones", TopologyKey: "zone", Group: policy.NoGroup}, {Breaker: "half"}, {Breaker: "pool"}} {
		t.Began = time.Date(2026, 5, 1, 10, 59, 50, 0, time.UTC)
		r.Trips = append(r.Trips, t)
	}
	return stateWith(&r, `{"method":"Delete"}`)
}

func stateWith(r *breaker.Record, config string) object {
	var text []byte
	if r != nil {
		text, _ = json.Marshal(r)
	}
	beat := journal.Heartbeat{Written: time.Date(2026, 5, 1, 11, 59, 50, 5e8, time.UTC)}
	return stored(journal.StateObject, journal.EncodeState(beat, text, []byte(config)))
}

// stored returns the ConfigMap of a partition, or of the state.
func stored(number int, data map[string]string) object {
	name := store.Names("taint-manager-journal")[number]
	return object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": object{"namespace": "kube-system", "name": name, "resourceVersion": "7"}, "data": data}
}

// parts splits a path such as api/v1/namespaces/shop/pods/web-0.
func parts(path string) (resource, namespace, name string) {
	for _, group := range []string{"api/v1/", "apis/policy/v1/", "apis/coordination.k8s.io/v1/", "apis/resource.k8s.io/v1/"} {
		path = strings.TrimPrefix(path, group)
	}
	words := strings.Split(path, "/")
	if words[0] == "namespaces" && len(words) > 2 {
		namespace, words = words[1], words[2:]
	}
	if len(words) > 1 {
		name = words[1]
	}
	return words[0], namespace, name
}

func named(o object, namespace string) (name string, ok bool) {
	meta := o["metadata"].(object)
	in, _ := meta["namespace"].(string)
	return meta["name"].(string), namespace == "" || in == namespace
}

func (s *shopAPI) get(w http.ResponseWriter, resource, namespace, name string) {
	for _, o := range s.objects[resource] {
		if got, ok := named(o, namespace); ok && got == name {
			reply(w, o)
			return
		}
	}
	refuse(w, http.StatusNotFound, "NotFound")
}

func (s *shopAPI) list(w http.ResponseWriter, r *http.Request, resource, namespace string, paged bool) {
	items := []object{}
	for _, o := range s.objects[resource] {
		if _, ok := named(o, namespace); ok && selected(o, r.URL.Query().Get("fieldSelector")) && labelled(o, r.URL.Query().Get("labelSelector")) {
			items = append(items, o)
		}
	}
	meta := object{"resourceVersion": "1"}
	if paged {
		from, _ := strconv.Atoi(r.URL.Query().Get("continue"))
		to := min(from+2, len(items))
		if to < len(items) {
			meta["continue"], meta["remainingItemCount"] = strconv.Itoa(to), len(items)-to
		}
		items = items[from:to]
	}
	version, kind, _ := strings.Cut(kinds[resource], " ")
	reply(w, object{"apiVersion": version, "kind": kind + "List", "metadata": meta, "items": items})
}

// kinds are the API versions and kinds of the resources.
var kinds = map[string]string{
	"nodes": "v1 Node", "pods": "v1 Pod", "events": "v1 Event", "configmaps": "v1 ConfigMap", "namespaces": "v1 Namespace", "poddisruptionbudgets": "policy/v1 PodDisruptionBudget",
	"resourceclaims": "resource.k8s.io/v1 ResourceClaim", "resourceslices": "resource.k8s.io/v1 ResourceSlice", "devicetaintrules": "resource.k8s.io/v1 DeviceTaintRule",
}

// selected reports whether a field selector matches an object.
func selected(o object, selector string) bool {
	for term := range strings.SplitSeq(selector, ",") {
		field, value, ok := strings.Cut(term, "=")
		field, not := strings.CutSuffix(field, "!")
		if ok && (fieldOf(o, strings.Split(field, ".")) == value) == not {
			return false
		}
	}
	return true
}

// labelled reports whether a label selector matches an object.
func labelled(o object, selector string) bool {
	parsed, err := labels.Parse(selector)
	if err != nil {
		return false
	}
	set := labels.Set{}
	have, _ := o["metadata"].(object)["labels"].(object)
	for key, value := range have {
		set[key] = value.(string)
	}
	return parsed.Matches(set)
}

// fieldOf returns the text at a path; "" if there is none.
func fieldOf(o object, path []string) string {
	if len(path) == 1 {
		text, _ := o[path[0]].(string)
		return text
	}
	inner, _ := o[path[0]].(object)
	return fieldOf(inner, path[1:])
}

func reply(w http.ResponseWriter, o object) {
	answer(w, http.StatusOK, string(must(json.Marshal(o))))
}
