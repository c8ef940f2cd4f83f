package main

import (
	"io"
	"net/http"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
)

// echo answers with the object that the request has.
func echo(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", r.Header.Get("Content-Type"))
	w.WriteHeader(http.StatusCreated)
	_, _ = io.Copy(w, r.Body)
}

func decode(r *http.Request) (runtime.Object, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	object, kind, err := scheme.Codecs.UniversalDeserializer().Decode(body, nil, nil)
	if err == nil {
		object.GetObjectKind().SetGroupVersionKind(*kind)
	}
	return object, err
}

// store returns a handler that creates an object, or replaces the stored one if the two have the same version.
func (s *server) store(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		object, err := decode(r)
		if err != nil {
			refuse(w, apierrors.NewBadRequest(err.Error()))
			return
		}
		m, at, isNew := object.(metav1.Object), r.URL.Path, code == http.StatusCreated
		if isNew {
			at += "/" + m.GetName()
		}
		if err := s.replace(at, m, isNew); err != nil {
			refuse(w, err)
			return
		}
		send(w, code, object)
	}
}

// replace stores a new object, or replaces the stored one if the two have the same version.
func (s *server) replace(at string, m metav1.Object, isNew bool) *apierrors.StatusError {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.stored[at]
	switch {
	case isNew && old != nil:
		return apierrors.NewAlreadyExists(schema.GroupResource{}, at)
	case !isNew && old == nil:
		return apierrors.NewNotFound(schema.GroupResource{}, at)
	case !isNew && old.GetResourceVersion() != m.GetResourceVersion():
		return apierrors.NewConflict(schema.GroupResource{}, at, errOther)
	}
	m.SetResourceVersion(strconv.FormatInt(s.versions.Add(1), 10))
	s.stored[at] = m
	return nil
}

func (s *server) read(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	object := s.stored[r.URL.Path]
	s.mu.Unlock()
	if object == nil {
		missing(w, r)
		return
	}
	send(w, http.StatusOK, object.(runtime.Object))
}

// send writes a stored object. All clients take protobuf.
func send(w http.ResponseWriter, code int, object runtime.Object) {
	info, _ := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), runtime.ContentTypeProtobuf)
	w.Header().Set("Content-Type", runtime.ContentTypeProtobuf)
	w.WriteHeader(code)
	_ = info.Serializer.Encode(object, w) // the client may be gone
}
