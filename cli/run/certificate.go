package run

import (
	"crypto"
	"fmt"
	"time"

	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
)

// ownCertificate returns a self-signed certificate for localhost, with its key, both in PEM. The key is an elliptic
// one, which takes a millisecond: making an RSA key, as components of Kubernetes do, would take longer than everything
// else before the first list.
func ownCertificate(now time.Time) (certificate, key []byte, err error) {
	key, err = keyutil.MakeEllipticPrivateKeyPEM()
	if err != nil {
		return nil, nil, fmt.Errorf("making a key: %w", err)
	}
	private, err := keyutil.ParsePrivateKeyPEM(key)
	if err != nil {
		return nil, nil, fmt.Errorf("reading the key: %w", err)
	}
	signer, ok := private.(crypto.Signer)
	if !ok {
		return nil, nil, fmt.Errorf("a key of type %T can't sign", private)
	}
	hourAgo := now.Add(-time.Hour) // clients' clocks may be behind
	made, err := cert.NewSelfSignedCACert(cert.Config{CommonName: "localhost", NotBefore: hourAgo}, signer)
	if err != nil {
		return nil, nil, fmt.Errorf("signing: %w", err)
	}
	certificate, err = cert.EncodeCertificates(made)
	if err != nil {
		return nil, nil, fmt.Errorf("encoding the certificate: %w", err)
	}
	return certificate, key, nil
}
