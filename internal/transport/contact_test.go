package transport

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestTheAPIServerIsWaitedForOnlyWhileThatMayHelp(t *testing.T) {
	reviews := schema.GroupResource{Resource: "selfsubjectaccessreviews"}
	for name, test := range map[string]struct {
		err   error
		waits time.Duration
	}{
		"it answers":                 {nil, 0},
		"nobody listens":             {errors.New("connection refused"), Patience},
		"it is starting":             {apierrors.NewServiceUnavailable("starting"), Patience},
		"it is loaded":               {apierrors.NewTooManyRequests("loaded", 1), Patience},
		"it does not know us":        {apierrors.NewUnauthorized("who"), 0},
		"it forbids":                 {apierrors.NewForbidden(reviews, "", nil), 0},
		"it is something else":       {apierrors.NewNotFound(reviews, ""), 0},
		"its certificate is bad":     {fmt.Errorf("post: %w", &tls.CertificateVerificationError{}), 0},
		"it does not speak TLS":      {tls.RecordHeaderError{}, 0},
		"it wants another handshake": {tls.AlertError(42), 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				err := Contact(t.Context(), func(context.Context) error { return test.err })
				if !errors.Is(err, test.err) || time.Since(start) != test.waits {
					t.Errorf("got %v after %s, want %v after %s", err, time.Since(start), test.err, test.waits)
				}
			})
		})
	}
}

func TestAnAPIServerThatComesUpIsUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		err := Contact(t.Context(), func(context.Context) error {
			if time.Since(start) < 3*time.Second {
				return errors.New("connection refused")
			}
			return nil
		})
		if err != nil || time.Since(start) != 3*time.Second {
			t.Errorf("got %v after %s, want nil after 3s", err, time.Since(start))
		}
	})
}

func TestTheLastAnswerIsToldNotTheEndOfPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refused := errors.New("connection refused")
		calls := 0
		err := Contact(t.Context(), func(ctx context.Context) error {
			if calls++; calls == 1 {
				return refused
			}
			<-ctx.Done()
			return ctx.Err()
		})
		if !errors.Is(err, refused) {
			t.Errorf("got %v, want %v", err, refused)
		}
	})
}

func TestBeingToldToEndEndsTheWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond)
		defer cancel()
		start := time.Now()
		_ = Contact(ctx, func(context.Context) error { return errors.New("connection refused") })
		if time.Since(start) != 2500*time.Millisecond {
			t.Errorf("waited %s", time.Since(start))
		}
	})
}
