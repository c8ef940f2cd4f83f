// Package transport makes the connections to the API server. [New] returns three clients of client-go: Main for calls,
// Watch, and Lease. Each has its own connection, so that none of them waits for another.
//
// Dead connections are detected in two ways, and do not affect later ones. The kernel probes idle connections of
// watches and of the lease, and closes a dead one after 45 s. Client-go pings by HTTP/2 a server that has sent nothing
// for 30 s, and closes the connection if no answer comes within 15 s, so that a hanging server is detected, too. The
// environment variables HTTP2_READ_IDLE_TIMEOUT_SECONDS and HTTP2_PING_TIMEOUT_SECONDS of client-go change these two
// times. There are no pings on HTTP/1.1, which a proxy may impose.
//
// [Unreachable] says why an API server cannot be used, and what to check.
package transport

import (
	"errors"
	"fmt"
	"math"
	"net"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/taint-manager/taint-manager/internal/config"
	"github.com/taint-manager/taint-manager/internal/hint"
)

// Clients are separate, so that neither evictions nor a limit on them delay the lease's renewal or a watch. Each has a
// connection of its own.
type Clients struct {
	Main  kubernetes.Interface
	Watch kubernetes.Interface // of pods, nodes and namespaces
	Lease kubernetes.Interface
}

// New returns clients of base's API server.
func New(base *rest.Config, c config.Configuration, userAgent string) (to Clients, err error) {
	common := commonConfig(base, c, userAgent)
	for _, one := range []struct {
		client *kubernetes.Interface
		by     *rest.Config
	}{{&to.Main, common}, {&to.Watch, separate(common)}, {&to.Lease, leaseConfig(common, c)}} {
		if *one.client, err = kubernetes.NewForConfig(one.by); err != nil {
			return Clients{}, fmt.Errorf("setting up a client of %s: %w", base.Host, err)
		}
	}
	return to, nil
}

// commonConfig returns the configuration that all clients share.
func commonConfig(base *rest.Config, c config.Configuration, userAgent string) *rest.Config {
	restConfig := rest.CopyConfig(base)
	restConfig.UserAgent = userAgent
	restConfig.ContentType = c.ClientConnection.ContentType
	restConfig.AcceptContentTypes = c.ClientConnection.ContentType + "," + config.ContentTypeJSON
	restConfig.QPS, restConfig.Burst = limits(c)
	return restConfig
}

// leaseConfig bounds each call so that a renewal without a response can be repeated in time.
func leaseConfig(common *rest.Config, c config.Configuration) *rest.Config {
	restConfig := separate(common)
	restConfig.UserAgent += " leader-election"
	restConfig.QPS, restConfig.Burst = -1, 0
	restConfig.Timeout = max(time.Second, c.LeaderElection.RenewDeadline.Duration/2)
	return restConfig
}

// separate gives a client its own connections: client-go shares connections between clients of equal configurations,
// but not between clients with dialers. A dialer of the base configuration is kept. The kernel gives up an idle
// connection 45 s after the last packet of the peer's machine.
func separate(common *rest.Config) *rest.Config {
	restConfig := rest.CopyConfig(common)
	if restConfig.Dial == nil {
		probes := net.KeepAliveConfig{Enable: true, Idle: 15 * time.Second, Interval: 5 * time.Second, Count: 6}
		restConfig.Dial = (&net.Dialer{Timeout: 30 * time.Second, KeepAliveConfig: probes}).DialContext
	}
	return restConfig
}

// limits returns client-go's limits, in which a negative number, and not 0, means no limit.
func limits(c config.Configuration) (qps float32, burst int) {
	switch {
	case c.ClientConnection.QPS <= 0:
		return -1, 0
	case c.ClientConnection.Burst == 0:
		return c.ClientConnection.QPS, int(math.Ceil(float64(c.ClientConnection.QPS)))
	}
	return c.ClientConnection.QPS, c.ClientConnection.Burst
}

// Load returns the configuration for the API server: from the kubeconfig file, or of the pod's service account if no
// file is given.
func Load(kubeconfig string) (*rest.Config, error) {
	if kubeconfig == "" {
		return inCluster()
	}
	if err := Readable(kubeconfig); err != nil {
		return nil, err
	}
	restConfig, err := fromFile(kubeconfig)
	if err != nil {
		return nil, hint.Add(fmt.Errorf("cannot use --kubeconfig=%s: %w", kubeconfig, err),
			"Check it with 'kubectl --kubeconfig=%s cluster-info'.", kubeconfig)
	}
	return restConfig, nil
}

func fromFile(path string) (*rest.Config, error) {
	file, err := clientcmd.LoadFromFile(path)
	if err != nil {
		return nil, fmt.Errorf("not a kubeconfig: %w", err)
	}
	if err := clientcmd.ResolveLocalPaths(file); err != nil {
		return nil, fmt.Errorf("resolving its paths: %w", err)
	}
	if clientcmdapi.IsConfigEmpty(file) {
		return nil, errors.New("the file is empty")
	}
	return clientcmd.NewDefaultClientConfig(*file, &clientcmd.ConfigOverrides{}).ClientConfig()
}

func inCluster() (*rest.Config, error) {
	restConfig, err := rest.InClusterConfig()
	if errors.Is(err, rest.ErrNotInCluster) {
		return nil, hint.Add(errors.New("no --kubeconfig specified, and not running in a pod"),
			"Specify a kubeconfig file with --kubeconfig=FILE.")
	}
	if err != nil {
		return nil, hint.Add(fmt.Errorf("no --kubeconfig specified, and cannot use the pod's service account: %w", err),
			"Set automountServiceAccountToken: true in the pod, or specify a kubeconfig file with --kubeconfig=FILE.")
	}
	return restConfig, nil
}
