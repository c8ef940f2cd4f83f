package foresight

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
)

// Command is a command, and what it does for a pod.
type Command struct {
	Does    string `json:"does"`
	Command string `json:"command"`
}

// commands returns the commands for a pod that is to be evicted: to keep it, to show its budgets, or to delete it.
func commands(p *pod, e *Explanation) []Command {
	if !e.Prediction.Evict {
		return nil
	}
	pod := "pod " + shellWord(p.Name) + " -n " + shellWord(p.Namespace)
	var list []Command
	var taints []v1.Taint // those that evict the pod
	var removals []string
	decided := false // by a policy
	for i := range e.Taints {
		if by := e.Taints[i].Prediction; by != nil && by.Evict {
			t := withoutValue(e.Taints[i].Taint)
			taints, removals = append(taints, t), append(removals, shellWord(t.Key+":"+string(t.Effect)+"-"))
			decided = decided || by.Policy != "" || t.Effect != v1.TaintEffectNoExecute
		}
	}
	if e.Prediction.Device != nil || e.Prediction.Also != nil { // changing the node's taints is not enough
		taints = nil
	}
	if len(taints) > 0 && !slices.ContainsFunc(taints, isManaged) {
		remove := "remove the " + Verb(len(taints), "taint to keep every pod that it evicts",
			"taints to keep every pod that they evict") + ", including this one"
		list = append(list, Command{
			remove,
			"kubectl taint nodes " + shellWord(p.Node) + " " + strings.Join(removals, " "),
		})
	}
	if len(taints) > 0 && !decided && e.Prediction.DeletedBy == "" { // the DaemonSet controller reads the template
		list = append(list, Command{
			"keep this pod without changing the taint; a replacement does not get the toleration",
			"kubectl patch " + pod + " --type=json -p=" + shellWord(tolerating(p, taints)),
		})
	}
	for i := range e.Budgets {
		if _, shows, _ := e.keptBy(&e.Budgets[i]); shows != "" {
			name := shellWord(e.Budgets[i].Name)
			list = append(list, Command{shows, "kubectl describe pdb " + name + " -n " + shellWord(p.Namespace)})
		}
	}
	return append(list, Command{"delete this pod now, ignoring budgets", "kubectl delete " + pod})
}

// tolerating returns the JSON patch that makes a pod tolerate the taints forever. The first toleration that matches
// counts, so the patch puts the new ones first.
func tolerating(p *pod, taints []v1.Taint) string {
	var patch, tolerations []any
	add := func(path string, value any) {
		patch = append(patch, map[string]any{"op": "add", "path": path, "value": value})
	}
	for _, t := range taints {
		toleration := map[string]any{"key": t.Key, "operator": "Exists", "effect": t.Effect}
		tolerations = append(tolerations, toleration)
		add("/spec/tolerations/0", toleration)
	}
	if len(p.Tolerations) == 0 {
		patch = nil
		add("/spec/tolerations", tolerations)
	}
	text, _ := json.Marshal(patch) // texts can always be encoded
	return string(text)
}

// withoutValue parses a taint, and drops its value.
func withoutValue(written string) v1.Taint {
	keyAndValue, effect, _ := strings.Cut(written, ":")
	key, _, _ := strings.Cut(keyAndValue, "=")
	return v1.Taint{Key: key, Effect: v1.TaintEffect(effect)}
}

// plainWord matches words that need no quotes in a shell.
var plainWord = regexp.MustCompile(`^[A-Za-z0-9._/:=-]+$`)

// shellWord quotes a text for a shell, where that is needed.
func shellWord(s string) string {
	if plainWord.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
