package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func (s *server) get(c *collection) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		number := numberOf(r.PathValue("name"))
		i, exists := c.get(number)
		if !exists {
			missing(w, r)
			return
		}
		w.Header().Set("Content-Type", runtime.ContentTypeProtobuf)
		_, _ = w.Write(i.text.object.append(nil, c.values(number, i.version)))
	}
}

// patch sets the condition DisruptionTarget.
func (s *server) patch(w http.ResponseWriter, r *http.Request) {
	if number, ok := s.named(w, r); ok {
		s.pods.set(number, s.form(number, marked))
		s.get(s.pods)(w, r)
	}
}

// remove deletes a pod at once: it has a grace period of 0.
func (s *server) remove(w http.ResponseWriter, r *http.Request) {
	number, ok := s.named(w, r)
	if !ok {
		return
	}
	if r.Method == http.MethodPost { // an eviction
		s.pods.set(number, s.form(number, marked))
	}
	s.pods.set(number, s.form(number, deleting))
	if !s.pods.set(number, nil) {
		missing(w, r)
		return
	}
	s.mu.Lock()
	s.deletions = append(s.deletions, deletion{number, time.Now().Add(-s.latency)})
	s.mu.Unlock()
	answer(w, http.StatusCreated, metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusSuccess,
	})
}

// named returns the pod of a request. If there is none, or the body has another pod's UID, it answers the request.
func (s *server) named(w http.ResponseWriter, r *http.Request) (number int, ok bool) {
	number = numberOf(r.PathValue("name"))
	if _, exists := s.pods.get(number); !exists {
		missing(w, r)
		return 0, false
	}
	body, err := io.ReadAll(r.Body)
	uid := fmt.Appendf(nil, podUID+"%07d", number)
	if err != nil || bytes.Contains(body, []byte(podUID)) && !bytes.Contains(body, uid) {
		refused := apierrors.NewConflict(schema.GroupResource{Resource: "pods"}, r.PathValue("name"), errOther)
		if r.Method == http.MethodPatch {
			// It would change the UID.
			refused = apierrors.NewInvalid(schema.GroupKind{Kind: "Pod"}, r.PathValue("name"), nil)
		}
		refuse(w, refused)
		return 0, false
	}
	return number, true
}
