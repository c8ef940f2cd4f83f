package status

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"net"
	"net/http"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	"github.com/klauspost/compress/gzhttp"
	"github.com/klauspost/compress/gzip"
	"golang.org/x/net/netutil"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
)

//go:embed page
var embedded embed.FS

// Server serves the page and its JSON.
type Server struct {
	sampler *sampler
	handler http.Handler
	answers chan struct{} // has an item for each answer of several pieces that is being written
	ended   atomic.Bool   // a request has panicked
}

// New returns a server. It does nothing before its first request.
func New(o Options) *Server {
	s := &Server{sampler: newSampler(o), answers: make(chan struct{}, maxAnswers)}
	mux := http.NewServeMux()
	mux.HandleFunc("/api/v1/snapshot", s.snapshot)
	mux.HandleFunc("/api/v1/evictions", s.evictions)
	mux.HandleFunc("/api/v1/nodes", s.nodes)
	mux.HandleFunc("/api/", unknown)
	if o.Remarks != nil {
		mux.Handle("/remarks", o.Remarks)
	}
	mux.HandleFunc("/", page)
	compress, err := gzhttp.NewWrapper(
		gzhttp.EnableZstd(false), gzhttp.MinSize(0), gzhttp.CompressionLevel(gzip.BestSpeed))
	if err != nil {
		panic(err) // not reached: the options are valid
	}
	s.handler = compress(mux)
	return s
}

// ServeHTTP answers requests from this machine. A panic ends the page, but not the process, which must go on evicting.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	mark(w.Header())
	defer s.endAfterPanic(w, r)
	switch {
	case refused(w, r):
	case s.ended.Load():
		refuse(w, http.StatusServiceUnavailable, ended)
	default:
		s.handler.ServeHTTP(w, r)
	}
}

const ended = "the page has stopped after an internal error; evictions continue; see the log, and restart taint-manager to " +
	"restore the page"

func (s *Server) endAfterPanic(w http.ResponseWriter, r *http.Request) {
	p := recover()
	if p == nil {
		return
	}
	if !s.ended.Swap(true) {
		klog.FromContext(r.Context()).Error(fmt.Errorf("panic: %v", p), "The page has stopped after an internal error; evictions continue",
			"stack", string(debug.Stack()))
	}
	refuse(w, http.StatusServiceUnavailable, ended)
}

const (
	maxConnections = 64 // at once; others wait
	readTimeout    = 5 * time.Second
)

// Serve answers on the listener until the context ends; then it returns nil, and no request is in flight.
func (s *Server) Serve(ctx context.Context, listener net.Listener) error {
	server := &http.Server{
		Handler:           s,
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ReadTimeout:       readTimeout, // of a request: the answer may take longer, as net/http clears this deadline
		ReadHeaderTimeout: readTimeout,
		WriteTimeout:      30 * time.Second, // lists set their own for each piece
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
	if stop() { // something other than the context has ended it
		return fmt.Errorf("serving the page: %w", err)
	}
	<-over
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// snapshot answers with the whole snapshot, or with the changes since an earlier one.
func (s *Server) snapshot(w http.ResponseWriter, r *http.Request) {
	tag := r.URL.Query().Get("since")
	if r.URL.RawQuery != "" && r.URL.RawQuery != "since="+tag {
		refuse(w, http.StatusBadRequest, "/api/v1/snapshot supports only the parameter since; use /api/v1/evictions for filters")
		return
	}
	last, d, err := s.sampler.since(r.Context(), tag)
	switch {
	case err != nil:
		away(w, err)
	case d == nil:
		s.answerInPieces(w, last.head, listAs("evictions", last.ordered(), evictionOf), listOf("nodes", last.nodes),
			listAs("evicted", last.past.Latest, evictedOf))
	case d.none:
		w.WriteHeader(http.StatusNoContent)
	default:
		changes := Changes{last.head, tag, []types.UID{}, []string{}}
		changes.Kind = KindChanges
		s.answerInPieces(w, changes, listAs("evictions", d.views, evictionOf), listOf("nodes", d.nodes),
			listAs("evicted", d.evicted, evictedOf), listOf("gone", d.gone), listOf("nodesGone", d.nodesGone))
	}
}

func (s *Server) evictions(w http.ResponseWriter, r *http.Request) {
	q, err := parseQuery(r.URL.RawQuery)
	if err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	last, _, err := s.sampler.since(r.Context(), "")
	if err != nil {
		away(w, err)
		return
	}
	list, views := q.list(last)
	s.answerInPieces(w, list, listAs("items", views, evictionOf))
}

func (s *Server) nodes(w http.ResponseWriter, r *http.Request) {
	if r.URL.RawQuery != "" {
		refuse(w, http.StatusBadRequest, "/api/v1/nodes supports no parameters; use /api/v1/evictions for filters")
		return
	}
	last, _, err := s.sampler.since(r.Context(), "")
	if err != nil {
		away(w, err)
		return
	}
	all := NodeList{TypeMeta{APIVersion, KindNodeList}, last.head.At, last.head.Manager.Part, []Node{}}
	s.answerInPieces(w, all, listOf("items", last.nodes))
}

// away reports to the client that the source does not answer.
func away(w http.ResponseWriter, err error) {
	w.Header().Set("Retry-After", "1")
	refuse(w, http.StatusServiceUnavailable, err.Error()+"; try again")
}

// page serves the page's files, which are in one folder.
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
		"%s not found; use /api/v1/snapshot, /api/v1/evictions or /api/v1/nodes", r.URL.Path))
}
