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

// pausedFile is the name of the file next to the configuration file that pauses evictions: a key of the same ConfigMap,
// which an operator can set with one line, and which a release does not overwrite.
const pausedFile = "paused"

// pauseFileSet reports whether the file next to the configuration file pauses evictions: it does unless it is missing,
// empty or false. If the folder cannot be read, it returns the last result.
func pauseFileSet(configFile string, last bool) bool {
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

// setPausedByFile applies a change of the file that pauses evictions, even if the configuration file was rejected.
func (r *reloader) setPausedByFile(ctx context.Context, pausedByFile bool) {
	if pausedByFile == r.current.pausedByFile {
		return
	}
	next := *r.current
	next.pausedByFile = pausedByFile
	if err := r.apply(ctx, &next, "The file that pauses evictions has changed"); err != nil {
		klog.FromContext(ctx).Error(err, "The file that pauses evictions was not applied; retrying")
	}
}
