package main

import (
	"bytes"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd/api"
)

// server speaks the API server's protocol as far as taint-manager, its commands and the built-in controller use it. It
// makes pods and nodes of the same numbers alike, and keeps what else clients store.
type server struct {
	*httptest.Server
	nodes, pods *collection
	versions    atomic.Int64
	forms       podTemplates
	latency     time.Duration // of all answers except lists and watches
	largest     atomic.Int64  // the size of the largest ConfigMap that was stored

	mu        sync.Mutex
	asked     int // requests so far
	journal   []call
	deletions []deletion
	stored    map[string]metav1.Object // ConfigMaps and leases, by path
}

// call is a request for a ConfigMap.
type call struct {
	method, name string
	at           time.Time
}

// deletion is an accepted deletion, at the arrival of its request.
type deletion struct {
	pod int
	at  time.Time
}

// newServer starts a server with this number of pods.
func newServer(pods int, latency time.Duration) *server {
	s := &server{latency: latency, stored: map[string]metav1.Object{}, forms: newPodTemplates()}
	s.versions.Store(firstVersion)
	s.nodes = newCollection("Node", pods/podsEach, &s.versions, func(number, v int) values {
		return values{nodeNumber: number, version: v}
	})
	s.pods = newCollection("Pod", pods, &s.versions, func(number, v int) values {
		node := number / podsEach
		return values{ownNumber: number, nodeNumber: node, teamNumber: node % teams, version: v}
	})
	plain := newNodeTemplate()
	for i := range s.nodes.items {
		s.nodes.items[i] = item{firstVersion, plain}
	}
	for i := range s.pods.items {
		s.pods.items[i] = item{firstVersion, s.form(i, 0)}
	}
	s.Server = httptest.NewUnstartedServer(s.counting(s.paths()))
	s.EnableHTTP2 = true
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // clients that end break their connections
	s.StartTLS()
	return s
}

// form returns the template of a pod with the condition DisruptionTarget (1), or without (0).
func (s *server) form(pod, marked int) *template {
	lone := 0
	if pod%podsEach == 0 {
		lone = 1
	}
	return s.forms[lone][marked]
}

// access returns a configuration for clients of this server.
func (s *server) access() api.Config {
	c := api.NewConfig()
	c.Clusters["scale"] = &api.Cluster{Server: s.URL, CertificateAuthorityData: pem.EncodeToMemory(&pem.Block{
		Type: "CERTIFICATE", Bytes: s.Certificate().Raw,
	})}
	c.AuthInfos["scale"] = &api.AuthInfo{Token: "scale"}
	c.Contexts["scale"] = &api.Context{Cluster: "scale", AuthInfo: "scale"}
	c.CurrentContext = "scale"
	return *c
}

func (s *server) paths() *http.ServeMux {
	mux := http.NewServeMux()
	mux.Handle("GET /api/v1/nodes", s.nodes)
	mux.Handle("GET /api/v1/pods", s.pods)
	mux.HandleFunc("GET /api/v1/nodes/{name}", s.get(s.nodes))
	const pod = "/api/v1/namespaces/{namespace}/pods/{name}"
	mux.HandleFunc("GET "+pod, s.get(s.pods))
	mux.HandleFunc("PATCH "+pod+"/status", s.patch)
	mux.HandleFunc("DELETE "+pod, s.remove)
	mux.HandleFunc("POST "+pod+"/eviction", s.remove)
	mux.HandleFunc("POST /api/v1/namespaces/{namespace}/events", echo)
	for _, resource := range []string{
		"/api/v1/namespaces/{namespace}/configmaps", "/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases",
	} {
		mux.HandleFunc("POST "+resource, s.store(http.StatusCreated))
		mux.HandleFunc("GET "+resource+"/{name}", s.read)
		mux.HandleFunc("PUT "+resource+"/{name}", s.store(http.StatusOK))
	}
	mux.HandleFunc("GET /", others)
	mux.HandleFunc("POST /apis/authorization.k8s.io/v1/subjectaccessreviews", permit)
	return mux
}

// permit answers that everybody may do everything.
func permit(w http.ResponseWriter, _ *http.Request) {
	answer(w, http.StatusCreated, map[string]any{
		"kind": "SubjectAccessReview", "apiVersion": "authorization.k8s.io/v1",
		"status": map[string]any{"allowed": true},
	})
}

// counting counts requests, and delays the answers to those that are neither lists nor watches.
func (s *server) counting(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, pattern := mux.Handler(r)
		_, name, _ := strings.Cut(r.URL.Path, "/configmaps/")
		s.mu.Lock()
		s.asked++
		if strings.Contains(pattern, "/configmaps") {
			s.journal = append(s.journal, call{r.Method, name, time.Now()})
			s.largest.Store(max(s.largest.Load(), r.ContentLength))
		}
		s.mu.Unlock()
		if strings.Contains(pattern, "{") {
			wait := time.NewTimer(s.latency)
			defer wait.Stop()
			<-wait.C
		}
		mux.ServeHTTP(w, r)
	})
}

// requests returns the number of requests so far.
func (s *server) requests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

// written returns when a partition of the journal was last written.
func (s *server) written() (last time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.journal {
		if c.method != http.MethodGet && c.name != stateName {
			last = c.at
		}
	}
	return last
}

const stateName = "taint-manager-journal-state"

// firstState returns when the state of the journal was first requested after a time.
func (s *server) firstState(method string, after time.Time) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.journal, func(c call) bool {
		return c.method == method && c.name == stateName && c.at.After(after)
	})
	if i < 0 {
		return time.Time{}
	}
	return s.journal[i].at
}

// taint gives the nodes from first to end a taint with this key instead of those that they have.
func (s *server) taint(first, end int, key string) {
	text := newNodeTemplate(key)
	for number := first; number < end; number++ {
		s.nodes.set(number, text)
	}
}

// deletionsSince returns the deletions after the first n.
func (s *server) deletionsSince(n int) []deletion {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.deletions[n:]
}

// answer writes a JSON object.
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

func (s *server) get(c *collection) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		number := numberOf(r.PathValue("name"))
		i, exists := c.get(number)
		if !exists {
			missing(w, r)
			return
		}
		w.Header().Set("Content-Type", runtime.ContentTypeProtobuf)
		_, _ = w.Write(c.object(number, i))
	}
}

// patch sets the condition DisruptionTarget.
func (s *server) patch(w http.ResponseWriter, r *http.Request) {
	if number, ok := s.named(w, r); ok {
		s.pods.set(number, s.form(number, 1))
		s.get(s.pods)(w, r)
	}
}

// remove deletes a pod at once: it has a grace period of 0.
func (s *server) remove(w http.ResponseWriter, r *http.Request) {
	number, ok := s.named(w, r)
	if !ok {
		return
	}
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

// named returns the pod of a request, whose body must have no UID of another pod; otherwise it answers.
func (s *server) named(w http.ResponseWriter, r *http.Request) (number int, ok bool) {
	number = numberOf(r.PathValue("name"))
	if _, exists := s.pods.get(number); !exists {
		missing(w, r)
		return 0, false
	}
	body, err := io.ReadAll(r.Body)
	uid := fmt.Appendf(nil, podUID+"%07d", number)
	if err != nil || bytes.Contains(body, []byte(podUID)) && !bytes.Contains(body, uid) {
		refuse(w, apierrors.NewConflict(schema.GroupResource{Resource: "pods"}, r.PathValue("name"), errOther))
		return 0, false
	}
	return number, true
}

// echo answers with the object that the request has.
func echo(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", r.Header.Get("Content-Type"))
	w.WriteHeader(http.StatusCreated)
	_, _ = io.Copy(w, r.Body)
}

// decode decodes the object of a request.
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

// store returns a handler that creates an object, or replaces that of the same version.
func (s *server) store(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { s.put(w, r, code) }
}

func (s *server) put(w http.ResponseWriter, r *http.Request, code int) {
	object, err := decode(r)
	if err != nil {
		refuse(w, apierrors.NewBadRequest(err.Error()))
		return
	}
	m := object.(metav1.Object)
	at := r.URL.Path
	if code == http.StatusCreated {
		at += "/" + m.GetName()
	}
	if err := s.replace(at, m, code == http.StatusCreated); err != nil {
		refuse(w, err)
		return
	}
	send(w, code, object)
}

// replace stores a new object, or one that replaces that of the same version.
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

// read answers with a stored object.
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

// kinds are the kinds of resources of which there is no object.
var kinds = map[string]string{
	"configmaps": "ConfigMap", "daemonsets": "DaemonSet", "events": "Event", "leases": "Lease", "namespaces": "Namespace",
	"poddisruptionbudgets": "PodDisruptionBudget",
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
			"kind": kind + "List", "apiVersion": group, "items": []any{}, "metadata": metav1.ListMeta{ResourceVersion: "1"},
		})
	}
}
