package status_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/taint"
)

var update = flag.Bool("update", false, "write the examples anew")

const api = "../docs/api.md"

// example is a request in the docs, and the block below it.
var example = regexp.MustCompile("(?s)`GET ([^`\n]+)`\n\n```(json|text)\n(.*?)```")

func TestTheExamplesInTheDocsAreWhatIsAnswered(t *testing.T) {
	text, err := os.ReadFile(api)
	must(t, err)
	n := 0
	got := example.ReplaceAllStringFunc(string(text), func(block string) string {
		n++
		parts := example.FindStringSubmatch(block)
		return strings.TrimSuffix(block, parts[3]+"```") + exampleOf(t, parts[1]) + "```"
	})
	if n != 5 {
		t.Errorf("%d examples", n)
	}
	if *update {
		must(t, os.WriteFile(api, []byte(got), 0o644))
		return
	}
	if diff := cmp.Diff(string(text), got); diff != "" {
		t.Errorf("%s (-) is not what is answered (+); write it anew by make golden:\n%s", api, diff)
	}
}

// exampleOf returns the answer of the docs' world, as it is five minutes after its beginning.
func exampleOf(t *testing.T, path string) (answer string) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(5 * time.Minute)
		w := &world{
			views: []eviction.View{
				delayed(view("web-1", "node-a", 290), eviction.Blocked, "pdb", "Cannot evict pod as it would violate the pod's disruption budget. The disruption budget web needs 2 healthy pods and has 2 currently"),
				view("db-0", "node-a", 420),
			},
			nodes: []*taint.Node{node("node-a", 120)},
		}
		web := map[string]string{"pod-template-hash": "7d9c6"}
		w.views[0].Pod.Controller, w.views[0].Pod.Labels = &taint.Owner{Kind: "ReplicaSet", Name: "web-7d9c6"}, web
		w.views[1].Pod.Controller = &taint.Owner{Kind: "StatefulSet", Name: "db"}
		gone := evicted("web-0", 280)
		gone.Pod.Controller, gone.Pod.Labels = w.views[0].Pod.Controller, web
		gone.Verdict.Node = "node-a"
		w.history.Ended(gone, eviction.Outcome{Kind: eviction.Accepted}, at(280.015))
		s := w.server()
		if path != "/api/v1/events" {
			answer = indented(t, ask(s, path).Body.Bytes())
			return
		}
		v := watch(t, s, "")
		w.set(func(w *world) { w.views = w.views[1:] })
		time.Sleep(tick + time.Millisecond)
		synctest.Wait()
		v.leave()
		for _, e := range v.read() {
			answer += "event: " + e.name + "\nid: " + regexp.MustCompile("^.*-").ReplaceAllString(e.id, "K3JQ7XVA-") + "\ndata: " + shortened(e.data) + "\n\n"
		}
	})
	return answer
}

func indented(t *testing.T, text []byte) string {
	var b bytes.Buffer
	must(t, json.Indent(&b, bytes.TrimSpace(text), "", "  "))
	return b.String() + "\n"
}

// shortened leaves out what an example of a snapshot has shown.
func shortened(data string) string {
	return regexp.MustCompile(`"(evictions|nodes|evicted|minutes)":\[\{.*?\}\]`).ReplaceAllString(data, `"$1":[…]`)
}
