// Command release makes the image, or all files of a release. It runs in the folder release; `make image` and `make
// release` call it.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/taint-manager/taint-manager/release/build"
	"github.com/taint-manager/taint-manager/release/chart"
	"github.com/taint-manager/taint-manager/release/dist"
	"github.com/taint-manager/taint-manager/release/manifests"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	root := flags.String("root", "..", "`FOLDER` of the repository")
	out := flags.String("out", "../dist", "`FOLDER` to write to")
	imageOnly := flags.Bool("image-only", false, "make the image alone")
	version := flags.String("version", "", "`VERSION` such as v1.2.3; empty: the chart's")
	repository := flags.String("image", "", "`NAME` of the image, without a tag; empty: the chart's")
	commit := flags.String("commit", "", "git `COMMIT`")
	seconds := flags.Int64("time", 0, "the commit's time, in `SECONDS` since 1970")
	url := flags.String("url", "", "`URL` under which the archives will be found")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if err := build.CheckGo(*root, runtime.Version()); err != nil {
		return err
	}
	if err := complete(*root, version, repository); err != nil {
		return err
	}
	if *url == "" {
		*url = "https://github.com/taint-manager/taint-manager/releases/download/" + *version
	}
	info := build.Info{Version: *version, Commit: *commit, Time: time.Unix(*seconds, 0)}
	if *seconds == 0 || *commit == "" {
		return errors.New("the commit is not known: run this in a git clone, or set COMMIT and COMMIT_TIME")
	}
	if err := info.Validate(); err != nil {
		return err
	}
	r := dist.Release{
		Root: *root, Out: *out, Info: info, Repository: *repository, URL: strings.TrimSuffix(*url, "/"),
		Compile: build.Compile,
		Say:     func(format string, args ...any) { _, _ = fmt.Fprintf(os.Stderr, "release: "+format+"\n", args...) },
	}
	if *imageOnly {
		return r.Image(ctx)
	}
	return r.All(ctx)
}

// complete replaces an empty version and an empty repository by those of the chart, which deploy/install.yaml names.
func complete(root string, version, repository *string) error {
	defaultVersion, defaultRepository, err := chart.Defaults(filepath.Join(root, manifests.ChartDir))
	*version, *repository = cmp.Or(*version, defaultVersion), cmp.Or(*repository, defaultRepository)
	return err
}
