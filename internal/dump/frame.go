package dump

import (
	"cmp"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// frame has the fields of a list other than its items.
type frame struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Continue           jsontext.Value `json:"continue"`
		RemainingItemCount jsontext.Value `json:"remainingItemCount"`
	} `json:"metadata"`
}

func frameOf(text []byte) (f frame) {
	_ = json.Unmarshal(text, &f, lenient) // what is of another type is left out: the items have apiVersion and kind
	return f
}

// heading has the apiVersion and kind of the items that do not have them: the API server's own lists have them once.
type heading struct {
	apiVersion, kind string

	// open is set if the list may have them after the items; waiting are the items that lack them.
	open    bool
	waiting []*found
}

// heading returns the heading of the items, as far as the frame has been read.
func (f *frame) heading() *heading {
	h := &heading{apiVersion: f.APIVersion, open: f.APIVersion == "" || f.Kind == ""}
	if isList(f.APIVersion, f.Kind) {
		h.kind = f.Kind[:len(f.Kind)-len("List")]
	}
	return h
}

// under sets the apiVersion and kind of an item that does not have them.
func (o *object) under(h *heading) {
	o.APIVersion, o.Kind = cmp.Or(o.APIVersion, h.apiVersion), cmp.Or(o.Kind, h.kind)
}

// isList reports whether a kind is that of a list. In the groups of the kinds that are read, it may be misspelt.
func isList(apiVersion, kind string) bool {
	return strings.HasSuffix(kind, "List") || !foreign(apiVersion) && strings.HasSuffix(strings.ToLower(kind), "list")
}

// leftOut counts the objects that follow on later pages of a list: "500 more pods were"; "" if there are none.
func (f *frame) leftOut() string {
	thing := strings.ToLower(cmp.Or(f.heading().kind, "object"))
	switch left := strings.Trim(string(f.Metadata.RemainingItemCount), `"`); left {
	case "", "0", "null":
	case "1":
		return "1 more " + thing + " was"
	default:
		return shortened(jsontext.Value(left)) + " more " + thing + "s were"
	}
	switch string(f.Metadata.Continue) {
	case "", `""`, "null":
		return ""
	}
	return "more " + thing + "s were"
}
