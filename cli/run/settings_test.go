package run

import "testing"

func TestOtherKubeconfigsDefaultToTheOne(t *testing.T) {
	s := newSettings()
	s.ClientConnection.Kubeconfig, s.authorization.RemoteKubeConfigFile = "one", "other"
	must(t, s.complete())
	if s.authentication.RemoteKubeConfigFile != "one" || s.authorization.RemoteKubeConfigFile != "other" {
		t.Errorf("got %q and %q", s.authentication.RemoteKubeConfigFile, s.authorization.RemoteKubeConfigFile)
	}
}
