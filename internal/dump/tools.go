package dump

import (
	"regexp"
	"strings"
)

// Tool is a tool that writes a cluster's objects into a folder.
type Tool struct {
	Name       string
	Lacks      string   // kinds that the tool never writes; empty if there are none that matter
	LeavesOut  string   // pods that the tool does not write; empty if it writes all
	Namespaces []string // the only ones of whose pods it writes without further flags; nil if it writes all
	Flag       string   // that asks for all

	place *regexp.Regexp // where the tool writes, below a folder of its own; what is below a place is the tool's, too
	depth int            // of the files with objects in the tool's folder, at most; logs are deeper
	nulls bool           // writes the string "null" instead of null and ""

	// namespaces finds where the tool writes something for each namespace that it has read, with that namespace as a
	// group, and where it lists all namespaces; nil if there is no such place.
	namespaces *regexp.Regexp

	errors   *regexp.Regexp // the files in which the tool writes which requests failed; nil if there are none
	failures *regexp.Regexp // finds the failures in them, each with its resource, namespace and message
}

// clusterInfo writes into folders that are not named after it: it is recognized by nodes.json next to NS/pods.json.
var clusterInfo = Tool{
	Name: "kubectl cluster-info dump", Lacks: "PodDisruptionBudgets, ConfigMaps or Leases",
	Namespaces: []string{"default", "kube-system"}, Flag: "--all-namespaces",
}

// tools are those whose folders have names of their own.
var tools = []Tool{
	{
		Name: "oc adm inspect", depth: 5,
		place:      regexp.MustCompile(`/(cluster-scoped-resources|namespaces/[^/]+)(/|$)`),
		namespaces: regexp.MustCompile(`^namespaces/([^/]+)/core/pods\.`),
	},
	{
		Name: "troubleshoot", depth: 3,
		place:      regexp.MustCompile(`/cluster-resources(/|$)`),
		namespaces: regexp.MustCompile(`^cluster-resources/(?:pods/([^/.]+)|namespaces\.json)`),
		errors:     regexp.MustCompile(`/(nodes|namespaces|pods|pod-disruption-budgets|events)-errors\.json$`),
		failures:   regexp.MustCompile(`(?P<resource>)(?P<message>(?:"(?P<namespace>[^"]*)": *)?"(?:[^"\\]|\\.)+")`),
	},
	{
		Name: "velero", LeavesOut: "pods that are being deleted", depth: 6,
		place: regexp.MustCompile(`/resources/[^/]+/([^/]*-preferredversion/)?(namespaces/[^/]+|cluster)(/|$)`),
	},
	{
		Name: "sonobuoy", depth: 4,
		place:      regexp.MustCompile(`/(resources/ns/[^/]+|resources/cluster|meta/query-time\.json)(/|$)`),
		namespaces: regexp.MustCompile(`^resources/(?:ns/([^/]+)|cluster/core_v1_namespaces\.json)`),
		errors:     regexp.MustCompile(`/query-time\.json$`),
		failures: regexp.MustCompile(`\{\s*(?:"queryobj": *"(?P<resource>[^"]*)",[^{}]*?)?` +
			`(?:"namespace": *"(?P<namespace>[^"]*)",[^{}]*?)?(?P<message>"error": *(?:"(?:[^"\\]|\\.)+"|\{[^{}]*[{}]))`),
	},
	{
		Name: "Rancher's support-bundle-kit", depth: 6, nulls: true,
		Namespaces: []string{"default", "kube-system", "cattle-system"}, Flag: "its setting of namespaces",
		place:      regexp.MustCompile(`/(yamls/namespaced/[^/]+|yamls/cluster|bundleGenerationError\.log)(/|$)`),
		namespaces: regexp.MustCompile(`^yamls/(?:namespaced/([^/]+)|cluster/v1/namespaces\.yaml)`),
		errors:     regexp.MustCompile(`^bundleGenerationError\.log$`),
		failures:   regexp.MustCompile(`(?s)(?P<resource>)(?P<namespace>)(?P<message>\S.*)`),
	},
}

// toolOf returns the tool that wrote the file of this path, the folder of the tool, and the path within it; nil if no
// tool is known by the place.
func toolOf(name string) (t *Tool, root, below string) {
	for i := range tools {
		if at := tools[i].place.FindStringIndex("/" + name); at != nil && (t == nil || at[0] < len(root)) {
			t, root, below = &tools[i], name[:at[0]], name[at[0]:]
		}
	}
	return t, root, below
}

// compressed ends the name of a file that may be compressed.
const compressed = `(\.(gz|bz2|xz|zst))?$`

const resources = `(nodes|pods|events|namespaces|poddisruptionbudgets)`

// Names of files. Those of nothing but objects that answers need, and their resources, are wanted: kubectl names texts
// so. Others, such as pods/shop.json, promise some. Systems add some to archives, and logs may print whole Pods.
var (
	archives    = regexp.MustCompile(`(?i)\.(tar|tgz|tbz2|txz|tzst|zip)` + compressed)
	objects     = regexp.MustCompile(`(?i)\.(json|k?ya?ml|tar|tgz|tbz2|txz|tzst|zip)` + compressed)
	wantedNames = regexp.MustCompile(`(?i)(^|[/_])` + resources + `(\.(json|k?ya?ml|txt))?` + compressed)
	promises    = regexp.MustCompile(`(?i)(\b|_)(` + resources + `([._-][^/]*)?$|(nodes|pods|events|[a-z-]+budgets)/)`)
	added       = regexp.MustCompile(`(?i)(^|/)(__macosx/|\._)`)
	logs        = regexp.MustCompile(`(?i)(^|[/._-])(pod|container)?(logs?|previous)` +
		`(/|[._-][^/]*/|(\.\w+)?` + compressed + `)`)
)

// IsArchive reports whether a file is an archive by its name.
func IsArchive(name string) bool { return archives.MatchString(name) }

// isRead reports whether a file at this place is read: it may have objects, or the errors of a tool. Logs are deeper in
// the folder of a tool than its objects; elsewhere, their names tell them.
func (p place) isRead() bool {
	fits := objects.MatchString(p.path)
	switch {
	case added.MatchString(p.path):
		return false
	case p.tool != nil:
		return p.hasErrors() || fits && strings.Count(p.below, "/") < p.tool.depth
	}
	return wantedNames.MatchString(p.path) || fits && !logs.MatchString(p.path)
}

// hasErrors reports whether a tool writes into this file which requests failed.
func (p place) hasErrors() bool {
	return p.tool != nil && p.tool.errors != nil && p.tool.errors.MatchString(p.below)
}
