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

// paused reports whether the settings, or the file beside the configuration file, pause evictions.
func (s *settings) paused() bool { return s.Paused || s.held }

// heed takes in the file that pauses evictions. It counts beside a configuration file that is refused, too.
func (r *reloader) heed(ctx context.Context) {
	held := pausedBeside(r.started.configFile, r.current.held)
	if held == r.current.held {
		return
	}
	next := *r.current
	next.held = held
	diff, err := r.set(ctx, &next)
	if err != nil {
		klog.FromContext(ctx).Error(err, "The file that pauses evictions was not taken in; it is tried again")
		return
	}
	r.current = &next
	klog.FromContext(ctx).Info("The file that pauses evictions has changed", "file",
		filepath.Join(filepath.Dir(r.started.configFile), pausedFile), "paused", next.paused(),
		"podsCompared", diff.Pods, "podsHeld", diff.Held, "podsFree", diff.Free)
}
