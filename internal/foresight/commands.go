package foresight

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	v1 "k8s.io/api/core/v1"
)

// Command is a command, and what it does about a pod.
type Command struct {
	Does    string `json:"does"`
	Command string `json:"command"`
}

// commands returns what keeps a pod that is to be evicted, and what lets it go.
func (m *Model) commands(p *pod, e *Explanation) []Command {
	if !e.Prediction.Evict || p.Terminating {
		return nil
	}
	pod := "pod " + shellWord(p.Name) + " -n " + shellWord(p.Namespace)
	var list []Command
	if taints, managed := evicting(e.Taints); !managed && len(taints) > 0 {
		list = append(list, Command{
			"keeps it, and every pod that would go because of the same taint",
			"kubectl taint nodes " + shellWord(p.Node) + " " + strings.Join(taints, " "),
		})
	}
	if patch := m.tolerating(p, e.Taints); patch != "" {
		list = append(list, Command{"keeps it alone", "kubectl patch " + pod + " --type=json -p=" + shellWord(patch)})
	}
	for i := range e.Budgets {
		if does := e.describes(&e.Budgets[i]); does != "" {
			list = append(list, Command{
				does, "kubectl describe pdb " + shellWord(e.Budgets[i].Name) + " -n " + shellWord(p.Namespace),
			})
		}
	}
	return append(list, letGo(p.Namespace, p.Name))
}

// describes says what the description of a budget shows; "" if the budget does not keep the pod.
func (e *Explanation) describes(b *ExplainedBudget) string {
	switch {
	case e.Method() != evictMethod || !b.Asked:
		return ""
	case len(e.Budgets) > 1:
		return "shows one of the budgets that select it: the API server evicts no pod that two select"
	case b.Admits == 0:
		return "shows why the budget admits no more"
	}
	return ""
}

// letGo returns the command that deletes a pod.
func letGo(namespace, name string) Command {
	return Command{
		"lets it go now, and asks no budget", "kubectl delete pod " + shellWord(name) + " -n " + shellWord(namespace),
	}
}

// evicting returns the arguments of kubectl that remove the taints that evict a pod. They are managed if one of them is
// set again by Kubernetes while its cause lasts.
func evicting(taints []ExplainedTaint) (list []string, managed bool) {
	for i := range taints {
		t := &taints[i]
		if t.Prediction == nil || !t.Prediction.Evict {
			continue
		}
		key, effect := t.keyAndEffect()
		managed = managed || key == v1.TaintNodeNotReady || key == v1.TaintNodeUnreachable
		list = append(list, shellWord(key+":"+effect+"-"))
	}
	return list, managed
}

// tolerating returns the JSON patch by which a pod tolerates without a limit the taints that evict it; "" if a policy
// decides about one of them. The first toleration that matches counts, so the patch begins the list.
func (m *Model) tolerating(p *pod, taints []ExplainedTaint) string {
	var tolerations []any
	for i := range taints {
		t := &taints[i]
		if t.Prediction == nil || !t.Prediction.Evict {
			continue
		}
		key, effect := t.keyAndEffect()
		if t.Prediction.Policy != "" || effect != string(v1.TaintEffectNoExecute) {
			return ""
		}
		tolerations = append(tolerations, map[string]string{"key": key, "operator": "Exists", "effect": effect})
	}
	var patch []any
	add := func(path string, value any) {
		patch = append(patch, map[string]any{"op": "add", "path": path, "value": value})
	}
	if len(p.Tolerations) == 0 && len(tolerations) > 0 {
		add("/spec/tolerations", tolerations)
	} else {
		for _, toleration := range tolerations {
			add("/spec/tolerations/0", toleration)
		}
	}
	text, err := json.Marshal(patch)
	if err != nil || len(patch) == 0 {
		return ""
	}
	return string(text)
}

// keyAndEffect returns the key and the effect of the taint.
func (et *ExplainedTaint) keyAndEffect() (key, effect string) {
	keyAndValue, effect, _ := strings.Cut(et.Taint, ":")
	key, _, _ = strings.Cut(keyAndValue, "=")
	return key, effect
}

// plainWord matches what a shell leaves as it is.
var plainWord = regexp.MustCompile(`^[A-Za-z0-9._/:=-]+$`)

// shellWord quotes a text for a shell, where that is needed.
func shellWord(s string) string {
	if plainWord.MatchString(s) {
		return s
	}
	return fmt.Sprintf("'%s'", strings.ReplaceAll(s, "'", `'\''`))
}
