package dump_test

import (
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/internal/dump"
)

func TestManagedFieldsOfNodesAreRead(t *testing.T) {
	const text = `{"apiVersion":"v1","kind":"Node","metadata":{"name":"n","managedFields":[{"manager":"kubectl-taint",
"time":"2026-05-01T11:05:00Z","fieldsV1":{"f:spec":{"f:taints":{}}}}]}}`
	var got []string
	err := dump.ReadAlone(strings.NewReader(text), func(o any, _ []time.Time) {
		for _, m := range o.(*v1.Node).ManagedFields {
			got = append(got, m.Manager+m.Time.UTC().Format(" 15:04 ")+m.FieldsV1.GetRawString())
		}
	})
	if want := `kubectl-taint 11:05 {"f:spec":{"f:taints":{}}}`; err != nil || strings.Join(got, "") != want {
		t.Errorf("got %q, %v", got, err)
	}
}
