package run

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
)

// ownCertificate returns a self-signed certificate for localhost, with its key, both in PEM. The key is elliptic,
// because making it takes a millisecond. Making an RSA key, as components of Kubernetes do, would take longer than
// everything else before the first list.
func ownCertificate(now time.Time) (certificate, key []byte, err error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, fmt.Errorf("making a key: %w", err)
	}
	hourAgo := now.Add(-time.Hour) // clients' clocks may be behind
	made, err := cert.NewSelfSignedCACert(cert.Config{CommonName: "localhost", NotBefore: hourAgo}, private)
	if err != nil {
		return nil, nil, fmt.Errorf("signing: %w", err)
	}
	key, badKey := keyutil.MarshalPrivateKeyToPEM(private)
	certificate, badCertificate := cert.EncodeCertificates(made)
	return certificate, key, errors.Join(badKey, badCertificate)
}
