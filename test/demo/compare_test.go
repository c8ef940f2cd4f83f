package main

import (
	"io"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// played returns a stage on which one pod of each role was on the tainted node and one on another, and these pods
// were deleted, by "role" or "role-elsewhere".
func played(went map[types.UID]time.Duration) *stage {
	s := &stage{out: io.Discard, pods: map[types.UID]*v1.Pod{}, went: went}
	for _, r := range cast {
		for suffix, node := range map[string]string{"": tainted, "-elsewhere": "demo-2"} {
			s.pods[types.UID(r.name+suffix)] = &v1.Pod{
				ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": r.name}},
				Spec:       v1.PodSpec{NodeName: node},
			}
		}
	}
	return s
}

func TestTheDemoAgreesOnlyWithWhatItExpects(t *testing.T) {
	const second = time.Second
	right := func() map[types.UID]time.Duration {
		return map[types.UID]time.Duration{"web": second / 2, "api": 10 * second, "batch": 12*second + second/10, "db": 14 * second}
	}
	for _, c := range []struct {
		name   string
		change func(went map[types.UID]time.Duration)
		agrees bool
	}{
		{"all as it should be", func(map[types.UID]time.Duration) {}, true},
		{"one went early", func(went map[types.UID]time.Duration) { went["api"] = 9999 * time.Millisecond }, false},
		{"one went late", func(went map[types.UID]time.Duration) { went["api"] = 12 * second }, false},
		{"one did not go", func(went map[types.UID]time.Duration) { delete(went, "web") }, false},
		{"one went that stays", func(went map[types.UID]time.Duration) { went["patient"] = second }, false},
		{"one went from another node", func(went map[types.UID]time.Duration) { went["web-elsewhere"] = second }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			went := right()
			c.change(went)
			if got := played(went).compare(); got != c.agrees {
				t.Errorf("agrees: %v, want %v", got, c.agrees)
			}
		})
	}
}
