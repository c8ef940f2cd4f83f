package leader

import (
	"os"
	"strings"
	"testing"
)

func TestAnIdentityBeginsWithTheNameOfThePodAndIsUnique(t *testing.T) {
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	for pod, begins := range map[string]string{"taint-manager-6d4b75cb6d-hwlcz": "taint-manager-6d4b75cb6d-hwlcz_", "": host + "_"} {
		t.Setenv("POD_NAME", pod)
		one, err := NewIdentity()
		if err != nil {
			t.Fatal(err)
		}
		other, err := NewIdentity()
		if err != nil || !strings.HasPrefix(one, begins) || !strings.HasPrefix(other, begins) || one == other {
			t.Errorf("POD_NAME=%q: got %s and %s, %v, want different ones that begin with %s", pod, one, other, err, begins)
		}
	}
}
