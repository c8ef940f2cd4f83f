package truncate

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"
)

const million = 1 << 20

func TestATextIsCutToValidUTF8OfAKibibyte(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringN(0, 2*MaxBytes, -1).Draw(t, "text") + string(rapid.SliceOfN(rapid.Byte(), 0, 8).Draw(t, "bytes"))
		got, whole := Text(s), strings.ToValidUTF8(s, "?")
		switch {
		case len(got) > MaxBytes || !utf8.ValidString(got):
			t.Fatalf("%d bytes, valid: %t", len(got), utf8.ValidString(got))
		case len(whole) <= MaxBytes && got != whole:
			t.Fatalf("%q became %q", whole, got)
		case len(whole) > MaxBytes && (len(got) <= MaxBytes-utf8.UTFMax || !strings.HasPrefix(whole, strings.TrimSuffix(got, "..."))):
			t.Fatalf("%q became %q", whole, got)
		}
	})
}

func TestAShortErrorIsLeftAlone(t *testing.T) {
	for _, err := range []error{nil, errors.New("short"), apierrors.NewUnauthorized("short")} {
		if got := Error(err); !errors.Is(got, err) || got != nil && got.Error() != err.Error() {
			t.Errorf("%v became %v", err, got)
		}
	}
}

func TestALongErrorKeepsItsCodeReasonAndCauses(t *testing.T) {
	long := &apierrors.StatusError{ErrStatus: metav1.Status{
		Code: 403, Reason: metav1.StatusReasonForbidden, Message: strings.Repeat("m", million),
		Details: &metav1.StatusDetails{RetryAfterSeconds: 3, Name: strings.Repeat("n", million)},
	}}
	for range 100 {
		cause := metav1.StatusCause{Type: metav1.CauseTypeResourceVersionTooLarge, Message: strings.Repeat("c", million/100)}
		long.ErrStatus.Details.Causes = append(long.ErrStatus.Details.Causes, cause)
	}
	for _, err := range []error{long, fmt.Errorf("listing: %w", long)} {
		got := Error(err)
		var status *apierrors.StatusError
		if !errors.As(got, &status) || status.ErrStatus.Size() > 16*MaxBytes || len(got.Error()) > MaxBytes {
			t.Fatalf("got %d bytes of %T", len(got.Error()), got)
		}
		seconds, asked := apierrors.SuggestsClientDelay(got)
		if !apierrors.IsForbidden(got) || !apierrors.HasStatusCause(got, metav1.CauseTypeResourceVersionTooLarge) || !asked || seconds != 3 {
			t.Errorf("got %+v", status.ErrStatus)
		}
	}
}

func TestALongErrorOfAnotherKindIsCutToo(t *testing.T) {
	if got := Error(errors.New(strings.Repeat("x", million))); len(got.Error()) != MaxBytes {
		t.Errorf("%d bytes are left", len(got.Error()))
	}
}
