package run

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/klog/v2"
)

// pausedFile is the name of the file beside the configuration file that pauses evictions: a key of the same ConfigMap,
// which an operator can set with one line, and which a release does not overwrite.
const pausedFile = "paused"

// pausedBeside reports whether the file beside the configuration file pauses evictions: it does unless it is missing,
// empty or false. If the folder cannot be read, pausedBeside returns its last result.
func pausedBeside(configFile string, last bool) bool {
	content, err := os.ReadFile(filepath.Join(filepath.Dir(configFile), pausedFile))
	if errors.Is(err, fs.ErrNotExist) {
		_, gone := os.Stat(configFile)
		return last && gone != nil
	}
	if err != nil {
		return last
	}
	value := strings.ToLower(strings.TrimSpace(string(content)))
	return value != "" && value != "false"
}

// hold applies a change of the file that pauses evictions, which also counts next to a refused configuration file.
func (r *reloader) hold(ctx context.Context, held bool) {
	if held == r.current.held {
		return
	}
	next := *r.current
	next.held = held
	if err := r.apply(ctx, &next, "The file that pauses evictions has changed"); err != nil {
		klog.FromContext(ctx).Error(err, "The file that pauses evictions was not applied; retrying")
	}
}
