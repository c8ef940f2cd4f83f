package evict

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/go-logr/logr/funcr"
	"k8s.io/klog/v2"

	"github.com/taint-manager/taint-manager/config"
	"github.com/taint-manager/taint-manager/eviction"
)

// enormous is a text of 1 MB.
var enormous = strings.Repeat("ä", 1<<19)

func wantShort(t *testing.T, what, s string) {
	t.Helper()
	if len(s) == 0 || len(s) > 1024 || !utf8.ValidString(s) {
		t.Errorf("%s: %d bytes, valid: %t; want at most 1024 that are valid", what, len(s), utf8.ValidString(s))
	}
}

func TestAnEnormousDenialIsCutWhereItEnters(t *testing.T) {
	denial := fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","status":"Failure","code":403,"message":"admission webhook \"guard\" denied the request: %s",`+
		`"details":{"causes":[{"reason":"DisruptionBudget","message":"%s"}]}}`, enormous, enormous)
	s := newServer(t)
	s.replies = map[verb]reply{patchVerb: {code: 403, body: denial}, evictVerb: {code: 403, body: denial}}
	for _, method := range []config.Method{config.MethodDelete, config.MethodEvict} {
		o := evictOnce(t, s, APIOptions{Method: method}, someRequest())
		if o.Kind != eviction.Refused || o.Cause != eviction.CauseAdmission {
			t.Errorf("%s: got %s, %s", method, o.Kind.String(), o.Cause)
		}
		wantShort(t, string(method), o.Message)
	}
}

func TestWhatAnEvictorOfACallersOwnSaysIsCutToo(t *testing.T) {
	for name, answer := range map[string]func(context.Context, int) eviction.Outcome{
		"an outcome": func(context.Context, int) eviction.Outcome {
			return eviction.Outcome{Kind: eviction.Failed, Cause: "\xff" + enormous, Message: enormous + "\xff"}
		},
		"a panic": func(context.Context, int) eviction.Outcome { panic(enormous) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log strings.Builder
				logger := funcr.New(func(_, args string) { log.WriteString(args) }, funcr.Options{})
				told := make(chan eviction.Outcome, 1)
				p := NewPool(PoolOptions{Evictor: &fakeEvictor{answer: answer}})
				ctx, cancel := context.WithCancel(klog.NewContext(t.Context(), logger))
				go func() { _ = p.Lead(ctx) }()
				(<-p.Permits()).Start(someRequest(), func(o eviction.Outcome) { told <- o })
				o := <-told
				cancel()
				time.Sleep(time.Second)
				wantShort(t, "message", o.Message)
				wantShort(t, "cause", o.Cause)
				if log.Len() > 16<<10 { // a stack
					t.Errorf("%d bytes are logged", log.Len())
				}
			})
		})
	}
}
