package cli

import (
	"runtime/debug"
	"testing"

	apimachineryversion "k8s.io/apimachinery/pkg/version"
)

func TestWhatTheLinkerWasToldIsTheVersion(t *testing.T) {
	linked := apimachineryversion.Info{GitVersion: "v1.2.3", GitCommit: "abc", BuildDate: "today", GoVersion: "go1.26", Platform: "linux/amd64"}
	got := buildOf(linked, &debug.BuildInfo{Main: debug.Module{Version: "v9"}})
	if want := (build{"v1.2.3", "abc", "today", "go1.26", "linux/amd64"}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestElseItIsWhatTheToolchainNoted(t *testing.T) {
	linked := apimachineryversion.Info{GitVersion: "v0.0.0-master+$Format:%H$", GitCommit: "$Format:%H$", BuildDate: "1970-01-01T00:00:00Z", GoVersion: "go1.26", Platform: "linux/amd64"}
	for name, test := range map[string]struct {
		recorded *debug.BuildInfo
		want     build
	}{
		"nothing":    {&debug.BuildInfo{}, build{"devel", "", "", "go1.26", "linux/amd64"}},
		"a checkout": {&debug.BuildInfo{Main: debug.Module{Version: "(devel)"}, Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.time", Value: "today"}}}, build{"devel", "abc", "today", "go1.26", "linux/amd64"}},
		"go install": {&debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}}, build{"v1.2.3", "", "", "go1.26", "linux/amd64"}},
	} {
		if got := buildOf(linked, test.recorded); got != test.want {
			t.Errorf("%s: got %+v, want %+v", name, got, test.want)
		}
	}
}
