package evict

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/policy"
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
	for _, method := range []policy.Method{policy.Delete, policy.Evict} {
		o := evictOnce(t, s, APIOptions{Method: method}, someRequest())
		if o.Kind != eviction.Refused || o.Cause != eviction.CauseAdmission {
			t.Errorf("%s: got %s, %s", method, o.Kind.String(), o.Cause)
		}
		wantShort(t, string(method), o.Message)
	}
}
