package run

import "testing"

func TestOtherKubeconfigsDefaultToTheOne(t *testing.T) {
	s := defaultSettings()
	s.Kubeconfig, s.authorization.RemoteKubeConfigFile = "one", "other"
	s.complete(func(string) bool { return false })
	if s.authentication.RemoteKubeConfigFile != "one" || s.authorization.RemoteKubeConfigFile != "other" {
		t.Errorf("got %q and %q", s.authentication.RemoteKubeConfigFile, s.authorization.RemoteKubeConfigFile)
	}
}
