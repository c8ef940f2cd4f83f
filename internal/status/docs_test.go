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

const api = "../../docs/api.md"

// example is a request in the docs, and the block below it.
var example = regexp.MustCompile("(?s)`GET ([^`\n]+)`\n\n```(json)\n(.*?)```")

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
