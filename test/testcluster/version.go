package testcluster

import (
	"cmp"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// VersionVariable names the environment variable that chooses the version of Kubernetes, such as 1.30, of all clusters
// whose options choose no version. `make test-versions` sets the variable, and builds the binaries of the versions that
// the variable may name. Without the variable, clusters have the version of bin/controlplane.
const VersionVariable = "TESTCLUSTER_KUBERNETES"

// defaultMinor is the minor version of Kubernetes in test/controlplane/go.mod.
const defaultMinor = 36

// Minor returns the minor version of the cluster's Kubernetes: 30 for Kubernetes 1.30.
func (c *Cluster) Minor() int { return c.minor }

// chosenMinor returns the minor version that the options choose, or else the environment.
func (o Options) chosenMinor() (int, error) {
	chosen := cmp.Or(o.Kubernetes, os.Getenv(VersionVariable))
	if chosen == "" {
		return defaultMinor, nil
	}
	text, found := strings.CutPrefix(chosen, "1.")
	minor, err := strconv.Atoi(text)
	if !found || err != nil || minor < 30 {
		return 0, fmt.Errorf("the options or %s choose Kubernetes %q: want a minor version from 1.30 on, such as 1.30; choose none for 1.%d", VersionVariable, chosen, defaultMinor)
	}
	return minor, nil
}

// binaryOf returns the name of the binary of one version of Kubernetes.
func binaryOf(minor int) string {
	if minor == defaultMinor {
		return "controlplane"
	}
	return fmt.Sprintf("controlplane-1.%d", minor)
}

// targetOf returns the target of the Makefile that builds the binary of one version of Kubernetes.
func targetOf(minor int) string {
	if minor == defaultMinor {
		return "controlplane"
	}
	return "bin/" + binaryOf(minor)
}
