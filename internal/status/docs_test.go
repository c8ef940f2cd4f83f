package status_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/taint"
)

var update = flag.Bool("update", false, "rewrite the examples")

const examples = "../../docs/reference/api-examples.md"

func TestTheExamplesInTheDocsAreWhatIsAnswered(t *testing.T) {
	page := "# Examples of the page's JSON\n\nThis page is made from the code by `make golden`. [api.md](../api.md) says " +
		"how to ask, and [reference/api.md](api.md) what the fields mean. Each answer is of the same small cluster, five " +
		"minutes after its begin.\n"
	for _, path := range []string{
		"/api/v1/snapshot",
		"/api/v1/snapshot?since=K3JQ7XVA-1-1",
		"/api/v1/evictions?state=blocked,refused,delayed&limit=1",
		"/api/v1/nodes",
		"/api/v1/evictions?state=late",
	} {
		page += "\n`GET " + path + "`\n\n```json\n" + exampleOf(t, path) + "```\n"
	}
	if *update {
		must(t, os.WriteFile(examples, []byte(page), 0o600))
	}
	written, err := os.ReadFile(examples)
	must(t, err)
	if diff := cmp.Diff(string(written), page); diff != "" {
		t.Errorf("%s (-) is not what is answered (+); rewrite it with make golden:\n%s", examples, diff)
	}
}

// exampleOf returns the answer of the docs' world, as it is five minutes after its beginning.
func exampleOf(t *testing.T, path string) (answer string) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(5 * time.Minute)
		w := &world{
			views: []eviction.View{
				delayed(view("web-1", "node-a", 290), eviction.Blocked, "Cannot evict pod as it would violate the pod's disruption budget. The disruption budget web needs 2 healthy pods and has 2 currently"),
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
		path, tagged := strings.CutSuffix(path, "?since=K3JQ7XVA-1-1")
		v := viewer{server: s}
		v.ask(t)
		if tagged {
			path += "?since=" + v.has.Tag
			w.set(func(w *world) { w.views = w.views[1:] })
			time.Sleep(time.Second)
		}
		answer = indented(t, []byte(strings.ReplaceAll(ask(s, path).Body.String(), strings.TrimSuffix(v.has.Tag, "-1-1"), "K3JQ7XVA")))
	})
	return answer
}

func indented(t *testing.T, text []byte) string {
	var b bytes.Buffer
	must(t, json.Indent(&b, bytes.TrimSpace(text), "", "  "))
	return b.String() + "\n"
}
