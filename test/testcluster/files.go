package testcluster

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
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
		needed = append(needed, c.bin("kwok"))
	}
	for _, path := range needed {
		if _, err := os.Stat(path); err != nil {
			return fmt.Errorf("the control plane's binary %s is missing: run `make %s` (%w)", filepath.Base(path),
				targetOf(c.minor), err)
		}
	}
	return nil
}

// Binary returns the path of the program that contains the control plane and kubectl.
func (c *Cluster) Binary() string { return c.bin(binaryOf(c.minor)) }

// bin returns the path of a program that `make` builds.
func (c *Cluster) bin(name string) string { return filepath.Join(c.root, "bin", name) }

// permissions is the path, in this repository, of the permissions of taint-manager.
const permissions = "deploy/rbac.yaml"

// repositoryRoot walks up from the working directory to the folder that has the permissions.
func repositoryRoot() (string, error) {
	start, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("the working directory: %w", err)
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, permissions)); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("looking for the control plane's binaries: %s is in no checkout of taint-manager", start)
		}
	}
}

// writeFiles writes all files that the components read, and removes the files of an earlier attempt.
func (c *Cluster) writeFiles(o Options) error {
	for _, dir := range []string{c.path("etcd"), c.path("logs"), c.path("pki")} {
		if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o700)); err != nil {
			return fmt.Errorf("clearing the cluster's folder: %w", err)
		}
	}
	if err := c.writePKI(); err != nil {
		return err
	}
	if err := c.writeKubeconfigs(); err != nil {
		return err
	}
	return c.write(map[string][]byte{
		"stages.yaml":       stages,
		"audit-policy.yaml": fmt.Appendf(nil, auditPolicyFormat, o.AuditLevel),
	})
}

// writePKI creates the keys and certificates of the components. One authority signs for servers and clients; the
// aggregator has an authority of its own, or every client could impersonate the aggregator.
func (c *Cluster) writePKI() (err error) {
	if c.authority, err = newAuthority("testcluster"); err != nil {
		return err
	}
	frontProxy, err := newAuthority("testcluster-front-proxy")
	if err != nil {
		return err
	}
	serverCertificate, serverKey, err1 := c.authority.issue("testcluster")
	proxyCertificate, proxyKey, err2 := frontProxy.issue("front-proxy")
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	return c.write(map[string][]byte{
		"pki/clients.crt": c.authority.pem(), "pki/front-proxy.crt": frontProxy.pem(),
		"pki/server.crt": serverCertificate, "pki/server.key": serverKey,
		"pki/proxy.crt": proxyCertificate, "pki/proxy.key": proxyKey,
	})
}

// write writes files to the cluster's folder, by their path from there.
func (c *Cluster) write(files map[string][]byte) error {
	for name, text := range files {
		if err := os.WriteFile(c.path(name), text, 0o600); err != nil {
			return fmt.Errorf("filling the cluster's folder: %w", err)
		}
	}
	return nil
}
