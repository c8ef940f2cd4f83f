package testcluster

import (
	"bytes"
	"cmp"
	"context"
	"crypto/x509"
	_ "embed" // for stages
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/tools/clientcmd/api"
)

// SimulatedNodeAnnotation marks a simulated node if its value is "fake".
const SimulatedNodeAnnotation = "kwok.x-k8s.io/node"

const (
	startTries   = 4 // a start is tried again if another process took one of its ports
	startTimeout = 90 * time.Second
)

// Options are the options of a cluster. The zero value is a complete one.
type Options struct {
	WithoutNodes             bool // no kwok: no node becomes ready, no pod runs
	WithoutControllerManager bool // pods need no service account then
	WithoutScheduler         bool // only pods that set spec.nodeName are bound

	// Additional flags; a flag given here overrides the same one in this package.
	APIServerArgs, ControllerManagerArgs []string

	// AuditLevel is Metadata, Request or RequestResponse for an audit log of all requests at that level, each
	// written before it is answered. Empty means no audit log.
	AuditLevel string
	// Log receives a line for each step of the start. Nil means none.
	Log io.Writer
}

// A Cluster is a running control plane. Its methods are safe for concurrent use.
type Cluster struct {
	root  string // of the repository
	dir   string // of the cluster's data, certificates, kubeconfigs and logs
	minor int    // the version of Kubernetes is 1.minor
	ports []int  // of the components
	url   string
	log   io.Writer

	authority   *authority
	http        *http.Client      // as cluster-admin
	kubeconfigs map[string]string // by component, and of the cluster-admin
	components  []*Component      // in the order of their start

	stop sync.Once
	err  error // of the stop
}

// stages define how kwok changes nodes and pods. They are never modified.
//
//go:embed stages.yaml
var stages []byte

// Start starts a cluster and returns when all its components report that they are healthy and pods can be created
// in the namespace default. The start ends with ctx, or after 90 seconds; the cluster runs until [Cluster.Stop].
// The error names the component that failed and has the end of its log.
func Start(ctx context.Context, o Options) (*Cluster, error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for try := 1; ; try++ {
		c, err := prepare(o)
		if err != nil {
			return nil, err
		}
		if err = c.boot(ctx, o); err == nil {
			return c, nil
		}
		err = errors.Join(err, c.Stop())
		if try == startTries || !strings.Contains(err.Error(), "address already in use") {
			return nil, err
		}
		c.say("trying other ports")
	}
}

// prepare creates the cluster's folder.
func prepare(o Options) (c *Cluster, err error) {
	c = &Cluster{log: cmp.Or[io.Writer](o.Log, io.Discard)}
	if c.minor, err = chosenMinor(); err != nil {
		return nil, err
	}
	if c.root, err = repositoryRoot(); err != nil {
		return nil, err
	}
	if c.dir, err = os.MkdirTemp("", "testcluster-"); err != nil {
		return nil, fmt.Errorf("a folder for the cluster: %w", err)
	}
	for _, dir := range []string{"etcd", "logs", "pki"} {
		if err := os.Mkdir(c.path(dir), 0o700); err != nil {
			return nil, fmt.Errorf("filling the cluster's folder: %w", err)
		}
	}
	return c, nil
}

// Outside returns a cluster without components. Its API server is another program's, which takes every token, and whose
// certificate this authority signed. [Cluster.Launch] and [Cluster.LaunchOriginal] start clients of it.
func Outside(url string, authority *x509.Certificate) (*Cluster, error) {
	c, err := prepare(Options{})
	if err != nil {
		return nil, err
	}
	c.url, c.kubeconfigs = url, map[string]string{}
	anybody := &api.AuthInfo{Token: "any"}
	c.kubeconfigs[adminUser], err = c.writeKubeconfig(adminUser, certificatePEM(authority.Raw), anybody)
	return c, errors.Join(err, c.writePKI())
}

// boot starts all components of a new cluster.
func (c *Cluster) boot(ctx context.Context, o Options) (err error) {
	if c.ports, err = freePorts(ctx, numberOfPorts); err != nil {
		return err
	}
	c.url = "https://" + address(c.ports[apiServerPort])
	if err := c.writeFiles(o); err != nil {
		return err
	}
	c.components = c.parts(o)
	// A wave starts when the one before is healthy: that is faster than the components' retries.
	for _, wave := range [][]*Component{c.components[:1], c.components[1:2], c.components[2:]} {
		if err := c.startAll(ctx, wave); err != nil {
			return err
		}
	}
	if manager := c.Component(ControllerManager); manager != nil { // no pod is admitted before this account exists
		return manager.await(ctx, c.url+"/api/v1/namespaces/default/serviceaccounts/default")
	}
	return nil
}

// startAll starts the components together and returns when all are healthy.
func (c *Cluster) startAll(ctx context.Context, components []*Component) error {
	began := time.Now()
	for _, component := range components {
		if err := component.launch(); err != nil {
			return err
		}
	}
	for _, component := range components {
		if err := component.await(ctx, component.health); err != nil {
			return err
		}
		c.say("%s is ready after %.1f s", component.name, time.Since(began).Seconds())
	}
	return nil
}

// Stop kills all components, waits until their processes have ended, and removes the cluster's folder. A second call
// does nothing and returns the same.
func (c *Cluster) Stop() error {
	c.stop.Do(func() {
		for _, component := range slices.Backward(c.components) {
			component.Kill()
		}
		if c.http != nil {
			c.http.CloseIdleConnections()
		}
		c.err = os.RemoveAll(c.dir)
	})
	return c.err
}

// URL returns the API server's address.
func (c *Cluster) URL() string { return c.url }

// AuditLog returns the path of the audit log, one JSON document a line. The file exists if Options.AuditLevel is set.
func (c *Cluster) AuditLog() string { return c.logOf("audit") }

func (c *Cluster) logOf(name string) string { return c.path("logs/" + name + ".log") }

// Component returns the component of that name, or nil if the cluster has none.
func (c *Cluster) Component(name string) *Component {
	i := slices.IndexFunc(c.components, func(component *Component) bool { return component.name == name })
	if i < 0 {
		return nil
	}
	return c.components[i]
}

// Kubectl returns a command that runs kubectl with these arguments as cluster-admin, not yet started. It is killed
// when ctx ends.
func (c *Cluster) Kubectl(ctx context.Context, args ...string) *exec.Cmd {
	all := append([]string{"kubectl", "--kubeconfig=" + c.Kubeconfig()}, args...)
	cmd := exec.CommandContext(ctx, c.Binary(), all...)
	cmd.Env = append(os.Environ(), "HOME="+c.dir) // its caches
	return cmd
}

// Apply creates or updates these objects, as `kubectl apply` does.
func (c *Cluster) Apply(ctx context.Context, yaml string) error {
	cmd := c.Kubectl(ctx, "apply", "-f", "-")
	cmd.Stdin = strings.NewReader(yaml)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("kubectl apply: %w: %s", err, bytes.TrimSpace(out))
	}
	return nil
}

// SimulatedNode returns the manifest of a node whose kubelet kwok simulates.
func SimulatedNode(name string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: Node\nmetadata:\n  name: %s\n  annotations: {%s: fake}\n"+
		"  labels: {kubernetes.io/hostname: %[1]s}\n---\n", name, SimulatedNodeAnnotation)
}

func (c *Cluster) say(format string, args ...any) {
	_, _ = fmt.Fprintf(c.log, "testcluster: "+format+"\n", args...)
}
