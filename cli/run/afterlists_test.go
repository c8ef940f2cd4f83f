package run

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	taintmanager "github.com/taint-manager/taint-manager"
	"github.com/taint-manager/taint-manager/taint"
)

// scheduled has the views of a manager, or an error.
type scheduled struct {
	views []taintmanager.View
	err   error
}

func (s scheduled) Views(context.Context) ([]taintmanager.View, error) { return s.views, s.err }

func TestAProcessSaysThatATaintOfItsNodeIsGoingToEvictItsPod(t *testing.T) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	view := func(uid types.UID) taintmanager.View {
		return taintmanager.View{
			Pod: &taint.Pod{Namespace: "kube-system", Name: "taint-manager-" + string(uid), UID: uid, Node: "n1"},
			Verdict: taint.Verdict{
				Evict: true, At: at, Start: at, Node: "n1", Taint: &v1.Taint{Key: "dedicated", Effect: v1.TaintEffectNoExecute},
			},
		}
	}
	for name, test := range map[string]struct {
		scheduled scheduled
		own       types.UID
		want      string
	}{
		"its pod is scheduled":       {scheduled{views: []taintmanager.View{view("other"), view("own")}}, "own", `"node"="n1" "deadline"="2026-01-01T00:00:00Z" "because"="taint dedicated:NoExecute (countdown since 2026-01-01T00:00:00Z) is not tolerated"`},
		"another pod is":             {scheduled{views: []taintmanager.View{view("other")}}, "own", ""},
		"it runs in no pod":          {scheduled{views: []taintmanager.View{view("")}}, "", ""},
		"the process ends meanwhile": {scheduled{err: errors.New("ended")}, "own", ""},
	} {
		var lines []string
		log := funcr.New(func(_, line string) { lines = append(lines, line) }, funcr.Options{})
		warnOfOwnNode(klog.NewContext(t.Context(), log), test.scheduled.Views, test.own)
		if (len(lines) == 1) != (test.want != "") || !strings.Contains(strings.Join(lines, ""), test.want) {
			t.Errorf("%s: logged %q, want %q", name, lines, test.want)
		}
	}
}
