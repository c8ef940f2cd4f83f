package dump

import (
	"path"
	"slices"
	"strings"
)

// Tool is a tool that writes a cluster's objects into a folder.
type Tool struct {
	Name string

	Lacks     string // kinds that the tool never writes; empty if there are none that matter
	LeavesOut string // pods that the tool does not write; empty if it writes all

	// Namespaces are the only ones of whose pods the tool writes without further flags, and Flag asks for all; nil if
	// it writes all.
	Namespaces []string
	Flag       string

	// places are where the tool writes, below a folder of its own: NS is a namespace, * anything. What is below a
	// place is the tool's, too.
	places []string

	pods   string   // the folder in which each namespace has a file; empty if none is written for an empty list
	errors []string // patterns of the files in which the tool writes which requests failed
	nulls  bool     // writes the string "null" instead of null and ""
}

// clusterInfo writes into folders that are not named after it: it is recognized by nodes.json next to NS/pods.json.
var clusterInfo = Tool{
	Name: "kubectl cluster-info dump", Lacks: "PodDisruptionBudgets, ConfigMaps or Leases",
	Namespaces: []string{"default", "kube-system"}, Flag: "--all-namespaces",
}

// tools are those whose folders have names of their own.
var tools = []Tool{
	{Name: "oc adm inspect", places: []string{"cluster-scoped-resources", "namespaces/NS"}},
	{Name: "troubleshoot", places: []string{"cluster-resources"}, pods: "pods", errors: []string{"*-errors.json"}},
	{
		Name: "velero", LeavesOut: "pods that are being deleted",
		places: []string{
			"resources/*/namespaces/NS", "resources/*/cluster",
			"resources/*/*-preferredversion/namespaces/NS", "resources/*/*-preferredversion/cluster",
		},
	},
	{
		Name: "sonobuoy", places: []string{"resources/ns/NS", "resources/cluster", "meta/query-time.json"},
		errors: []string{"query-time.json"},
	},
	{
		Name: "Rancher's support-bundle-kit", nulls: true, errors: []string{"bundleGenerationError.log"},
		places:     []string{"yamls/namespaced/NS", "yamls/cluster", "bundleGenerationError.log"},
		Namespaces: []string{"default", "kube-system", "cattle-system"}, Flag: "its setting of namespaces",
	},
}

// toolOf returns the tool that wrote the file of this path, and the folder of the tool; nil if no tool is known by the
// place.
func toolOf(name string) (t *Tool, root string) {
	segments := strings.Split(name, "/")
	for start := range segments {
		for i := range tools {
			within := func(place string) bool { return isWithin(segments[start:], strings.Split(place, "/")) }
			if slices.ContainsFunc(tools[i].places, within) {
				return &tools[i], strings.Join(segments[:start], "/")
			}
		}
	}
	return nil, ""
}

// isWithin reports whether a path is at a place or below it.
func isWithin(segments, place []string) bool {
	if len(segments) < len(place) {
		return false
	}
	for i, pattern := range place {
		if pattern != "NS" && !matches(pattern, segments[i]) {
			return false
		}
	}
	return true
}

func matches(pattern, name string) bool {
	ok, err := path.Match(pattern, name)
	return ok && err == nil
}

// Files and folders that have no objects, whatever they contain: logs may print whole Pods.
var (
	noFiles   = []string{"logs.txt", "*.log", "*.log.[0-9]*", "previous*", "*.html", "._*", ".DS_Store"}
	noFolders = []string{"logs", "podlogs", "pod-logs", "__MACOSX"}
	endings   = []string{"", ".json", ".yaml", ".yml", ".txt", ".kyaml"}
	archives  = []string{".tar", ".tgz", ".tbz2", ".txz", ".tzst", ".zip"}
)

// compressed are the endings of compressed files.
var compressed = []string{".gz", ".bz2", ".xz", ".zst"}

// uncompressed returns a file's name without the ending of a compression.
func uncompressed(name string) string {
	if slices.Contains(compressed, path.Ext(name)) {
		return strings.TrimSuffix(name, path.Ext(name))
	}
	return name
}

// stem returns a file's name without its folder and its endings.
func stem(name string) string {
	file := uncompressed(path.Base(name))
	return strings.TrimSuffix(file, path.Ext(file))
}

// IsArchive reports whether a file is an archive by its name.
func IsArchive(name string) bool { return slices.Contains(archives, path.Ext(uncompressed(name))) }

// mayHaveObjects reports whether a file at this path is read.
func mayHaveObjects(name string) bool {
	folder, file := path.Split(name)
	file = uncompressed(file)
	for segment := range strings.SplitSeq(folder, "/") {
		if slices.Contains(noFolders, segment) {
			return false
		}
	}
	if IsArchive(file) {
		return !matches("._*", file)
	}
	excluded := func(pattern string) bool { return matches(pattern, file) }
	return !slices.ContainsFunc(noFiles, excluded) && slices.Contains(endings, path.Ext(file))
}
