package dump

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/taint-manager/taint-manager/internal/spelling"
	"github.com/taint-manager/taint-manager/internal/truncate"
)

// noEvidence has what is often kept of a cluster and has no objects that can be read, by how it begins: a byte that is
// not UTF-8 counts as U+FFFD. What is beside objects in a folder is skipped there.
var noEvidence = []struct {
	begins *regexp.Regexp
	beside bool
	what   string // %s is the first line
}{
	{
		regexp.MustCompile(`^\x{FFFD}{2}.?\x00`), false,
		"it is in UTF-16 (in PowerShell, use '| Out-File -Encoding utf8 FILE' instead of >)",
	},
	{regexp.MustCompile(`^$`), false, "it is empty"},
	{regexp.MustCompile(`^<`), false, "it is HTML: a login page or a proxy answered instead of the API server"},
	{regexp.MustCompile(`^7z\x{FFFD}{2}'\x1c`), false, "it is a 7z archive (only tar and zip archives are supported)"},
	{regexp.MustCompile(`^.{16}\x{FFFD}{2}\f`), false, "it is a snapshot of etcd, which cannot be parsed"},
	{regexp.MustCompile(`^(# HELP |# TYPE |kube_)`), false, "it contains metrics, which lack tolerations"},
	{
		regexp.MustCompile(`^(Error from server|error: |No resources found|Unable to connect|The connection to the server)`),
		false, "it is a kubectl message: %s",
	},
	{regexp.MustCompile(`^Name:  `), true, "it is the output of kubectl describe, which cannot be parsed"},
	{
		regexp.MustCompile(`^\{"kind":"Event","apiVersion":"audit\.k8s\.io/`), true,
		"it is an audit log, which lacks most objects",
	},
	{regexp.MustCompile(`^[^a-z:{\["#]*   [^a-z:{\["#]*$`), true, "it is a human-readable table, which lacks most fields"},
}

// mistakenFor returns what a text with this first line is, if it is no dump, and whether it is beside objects in a
// folder; "" if it may be a dump.
func mistakenFor(line string) (what string, beside bool) {
	for _, f := range noEvidence {
		if f.begins.MatchString(line) {
			return strings.Replace(f.what, "%s", truncate.Text(strings.TrimSuffix(line, ".")), 1), f.beside
		}
	}
	return "", false
}

// told is what messages say of an object or a list.
type told struct {
	Message      string
	Type, Object jsontext.Value // of a watch event
	Metadata     struct {
		Namespace, Name, Continue string
		RemainingItemCount        jsontext.Value
	}
}

// tell returns what can be read of it.
func (o *object) tell() (t told) {
	_ = json.Unmarshal(o.members, &t, lenient, json.MatchCaseInsensitiveNames(true)) // what can't be read is empty
	return t
}

// leftOut counts the objects that follow on later pages of a list: "500 more pods were"; "" if there are none.
func (o *object) leftOut() string {
	list, more := o.tell().Metadata, "more "+strings.ToLower(cmp.Or(o.kindOfItems(), "object"))
	switch left := strings.Trim(string(list.RemainingItemCount), `"`); {
	case left == "1":
		return "1 " + more + " was"
	case left != "" && left != "0" && left != "null":
		return truncate.Text(left) + " " + more + "s were"
	case list.Continue != "":
		return more + "s were"
	}
	return ""
}

const watchEvents = "it is a stream of watch events, which has several states of an object (run kubectl without " +
	"--output-watch-events)"

// refused returns why an object that is not read must not be skipped either; "" if it may be skipped.
func (o *object) refused() string {
	switch {
	case o.kind == "":
		if told := o.tell(); told.Type.Kind() == '"' && told.Object.Kind() == '{' {
			return watchEvents
		}
		return "has no kind"
	case strings.HasPrefix(o.apiVersion, metav1.GroupName+"/"): // a Table or PartialObjectMetadata
		return "is a " + strings.TrimSuffix(o.kind, "List") + ", which lacks most fields"
	case o.foreign():
		return ""
	case o.kind == "Status":
		return strings.TrimRight("is the Status of a failed request: "+o.tell().Message, ": .")
	case o.isList():
		return "is a " + o.kind + ` without "items"`
	}
	for _, w := range wanted {
		if spelling.Near(strings.TrimRight(o.kind, "s"), w.kind) {
			const what = "has apiVersion %q and kind %q (did you mean apiVersion: %s, kind: %s?)"
			return fmt.Sprintf(what, o.apiVersion, o.kind, w.apiVersion, w.kind)
		}
	}
	return ""
}

// unreadable returns why an object can't be read whose kind is. A dialect is named by the tool that writes it.
func (o *object) unreadable(err error) error {
	if bytes.Contains(o.members, []byte("$(time-offset-nanosecond ")) {
		return errors.New("it is a snapshot of kwokctl, whose times are offsets to the moment of its export, which it " +
			"does not have; use kubectl instead")
	}
	of := o.tell().Metadata
	const what = "invalid %s %s %s: %s" // the text as a whole is fine
	return fmt.Errorf(what, o.kind, key(of.Namespace, of.Name), o.at, err.Error())
}

// key returns a namespace and a name, as people write them.
func key(namespace, name string) string { return strings.TrimPrefix(namespace+"/"+name, "/") }
