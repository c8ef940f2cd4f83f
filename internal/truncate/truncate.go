// Package truncate bounds external texts: messages of the API server, of admission webhooks and of embedders' evictors,
// which may have any length. [Text] and [Error] truncate them to 1 KiB where they are received, so that nothing keeps
// or logs them whole. It is pure.
package truncate

import (
	"errors"
	"strings"
	"unicode/utf8"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// MaxBytes is the maximum length of a text: the limit of an event's message.
const MaxBytes = 1024

// Text returns s as valid UTF-8 of at most MaxBytes bytes. It never cuts within a character.
func Text(s string) string {
	s = strings.ToValidUTF8(s, "?")
	if len(s) <= MaxBytes {
		return s
	}
	const more = "..."
	end := MaxBytes - len(more)
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + more
}

// Error returns an error whose message is truncated like [Text], and which holds nothing longer. Code, reason and
// causes of an API status survive.
func Error(err error) error {
	if err == nil {
		return nil
	}
	if status := apierrors.APIStatus(nil); errors.As(err, &status) {
		if s := status.Status(); s.Size() > MaxBytes {
			return &apierrors.StatusError{ErrStatus: ofStatus(s)}
		}
		return err
	}
	if text := err.Error(); len(text) > MaxBytes {
		return errors.New(Text(text))
	}
	return err
}

// ofStatus returns the parts of a status that callers use to decide.
func ofStatus(s metav1.Status) metav1.Status {
	const maxCauses = 8
	short := metav1.Status{
		Status: s.Status, Code: s.Code, Reason: metav1.StatusReason(Text(string(s.Reason))),
		Message: Text(s.Message),
	}
	if s.Details == nil {
		return short
	}
	short.Details = &metav1.StatusDetails{RetryAfterSeconds: s.Details.RetryAfterSeconds}
	for _, cause := range s.Details.Causes[:min(len(s.Details.Causes), maxCauses)] {
		short.Details.Causes = append(short.Details.Causes, metav1.StatusCause{
			Type: metav1.CauseType(Text(string(cause.Type))), Message: Text(cause.Message), Field: Text(cause.Field),
		})
	}
	return short
}
