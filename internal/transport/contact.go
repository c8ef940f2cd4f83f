package transport

import (
	"context"
	"errors"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
)

// Contact calls the API server until it answers, for at most [Patience]. It returns the last error; an error that does
// not pass with time is returned at once.
func Contact(ctx context.Context, call func(context.Context) error) (err error) {
	_ = wait.PollUntilContextTimeout(ctx, time.Second, Patience, true, func(ctx context.Context) (done bool, _ error) {
		if latest := call(ctx); latest == nil || err == nil || ctx.Err() == nil {
			err = latest
		}
		return !passing(err), nil
	})
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
