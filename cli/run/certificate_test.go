package run

import (
	"crypto/tls"
	"crypto/x509"
	"testing"
	"time"
)

func TestItsOwnCertificateHoldsForLocalhostForYears(t *testing.T) {
	now := time.Now()
	certificate, key, err := ownCertificate(now)
	must(t, err)
	pair, err := tls.X509KeyPair(certificate, key)
	must(t, err)
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(certificate)
	for _, test := range []struct {
		name string
		at   time.Time
		good bool
	}{
		{"localhost", now, true},
		{"localhost", now.AddDate(9, 0, 0), true},
		{"localhost", now.Add(-30 * time.Minute), true},
		{"localhost", now.Add(-2 * time.Hour), false},
		{"example.com", now, false},
	} {
		_, err := pair.Leaf.Verify(x509.VerifyOptions{DNSName: test.name, Roots: pool, CurrentTime: test.at})
		if good := err == nil; good != test.good {
			t.Errorf("for %s at %v: got %v", test.name, test.at, err)
		}
	}
}

func TestACertificateIsMadeOnlyWhereNoneIsNamed(t *testing.T) {
	named := newSettings()
	named.serving.ServerCert.CertKey.CertFile, named.serving.ServerCert.CertKey.KeyFile = "a.crt", "a.key"
	must(t, named.certify(time.Now()))
	if named.serving.ServerCert.GeneratedCert != nil {
		t.Error("one was made though another one is named")
	}
	kept := newSettings()
	kept.serving.ServerCert.CertDirectory = t.TempDir()
	must(t, kept.certify(time.Now()))
	if kept.serving.ServerCert.GeneratedCert != nil || kept.serving.ServerCert.CertKey.CertFile == "" {
		t.Error("it is not in the folder that is named")
	}
	own := newSettings()
	must(t, own.certify(time.Now()))
	if own.serving.ServerCert.GeneratedCert == nil {
		t.Error("none was made")
	}
}
