package testcluster

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
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
	return c.writeKubeconfig(user, c.authority.pem(),
		&api.AuthInfo{ClientCertificateData: certificate, ClientKeyData: key})
}

// writeKubeconfig writes a kubeconfig for the API server, whose certificate this authority signed.
func (c *Cluster) writeKubeconfig(user string, authority []byte, credentials *api.AuthInfo) (string, error) {
	const name = "testcluster"
	config := api.NewConfig()
	config.Clusters[name] = &api.Cluster{Server: c.url, CertificateAuthorityData: authority}
	config.AuthInfos[user] = credentials
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

// validity is far longer than the lifetime of any cluster.
const validity = 365 * 24 * time.Hour

// authority signs the certificates of all servers and clients. It is safe for concurrent use.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

// writePKI creates the authority, and the key and the certificate of all servers.
func (c *Cluster) writePKI() error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fmt.Errorf("generating a key: %w", err)
	}
	own, err := cert.NewSelfSignedCACert(cert.Config{CommonName: "testcluster-authority"}, key)
	if err != nil {
		return fmt.Errorf("signing the authority: %w", err)
	}
	c.authority = &authority{own, key}
	serverCertificate, serverKey, err := c.authority.issue("testcluster")
	if err != nil {
		return err
	}
	return c.write(map[string][]byte{
		"pki/authority.crt": c.authority.pem(), "pki/server.crt": serverCertificate, "pki/server.key": serverKey,
	})
}

func (a *authority) pem() []byte { return certificatePEM(a.certificate.Raw) }

// issue returns a new certificate and its key as PEM. The certificate authenticates the user in these groups, and
// servers on loopback.
func (a *authority) issue(user string, groups ...string) (certificate, key []byte, err error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, fmt.Errorf("generating a key for %s: %w", user, err)
	}
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		Subject:     pkix.Name{CommonName: user, Organization: groups},
		NotBefore:   time.Now().Add(-time.Hour),
		NotAfter:    time.Now().Add(validity),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		DNSNames:    []string{"localhost", "kubernetes.default.svc"},
	}, a.certificate, private.Public(), a.key)
	if err != nil {
		return nil, nil, fmt.Errorf("signing a certificate for %s: %w", user, err)
	}
	key, err = keyutil.MarshalPrivateKeyToPEM(private)
	return certificatePEM(der), key, err
}

func certificatePEM(der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: cert.CertificateBlockType, Bytes: der})
}
