package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
	apimachineryversion "k8s.io/apimachinery/pkg/version"
	"k8s.io/component-base/version"
	"sigs.k8s.io/yaml"

	"github.com/taint-manager/taint-manager/cli/flags"
	"github.com/taint-manager/taint-manager/internal/config"
)

// build is the known build information. Unknown fields are empty.
type build struct {
	Version   string `json:"version"`
	GitCommit string `json:"gitCommit,omitempty"`
	BuildDate string `json:"buildDate,omitempty"`
	GoVersion string `json:"goVersion"`
	Platform  string `json:"platform"`
}

func versionCommand() *cobra.Command {
	output := "text"
	cmd := &cobra.Command{
		Use: "version", Short: "Print the version", Args: flags.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return printBuild(cmd.OutOrStdout(), thisBuild(), output) },
	}
	cmd.Flags().StringVarP(&output, "output", "o", output, "text, json or yaml")
	return cmd
}

func printBuild(w io.Writer, b build, output string) error {
	var text []byte
	var err error
	switch output {
	case "text":
		text = []byte(b.String())
	case "json":
		text, err = json.MarshalIndent(b, "", "  ")
		text = append(text, '\n')
	case "yaml":
		text, err = yaml.Marshal(b)
	default:
		return flags.UsageError{Err: config.Refusal{
			Flag: "output", Value: output, Allowed: "it takes text, json or yaml", Next: "leave it out for text",
		}}
	}
	if err != nil {
		return fmt.Errorf("printing the version: %w", err)
	}
	_, err = w.Write(text)
	return err
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
