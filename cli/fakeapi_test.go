package cli_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
)

// characters are the fake API servers, each with its own path.
var characters = []string{
	"permits",    // allows everything; its cluster is empty
	"behind",     // like permits, with its clock an hour behind
	"denies",     // forbids everything
	"watch-only", // allows list and watch of an empty cluster, and to read the journal
	"stranger",   // does not know the user
	"website",    // is not an API server
	"overloaded", // answers 503
}

// fakeAPI implements what the program needs of an API server to start.
type fakeAPI struct {
	server *httptest.Server
	secure *httptest.Server // with an untrusted certificate

	// lease receives each change of the lease: held or free. leases is the number of requests for it. stored is the lease.
	lease   chan string
	keeping sync.Mutex
	leases  atomic.Int32
	stored  []byte

	// watches receives each watch of pods.
	watches chan struct{}
}

// releasedLease is as a leader leaves it, so that the next one takes it at once.
const releasedLease = `{"kind": "Lease", "apiVersion": "coordination.k8s.io/v1", "metadata": {"name": "taint-manager"}, "spec": {"holderIdentity": "", "renewTime": "2026-01-01T00:00:00.000000Z"}}`

func newFakeAPI() *fakeAPI {
	api := &fakeAPI{lease: make(chan string, 1000), watches: make(chan struct{}, 1000), stored: []byte(releasedLease)}
	api.server = httptest.NewServer(http.HandlerFunc(api.answer))
	api.secure = httptest.NewTLSServer(http.NotFoundHandler())
	api.secure.Config.ErrorLog = nil
	return api
}

func (f *fakeAPI) close() {
	f.server.CloseClientConnections()
	f.server.Close()
	f.secure.Close()
}

func (f *fakeAPI) answer(w http.ResponseWriter, r *http.Request) {
	_, rest, _ := strings.Cut(r.URL.Path, "/")
	character, path, _ := strings.Cut(rest, "/")
	if character == "behind" {
		w.Header().Set("Date", time.Now().Add(-time.Hour).UTC().Format(http.TimeFormat))
	}
	switch {
	case character == "website":
		http.Error(w, "no such page", http.StatusNotFound)
	case character == "stranger":
		refuse(w, http.StatusUnauthorized, "Unauthorized")
	case character == "overloaded":
		refuse(w, http.StatusServiceUnavailable, "ServiceUnavailable")
	case !permits(character, path):
		what := path[strings.LastIndex(path, "/")+1:]
		answer(w, http.StatusForbidden, fmt.Sprintf(`{"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 403, "reason": "Forbidden", "message": "%s is forbidden: User \"nobody\" cannot read it"}`, what))
	case strings.Contains(path, "leases"):
		f.serveLease(w, r)
	default:
		f.serveEmpty(w, r)
	}
}

func refuse(w http.ResponseWriter, code int, reason string) {
	answer(w, code, fmt.Sprintf(`{"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": %d, "reason": %q, "message": "the server says so"}`, code, reason))
}

func answer(w http.ResponseWriter, code int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_, _ = fmt.Fprintln(w, body)
}

func permits(character, path string) bool {
	switch character {
	case "denies":
		return false
	case "watch-only":
		return !strings.Contains(path, "leases")
	}
	return true
}

// serveLease stores one lease.
func (f *fakeAPI) serveLease(w http.ResponseWriter, r *http.Request) {
	f.keeping.Lock()
	defer f.keeping.Unlock()
	f.leases.Add(1)
	if r.Method != http.MethodGet {
		f.storeLease(r)
	}
	answer(w, http.StatusOK, string(f.stored))
}

func (f *fakeAPI) storeLease(r *http.Request) {
	var written coordinationv1.Lease
	if err := read(r, &written); err != nil {
		return
	}
	written.Kind, written.APIVersion = "Lease", "coordination.k8s.io/v1"
	f.stored, _ = json.Marshal(&written)
	if written.Spec.HolderIdentity == nil || *written.Spec.HolderIdentity == "" {
		f.lease <- "free"
	} else {
		f.lease <- "held"
	}
}

func read(r *http.Request, into runtime.Object) error {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	_, _, err = scheme.Codecs.UniversalDeserializer().Decode(body, nil, into)
	return err
}

// serveEmpty has no objects and no events.
func (f *fakeAPI) serveEmpty(w http.ResponseWriter, r *http.Request) {
	_, resource, _ := strings.Cut(r.URL.Path, "/api/v1/")
	kind := map[string]string{"pods": "Pod", "nodes": "Node"}[resource]
	if kind == "" {
		kind = "ConfigMap" // of the journal
	}
	if r.URL.Query().Get("watch") == "" {
		answer(w, http.StatusOK, fmt.Sprintf(`{"kind": "%sList", "apiVersion": "v1", "metadata": {"resourceVersion": "1"}, "items": []}`, kind))
		return
	}
	answer(w, http.StatusOK, fmt.Sprintf(`{"type": "BOOKMARK", "object": {"kind": %q, "apiVersion": "v1", "metadata": {"resourceVersion": "1", "annotations": {"k8s.io/initial-events-end": "true"}}}}`, kind))
	_ = http.NewResponseController(w).Flush()
	if kind == "Pod" {
		f.watches <- struct{}{}
	}
	<-r.Context().Done()
}
