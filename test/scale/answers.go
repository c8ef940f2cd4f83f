package main

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"path"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func answer(w http.ResponseWriter, code int, object any) {
	w.Header().Set("Content-Type", runtime.ContentTypeJSON)
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(object) // the client may be gone
}

// refuse writes an error as the API server does.
func refuse(w http.ResponseWriter, err *apierrors.StatusError) {
	err.ErrStatus.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
	answer(w, int(err.ErrStatus.Code), err.ErrStatus)
}

func missing(w http.ResponseWriter, r *http.Request) {
	refuse(w, apierrors.NewNotFound(schema.GroupResource{}, r.URL.Path))
}

var errOther = errors.New("it is another one")

// permit answers that everybody may do everything.
func permit(w http.ResponseWriter, _ *http.Request) {
	answer(w, http.StatusCreated, map[string]any{
		"kind": "SubjectAccessReview", "apiVersion": "authorization.k8s.io/v1",
		"status": map[string]any{"allowed": true},
	})
}

// kinds are the kinds of the resources whose lists are always empty, by resource.
var kinds = map[string]string{
	"configmaps": "ConfigMap", "daemonsets": "DaemonSet", "events": "Event", "leases": "Lease",
	"namespaces": "Namespace", "poddisruptionbudgets": "PodDisruptionBudget",
}

// others answers everything else: a list of another resource is empty, and a watch silent.
func others(w http.ResponseWriter, r *http.Request) {
	folder, resource := path.Split(r.URL.Path)
	kind, q := kinds[resource], r.URL.Query()
	watch, _ := strconv.ParseBool(q.Get("watch"))
	switch {
	case r.URL.Path == "/healthz" || r.URL.Path == "/readyz" || r.URL.Path == "/livez":
		_, _ = io.WriteString(w, "ok")
	case r.URL.Path == "/version":
		answer(w, http.StatusOK, map[string]string{"major": "1", "minor": "36", "gitVersion": "v1.36.0"})
	case kind == "":
		missing(w, r)
	case watch && q.Get("sendInitialEvents") != "": // clients list instead
		refuse(w, apierrors.NewInvalid(schema.GroupKind{Kind: kind}, "", nil))
	case watch:
		w.Header().Set("Content-Type", runtime.ContentTypeJSON)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	default:
		group, _, _ := strings.Cut(folder, "/namespaces/")
		group = strings.TrimPrefix(strings.TrimPrefix(strings.TrimSuffix(group, "/"), "/apis/"), "/api/")
		answer(w, http.StatusOK, map[string]any{
			"kind": kind + "List", "apiVersion": group, "items": []any{},
			"metadata": metav1.ListMeta{ResourceVersion: "1"},
		})
	}
}
