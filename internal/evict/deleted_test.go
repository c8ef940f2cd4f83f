package evict

import (
	"context"
	"testing"
	"time"

	"github.com/taint-manager/taint-manager/eviction"
)

// A token of a rate is kept for each call that may have deleted its pod.
func TestWhatMayHaveBeenDeletedIsKnown(t *testing.T) {
	may := map[string]bool{
		"a preflight is not supported":                                      true, // the DELETE after it is accepted
		"a deletion is accepted at once":                                    true,
		"a deletion is accepted for later":                                  true,
		"an eviction is accepted with a body that nobody reads":             true,
		"an eviction is accepted with the pod's resourceVersion as in 1.38": true,
		"bad gateway":                              true,
		"unavailable":                              true,
		"a proxy's page says gateway timeout":      true,
		"admission holds a deletion for too long":  true,
		"admission holds an eviction for too long": true,
		"the server failed":                        true,
		"a redirect to nowhere":                    true,
	}
	for _, test := range outcomeTests() {
		s := newServer(t)
		s.replies[test.verb] = test.reply
		e, options := evictionFor(test.verb)
		o := eviction.Outcome{}
		if test.verb == getVerb {
			o = getNode(t, s)
		} else {
			o = evictOnce(t, s, options, e)
		}
		if o.MayHaveDeleted() != may[test.name] {
			t.Errorf("%s: %+v: got %v, want %v", test.name, o, o.MayHaveDeleted(), may[test.name])
		}
	}
}

func TestADeletionWhoseAnswerIsLostMayHaveDeleted(t *testing.T) {
	may := map[string]bool{"the caller gives up": true, "no answer in time": true, "connection cut": true, "TLS failure": true}
	for _, test := range silenceTests() {
		for _, disrupted := range []bool{true, false} {
			api, ctx := test.api(t)
			e := someRequest()
			e.Pod.Disrupted = disrupted // otherwise the PATCH is lost
			if o := api.Evict(ctx, e); o.MayHaveDeleted() != (may[test.name] && disrupted) {
				t.Errorf("%s, disrupted %v: got %+v", test.name, disrupted, o)
			}
		}
	}
}

func TestACallThatEndsBeforeItsDeletionHasDeletedNothing(t *testing.T) {
	s := newServer(t)
	ended, end := context.WithCancel(t.Context())
	end()
	silent := func(o eviction.Outcome) Confirmation {
		return func(context.Context) (eviction.Outcome, bool) { return o, false }
	}
	api := apiOf(t, clientOf(t, s), APIOptions{})
	following := apiOf(t, clientOf(t, s), APIOptions{Leading: func() bool { return false }})
	for name, o := range map[string]eviction.Outcome{
		"the node can't be read": api.EvictConfirmed(t.Context(), someRequest(), silent(eviction.Outcome{Kind: eviction.Failed, NodeRead: true})),
		"unconfirmed":            api.EvictConfirmed(t.Context(), someRequest(), silent(eviction.Outcome{Kind: eviction.Unconfirmed})),
		"another process leads":  following.Evict(t.Context(), someRequest()),
		"its context had ended":  api.Evict(ended, someRequest()),
		"a GET that is cut short": func() eviction.Outcome {
			o, _ := newConfirming().confirmSince(ended, new(someRequest()), time.Now)
			return o
		}(),
	} {
		if o.MayHaveDeleted() {
			t.Errorf("%s: got %+v", name, o)
		}
	}
}
