package transport

import (
	"context"
	"errors"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// pause is the time between two calls of [Contact].
const pause = time.Second

// Contact calls the API server until it answers, for at most [Patience]. It returns the last error; an error
// that does not pass with time is returned at once.
func Contact(ctx context.Context, call func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	err := call(ctx)
	for ctx.Err() == nil && passing(err) {
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return err
		}
		if again := call(ctx); again == nil || ctx.Err() == nil {
			err = again
		}
	}
	return err
}

// passing reports whether an error may pass with time.
func passing(err error) bool {
	if err == nil || Untrusted(err) {
		return false
	}
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return true // there was no response
	}
	code := status.Status().Code
	return code >= http.StatusInternalServerError || code == http.StatusTooManyRequests
}
