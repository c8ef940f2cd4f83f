// Package dump reads dumps: cluster objects in files written by kubectl and other tools.
//
// A [Tree] reads folders, archives and files ([Tree.Folder], [Tree.File]), and calls a [Visit] with each object. What
// one tool wrote into one folder is a [Collection]. In folders and archives, non-objects are skipped, possible gaps and
// exceeded limits are recorded as [Hole]s, and log files are not read. Nothing is written to disk; depth, number and
// size of what is read are limited.
//
// A file is JSON or YAML: lists, arrays and single objects, lists within lists, and several documents in sequence. One
// object is in memory at a time, except items without a kind, which are buffered until their list's kind is read. The
// objects are Kubernetes' own types, without long fields that are never needed, such as containers. Other kinds are
// skipped.
//
// A single file is rejected if objects may be silently missing: if it is truncated or malformed, one page of a longer
// list, a list without "items", the answer to a failed request, objects with metadata only, or an object whose kind
// does not exist, such as "kind: pod" or "kind: Podd". The error names the place: the line of YAML, the byte of JSON.
// In YAML of single objects, a truncation between two lines looks like the end.
package dump

import (
	"strings"
	"time"
)

// Visit is called with each object in the order of the dump, as a *v1.Node, *v1.Pod, *policyv1.PodDisruptionBudget,
// *v1.Event, *v1.ConfigMap, *v1.Namespace, *coordinationv1.Lease, *resourcev1.ResourceClaim, *resourcev1.ResourceSlice
// or *resourcev1.DeviceTaintRule. Objects of other kinds are skipped.
//
// times are the timestamps in the object: of its creation, heartbeats, conditions, taints and events. The dump is as
// new as the latest of all times, or a little newer.
type Visit func(object any, times []time.Time)

// markUTF8 is the byte order mark with which some programs begin a text.
const markUTF8 = "\xef\xbb\xbf"

// noEvidence has what is often kept of a cluster and has no objects that can be read, by how it begins.
var noEvidence = []struct{ begin, what string }{
	{"\xff\xfe", utf16}, {"\xfe\xff", utf16},
	{"<", "it is HTML: a login page or a proxy answered instead of the API server"},
	{"7z\xbc\xaf\x27\x1c", "it is a 7z archive (only tar and zip archives are supported)"},
	{"# HELP ", metrics}, {"# TYPE ", metrics}, {"kube_", metrics},
	{"Name:  ", described},
	{`{"kind":"Event","apiVersion":"audit.k8s.io/`, audit},
	{"Error from server", ofKubectl}, {"error: ", ofKubectl}, {"No resources found", ofKubectl},
	{"Unable to connect", ofKubectl}, {"The connection to the server", ofKubectl},
}

const (
	utf16     = "it is in UTF-16 (in PowerShell, use '| Out-File -Encoding utf8 FILE' instead of >)"
	metrics   = "it contains metrics, which lack tolerations"
	ofKubectl = "it is a kubectl message: "
	audit     = "it is an audit log, which lacks most objects"
	described = "it is the output of kubectl describe, which cannot be parsed"
	table     = "it is a human-readable table, which lacks most fields"
)

// mistakenFor returns what a text with this first line is, if it is no dump; "" if it may be one.
func mistakenFor(line string) string {
	for _, f := range noEvidence {
		switch is := strings.HasPrefix(line, f.begin); {
		case is && f.what == ofKubectl:
			return ofKubectl + beginning(strings.TrimSuffix(line, "."), 300)
		case is:
			return f.what
		}
	}
	const at, bolt = 16, "\xed\xda\x0c\xed"
	switch {
	case len(line) > at && strings.HasPrefix(line[at:], bolt):
		return "it is a snapshot of etcd, which cannot be parsed"
	case strings.ToUpper(line) == line && strings.Contains(line, "   ") && !strings.ContainsAny(line, ":{[\"#"):
		return table
	}
	return ""
}

// isJSON reports whether a text with this first line is JSON: in YAML of one line, names have no quotes.
func isJSON(line string) bool {
	inner := strings.TrimSpace(line[1:])
	return line[0] == '[' || line[0] == '{' && (inner == "" || strings.ContainsRune("\"}\\", rune(inner[0])) ||
		!strings.Contains(inner, ": "))
}
