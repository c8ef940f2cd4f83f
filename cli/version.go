package cli

import (
	"cmp"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
	apimachineryversion "k8s.io/apimachinery/pkg/version"
	"k8s.io/component-base/version"

	"github.com/taint-manager/taint-manager/cli/flags"
)

// build is the known build information. Unknown fields are empty.
type build struct{ Version, GitCommit, BuildDate, GoVersion, Platform string }

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: flags.NoArguments,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprint(cmd.OutOrStdout(), thisBuild())
			return err
		},
	}
}

func (b build) String() string {
	return fmt.Sprintf("taint-manager %s\ngit commit: %s\nbuilt:      %s\ngo:         %s\nplatform:   %s\n",
		b.Version, cmp.Or(b.GitCommit, "unknown"), cmp.Or(b.BuildDate, "unknown"), b.GoVersion, b.Platform)
}

// userAgent returns the User-Agent header for API servers.
func (b build) userAgent() string {
	return fmt.Sprintf("taint-manager/%s (%s)", b.Version, b.Platform)
}

func thisBuild() build {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return buildOf(version.Get(), info)
}

// buildOf returns the values that the linker set with -X k8s.io/component-base/version.gitVersion=v1.2.3 and the like.
// If it did not set the version, buildOf returns what the Go toolchain recorded.
func buildOf(linked apimachineryversion.Info, recorded *debug.BuildInfo) build {
	b := build{
		Version: linked.GitVersion, GitCommit: linked.GitCommit, BuildDate: linked.BuildDate,
		GoVersion: linked.GoVersion, Platform: linked.Platform,
	}
	if strings.HasPrefix(b.BuildDate, "1970-") {
		b.BuildDate = "" // the linker did not set it
	}
	if !strings.Contains(linked.GitVersion, "$Format") {
		return b
	}
	b.Version, b.GitCommit = "devel", ""
	if v := recorded.Main.Version; v != "" && v != "(devel)" {
		b.Version = v
	}
	for _, setting := range recorded.Settings {
		switch setting.Key {
		case "vcs.revision":
			b.GitCommit = setting.Value
		case "vcs.time":
			b.BuildDate = setting.Value
		}
	}
	return b
}
