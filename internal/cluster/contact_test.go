package cluster

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/klog/v2"
)

// logged returns a context whose logger appends to the list of lines.
func logged(ctx context.Context) (context.Context, *[]string) {
	lines := &[]string{}
	return klog.NewContext(ctx, funcr.New(func(_, args string) { *lines = append(*lines, args) }, funcr.Options{})), lines
}

func TestTroubleLastsFromTheFirstFailureToTheNextSuccess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, lines := logged(t.Context())
		heard := 0
		c := &contact{resource: "pods", heard: func() { heard++ }}
		refused := errors.New("connection refused")
		watching := metav1.ListOptions{Watch: true}
		for range 3 {
			if err := c.answered(ctx, watching, refused); !errors.Is(err, refused) {
				t.Errorf("the error came back as %v", err)
			}
			time.Sleep(time.Minute)
		}
		if err := c.trouble(); !errors.Is(err, refused) || !strings.Contains(err.Error(), "watching pods for 3m0s without success") {
			t.Errorf("got %v", err)
		}
		for range 2 {
			must(t, c.answered(ctx, watching, nil))
		}
		must(t, c.trouble())
		if len(*lines) != 2 || heard != 2 {
			t.Errorf("heard %d times, want 2; logged %q, want one line for the worse and one for the better", heard, *lines)
		}
	})
}

func TestWhatIsNoTrouble(t *testing.T) {
	yes := true
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	c := &contact{resource: "pods", heard: func() { t.Error("heard of no success") }}
	_ = c.answered(ended, metav1.ListOptions{}, context.Canceled)
	_ = c.answered(t.Context(), metav1.ListOptions{SendInitialEvents: &yes}, apierrors.NewInvalid(schema.GroupKind{}, "", nil))
	must(t, c.trouble())
}

func TestAListEndsTroubleOnlyOnceItIsComplete(t *testing.T) {
	yes := true
	for name, list := range map[string]metav1.ListOptions{"in pages": {}, "streamed": {Watch: true, SendInitialEvents: &yes}} {
		c := &contact{resource: "pods", heard: func() {}}
		_ = c.answered(t.Context(), list, errors.New("connection refused"))
		must(t, c.answered(t.Context(), list, nil))
		if c.trouble() == nil {
			t.Errorf("%s: an answer ends the trouble", name)
		}
		c.listed(t.Context())
		must(t, c.trouble())
	}
}

func TestTheLogTellsOnceThatNoAnswerComesAndOnceThatItHasCome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, lines := logged(t.Context())
		c := &contact{resource: "pods", heard: func() {}}
		watching := metav1.ListOptions{Watch: true}
		for range 2 {
			must(t, c.requested(ctx, watching))
			time.Sleep(10 * time.Minute)
			_ = c.answered(ctx, watching, errors.New("timeout"))
		}
		if err := c.trouble(); len(*lines) != 1 || err == nil || !strings.Contains(err.Error(), "20m0s without success: timeout") {
			t.Errorf("trouble %v, logged %q", err, *lines)
		}
		must(t, c.requested(ctx, watching))
		must(t, c.answered(ctx, watching, nil))
		time.Sleep(time.Hour)
		must(t, c.trouble())
		if len(*lines) != 2 {
			t.Errorf("logged %q, want one line for the worse and one for the better", *lines)
		}
	})
}

func TestOneLineAMinuteForEachKindOfMalformedThing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, lines := logged(t.Context())
		log := newWarnings(klog.FromContext(ctx))
		trim := newPods(newNeeds()).entryOf
		malformed := trim(aPod(func(p *v1.Pod) { p.Spec.Tolerations[0].Operator = "Roughly" }), time.Now())
		fine := trim(aPod(), time.Now())
		for range 100 {
			log.tolerations(fine)
			log.tolerations(malformed)
			log.log("one kind")
			log.log("another kind")
		}
		if len(*lines) != 3 {
			t.Fatalf("got %d lines, want 3: %q", len(*lines), *lines)
		}
		for _, part := range []string{`"pod"="ns/p"`, `"key"="k"`, `"operator"="Roughly"`} {
			if !strings.Contains((*lines)[0], part) {
				t.Errorf("%q does not name %s", (*lines)[0], part)
			}
		}
		time.Sleep(warningInterval)
		log.tolerations(malformed)
		if len(*lines) != 4 {
			t.Errorf("nothing was said a minute later: %q", *lines)
		}
	})
}

func TestAnEnormousRefusalIsCutAndStillSaysWhatThePermissionIsFor(t *testing.T) {
	ctx, lines := logged(t.Context())
	const hint = "selectors need this permission"
	c := &contact{resource: "pods", heard: func() {}, ifForbidden: hint}
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "", errors.New(strings.Repeat("x", 1<<20)))
	err := c.answered(ctx, metav1.ListOptions{}, forbidden)
	if !apierrors.IsForbidden(err) || !strings.HasPrefix(err.Error(), hint) || len(err.Error()) > len(hint+": ")+1024 {
		t.Errorf("an error of %d bytes came back: %T", len(err.Error()), err)
	}
	if n := len(c.trouble().Error()); n > 2048 {
		t.Errorf("trouble of %d bytes", n)
	}
	if n := len(strings.Join(*lines, "")); n == 0 || n > 2048 {
		t.Errorf("%d bytes are logged", n)
	}
}

func TestAServerIsAwayWhileItDoesNotAnswer(t *testing.T) {
	refused, broken := errors.New("connection refused"), apierrors.NewInternalError(errors.New("etcd"))
	denied := apierrors.NewForbidden(schema.GroupResource{Resource: "nodes"}, "", nil)
	for name, steps := range map[string]struct {
		errs []error       // of one request a minute
		away time.Duration // until then; 0: never
	}{
		"always there":             {[]error{nil, nil, nil}, 0},
		"away at the end":          {[]error{nil, refused, refused}, 3 * time.Minute},
		"back":                     {[]error{refused, nil, nil}, time.Minute},
		"back, and denied":         {[]error{broken, denied, nil}, time.Minute},
		"denied, which it answers": {[]error{denied, denied, nil}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, began := &contact{resource: "nodes", heard: func() {}}, time.Now()
				for _, err := range steps.errs {
					_ = c.answered(t.Context(), metav1.ListOptions{Watch: true}, err)
					time.Sleep(time.Minute)
				}
				got := c.outageUntil()
				if steps.away == 0 && !got.IsZero() || steps.away > 0 && !got.Equal(began.Add(steps.away)) {
					t.Errorf("it was away until %v, want %v after %v", got, steps.away, began)
				}
			})
		})
	}
}
