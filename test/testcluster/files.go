package testcluster

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// VersionVariable names the environment variable that chooses the version of Kubernetes, such as 1.32, of all clusters.
// `make test-versions` sets the variable, and builds the binaries of the versions that the variable may name. Without
// the variable, clusters have the version of bin/controlplane.
const VersionVariable = "TESTCLUSTER_KUBERNETES"

// defaultMinor is the minor version of Kubernetes in test/controlplane/go.mod.
const defaultMinor = 36

// Minor returns the minor version of the cluster's Kubernetes: 32 for Kubernetes 1.32.
func (c *Cluster) Minor() int { return c.minor }

// chosenMinor returns the minor version that the environment chooses.
func chosenMinor() (int, error) {
	chosen := os.Getenv(VersionVariable)
	if chosen == "" {
		return defaultMinor, nil
	}
	text, found := strings.CutPrefix(chosen, "1.")
	minor, err := strconv.Atoi(text)
	if !found || err != nil || minor < 32 {
		return 0, fmt.Errorf("%s chooses Kubernetes %q: want a minor version from 1.32 on, such as 1.32; "+
			"choose none for 1.%d", VersionVariable, chosen, defaultMinor)
	}
	return minor, nil
}

const auditPolicyFormat = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: %s
`

// Binary returns the path of the program that contains the control plane and kubectl.
func (c *Cluster) Binary() string {
	if c.minor == defaultMinor {
		return c.bin("controlplane")
	}
	return c.bin(fmt.Sprintf("controlplane-1.%d", c.minor))
}

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
			return "", fmt.Errorf("looking for the control plane's binaries: %s is in no checkout of taint-manager",
				start)
		}
	}
}

func (c *Cluster) writeFiles(o Options) error {
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

// write writes files to the cluster's folder, by their path from there.
func (c *Cluster) write(files map[string][]byte) error {
	for name, text := range files {
		if err := os.WriteFile(c.path(name), text, 0o600); err != nil {
			return fmt.Errorf("filling the cluster's folder: %w", err)
		}
	}
	return nil
}
