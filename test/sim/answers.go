package sim

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// The answers of an API server, and the errors where it sends none, as client-go returns them.

func connectionRefused() error {
	return &url.Error{Op: "Do", URL: "server", Err: &net.OpError{Op: "dial", Err: errors.New("connection refused")}}
}

func connectionLost() error { return &url.Error{Op: "Do", URL: "server", Err: io.ErrUnexpectedEOF} }

func timedOut() error { return &url.Error{Op: "Do", URL: "server", Err: context.DeadlineExceeded} }

func canceled() error { return &url.Error{Op: "Do", URL: "server", Err: context.Canceled} }

func loaded() error { return apierrors.NewTooManyRequests("the server is loaded", 2) }

func failed(r int) error {
	switch r {
	case 0:
		return apierrors.NewInternalError(errors.New("etcdserver: request timed out"))
	case 1:
		return apierrors.NewServiceUnavailable("the apiserver is shutting down")
	}
	return status(http.StatusInternalServerError, `failed calling webhook "guard": context deadline exceeded`)
}

func denied() error {
	return status(http.StatusForbidden, `admission webhook "guard" denied the request: not now`)
}

func blocked() error {
	err := apierrors.NewTooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", 0)
	err.ErrStatus.Details.Causes = append(err.ErrStatus.Details.Causes, metav1.StatusCause{
		Type: policyv1.DisruptionBudgetCause, Message: "The disruption budget web needs 1 healthy pods",
	})
	return err
}

func status(code int32, message string) *apierrors.StatusError {
	return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: code, Message: message}}
}

func notFound(name string) error {
	return apierrors.NewNotFound(schema.GroupResource{Resource: "pods"}, name)
}

func conflict(resource, name, why string) error {
	return apierrors.NewConflict(schema.GroupResource{Resource: resource}, name, errors.New(why))
}

// delete serves the DELETE of a pod, or the POST of its eviction.
func (s *server) delete(name string, o metav1.DeleteOptions, eviction bool) (*v1.Pod, error) {
	p := s.pod(name)
	if p == nil {
		return nil, notFound(name)
	}
	if uid := precondition(&o); uid != "" && uid != p.UID {
		return nil, conflict("pods", name, fmt.Sprintf(
			"Precondition failed: UID in precondition: %s, UID in object meta: %s", uid, p.UID))
	}
	if s.strike(refusing) {
		return nil, denied()
	}
	if eviction && s.strike(budget) && p.DeletionTimestamp == nil {
		return nil, blocked()
	}
	if len(o.DryRun) > 0 {
		return nil, nil
	}
	s.deletePod(p.UID)
	return p, nil
}

// patch serves the PATCH of a pod's condition.
func (s *server) patch(name string, uid types.UID) (*v1.Pod, error) {
	p := s.pod(name)
	switch {
	case p == nil:
		return nil, notFound(name)
	case p.UID != uid:
		return nil, apierrors.NewInvalid(schema.GroupKind{Kind: "Pod"}, name, field.ErrorList{
			field.Invalid(field.NewPath("metadata", "uid"), uid, "field is immutable"),
		})
	}
	s.changePod(uid, func(p *v1.Pod) {
		disrupted := func(c v1.PodCondition) bool { return c.Type == v1.DisruptionTarget }
		p.Status.Conditions = append(slices.DeleteFunc(slices.Clone(p.Status.Conditions), disrupted),
			v1.PodCondition{Type: v1.DisruptionTarget, Status: v1.ConditionTrue})
	})
	return s.pod(name), nil
}
