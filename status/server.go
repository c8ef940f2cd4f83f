package status

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"golang.org/x/net/netutil"
)

//go:embed page
var embedded embed.FS

// Server answers with the page and its JSON.
type Server struct {
	sampler     *sampler
	broadcaster *broadcaster
	mux         *http.ServeMux

	compressors compressors
	answers     chan struct{} // holds an item for each answer with lists that is under way
}

// New returns a server. It does nothing before its first request.
func New(o Options) *Server {
	b := &sampler{options: o}
	s := &Server{
		sampler: b, broadcaster: newBroadcaster(b), mux: http.NewServeMux(),
		answers: make(chan struct{}, maxAnswers),
	}
	s.mux.HandleFunc("/api/v1/snapshot", s.limited(s.compressors.compress(s.snapshot)))
	s.mux.HandleFunc("/api/v1/evictions", s.limited(s.compressors.compress(s.evictions)))
	s.mux.HandleFunc("/api/v1/nodes", s.limited(s.compressors.compress(s.nodes)))
	s.mux.HandleFunc("/api/v1/events", s.events)
	s.mux.HandleFunc("/api/", unknown)
	s.mux.HandleFunc("/", s.compressors.compress(page))
	return s
}

// ServeHTTP answers requests of the own machine.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	guard(http.HandlerFunc(s.serve)).ServeHTTP(w, r)
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	if s.broadcaster.hasEnded() {
		refuse(w, http.StatusServiceUnavailable, errEnded.Error())
		return
	}
	s.mux.ServeHTTP(w, r)
}

const (
	maxConnections = 64 // at once; others wait
	readTimeout    = 5 * time.Second
)

// Serve answers on the listener until the context ends; then it returns nil, and no request is under way.
func (s *Server) Serve(ctx context.Context, listener net.Listener) error {
	server := &http.Server{
		Handler:           s,
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ReadTimeout:       readTimeout, // of a request: what answers it may last, as net/http clears it
		ReadHeaderTimeout: readTimeout,
		WriteTimeout:      30 * time.Second, // lists and streams set their own for each piece
		IdleTimeout:       30 * time.Second,
		MaxHeaderBytes:    16 << 10,
	}
	over := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(over)
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		if server.Shutdown(ctx) != nil {
			_ = server.Close()
		}
	})
	err := server.Serve(netutil.LimitListener(listener, maxConnections))
	if stop() { // it has not ended because of the context
		return fmt.Errorf("serving the page: %w", err)
	}
	<-over
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

func (s *Server) snapshot(w http.ResponseWriter, r *http.Request) {
	if !plain(w, r) {
		return
	}
	if f, ok := s.facts(w, r); ok {
		latest := f.Past.Latest
		f.Past.Latest = nil
		whole := head(f)
		nodes := whole.Nodes
		whole.Evictions, whole.Nodes = []Eviction{}, []Node{}
		answerInPieces(w, whole, evictionList("evictions", sorted(f.Views)), nodeList("nodes", nodes),
			evictedList("evicted", latest))
	}
}

func (s *Server) evictions(w http.ResponseWriter, r *http.Request) {
	q, err := parseQuery(r.URL.Query())
	if err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	if f, ok := s.facts(w, r); ok {
		page, views := q.page(f)
		answerInPieces(w, page, evictionList("items", views))
	}
}

func (s *Server) nodes(w http.ResponseWriter, r *http.Request) {
	if !plain(w, r) {
		return
	}
	if f, ok := s.facts(w, r); ok {
		answerInPieces(w, NodeList{TypeMeta{APIVersion, KindNodeList}, stamp(f.At), []Node{}},
			nodeList("items", nodesOf(f)))
	}
}

// plain refuses requests with parameters.
func plain(w http.ResponseWriter, r *http.Request) bool {
	if r.URL.RawQuery == "" {
		return true
	}
	refuse(w, http.StatusBadRequest, fmt.Sprintf("%s takes no parameters; /api/v1/evictions does", r.URL.Path))
	return false
}

// facts samples for one request, and answers it if that fails.
func (s *Server) facts(w http.ResponseWriter, r *http.Request) (Facts, bool) {
	f, err := s.sampler.sample(r.Context(), 0)
	if err != nil {
		w.Header().Set("Retry-After", "1")
		refuse(w, http.StatusServiceUnavailable, err.Error()+"; try again")
		return Facts{}, false
	}
	return f, true
}

// page answers with the page's files, which are in one folder.
func page(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, "/")
	if name == "" {
		name = "index.html"
	}
	if strings.Contains(name, "/") {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Cache-Control", "no-cache")
	http.ServeFileFS(w, r, embedded, "page/"+name)
}

func unknown(w http.ResponseWriter, r *http.Request) {
	refuse(w, http.StatusNotFound, fmt.Sprintf(
		"there is no %s; ask for /api/v1/snapshot, /api/v1/evictions, /api/v1/nodes or /api/v1/events", r.URL.Path))
}
