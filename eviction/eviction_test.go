package eviction

import (
	"slices"
	"testing"
)

func TestEachKindHasAWordOfItsOwn(t *testing.T) {
	seen := map[string]bool{}
	for k := Accepted; k.Valid(); k++ {
		if word := k.String(); word == "none" || seen[word] {
			t.Errorf("kind %d is %q", k, word)
		}
		seen[k.String()] = true
	}
	for _, k := range []Kind{0, Unconfirmed + 1, 255} {
		if k.Valid() || k.String() != "none" {
			t.Errorf("kind %d is valid, as %q", k, k)
		}
	}
}

func TestACauseOfACallersOwnIsNoLabel(t *testing.T) {
	for _, cause := range append(Causes(), Cause{Meaning: "none"}) {
		if got := CauseLabel(cause.Name); got != cause.Name || cause.Meaning == "" {
			t.Errorf("%q (%s) becomes the label %q", cause.Name, cause.Meaning, got)
		}
	}
	if got := CauseLabel("of a caller's own"); got != "other" {
		t.Errorf("got %q", got)
	}
}

func TestEachStateAndEachCauseOfAWaitHasAMeaning(t *testing.T) {
	for _, state := range States() {
		if state.Meaning() == "" {
			t.Errorf("%s has no meaning", state)
		}
	}
	for _, cause := range WaitCauses() {
		if wait := (Wait{Cause: cause}); cause.Meaning() == "" || wait.String() == "" {
			t.Errorf("%s means %q, in words %q", cause, cause.Meaning(), wait)
		}
	}
}

func TestAnEvictionIsStuckByItsLastOutcome(t *testing.T) {
	for kind, want := range map[Kind]State{
		Blocked: StateBlocked, Refused: StateRefused, Failed: StateDelayed, Unconfirmed: StateDelayed,
	} {
		if got := (&Outcome{Kind: kind}).Stuck(); got != want || !slices.Contains(States(), got) {
			t.Errorf("%s: got %q, want %q", kind, got, want)
		}
	}
}

func TestOnlyBudgetsAndAdmissionRefuseAnEviction(t *testing.T) {
	for _, test := range []struct {
		outcome Outcome
		want    bool
	}{
		{Outcome{Kind: Blocked, Cause: CausePDB}, true},
		{Outcome{Kind: Blocked, Cause: "of a caller's own"}, true},
		{Outcome{Kind: Refused, Cause: CauseAdmission}, true},
		{Outcome{Kind: Refused, Cause: CauseAdmission, NodeRead: true}, false},
		{Outcome{Kind: Refused, Cause: CauseRBAC}, false},
		{Outcome{Kind: Refused, Cause: CauseUnauthenticated}, false},
		{Outcome{Kind: Refused, Cause: CauseNamespace}, false},
		{Outcome{Kind: Refused, Cause: CauseRejected}, false},
		{Outcome{Kind: Failed, Cause: CauseWebhook}, false},
		{Outcome{Kind: Failed, Cause: CauseConflict}, false},
		{Outcome{Kind: Failed, Cause: CauseTimeout}, false},
		{Outcome{Kind: Throttled}, false},
		{Outcome{Kind: Unavailable, Cause: CauseGateway}, false},
		{Outcome{Kind: Unconfirmed}, false},
		{Outcome{Kind: NotFound}, false},
		{Outcome{Kind: Interrupted}, false},
		{Outcome{Kind: DryRun}, false},
		{Outcome{Kind: Accepted}, false},
		{Outcome{}, false},
	} {
		if got := test.outcome.RefusesEviction(); got != test.want {
			t.Errorf("%+v: got %v, want %v", test.outcome, got, test.want)
		}
	}
}

func TestACallMayHaveDeletedUnlessItIsCertainThatItDidNot(t *testing.T) {
	may := map[Kind]bool{Accepted: true, Failed: true, Unavailable: true, Interrupted: true}
	for k := Accepted; k.Valid(); k++ {
		o := Outcome{Kind: k}
		if got := o.MayHaveDeleted(); got != may[k] {
			t.Errorf("%s: got %v", k, got)
		}
		o.NothingDeleted = true
		if got := o.MayHaveDeleted(); got != (k == Accepted) {
			t.Errorf("%s, and nothing was deleted: got %v", k, got)
		}
		if o = (Outcome{Kind: k, NodeRead: true}); o.MayHaveDeleted() != (k == Accepted) {
			t.Errorf("%s of the GET of a node: it may have deleted", k)
		}
	}
}
