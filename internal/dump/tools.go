package dump

import (
	"path"
	"regexp"
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

	// namespace is where the tool writes something for each namespace that it has read, and namespaces where it lists
	// all; empty if there is no such place.
	namespace, namespaces string

	depth int // of the files with objects in the tool's folder, at most; logs are deeper

	errors   []string       // names of the files in which the tool writes which requests failed
	failures *regexp.Regexp // finds the failures in them, each with its resource, namespace and message
	nulls    bool           // writes the string "null" instead of null and ""
}

// clusterInfo writes into folders that are not named after it: it is recognized by nodes.json next to NS/pods.json.
var clusterInfo = Tool{
	Name: "kubectl cluster-info dump", Lacks: "PodDisruptionBudgets, ConfigMaps or Leases",
	Namespaces: []string{"default", "kube-system"}, Flag: "--all-namespaces",
}

// tools are those whose folders have names of their own.
var tools = []Tool{
	{
		Name: "oc adm inspect", places: []string{"cluster-scoped-resources", "namespaces/NS"},
		namespace: "namespaces/NS/core/pods*", namespaces: "cluster-scoped-resources/core/namespaces", depth: 5,
	},
	{
		Name: "troubleshoot", places: []string{"cluster-resources"},
		namespace: "cluster-resources/pods/NS", namespaces: "cluster-resources/namespaces.json", depth: 3,
		errors: []string{
			"nodes-errors.json", "namespaces-errors.json", "pods-errors.json", "pod-disruption-budgets-errors.json",
			"events-errors.json",
		},
		failures: regexp.MustCompile(`(?P<resource>)(?P<message>(?:"(?P<namespace>[^"]*)": *)?"(?:[^"\\]|\\.)+")`),
	},
	{
		Name: "velero", LeavesOut: "pods that are being deleted", depth: 6,
		places: []string{
			"resources/*/namespaces/NS", "resources/*/cluster",
			"resources/*/*-preferredversion/namespaces/NS", "resources/*/*-preferredversion/cluster",
		},
	},
	{
		Name: "sonobuoy", places: []string{"resources/ns/NS", "resources/cluster", "meta/query-time.json"},
		namespace: "resources/ns/NS", namespaces: "resources/cluster/core_v1_namespaces.json", depth: 4,
		errors: []string{"query-time.json"},
		failures: regexp.MustCompile(`\{\s*(?:"queryobj": *"(?P<resource>[^"]*)",[^{}]*?)?` +
			`(?:"namespace": *"(?P<namespace>[^"]*)",[^{}]*?)?(?P<message>"error": *(?:"(?:[^"\\]|\\.)+"|\{[^{}]*[{}]))`),
	},
	{
		Name: "Rancher's support-bundle-kit", nulls: true,
		places:     []string{"yamls/namespaced/NS", "yamls/cluster", "bundleGenerationError.log"},
		Namespaces: []string{"default", "kube-system", "cattle-system"}, Flag: "its setting of namespaces",
		namespace: "yamls/namespaced/NS", namespaces: "yamls/cluster/v1/namespaces.yaml", depth: 6,
		errors:   []string{"bundleGenerationError.log"},
		failures: regexp.MustCompile(`(?s)(?P<resource>)(?P<namespace>)(?P<message>\S.*)`),
	},
}

// toolOf returns the tool that wrote the file of this path, the folder of the tool, and the path within it; nil if no
// tool is known by the place.
func toolOf(name string) (t *Tool, root string, below []string) {
	segments := strings.Split(name, "/")
	for start := range segments {
		for i := range tools {
			for _, place := range tools[i].places {
				if _, ok := within(segments[start:], place); ok {
					return &tools[i], strings.Join(segments[:start], "/"), segments[start:]
				}
			}
		}
	}
	return nil, "", nil
}

// within reports whether a path is at a place or below it, and the namespace in it.
func within(segments []string, place string) (namespace string, ok bool) {
	for i, pattern := range strings.Split(place, "/") {
		if i == len(segments) {
			return "", false
		}
		if pattern == "NS" {
			namespace, pattern = stem(segments[i]), "*"
		}
		if ok, err := path.Match(pattern, segments[i]); !ok || err != nil {
			return "", false
		}
	}
	return namespace, true
}

// writesErrors reports whether the tool writes into this file which requests failed.
func (t *Tool) writesErrors(name string) bool { return slices.Contains(t.errors, path.Base(name)) }

var (
	objects    = []string{".json", ".yaml", ".yml"}
	texts      = []string{"", ".txt", ".kyaml"} // of kubectl, which names them after what they have
	archives   = []string{".tar", ".tgz", ".tbz2", ".txz", ".tzst", ".zip"}
	compressed = []string{".gz", ".bz2", ".xz", ".zst"}
)

// Names of what an operating system adds to archives, and of logs without an ending. Logs may print whole Pods.
var (
	added = regexp.MustCompile(`(^|/)(__macosx/|\._)`)
	logs  = regexp.MustCompile(`(^|[/._-])(pod|container)?(logs?|previous)(/|$|[._-][^/]*/)`)
)

// uncompressed returns a file's name in lower case and without the ending of a compression.
func uncompressed(name string) string {
	name = strings.ToLower(name)
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

// wantedNames are the names of files that have nothing but objects that answers need.
var wantedNames = map[string]bool{
	"nodes": true, "pods": true, "events": true, "namespaces": true, "poddisruptionbudgets": true,
}

// isWanted reports whether a name is that of such a file, which may begin with group and version: "core_v1_pods".
func isWanted(name string) bool { return wantedNames[name[strings.LastIndexByte(name, '_')+1:]] }

// isRead reports whether a file at this path is read: it may have objects, or the errors of a tool. Logs are deeper in
// the folder of a tool than its objects; elsewhere, their names tell them.
func isRead(name string) bool {
	file := uncompressed(name)
	ending := path.Ext(file)
	fits := slices.Contains(objects, ending) || slices.Contains(archives, ending)
	switch tool, _, below := toolOf(name); {
	case added.MatchString(file):
		return false
	case tool != nil:
		return tool.writesErrors(name) || fits && len(below) <= tool.depth
	case wantedNames[stem(file)]:
		return fits || slices.Contains(texts, ending)
	}
	return fits && !logs.MatchString(strings.TrimSuffix(file, ending))
}
