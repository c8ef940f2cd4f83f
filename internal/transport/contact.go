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

	"github.com/taint-manager/taint-manager/internal/hint"
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

// Unreachable returns why the API server cannot be used, and what to check.
func Unreachable(server, from string, err error) error {
	switch {
	case Untrusted(err):
		return hint.Add(fmt.Errorf("cannot connect securely to API server %s: %w", server, err),
			"Check the server address and certificate-authority in %s.", from)
	case apierrors.IsUnauthorized(err):
		return hint.Add(fmt.Errorf("API server %s rejected the credentials: %w", server, err),
			"Check that the credentials in %s are for this cluster and have not expired.", from)
	case apierrors.IsNotFound(err):
		return hint.Add(fmt.Errorf("%s is not a Kubernetes API server: %w", server, err),
			"Check the server address in %s.", from)
	}
	return hint.Add(fmt.Errorf("API server %s did not respond within %s: %w", server, Patience, err),
		"Check that it is running, and the server address in %s.", from)
}

// Readable returns an error if this process cannot read the kubeconfig file.
func Readable(kubeconfig string) error {
	_, err := os.ReadFile(kubeconfig)
	if err == nil {
		return nil
	}
	if failed, ok := errors.AsType[*os.PathError](err); ok {
		err = failed.Err // without the path
	}
	err = fmt.Errorf("cannot read --kubeconfig=%s: %w", kubeconfig, err)
	return hint.Add(err, "Check the path and its permissions.")
}
