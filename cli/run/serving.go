package run

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	genericfilters "k8s.io/apiserver/pkg/endpoints/filters"
	apirequest "k8s.io/apiserver/pkg/endpoints/request"
	genericserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
	serverfilters "k8s.io/apiserver/pkg/server/filters"
	"k8s.io/apiserver/pkg/server/healthz"
	"k8s.io/apiserver/pkg/server/mux"
	"k8s.io/apiserver/pkg/server/routes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
	"k8s.io/component-base/metrics/legacyregistry"
	_ "k8s.io/component-base/metrics/prometheus/clientgo" // rest_client_*, workqueue_*, leader_election_*
	"k8s.io/component-base/metrics/prometheus/slis"
	_ "k8s.io/component-base/metrics/prometheus/version" // kubernetes_build_info

	"github.com/taint-manager/taint-manager/internal/hint"
)

// closeTimeout is how long requests in flight may take after the server begins to close.
const closeTimeout = time.Second

// server is the HTTPS server, which listens but does not answer yet. Nil means none.
type server struct {
	info           *genericserver.SecureServingInfo
	authentication genericserver.AuthenticationInfo
	authorization  genericserver.AuthorizationInfo
}

// listen listens on the port, so that a port in use is detected first. It returns early if ctx ends.
func (s *settings) listen(ctx context.Context) (*server, error) {
	if s.serving.BindPort == 0 {
		return nil, nil
	}
	if err := s.certify(time.Now()); err != nil {
		return nil, hint.Add(fmt.Errorf("cannot create a self-signed certificate: %w", err),
			"Provide a certificate with --tls-cert-file and --tls-private-key-file.")
	}
	var made server
	wanted := s.serving.BindPort // a failure sets it to 0
	err := s.serving.ApplyTo(&made.info)
	switch {
	case err != nil && s.serving.Listener == nil:
		return nil, hint.Add(fmt.Errorf("cannot listen on --secure-port=%d: %w", wanted, err),
			"Choose another --secure-port or --bind-address, or disable HTTPS with --secure-port=0.")
	case err != nil:
		return nil, hint.Add(fmt.Errorf("cannot load the certificate: %w", err),
			"Check --tls-cert-file, --tls-private-key-file and --tls-sni-cert-key.")
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
		return nil, hint.Add(fmt.Errorf("cannot set up authentication and authorization for HTTPS: %w", err),
			"Check the --authentication-* and --authorization-* flags.")
	}
	return &made, nil
}

// certify makes a certificate if none is given. If a folder without a certificate is given, certify makes one there,
// as components of Kubernetes do.
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

// serve answers until the returned function is called, which waits for the requests in flight. The server of package
// apiserver closes connections that send no whole header within 32 s, or no further request within 90 s.
func (s *server) serve(handler http.Handler) (shutdown func(), err error) {
	if s == nil {
		return func() {}, nil
	}
	stop := make(chan struct{})
	stopped, _, err := s.info.Serve(boundHeaders(s.guard(handler)), closeTimeout, stop)
	if err != nil {
		close(stop)
		return nil, fmt.Errorf("serving HTTPS: %w", err)
	}
	return func() { close(stop); <-stopped }, nil
}

// ownCertificate returns a self-signed certificate for localhost, with its key, both in PEM. The key is elliptic,
// because making it takes a millisecond. Making an RSA key, as components of Kubernetes do, would take longer than
// everything else before the first list.
func ownCertificate(now time.Time) (certificate, key []byte, err error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, fmt.Errorf("making a key: %w", err)
	}
	hourAgo := now.Add(-time.Hour) // clients' clocks may be behind
	made, err := cert.NewSelfSignedCACert(cert.Config{CommonName: "localhost", NotBefore: hourAgo}, private)
	if err != nil {
		return nil, nil, fmt.Errorf("signing: %w", err)
	}
	key, badKey := keyutil.MarshalPrivateKeyToPEM(private)
	certificate, badCertificate := cert.EncodeCertificates(made)
	return certificate, key, errors.Join(badKey, badCertificate)
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

// endpoints serves the usual paths of components of Kubernetes. A process that has not synced, cannot watch, or is
// about to end is alive, but not ready. A leader whose elector is stuck is not alive.
func endpoints(
	c condition, ending <-chan struct{}, watchdog healthz.HealthChecker, profiling bool,
) http.Handler {
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
	if profiling {
		routes.Profiling{}.Install(paths)
	}
	return paths
}

// remarks are the problems that leave the process ready. /readyz?verbose has a line for each; a path of the page also
// shows the names. They are not health checks: a check that passes has no text, and a check that fails would make
// unready a process that still evicts, and a rolling update would wait for it.
type remarks struct {
	condition condition
	clock     func(now time.Time) error // why the process's clock disagrees with the API server's
	file      *reloader                 // nil if no file is followed
	election  election                  // nil without leader election
}

// remark is a problem: its category, a text for everybody, and a text that names pods, nodes, groups and policies.
type remark struct{ category, public, names string }

// election is the leader election. Its trouble is that the lease can't be read or written.
type election interface {
	Leading() bool
	Leader() string
	Trouble() error
}

// below appends the remarks to the answers of the next handler. Everybody may read them, so they name nothing.
func (re remarks) below(next http.Handler) http.Handler {
	return http.HandlerFunc(func(answer http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(answer, r)
		if r.URL.Path == "/readyz" && r.URL.Query().Has("verbose") {
			for _, one := range re.all() {
				_, _ = fmt.Fprintf(answer, "[!]%s: %s\n", one.category, one.public)
			}
		}
	})
}

// ServeHTTP answers with the remarks in full.
func (re remarks) ServeHTTP(answer http.ResponseWriter, _ *http.Request) {
	answer.Header().Set("Content-Type", "text/plain; charset=utf-8")
	for _, one := range re.all() {
		_, _ = fmt.Fprintf(answer, "[!]%s: %s\n", one.category, one.names)
	}
}

func (re remarks) all() (list []remark) {
	add := func(category, public string, problem error) {
		if problem != nil {
			list = append(list, remark{category, public, problem.Error()})
		}
	}
	add("journal", "not kept as a whole", re.condition.JournalTrouble())
	add("clock", "not in step with that of the API server", re.clock(time.Now()))
	add("builtin", "evicts pods, too", re.condition.BuiltinTrouble())
	if re.condition.InForce().Paused {
		add("paused", "no eviction starts", errors.New("no eviction starts"))
	}
	if trips := re.condition.Trips(); len(trips) > 0 {
		words := make([]string, len(trips))
		for i, t := range trips {
			words[i] = t.String()
		}
		add("breakers", fmt.Sprintf("%d tripped", len(trips)),
			fmt.Errorf("%s: these hold evictions", strings.Join(words, "; ")))
	}
	if trouble := re.file.Trouble(); trouble != nil {
		add("config", trouble.Error(), trouble) // it names nothing
	}
	if re.election != nil {
		add("lease", "can't be read or written", re.election.Trouble())
	}
	return list
}
