package run

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	genericfilters "k8s.io/apiserver/pkg/endpoints/filters"
	apirequest "k8s.io/apiserver/pkg/endpoints/request"
	genericserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
	serverfilters "k8s.io/apiserver/pkg/server/filters"
	"k8s.io/apiserver/pkg/server/healthz"
	"k8s.io/apiserver/pkg/server/mux"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/component-base/metrics/legacyregistry"
	_ "k8s.io/component-base/metrics/prometheus/clientgo" // rest_client_*, workqueue_*, leader_election_*
	"k8s.io/component-base/metrics/prometheus/slis"
	_ "k8s.io/component-base/metrics/prometheus/version" // kubernetes_build_info

	"github.com/taint-manager/taint-manager/guard"
)

// farewell is how long requests under way may take after the server begins to close.
const farewell = 5 * time.Second

// server is the HTTPS server, which listens but does not answer yet. Nil means none.
type server struct {
	info           *genericserver.SecureServingInfo
	authentication genericserver.AuthenticationInfo
	authorization  genericserver.AuthorizationInfo
}

// listen listens on the port, so that a port in use is detected first.
func (s *settings) listen() (*server, error) {
	if s.serving.BindPort == 0 {
		return nil, nil
	}
	if err := s.certify(time.Now()); err != nil {
		return nil, fmt.Errorf("making a certificate of our own: %w; name one by --tls-cert-file and --tls-private-key-file", err)
	}
	var made server
	wanted := s.serving.BindPort // a failure sets it to 0
	err := s.serving.ApplyTo(&made.info)
	switch {
	case err != nil && s.serving.Listener == nil:
		return nil, fmt.Errorf("--secure-port=%d can't be had: %w; choose another port or --bind-address, or 0 for not serving", wanted, err)
	case err != nil:
		return nil, fmt.Errorf("the certificate can't be used: %w; check --tls-cert-file, --tls-private-key-file and --tls-sni-cert-key", err)
	}
	err = errors.Join(
		s.authentication.ApplyTo(&made.authentication, made.info, nil),
		s.authorization.ApplyTo(&made.authorization),
	)
	if err != nil {
		return nil, fmt.Errorf("setting up the authentication of requests for metrics: %w; check the --authentication and --authorization flags", err)
	}
	return &made, nil
}

// certify makes a certificate if none is given. It makes a certificate for a folder in the same way as components of
// Kubernetes.
func (s *settings) certify(now time.Time) error {
	given := &s.serving.ServerCert
	if given.CertDirectory != "" || given.CertKey.CertFile != "" || given.CertKey.KeyFile != "" {
		return s.serving.MaybeDefaultWithSelfSignedCerts("localhost", nil, []net.IP{net.IPv4(127, 0, 0, 1)})
	}
	certificate, key, err := ownCertificate(now)
	if err != nil {
		return err
	}
	given.GeneratedCert, err = dynamiccertificates.NewStaticCertKeyContent("a certificate of its own", certificate, key)
	return err
}

// serve answers until the returned function is called, which waits for the requests under way.
func (s *server) serve(handler http.Handler) (shutdown func(), err error) {
	if s == nil {
		return func() {}, nil
	}
	stop := make(chan struct{})
	stopped, _, err := s.info.Serve(s.guard(handler), farewell, stop)
	if err != nil {
		close(stop)
		return nil, fmt.Errorf("serving HTTPS: %w", err)
	}
	return func() { close(stop); <-stopped }, nil
}

// guard authenticates and authorizes requests with the cluster. Each layer wraps those above it.
func (s *server) guard(handler http.Handler) http.Handler {
	resolver := &apirequest.RequestInfoFactory{}
	handler = genericfilters.WithAuthorization(handler, s.authorization.Authorizer, scheme.Codecs)
	handler = genericfilters.WithAuthentication(handler, s.authentication.Authenticator, genericfilters.Unauthorized(scheme.Codecs), nil, nil)
	handler = genericfilters.WithRequestInfo(handler, resolver)
	handler = genericfilters.WithCacheControl(handler)
	handler = serverfilters.WithHTTPLogging(handler)
	return serverfilters.WithPanicRecovery(handler, resolver)
}

// endpoints serves the usual paths of components of Kubernetes. A process that has not synced, cannot watch, or is
// about to end is alive, but not ready.
func endpoints(w watcher, clock clockTrouble, ending <-chan struct{}, watchdog healthz.HealthChecker) http.Handler {
	paths := mux.NewPathRecorderMux("taint-manager")
	healthz.InstallHandler(paths, healthz.PingHealthz, watchdog)
	healthz.InstallLivezHandler(paths, healthz.PingHealthz)
	healthz.InstallReadyzHandler(paths, healthz.PingHealthz, syncCheck(w), watchCheck(w), healthz.NewShutdownHealthz(ending))
	paths.Handle("/metrics", legacyregistry.Handler())
	slis.SLIMetrics{}.Install(paths)
	return withRemarks(paths, w, clock)
}

// withRemarks adds the problems of the journal and of the clock, and the original beside, to /readyz?verbose. A check that passes cannot have a
// text, and a check that fails would make a process unready that still evicts.
func withRemarks(next http.Handler, w watcher, clock clockTrouble) http.Handler {
	return http.HandlerFunc(func(answer http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(answer, r)
		if r.URL.Path != "/readyz" || !r.URL.Query().Has("verbose") {
			return
		}
		remark(answer, "journal", w.JournalTrouble())
		remark(answer, "clock", clock(time.Now()))
		remark(answer, "original", w.OriginalTrouble())
	})
}

// withLease adds to /readyz?verbose that the lease is missing and may not be created, or that no other process has taken
// the lease which this one has given back. The process stays ready: it may lead once the lease exists, and a rolling update
// must not wait for that; and it leads on with the lease that no other has taken.
func withLease(next http.Handler, trouble func() error) http.Handler {
	return http.HandlerFunc(func(answer http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(answer, r)
		if r.URL.Path == "/readyz" && r.URL.Query().Has("verbose") {
			remark(answer, "lease", trouble())
		}
	})
}

// holder reports what holds evictions.
type holder interface {
	Paused() bool
	Trips() []guard.TripRecord
}

// withState adds to /readyz?verbose what holds evictions, and whether the configuration file is refused. The process
// stays ready. Everybody may read it, so it names neither nodes nor what the file has; the log does.
func withState(next http.Handler, h holder, file *reloader) http.Handler {
	return http.HandlerFunc(func(answer http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(answer, r)
		if r.URL.Path != "/readyz" || !r.URL.Query().Has("verbose") {
			return
		}
		if h.Paused() {
			_, _ = io.WriteString(answer, "[!]paused: no eviction starts\n")
		}
		for _, t := range h.Trips() {
			_, _ = fmt.Fprintf(answer, "[!]breaker: %s, and holds evictions\n", t.Words())
		}
		remark(answer, "config", file.Trouble())
		if n := file.Pending(); n > 0 {
			_, _ = fmt.Fprintf(answer, "[!]config: fields of the file that need a restart: %d\n", n)
		}
	})
}

// remark writes a line about a problem, if there is one.
func remark(answer io.Writer, what string, err error) {
	if err != nil {
		_, _ = fmt.Fprintf(answer, "[!]%s: %v\n", what, err)
	}
}

// clockTrouble returns an error while the process's clock disagrees with the API server's.
type clockTrouble func(now time.Time) error

// watcher reports the state of the watches.
type watcher interface {
	HasSynced() bool
	Trouble() error
	JournalTrouble() error
	OriginalTrouble() error
}

func syncCheck(w watcher) healthz.HealthChecker {
	return healthz.NamedCheck("informer-sync", func(*http.Request) error {
		if w.HasSynced() {
			return nil
		}
		return errors.New("pods, nodes and the journal have not been read yet")
	})
}

func watchCheck(w watcher) healthz.HealthChecker {
	return healthz.NamedCheck("watch", func(*http.Request) error { return w.Trouble() })
}
