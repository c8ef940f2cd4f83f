package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/internal/journal"
	"github.com/taint-manager/taint-manager/internal/journal/store"
	"github.com/taint-manager/taint-manager/test/load"
	"github.com/taint-manager/taint-manager/test/testcluster"
)

func TestForesight(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testcluster.Options{})
	must(t, w.Permit(t.Context()))
	t.Run("what plan foretells happens", func(t *testing.T) { happensAsPlanned(w.scene(t)) })
	t.Run("explain tells why a pod is gone", func(t *testing.T) { explainsTheGone(w.scene(t)) })
	t.Run("the commands of explain do what they say", func(t *testing.T) { doesAsToldByExplain(w.scene(t)) })
	t.Run("who may read less is told less", func(t *testing.T) { tellsWhatItCan(w.scene(t)) })
	t.Run("pending has the manager's deadlines, before and after a restart", func(t *testing.T) { hasTheDeadlines(w.scene(t)) })
}

// wholeSecond is longer than the second in which pods were created: until its end they count as not yet bound for a
// client that reads this from the API.
const wholeSecond = 1100 * time.Millisecond

// program returns a command that runs bin/taint-manager for a user.
func (s *scene) program(kubeconfig string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(s.Context(), s.binary(s.T), args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig)
	return cmd
}

// run runs the program, and returns its exit code and what it says.
func (s *scene) run(kubeconfig string, args ...string) (code int, stdout, stderr string) {
	s.Helper()
	cmd := s.program(kubeconfig, args...)
	var out, messages bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &messages
	err := cmd.Run()
	if failed := (*exec.ExitError)(nil); errors.As(err, &failed) {
		return failed.ExitCode(), out.String(), messages.String()
	}
	must(s, err)
	return 0, out.String(), messages.String()
}

// said runs the program, which must succeed, and returns its output.
func (s *scene) said(kubeconfig string, args ...string) (stdout, stderr string) {
	s.Helper()
	code, stdout, stderr := s.run(kubeconfig, args...)
	if code != 0 {
		s.Fatalf("%v: exit code %d\n%s%s", args, code, stdout, stderr)
	}
	return stdout, stderr
}

// pendingPod has the fields of a pod in the answer of pending that are compared.
type pendingPod struct {
	Name, UID, State, SinceFrom, Reason string
	At                                  time.Time
	Earliest                            *time.Time
}

// pending returns the evictions that the command pending lists for the scene's node, by UID.
func (s *scene) pending(kubeconfig string, args ...string) (pods map[string]pendingPod, notes string) {
	s.Helper()
	out, notes := s.said(kubeconfig, append([]string{"pending", "-A", "--node", s.node, "-o", "json"}, args...)...)
	var answer struct{ Pods []pendingPod }
	if err := json.Unmarshal([]byte(out), &answer); err != nil {
		s.Fatalf("%v in:\n%s", err, out)
	}
	pods = map[string]pendingPod{}
	for _, p := range answer.Pods {
		pods[p.UID] = p
	}
	return pods, notes
}

// evictions returns the deadlines that the manager itself reports for the scene's node, by UID.
func (s *scene) evictions(m *testcluster.Manager) map[string]time.Time {
	s.Helper()
	var list struct {
		Items []struct {
			UID      string
			Deadline time.Time
		}
	}
	must(s, json.Unmarshal([]byte(body(s.T, m.Page()+"api/v1/evictions?node="+s.node)), &list))
	deadlines := map[string]time.Time{}
	for _, e := range list.Items {
		deadlines[e.UID] = e.Deadline
	}
	return deadlines
}

func hasTheDeadlines(s *scene) {
	before := s.leader(s)
	s.pod("a", bears("key", 300), exists("other"))
	s.pod("b", bears("key", 400), exists("other"))
	s.pod("stays", exists("key"), exists("other"))
	pause(s, wholeSecond)
	s.taint("key")
	s.untilRecorded("key")
	s.taint("key", "other")
	s.pod("late", bears("key", 300), bears("other", 350)) // bound after both taints
	s.agrees(before, 3)
	before.Kill()
	after := s.manage(s.T, election...)
	until(s, "the next manager has read the journal and leads", func() bool {
		return load.Sum(s.managerMetrics(s.T, after), "taint_manager_leading") == 1
	})
	s.agrees(after, 3)
}

// agrees requires pending to agree with the manager, on this number of pods. When a pod was bound is known to the second
// only, so this may differ by one.
func (s *scene) agrees(m *testcluster.Manager, pods int) {
	s.Helper()
	until(s, "the manager has scheduled all", func() bool { return len(s.evictions(m)) == pods })
	s.untilRecorded("key", "other")
	own := s.evictions(m)
	said, notes := s.pending(s.Kubeconfig())
	if len(said) != pods || strings.Contains(notes, "Note") {
		s.Fatalf("pending says %v\n%s", said, notes)
	}
	for uid, p := range said {
		off := p.At.Sub(own[uid]).Seconds()
		if math.Abs(off) > 1.5 || p.Earliest != nil || p.SinceFrom != "journal" || p.State != "scheduled" {
			s.Errorf("pending says %+v, and the manager %v", p, own[uid])
		}
		s.Logf("%s: %.3f s off", p.Name, off)
	}
	asked, _ := s.pending(s.Kubeconfig(), "--server", strings.TrimSuffix(m.Page(), "/"))
	for uid, deadline := range own {
		if !asked[uid].At.Equal(deadline) {
			s.Errorf("with --server, pending says %+v, and the manager %v", asked[uid], deadline)
		}
	}
}

// partition returns the name of the ConfigMap that has the records of the scene's node.
func (s *scene) partition() string { return store.Names(journalName)[journal.PartitionOf(s.node)] }

// untilRecorded waits until the journal has these taints of the scene's node.
func (s *scene) untilRecorded(keys ...string) {
	s.Helper()
	until(s, fmt.Sprintf("the journal has %v", keys), func() bool {
		page, err := s.admin.CoreV1().ConfigMaps("kube-system").Get(s.Context(), s.partition(), metav1.GetOptions{})
		return err == nil && !slices.ContainsFunc(keys, func(key string) bool {
			return !strings.Contains(page.Data[s.node], `"key":"`+key+`"`)
		})
	})
}

// foretold is when a plan says that pods go: seconds after its change, and the absolute time.
type foretold struct {
	seconds float64
	at      time.Time
}

// plan returns the pods that go by a plan, and of how many pods it tells.
func (s *scene) plan(args ...string) (going map[types.UID]foretold, pods int) {
	s.Helper()
	out, _ := s.said(s.Kubeconfig(), append([]string{"plan", "-o", "json"}, args...)...)
	var plan struct {
		Pods []struct {
			UID       types.UID
			Evict     bool
			InSeconds float64
			At        time.Time
		}
	}
	if err := json.Unmarshal([]byte(out), &plan); err != nil {
		s.Fatalf("%v in:\n%s", err, out)
	}
	going = map[types.UID]foretold{}
	for _, p := range plan.Pods {
		if p.Evict {
			going[p.UID] = foretold{p.InSeconds, p.At}
		}
	}
	return going, len(plan.Pods)
}

func happensAsPlanned(s *scene) {
	s.manage(s.T)
	pods := []*v1.Pod{s.pod("now"), s.pod("soon", bears("key", 2)), s.pod("later", bears("key", 4), exists("other")), s.pod("stays", exists("key"))}
	pause(s, wholeSecond)
	going, told := s.plan("--node", s.node, "--taint", "key:NoExecute")
	if told != len(pods) {
		s.Fatalf("plan tells of %d pods, want %d", told, len(pods))
	}
	tainted := s.taint("key")
	for _, pod := range pods {
		if f, goes := going[pod.UID]; goes {
			s.goes(pod, tainted, f.seconds)
		} else {
			s.stays(pod, tainted, 6)
		}
	}
}

func explainsTheGone(s *scene) {
	s.manage(s.T)
	pod := s.pod("p", bears("key", 1))
	tainted := s.taint("key")
	s.goes(pod, tainted, 1)
	s.event(pod, "Marking for deletion")
	out, _ := s.said(s.Kubeconfig(), "explain", "default/"+pod.Name)
	for _, want := range []string{"is gone: evicted from " + s.node + " at ", "TaintManagerEviction", "taint key:NoExecute"} {
		if !strings.Contains(out, want) {
			s.Errorf("%q is not in:\n%s", want, out)
		}
	}
}

// does runs the command that explain offers with these words about a pod, as a shell does.
func (s *scene) does(pod *v1.Pod, words string) {
	s.Helper()
	out, _ := s.said(s.Kubeconfig(), "explain", "default/"+pod.Name, "--eviction-method=evict", "-o", "json")
	var explained struct {
		Commands []struct{ Does, Command string }
	}
	if err := json.Unmarshal([]byte(out), &explained); err != nil {
		s.Fatalf("%v in:\n%s", err, out)
	}
	for _, c := range explained.Commands {
		if !strings.HasPrefix(c.Does, words) {
			continue
		}
		cmd := exec.CommandContext(s.Context(), "sh", "-c", `kubectl() { "$BINARY" kubectl --kubeconfig="$KUBECONFIG" "$@"; }; `+c.Command)
		cmd.Env = append(os.Environ(), "BINARY="+s.Binary(), "KUBECONFIG="+s.Kubeconfig())
		if out, err := cmd.CombinedOutput(); err != nil {
			s.Errorf("%s: %v\n%s", c.Command, err, out)
		}
		return
	}
	s.Errorf("no command %s in:\n%s", words, out)
}

func doesAsToldByExplain(s *scene) {
	s.manage(s.T)
	one, other := s.podWith("one", s.labelled, bears("key", 600)), s.pod("other", bears("key", 600))
	s.budget(1)
	s.known(1)
	pause(s, wholeSecond)
	s.taint("key")
	goes := func(pod *v1.Pod) bool {
		said, _ := s.pending(s.Kubeconfig())
		return said[string(pod.UID)].UID != ""
	}
	s.does(one, "show why the budget permits no disruption")
	s.does(other, "keep this pod without")
	if goes(other) || !goes(one) {
		s.Error("the patch does not keep one of the pods alone")
	}
	s.does(one, "remove the taint to keep every pod that it evicts")
	if goes(one) {
		s.Error("the pod is to go though its node has lost the taint")
	}
	tainted := s.taint("key")
	s.does(one, "delete this pod now, ignoring budgets")
	if _, ended := s.deletion(s, one.UID, tainted.after.Add(30*time.Second)); !ended {
		s.Error("the pod that is let go is still there")
	}
}

// reader returns the kubeconfig of a user with the permissions of these rules.
func (s *scene) reader(name string, rules ...rbacv1.PolicyRule) string {
	s.Helper()
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: rules}
	_, err := s.admin.RbacV1().ClusterRoles().Create(s.Context(), role, metav1.CreateOptions{})
	must(s, err)
	return s.bound(name, "ClusterRole/"+name)
}

// bound returns the kubeconfig of a user who has these roles.
func (s *scene) bound(user string, roles ...string) string {
	s.Helper()
	about := metav1.ObjectMeta{GenerateName: user + "-"}
	subjects := []rbacv1.Subject{{Kind: "User", APIGroup: rbacv1.GroupName, Name: user}}
	for _, role := range roles {
		kind, name, _ := strings.Cut(role, "/")
		ref := rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: kind, Name: name}
		var err error
		if kind == "ClusterRole" {
			_, err = s.admin.RbacV1().ClusterRoleBindings().Create(s.Context(), &rbacv1.ClusterRoleBinding{ObjectMeta: about, Subjects: subjects, RoleRef: ref}, metav1.CreateOptions{})
		} else {
			_, err = s.admin.RbacV1().RoleBindings("kube-system").Create(s.Context(), &rbacv1.RoleBinding{ObjectMeta: about, Subjects: subjects, RoleRef: ref}, metav1.CreateOptions{})
		}
		must(s, err)
	}
	path, err := s.KubeconfigFor(user)
	must(s, err)
	return path
}

func mayRead(resources ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{""}, Resources: resources, Verbs: []string{"get", "list", "watch"}}
}

func tellsWhatItCan(s *scene) {
	viewer := s.bound("viewer", "ClusterRole/taint-manager-viewer", "Role/taint-manager-viewer")
	noJournal := s.reader("no-journal", mayRead("pods", "nodes"))
	podsOnly := s.reader("pods-only", mayRead("pods"))
	m := s.manage(s.T)
	pod := s.pod("p", bears("key", 300))
	s.pod("stays", v1.Toleration{Operator: v1.TolerationOpExists})
	pause(s, wholeSecond)
	tainted := s.taint("key")
	until(s, "the manager has scheduled it", func() bool { return len(s.evictions(m)) == 1 })
	s.untilRecorded("key")
	deadline := s.evictions(m)[string(pod.UID)]
	for name, c := range map[string]struct {
		kubeconfig, from, note string
		args                   []string
	}{
		"the viewer's roles":    {viewer, "journal", "", nil},
		"nodes without journal": {noJournal, "unknown", "this user may not get ConfigMaps taint-manager-journal-*", []string{"--config=none"}},
	} {
		said, notes := s.pending(c.kubeconfig, c.args...)
		p, ok := said[string(pod.UID)]
		if !ok || len(said) != 1 || p.SinceFrom != c.from || !strings.Contains(notes, c.note) || c.note == "" && notes != "" {
			s.Errorf("%s: got %v, %s", name, said, notes)
		}
		switch {
		case p.Earliest == nil && p.At.Sub(deadline).Abs() > 2500*time.Millisecond:
			s.Errorf("%s: at %v, want %v", name, p.At, deadline)
		case p.Earliest != nil && (p.Earliest.After(tainted.after.Add(300*time.Second)) || p.At.Before(deadline)):
			s.Errorf("%s: from %v to %v, want %v to be within", name, p.Earliest, p.At, deadline)
		}
	}
	s.tells(1, "this user may not get ConfigMaps taint-manager-journal-*", noJournal, "pending", "-A", "--node", s.node)
	s.tells(1, "this user may not list nodes: ", podsOnly, "pending", "-A", "--node", s.node)
	out, _ := s.said(viewer, "explain", "default/"+pod.Name)
	if !strings.Contains(out, "(journal)") {
		s.Errorf("explain does not go by the journal:\n%s", out)
	}
	if _, notes := s.said(viewer, "plan", "--node", s.node, "--taint", "key-"); strings.Contains(notes, "Note") {
		s.Errorf("plan notes: %s", notes)
	}
}
