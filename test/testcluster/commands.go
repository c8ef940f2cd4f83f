package testcluster

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"path/filepath"
	"strconv"
)

// Ports are chosen below the range from which systems take the ports of outgoing connections (32768 up on Linux,
// 49152 elsewhere). In that range, a client that keeps dialling a dead component could get the component's own
// port, and prevent the component from starting again.
const (
	lowestPort  = 20000
	highestPort = 32000
)

// freePorts returns n different ports that are free now. Another process may take them before the components do.
func freePorts(ctx context.Context, n int) (ports []int, err error) {
	var listen net.ListenConfig
	for range 200 {
		port := lowestPort + rand.IntN(highestPort-lowestPort)
		listener, err := listen.Listen(ctx, "tcp", address(port))
		if err != nil {
			continue
		}
		defer func() { _ = listener.Close() }() // not before all ports are chosen
		if ports = append(ports, port); len(ports) == n {
			return ports, nil
		}
	}
	return nil, errors.New("too few free ports on loopback in 200 tries")
}

func address(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// The places of the components' ports in Cluster.ports.
const (
	etcdPort = iota
	etcdPeerPort
	apiServerPort
	controllerManagerPort
	schedulerPort
	nodesPort
	numberOfPorts
)

// parts returns the components of the control plane, in the order of their start.
func (c *Cluster) parts(o Options) []*Component {
	parts := []*Component{c.etcd(), c.apiServer(o)}
	if !o.WithoutControllerManager {
		parts = append(parts, c.controllerManager(o))
	}
	if !o.WithoutScheduler {
		parts = append(parts, c.scheduler())
	}
	if !o.WithoutNodes {
		parts = append(parts, c.nodes())
	}
	return parts
}

// etcd returns an etcd that does not wait for the disk: the data need not survive a crash of the machine. It uses TLS
// so that no component takes another cluster's etcd for its own.
func (c *Cluster) etcd() *Component {
	client, peer := "https://"+address(c.ports[etcdPort]), "http://"+address(c.ports[etcdPeerPort])
	return c.part(Etcd, client+"/health",
		"--name=testcluster", "--data-dir="+c.path("etcd"),
		"--listen-client-urls="+client, "--advertise-client-urls="+client,
		"--listen-peer-urls="+peer, "--initial-advertise-peer-urls="+peer,
		"--initial-cluster=testcluster="+peer,
		"--cert-file="+c.pki("server.crt"), "--key-file="+c.pki("server.key"),
		"--client-cert-auth", "--trusted-ca-file="+c.pki("authority.crt"), "--enable-grpc-gateway=false",
		"--heartbeat-interval=20", "--election-timeout=200", // etcd has no peers to wait for
		"--unsafe-no-fsync", "--log-level=warn")
}

func (c *Cluster) apiServer(o Options) *Component {
	args := append(c.server(c.ports[apiServerPort]),
		"--etcd-servers=https://"+address(c.ports[etcdPort]), "--etcd-cafile="+c.pki("authority.crt"),
		"--etcd-certfile="+c.pki("server.crt"), "--etcd-keyfile="+c.pki("server.key"),
		"--advertise-address=127.0.0.1", "--endpoint-reconciler-type=none",
		"--service-cluster-ip-range=10.0.0.0/16",
		"--authorization-mode=RBAC", "--allow-privileged=true",
		"--client-ca-file="+c.pki("authority.crt"), "--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file="+c.pki("server.key"), "--service-account-signing-key-file="+c.pki("server.key"))
	if c.minor == 32 {
		args = append(args, "--feature-gates=WatchList=false") // as by default in 1.33, so that lists come in pages
	}
	if o.WithoutControllerManager {
		// Nothing creates the default service accounts that this plugin requires.
		args = append(args, "--disable-admission-plugins=ServiceAccount")
	}
	if o.AuditLevel != "" {
		args = append(args, "--audit-policy-file="+c.path("audit-policy.yaml"),
			"--audit-log-path="+c.AuditLog(), "--audit-log-maxsize=10000")
	}
	return c.part(APIServer, c.url+"/readyz", append(args, o.APIServerArgs...)...)
}

func (c *Cluster) controllerManager(o Options) *Component {
	port := c.ports[controllerManagerPort]
	args := append(c.client(ControllerManager, port),
		"--controllers=*,-taint-eviction-controller",
		"--use-service-account-credentials=true",
		"--service-account-private-key-file="+c.pki("server.key"),
		"--root-ca-file="+c.pki("authority.crt"),
		"--kube-api-qps=500", "--kube-api-burst=1000")
	return c.part(ControllerManager, healthz(port), append(args, o.ControllerManagerArgs...)...)
}

func (c *Cluster) scheduler() *Component {
	port := c.ports[schedulerPort]
	return c.part(Scheduler, healthz(port),
		append(c.client(Scheduler, port), "--kube-api-qps=500", "--kube-api-burst=1000")...)
}

func (c *Cluster) nodes() *Component {
	server := address(c.ports[nodesPort])
	return c.newComponent(Nodes, c.bin("kwok"), "http://"+server+"/healthz",
		"--kubeconfig="+c.kubeconfigs[Nodes], "--config="+c.path("stages.yaml"),
		"--manage-nodes-with-annotation-selector="+SimulatedNodeAnnotation+"=fake",
		"--cidr=10.64.0.0/10", "--server-address="+server)
}

// part returns a component of the control plane's one binary.
func (c *Cluster) part(name, health string, args ...string) *Component {
	return c.newComponent(name, c.Binary(), health, append([]string{name}, args...)...)
}

// client returns the common flags of the API server's two clients.
func (c *Cluster) client(name string, port int) []string {
	kubeconfig := c.kubeconfigs[name]
	return append(c.server(port),
		"--kubeconfig="+kubeconfig, "--authentication-kubeconfig="+kubeconfig,
		"--authorization-kubeconfig="+kubeconfig, "--leader-elect=false")
}

// server returns the flags that Kubernetes' servers share: their address, their certificate, and a feature gate. The
// tests use this feature, which is off by default.
func (c *Cluster) server(port int) []string {
	flags := []string{
		"--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", port),
		"--tls-cert-file=" + c.pki("server.crt"), "--tls-private-key-file=" + c.pki("server.key"),
	}
	if c.minor >= 35 {
		flags = append(flags, "--feature-gates=TaintTolerationComparisonOperators=true")
	}
	return flags
}

func healthz(port int) string { return "https://" + address(port) + "/healthz" }

func (c *Cluster) path(name string) string { return filepath.Join(c.dir, name) }

func (c *Cluster) pki(name string) string { return filepath.Join(c.dir, "pki", name) }
