package dump

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// object is an object or a list. Its members are decoded when its kind is known.
type object struct {
	APIVersion string         `json:"apiVersion"`
	Kind       string         `json:"kind"`
	Items      items          `json:"items"`
	Members    jsontext.Value `json:",embed"` // all others

	at     string // where it is: in a document of YAML, or near a byte of JSON
	listed bool   // it is in a list or an array
}

// items are the items of a list. They are passed on while the list is read.
type items struct {
	list *object
	by   *reader

	read    bool           // the items were an array
	some    bool           // there is an object among them
	waiting []*object      // for an apiVersion or a kind that comes after the items
	err     error          // of an item
	other   jsontext.Value // no array, or the member "items" of an object
}

// UnmarshalJSONFrom passes the items on.
func (i *items) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	if d.PeekKind() == '[' && i.list.mayBeList() {
		i.read, i.err = true, i.by.elements(i.list)
		return i.err
	}
	value, err := d.ReadValue()
	i.other = value.Clone()
	return err
}

// isList reports whether the kind is that of a list. In the groups of the kinds that are read, it may be misspelt.
func (o *object) isList() bool {
	return strings.HasSuffix(o.Kind, "List") || !o.foreign() && strings.HasSuffix(strings.ToLower(o.Kind), "list")
}

// mayBeList reports whether the object is a list, as far as it has been read.
func (o *object) mayBeList() bool { return o.Kind == "" || o.isList() }

// kindOfItems returns the kind of the items that do not have one: the API server's own lists have it once.
func (o *object) kindOfItems() string {
	if !o.isList() {
		return ""
	}
	return o.Kind[:len(o.Kind)-len("List")]
}

// inherit takes the apiVersion and the kind from the list, as far as the list has been read.
func (o *object) inherit(list *object) {
	o.APIVersion, o.Kind = cmp.Or(o.APIVersion, list.APIVersion), cmp.Or(o.Kind, list.kindOfItems())
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
	_ = json.Unmarshal(o.Members, &t, lenient, json.MatchCaseInsensitiveNames(true)) // what can't be read is empty
	return t
}

// leftOut counts the objects that follow on later pages of a list: "500 more pods were"; "" if there are none.
func (o *object) leftOut() string {
	list, more := o.tell().Metadata, "more "+strings.ToLower(cmp.Or(o.kindOfItems(), "object"))
	switch left := strings.Trim(string(list.RemainingItemCount), `"`); {
	case left == "1":
		return "1 " + more + " was"
	case left != "" && left != "0" && left != "null":
		return beginning(left, 80) + " " + more + "s were"
	case list.Continue != "":
		return more + "s were"
	}
	return ""
}

// name returns the object's namespace and name, as people write them.
func (o *object) name() string {
	of := o.tell().Metadata
	return strings.TrimPrefix(of.Namespace+"/"+of.Name, "/")
}

// unreadable returns why an object can't be read whose kind is. A dialect is named by the tool that writes it.
func (o *object) unreadable(err error) error {
	switch {
	case bytes.Contains(o.Members, []byte("$(time-offset-nanosecond ")):
		return errors.New("it is a snapshot of kwokctl, whose times are offsets to the moment of its export, which it " +
			"does not have; use kubectl instead")
	case nullText.Match(o.Members):
		return fmt.Errorf(`the %s %s %s has the string "null" for null, as Rancher's support-bundle-kit writes it; `+
			"use the whole bundle", o.Kind, o.name(), o.at)
	}
	return fmt.Errorf("invalid %s %s %s: %s", o.Kind, o.name(), o.at, err.Error()) // the text as a whole is fine
}

// beginning returns a text, or its first characters if it is longer than most bytes. A string of JSON keeps its quotes.
func beginning(text string, most int) string {
	if len(text) <= most {
		return text
	}
	short := strings.ToValidUTF8(text[:most], "") + "..."
	if text[0] == '"' {
		short += `"`
	}
	return short
}
