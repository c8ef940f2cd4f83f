package foresight_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/internal/foresight"
)

// FuzzEvent explains a pod that is gone, and its successor, by an event with any words: what the annotations say is
// told, what they cannot mean is not, and every answer has a JSON form.
func FuzzEvent(f *testing.F) {
	f.Add("TaintManagerEviction", marked, "n1", "2026-05-01T11:58:10Z", "gpu=a:NoExecute", "2026-05-01T11:50:00Z", "StatefulSet.apps/a")
	f.Add("TaintManagerEviction", spared, "", "", "", "", "")
	f.Add("EvictionBlocked", blocked, "n1", "9999-12-31T23:59:59-23:59", ":NoExecute", "0000-01-01T00:00:00Z", "/")
	f.Add("EvictionHeld", "Eviction of Pod, is ", "\x00", "soon", "a=b=c:d:e", "2026-05-01T11:50:00+25:00", "\xff")
	f.Fuzz(func(t *testing.T, reason, message, from, deadline, because, bound, workload string) {
		e := happened("u1", -110, reason, message)
		e.Annotations = map[string]string{
			"taint-manager/node": from, "taint-manager/deadline": deadline, "taint-manager/taint": because,
			"taint-manager/bound": bound, "taint-manager/workload": workload,
		}
		successor := pod("a", ownedBy("StatefulSet/a"), on("n2"), func(p *v1.Pod) { p.UID = "u2" })
		_, notDue := time.Parse(time.RFC3339, deadline)
		evicts := reason == "TaintManagerEviction" && !strings.HasPrefix(message, "Cancelling ")
		for _, objects := range [][]any{{e}, {e, node("n2", timed("gpu=a:NoExecute", -1000)), successor}} {
			m := modelOf(foresight.Focus{}, objects...)
			got := explained(m, noon)
			if past := got.Past; (past != nil) != evicts || past != nil &&
				(past.Node != from || past.Taint != because || (past.Due == nil) != (notDue != nil)) {
				t.Errorf("got %+v of %v", past, e.Annotations)
			}
			for _, answer := range []any{got, m.Pending(noon, nil)} {
				if _, err := json.Marshal(answer); err != nil {
					t.Error(err)
				}
			}
		}
	})
}
