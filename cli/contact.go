package cli

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// patience is how long the API server is waited for at the start; then kubelet's backoff, or whoever
// started this process, goes on waiting.
const (
	patience = 10 * time.Second
	pause    = time.Second
)

// contact calls the API server until it answers, for as long as the patience lasts. Its error is the
// last answer: one that won't change by waiting is returned at once.
func contact(ctx context.Context, call func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
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

// passing says whether an error may be over after a while.
func passing(err error) bool {
	if err == nil || untrusted(err) {
		return false
	}
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return true // nobody answered
	}
	code := status.Status().Code
	return code >= http.StatusInternalServerError || code == http.StatusTooManyRequests
}

// untrusted says whether the other side can't be talked to in safety.
func untrusted(err error) bool {
	return errors.As(err, new(*tls.CertificateVerificationError)) || errors.As(err, new(tls.RecordHeaderError)) ||
		errors.As(err, new(tls.AlertError))
}

// unreachable says in one sentence why the API server can't be worked with.
func unreachable(server, from string, err error) error {
	switch {
	case untrusted(err):
		return fmt.Errorf("the API server %s is not trusted: %w; check server address and certificate-authority in %s", server, err, from)
	case apierrors.IsUnauthorized(err):
		return fmt.Errorf("the API server %s does not know this user: %w; check that the credentials in %s are of this cluster and have not expired", server, err, from)
	case apierrors.IsNotFound(err):
		return fmt.Errorf("%s does not answer as an API server of Kubernetes: %w; check the server address in %s", server, err, from)
	}
	return fmt.Errorf("the API server %s did not answer within %s: %w; check that it runs, and the server address in %s", server, patience, err, from)
}
