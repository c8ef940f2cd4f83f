package main

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// server speaks the API server's protocol as far as taint-manager, its commands and the built-in controller use it. It
// makes pods and nodes from their numbers, and keeps whatever else clients store.
type server struct {
	*httptest.Server
	nodes, pods *collection
	versions    atomic.Int64
	forms       podTemplates
	latency     time.Duration // of all answers except lists and watches

	mu        sync.Mutex
	asked     int                // requests so far
	wrote     map[bool]time.Time // when the journal was last written; true: its state
	deletions []deletion
	stored    map[string]metav1.Object // ConfigMaps and leases, by path
}

// deletion is an accepted deletion, at the arrival of its request.
type deletion struct {
	pod int
	at  time.Time
}

// newServer starts a server with this number of pods.
func newServer(pods int, latency time.Duration) *server {
	s := &server{
		latency: latency, forms: newPodTemplates(), wrote: map[bool]time.Time{}, stored: map[string]metav1.Object{},
	}
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
		s.pods.items[i] = item{firstVersion, s.form(i, running)}
	}
	s.Server = httptest.NewUnstartedServer(s.counting(s.paths()))
	s.EnableHTTP2 = true
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // clients that end break their connections
	s.StartTLS()
	return s
}

// form returns the template of a pod in a stage.
func (s *server) form(pod, stage int) *template {
	lone := 0
	if pod%podsEach == 0 {
		lone = 1
	}
	return s.forms[lone][stage]
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

// counting counts requests, and delays the answers to those that are neither lists nor watches.
func (s *server) counting(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, pattern := mux.Handler(r)
		_, name, _ := strings.Cut(r.URL.Path, "/configmaps/")
		s.mu.Lock()
		s.asked++
		if r.Method != http.MethodGet && strings.Contains(pattern, "/configmaps") {
			s.wrote[name == stateName] = time.Now()
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

func (s *server) requests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

const stateName = "taint-manager-journal-state"

// written returns when a partition of the journal, or the state of the journal, was last written.
func (s *server) written(state bool) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.wrote[state]
}

// taint replaces the taints of the nodes from first to end-1 by a taint with this key.
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
