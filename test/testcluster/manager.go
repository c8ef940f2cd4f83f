package testcluster

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ManagerUser is the service account to which deploy/rbac.yaml gives its permissions.
const ManagerUser = "system:serviceaccount:kube-system:taint-manager"

// A Manager is one run of taint-manager.
type Manager struct {
	*Component
	address string // of its secure port
	page    string // host and port of its page
}

// StartManager runs `taint-manager run` with these additional flags, and returns when the manager is ready. It runs as
// [ManagerUser], with the permissions that [Cluster.Permit] gives. The binary is bin/taint-manager of the repository.
// The error has the end of the manager's log.
func (c *Cluster) StartManager(ctx context.Context, flags ...string) (*Manager, error) {
	m, err := c.Launch(ctx, "", "", flags...)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, endTimeout)
	defer cancel()
	if err := m.await(ctx, m.health); err != nil {
		m.Kill()
		return nil, err
	}
	return m, nil
}

// Launch is like [Cluster.StartManager], but does not wait until the manager is ready. It runs the program
// at the path binary, as the user of kubeconfig. If one of these is empty, it is as for [Cluster.StartManager].
func (c *Cluster) Launch(ctx context.Context, binary, kubeconfig string, flags ...string) (*Manager, error) {
	if kubeconfig == "" {
		err := c.Permit(ctx, flags...)
		if err == nil {
			kubeconfig, err = c.ManagerKubeconfig()
		}
		if err != nil {
			return nil, err
		}
	}
	ports, err := freePorts(ctx, 2)
	if err != nil {
		return nil, err
	}
	m := &Manager{address: address(ports[0]), page: address(ports[1])}
	args := []string{
		"run", "--kubeconfig=" + kubeconfig, "--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", ports[0]),
		"--status-address=" + m.page,
	}
	m.Component = c.newComponent("taint-manager", cmp.Or(binary, c.bin("taint-manager")),
		"https://"+m.address+"/readyz", append(args, flags...)...)
	m.log = c.logOf(fmt.Sprintf("taint-manager-%d", ports[0]))
	// The certificate of a manager is self-signed and new.
	anyCertificate := &tls.Config{InsecureSkipVerify: true}
	m.client = &http.Client{Transport: &http.Transport{TLSClientConfig: anyCertificate, DisableKeepAlives: true}}
	return m, m.launch()
}

// ManagerKubeconfig returns the path of a new kubeconfig for [ManagerUser].
func (c *Cluster) ManagerKubeconfig() (string, error) {
	return c.KubeconfigFor(ManagerUser, "system:serviceaccounts", "system:serviceaccounts:kube-system")
}

// evictPermission is the permission that the chart adds to deploy/rbac.yaml for the method Evict. It is a role of its
// own here, because several managers with different methods may run in one cluster.
const evictPermission = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: taint-manager-method-evict}
rules: [{apiGroups: [""], resources: [pods/eviction], verbs: [create]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: taint-manager-method-evict}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: taint-manager-method-evict}
subjects: [{kind: ServiceAccount, name: taint-manager, namespace: kube-system}]
`

// Permit applies deploy/rbac.yaml, which gives [ManagerUser] its permissions. If the flags of "run" or their file have
// the method Evict, Permit adds the permission for this method.
func (c *Cluster) Permit(ctx context.Context, flags ...string) error {
	rbac, err := os.ReadFile(filepath.Join(c.root, permissions))
	if err != nil {
		return fmt.Errorf("the permissions: %w", err)
	}
	manifest := string(rbac)
	if slices.ContainsFunc(flags, mayEvict) {
		manifest += "---" + evictPermission
	}
	return c.Apply(ctx, manifest)
}

// mayEvict reports whether a manager with this flag may evict by the eviction subresource.
func mayEvict(flag string) bool {
	if file, given := strings.CutPrefix(flag, "--config="); given {
		text, err := os.ReadFile(file)
		return err == nil && strings.Contains(string(text), "method: Evict")
	}
	return flag == "--eviction-method=evict"
}

// Address returns the host and port of the manager's secure port.
func (m *Manager) Address() string { return m.address }

// Page returns the URL of the manager's page, unless a flag sets another.
func (m *Manager) Page() string { return "http://" + m.page + "/" }

// LaunchOriginal starts the controller that taint-manager replaces, with these additional flags, and does not wait
// until it is ready. The original is a kube-controller-manager of the same build with only its
// taint-eviction-controller and node-lifecycle-controller. It runs as a cluster-admin, and marks no node unhealthy
// within a day.
func (c *Cluster) LaunchOriginal(ctx context.Context, flags ...string) (*Component, error) {
	port, err := freePorts(ctx, 1)
	if err != nil {
		return nil, err
	}
	args := append(c.client(adminUser, port[0]),
		"--controllers=taint-eviction-controller,node-lifecycle-controller", "--node-monitor-grace-period=24h")
	o := c.part(ControllerManager, healthz(port[0]), append(args, flags...)...)
	o.name, o.endsBySignal = "original", true
	o.log = c.logOf(fmt.Sprintf("original-%d", port[0]))
	return o, o.launch()
}
