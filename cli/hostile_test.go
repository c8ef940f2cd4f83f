package cli_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/taint-manager/taint-manager/cli"
	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/internal/status"
)

// hostile clears a screen, changes the direction of text, begins a control sequence with one character, and forges a
// line.
const hostile = "x\x1b[2J\u202e\u009b1m\u2066\nFORGED: all is well"

// hostileDump has the hostile text in every displayed field.
func hostileDump() []any {
	meta := func(name string) object {
		return object{
			"name": name, "namespace": hostile, "uid": hostile + name, "creationTimestamp": "2026-05-01T08:00:00Z", "labels": object{"app": hostile},
			"ownerReferences": []object{{"apiVersion": "apps/v1", "kind": hostile, "name": hostile, "uid": "u", "controller": true}}, "finalizers": []string{hostile},
		}
	}
	taint := object{"key": "gpu", "value": "a", "effect": "NoExecute", "timeAdded": "2026-05-01T11:59:00Z"}
	pod := func(name string, tolerations ...object) object {
		return object{
			"apiVersion": "v1", "kind": "Pod", "metadata": meta(name), "spec": object{"nodeName": hostile, "tolerations": tolerations},
			"status": object{"phase": "Running", "conditions": []object{{"type": "DisruptionTarget", "status": "True", "reason": hostile, "message": hostile}}},
		}
	}
	later := object{"operator": "Exists"}
	sooner := object{"key": "gpu", "operator": "Equal", "value": "a", "tolerationSeconds": 300}
	going := pod("going", later)
	going["metadata"].(object)["deletionTimestamp"] = "2026-05-01T11:00:00Z"
	return []any{
		object{"apiVersion": "v1", "kind": "Node", "metadata": meta(hostile), "spec": object{"taints": []object{taint, {"key": "disk", "effect": "NoSchedule"}}}},
		pod(hostile), pod("b", sooner, later), pod("stays", later), going, pod("lost", later),
		object{
			"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": meta(hostile), "spec": object{"selector": object{"matchLabels": object{"app": hostile}}},
		},
		object{
			"apiVersion": "v1", "kind": "Event", "metadata": meta("e"), "type": hostile, "reason": hostile, "message": hostile,
			"involvedObject": object{"kind": "Pod", "namespace": hostile, "name": hostile}, "lastTimestamp": "2026-05-01T11:59:00Z",
		},
	}
}

// hostileManager serves the hostile text in every displayed field.
func hostileManager(t *testing.T) string {
	s := managed()
	e := &s.Evictions[0]
	e.Budget, e.UID, e.Namespace, e.Pod, e.Node, e.Taint, e.Because, e.Cause, e.Message = hostile, hostile, hostile, hostile, hostile, hostile, hostile, hostile, hostile
	e2 := &s.Evictions[1]
	e2.UID, e2.Pod, e2.State, e2.Cause, e2.Message, e2.Budget, e2.Attempts = hostile, "web-0", eviction.StateBlocked, hostile, hostile, hostile, 2
	s.Manager.Role, s.Manager.Leader, s.Manager.Identity, s.Manager.Trouble = status.Standby, hostile, hostile, hostile
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/refuses") {
			w.WriteHeader(http.StatusServiceUnavailable)
			_ = json.NewEncoder(w).Encode(status.Error{TypeMeta: status.TypeMeta{APIVersion: status.APIVersion, Kind: status.KindError}, Message: hostile})
			return
		}
		_ = json.NewEncoder(w).Encode(s)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// hostileCluster is an API server that has a pod web-0, of which the hostile manager reports; it returns a kubeconfig.
func hostileCluster(t *testing.T) string {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/pods"):
			reply(w, object{"apiVersion": "v1", "kind": "PodList", "items": []object{{
				"metadata": object{"name": "web-0", "namespace": "shop", "uid": hostile},
				"spec":     object{"nodeName": hostile}, "status": object{"phase": "Running"},
			}}})
		case strings.HasSuffix(r.URL.Path, "/events"):
			reply(w, object{"apiVersion": "v1", "kind": "EventList", "items": []object{}})
		case strings.HasSuffix(r.URL.Path, "/nodes"):
			reply(w, object{"apiVersion": "v1", "kind": "NodeList", "items": []object{}})
		default:
			refuseHostile(w, http.StatusForbidden, "Forbidden")
		}
	}))
	t.Cleanup(server.Close)
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := writeKubeconfig(file, server.URL); err != nil {
		t.Fatal(err)
	}
	return file
}

func refuseHostile(w http.ResponseWriter, code int, reason string) {
	text, _ := json.Marshal(object{"apiVersion": "v1", "kind": "Status", "status": "Failure", "reason": reason, "code": code, "message": hostile})
	answer(w, code, string(text))
}

// A hostile value that is not printed proves nothing.
func TestTheHostileManagerIsHeard(t *testing.T) {
	var out, errs bytes.Buffer
	args := []string{"pending", "-A", "-o", "wide", "--server", hostileManager(t)}
	if code := cli.Run(t.Context(), append([]string{"taint-manager"}, args...), &out, &errs); code != 0 || !strings.Contains(out.String(), `x\x1b[2J`) {
		t.Errorf("exit code %d\n%s%s", code, &out, &errs)
	}
}

func TestNothingFromTheClusterReachesATerminalUnescaped(t *testing.T) {
	file := filepath.Join(t.TempDir(), "dump.json")
	text := must(json.Marshal(hostileDump()))
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	server, kubeconfig := hostileManager(t), hostileCluster(t)
	at := "--at=2026-05-01T12:00:00Z"
	for _, args := range [][]string{
		{"plan", "-f", file, "--node", hostile, "--taint", "gpu:NoExecute", at},
		{"plan", "-f", file, "--node", hostile, "--taint", "gpu:NoExecute", at, "--eviction-method=evict"},
		{"plan", "-f", file, "--node", "nope", "--taint", "gpu:NoExecute"},
		{"plan", "-f", file, "-l", "a=b", "--taint", "gpu:NoExecute"},
		{"plan", "-f", file, "-n", hostile + "x", "--node", hostile, "--taint", "gpu:NoExecute"},
		{"explain", "-f", file, hostile, at},
		{"explain", "-f", file, "b", at},
		{"explain", "-f", file, "stays", at},
		{"explain", "-f", file, "going", at},
		{"explain", "-f", file, "nope"},
		{"explain", "-f", file, hostile + "2"},
		{"explain", hostile + ".b", "-f", file + hostile},
		{"pending", "-f", file, at},
		{"pending", "-f", file, "--node", hostile, at},
		{"pending", "-f", file, "--node", "nope"},
		{"pending", "-f", file, "-l", "app=nope", at},
		{"pending", "-A", "--server", server},
		{"pending", "--server", server + "/refuses"},
		{"pending", "-A", "--server", "http://" + hostile},
		{"pending", "-n", hostile, "--server", server, "--node", hostile},
		{"explain", hostile, "-n", "shop", "--kubeconfig", kubeconfig},
		{"explain", "web-0", "-n", "shop", "--kubeconfig", kubeconfig},
	} {
		for _, form := range []string{"table", "wide", "summary", "name", "json", "yaml", "jsonpath={}", "jsonpath={.pods[*].name} {.manager.message} {.budgets[0]}"} {
			var out, errs bytes.Buffer
			cli.Run(t.Context(), slices.Concat([]string{"taint-manager"}, args, []string{"-o", form}), &out, &errs)
			for name, got := range map[string]string{"stdout": out.String(), "stderr": errs.String()} {
				if strings.Contains(got, "\nFORGED") {
					t.Errorf("%q -o %s: a line of %s is forged:\n%q", args, form, name, got)
				}
				if i := strings.IndexFunc(got, func(r rune) bool { return r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) }); i >= 0 {
					t.Errorf("%q -o %s: %s has %q", args, form, name, got[max(0, i-60):min(len(got), i+20)])
				}
			}
		}
	}
}
