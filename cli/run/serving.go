package run

import (
	"context"
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

	"github.com/taint-manager/taint-manager/internal/guard"
)

// closeTimeout is how long requests under way may take after the server begins to close.
const closeTimeout = time.Second

// server is the HTTPS server, which listens but does not answer yet. Nil means none.
type server struct {
	info           *genericserver.SecureServingInfo
	authentication genericserver.AuthenticationInfo
	authorization  genericserver.AuthorizationInfo
}

// listen listens on the port, so that a port in use is detected first. It ends early with its context.
func (s *settings) listen(ctx context.Context) (*server, error) {
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
	delegated := make(chan error, 1)
	go func() { // this asks the API server, with no time limit
		delegated <- errors.Join(s.authentication.ApplyTo(&made.authentication, made.info, nil),
			s.authorization.ApplyTo(&made.authorization))
	}()
	select {
	case err = <-delegated:
	case <-ctx.Done():
		err = ctx.Err()
	}
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
	stopped, _, err := s.info.Serve(s.guard(handler), closeTimeout, stop)
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
	handler = genericfilters.WithAuthentication(handler, s.authentication.Authenticator,
		genericfilters.Unauthorized(scheme.Codecs), nil, nil)
	handler = genericfilters.WithRequestInfo(handler, resolver)
	handler = genericfilters.WithCacheControl(handler)
	handler = serverfilters.WithHTTPLogging(handler)
	return serverfilters.WithPanicRecovery(handler, resolver)
}

// condition is the state of the manager and of its watches.
type condition interface {
	HasSynced() bool
	Trouble() error
	JournalTrouble() error
	OriginalTrouble() error
	Paused() bool
	Trips() []guard.TripRecord
}

// endpoints serves the usual paths of components of Kubernetes. A process that has not synced, cannot watch, or is
// about to end is alive, but not ready. A leader whose elector is stuck is not alive.
func endpoints(c condition, ending <-chan struct{}, watchdog healthz.HealthChecker) http.Handler {
	synced := healthz.NamedCheck("informer-sync", func(*http.Request) error {
		if c.HasSynced() {
			return nil
		}
		return errors.New("pods, nodes and the journal have not been read yet")
	})
	watching := healthz.NamedCheck("watch", func(*http.Request) error { return c.Trouble() })
	paths := mux.NewPathRecorderMux("taint-manager")
	healthz.InstallHandler(paths, healthz.PingHealthz, watchdog)
	healthz.InstallLivezHandler(paths, healthz.PingHealthz, watchdog)
	healthz.InstallReadyzHandler(paths, healthz.PingHealthz, synced, watching, healthz.NewShutdownHealthz(ending))
	paths.Handle("/metrics", legacyregistry.Handler())
	slis.SLIMetrics{}.Install(paths)
	return paths
}

// remarks are the lines of /readyz?verbose about problems that leave the process ready. A check that passes cannot have
// a text. A check that fails would make a process unready that still evicts, and a rolling update would wait for it.
// Everybody may read remarks, so they name neither nodes nor fields of the configuration file; the log does.
type remarks struct {
	condition condition
	clock     func(now time.Time) error // why the process's clock disagrees with the API server's
	file      *reloader                 // nil if no file is followed
	election  election                  // nil without leader election
}

// election is the leader election. It reports that no process leads; and that the lease is missing, or that no other
// process has taken the lease which this process has given back.
type election interface {
	Leading() bool
	Leader() string
	Unled() error
	Trouble() error
}

// below adds the remarks to the answers of the next handler.
func (re remarks) below(next http.Handler) http.Handler {
	return http.HandlerFunc(func(answer http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(answer, r)
		if r.URL.Path == "/readyz" && r.URL.Query().Has("verbose") {
			re.write(answer)
		}
	})
}

func (re remarks) write(w io.Writer) {
	remark(w, "journal", re.condition.JournalTrouble())
	remark(w, "clock", re.clock(time.Now()))
	remark(w, "original", re.condition.OriginalTrouble())
	if re.condition.Paused() {
		remark(w, "paused", errors.New("no eviction starts"))
	}
	for _, t := range re.condition.Trips() {
		remark(w, "breaker", fmt.Errorf("%s, and holds evictions", t.Words()))
	}
	remark(w, "config", re.file.Trouble())
	if re.election != nil {
		remark(w, "leader", re.election.Unled())
		remark(w, "lease", re.election.Trouble())
	}
}

// remark writes a line about a problem; nil means none.
func remark(answer io.Writer, what string, err error) {
	if err != nil {
		_, _ = fmt.Fprintf(answer, "[!]%s: %v\n", what, err)
	}
}
