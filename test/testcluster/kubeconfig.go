package testcluster

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// The user of a cluster-admin, and the group to which the API server gives all permissions.
const (
	adminUser   = "admin"
	adminsGroup = "system:masters"
)

// Kubeconfig returns the path of a kubeconfig for a cluster-admin.
func (c *Cluster) Kubeconfig() string { return c.kubeconfigs[adminUser] }

// KubeconfigFor writes a kubeconfig that authenticates as this user in these groups, and returns its path. RBAC
// decides what the user may do; "system:serviceaccount:NAMESPACE:NAME" has that service account's permissions,
// whether the account exists or not.
func (c *Cluster) KubeconfigFor(user string, groups ...string) (string, error) {
	certificate, key, err := c.authority.issue(user, groups...)
	if err != nil {
		return "", fmt.Errorf("a kubeconfig for %s: %w", user, err)
	}
	const name = "testcluster"
	config := api.NewConfig()
	config.Clusters[name] = &api.Cluster{Server: c.url, CertificateAuthorityData: c.authority.pem()}
	config.AuthInfos[user] = &api.AuthInfo{ClientCertificateData: certificate, ClientKeyData: key}
	config.Contexts[name] = &api.Context{Cluster: name, AuthInfo: user}
	config.CurrentContext = name
	// A colon separates paths in the variable KUBECONFIG.
	file, err := os.CreateTemp(c.dir, "kubeconfig-"+strings.ReplaceAll(user, ":", "-")+"-*")
	if err == nil {
		err = errors.Join(file.Close(), clientcmd.WriteToFile(*config, file.Name()))
	}
	if err != nil {
		return "", fmt.Errorf("a kubeconfig for %s: %w", user, err)
	}
	return file.Name(), nil
}

// writeKubeconfigs writes the kubeconfigs of the components and of the cluster-admin.
func (c *Cluster) writeKubeconfigs() (err error) {
	c.kubeconfigs = make(map[string]string)
	for name, identity := range map[string][]string{
		adminUser:         {adminUser, adminsGroup},
		ControllerManager: {"system:kube-controller-manager"},
		Scheduler:         {"system:kube-scheduler"},
		Nodes:             {"kwok", adminsGroup},
	} {
		if c.kubeconfigs[name], err = c.KubeconfigFor(identity[0], identity[1:]...); err != nil {
			return err
		}
	}
	config, err := clientcmd.BuildConfigFromFlags("", c.Kubeconfig())
	if err == nil {
		c.http, err = rest.HTTPClientFor(config)
	}
	if err != nil {
		return fmt.Errorf("a client for the cluster: %w", err)
	}
	return nil
}
