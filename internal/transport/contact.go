package transport

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
)

// Patience is how long the start waits for the API server. After that the process ends, and kubelet or the caller
// restarts it.
const Patience = 10 * time.Second

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

// Untrusted reports whether the error shows that the connection to the server is not secure.
func Untrusted(err error) bool {
	return errors.As(err, new(*tls.CertificateVerificationError)) || errors.As(err, new(tls.RecordHeaderError)) ||
		errors.As(err, new(tls.AlertError))
}

// Unreachable returns one sentence about why the API server cannot be used.
func Unreachable(server, from string, err error) error {
	switch {
	case Untrusted(err):
		return fmt.Errorf("the API server %s is not trusted: %w; check server address and certificate-authority in %s",
			server, err, from)
	case apierrors.IsUnauthorized(err):
		return fmt.Errorf("the API server %s does not know this user: %w; check that the credentials in %s are of this cluster and have not expired", server, err, from)
	case apierrors.IsNotFound(err):
		return fmt.Errorf("%s does not answer as an API server of Kubernetes: %w; check the server address in %s",
			server, err, from)
	}
	return fmt.Errorf("the API server %s did not answer within %s: %w; check that it runs, and the server address in %s", server, Patience, err, from)
}

// Readable returns an error if this process cannot read the file. The error does not contain the file's name.
func Readable(path string) error {
	_, err := os.ReadFile(path)
	if err, ok := errors.AsType[*os.PathError](err); ok {
		return err.Err // without the path, which is in the message
	}
	return err
}
