package testcluster

import (
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"strings"
)

const kubeconfigFormat = `apiVersion: v1
kind: Config
current-context: testcluster
clusters:
- name: testcluster
  cluster:
    server: %s
    certificate-authority-data: %s
users:
- name: %q
  user:
    client-certificate-data: %s
    client-key-data: %s
contexts:
- name: testcluster
  context:
    cluster: testcluster
    user: %q
`

// Kubeconfig returns the path of a kubeconfig for a cluster-admin.
func (c *Cluster) Kubeconfig() string { return c.kubeconfigs["admin"] }

// KubeconfigFor writes a kubeconfig that authenticates as this user in these groups, and returns its path. RBAC
// decides what the user may do; "system:serviceaccount:NAMESPACE:NAME" has that service account's permissions,
// whether the account exists or not.
func (c *Cluster) KubeconfigFor(user string, groups ...string) (string, error) {
	pair, err := c.clients.client(user, groups...)
	if err != nil {
		return "", fmt.Errorf("a kubeconfig for %s: %w", user, err)
	}
	file, err := os.CreateTemp(c.dir, "kubeconfig-"+fileName(user)+"-*")
	if err != nil {
		return "", fmt.Errorf("a kubeconfig for %s: %w", user, err)
	}
	_, err = fmt.Fprintf(file, kubeconfigFormat, c.url, base64Text(c.clients.pem), user,
		base64Text(pair.certificate), base64Text(pair.key), user)
	if err := errors.Join(err, file.Close()); err != nil {
		return "", fmt.Errorf("a kubeconfig for %s: %w", user, err)
	}
	return file.Name(), nil
}

// fileName replaces characters that are not suitable for the name of a file.
func fileName(user string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("/\\:* ", r) {
			return '-'
		}
		return r
	}, user)
}

func base64Text(data []byte) string { return base64.StdEncoding.EncodeToString(data) }
