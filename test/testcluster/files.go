package testcluster

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
)

const auditPolicyFormat = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: %s
`

// findBinaries returns an error if a program is missing of which the control plane consists.
func (c *Cluster) findBinaries(withoutNodes bool) error {
	needed := []string{c.Binary()}
	if !withoutNodes {
		needed = append(needed, filepath.Join(c.binDir, "kwok"))
	}
	for _, path := range needed {
		if _, err := os.Stat(path); err != nil {
			return fmt.Errorf("the control plane's binary %s is missing: run `make %s` (%w)", filepath.Base(path),
				targetOf(c.minor), err)
		}
	}
	return nil
}

// repositoryRoot walks up from the working directory to this module's go.mod.
func repositoryRoot() (string, error) {
	module := regexp.MustCompile(`(?m)^module github\.com/taint-manager/taint-manager$`)
	start, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("the working directory: %w", err)
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && module.Match(text) {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("looking for the control plane's binaries: %s is in no checkout of taint-manager; set Options.BinDir", start)
		}
	}
}

// newDir returns the folder of a new cluster: a temporary one if no folder is given.
func newDir(dir string) (string, error) {
	if dir == "" {
		return os.MkdirTemp("", "testcluster-")
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if len(entries) > 0 {
		return "", fmt.Errorf("%s is not empty", dir)
	}
	return filepath.Abs(dir)
}

// writeFiles writes all files that the components read, and removes the files of an earlier attempt.
func (c *Cluster) writeFiles(o Options) error {
	for _, dir := range []string{c.path("etcd"), c.path("logs"), c.path("pki")} {
		if err := os.RemoveAll(dir); err != nil {
			return fmt.Errorf("clearing the cluster's folder: %w", err)
		}
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("filling the cluster's folder: %w", err)
		}
	}
	if err := c.writePKI(); err != nil {
		return err
	}
	if err := c.writeKubeconfigs(); err != nil {
		return err
	}
	return writeAll(c.dir, map[string][]byte{
		"stages.yaml":       stages,
		"audit-policy.yaml": fmt.Appendf(nil, auditPolicyFormat, o.AuditLevel),
	})
}

// writePKI creates all keys and certificates. One authority signs for servers and clients; the aggregator has one
// of its own, or every client could impersonate it.
func (c *Cluster) writePKI() (err error) {
	if c.clients, err = newAuthority("testcluster"); err != nil {
		return err
	}
	frontProxy, err := newAuthority("testcluster-front-proxy")
	if err != nil {
		return err
	}
	admin, err1 := c.clients.client("admin", "system:masters")
	server, err2 := c.clients.server("testcluster")
	etcdClient, err3 := c.clients.client("kube-apiserver")
	proxy, err4 := frontProxy.client("front-proxy")
	accounts, err5 := newSigner()
	if err := errors.Join(err1, err2, err3, err4, err5); err != nil {
		return err
	}
	if c.http, err = newHTTPClient(c.clients, admin); err != nil {
		return err
	}
	return writeAll(c.path("pki"), map[string][]byte{
		"clients.crt": c.clients.pem, "front-proxy.crt": frontProxy.pem,
		"server.crt": server.certificate, "server.key": server.key,
		"etcd-client.crt": etcdClient.certificate, "etcd-client.key": etcdClient.key,
		"proxy.crt": proxy.certificate, "proxy.key": proxy.key,
		"service-accounts.pub": accounts.public, "service-accounts.key": accounts.private,
	})
}

func (c *Cluster) writeKubeconfigs() error {
	c.kubeconfigs = make(map[string]string)
	for name, identity := range map[string][]string{
		"admin":           {"admin", "system:masters"},
		ControllerManager: {"system:kube-controller-manager"},
		Scheduler:         {"system:kube-scheduler"},
		Nodes:             {"kwok", "system:masters"},
	} {
		path, err := c.KubeconfigFor(identity[0], identity[1:]...)
		if err != nil {
			return err
		}
		c.kubeconfigs[name] = path
	}
	return nil
}

func newHTTPClient(trusted *authority, identity keyPair) (*http.Client, error) {
	certificate, err := tls.X509KeyPair(identity.certificate, identity.key)
	if err != nil {
		return nil, fmt.Errorf("the client's certificate: %w", err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(trusted.certificate)
	return &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{certificate}},
	}}, nil
}

func writeAll(dir string, files map[string][]byte) error {
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			return fmt.Errorf("filling the cluster's folder: %w", err)
		}
	}
	return nil
}
