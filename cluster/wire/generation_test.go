package wire_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/taint-manager/taint-manager/cluster/wire"
)

func TestTheGenerationIsReadFromAPodOrItsMetadataAlone(t *testing.T) {
	going := usualPod(1)
	going.Generation, going.DeletionTimestamp = 7, new(metav1.Now())
	raw := func(o interface{ Marshal() ([]byte, error) }) []byte {
		message, err := o.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		return message
	}
	metadata := &metav1.PartialObjectMetadata{ObjectMeta: usualPod(1).ObjectMeta}
	for name, c := range map[string]struct {
		body        []byte
		generation  int64
		terminating bool
		ok          bool
	}{
		"a pod":             {encoded(t, usualPod(1)), usualPod(1).Generation, false, true},
		"a pod that goes":   {encoded(t, going), 7, true, true},
		"a pod's metadata":  {sealed("meta.k8s.io/v1", "PartialObjectMetadata", raw(metadata)), usualPod(1).Generation, false, true},
		"a status":          {encoded(t, &metav1.Status{Message: "no"}), 0, false, false},
		"JSON":              {[]byte(`{"kind": "Pod", "metadata": {"generation": 3}}`), 0, false, false},
		"nothing":           {nil, 0, false, false},
		"a pod that is cut": {encoded(t, usualPod(1))[:200], 0, false, false},
	} {
		generation, terminating, ok := wire.Generation(c.body)
		if generation != c.generation || terminating != c.terminating || ok != c.ok {
			t.Errorf("%s: got %d, %t, %t", name, generation, terminating, ok)
		}
	}
}
