package config

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/taint-manager/taint-manager/policy"
)

// What every configuration file begins with.
const (
	APIVersion = "taint-manager/v1alpha1"
	Kind       = "TaintManagerConfiguration"
)

// MaxFileSize is the size of the largest file, in bytes: as much as a ConfigMap holds.
const MaxFileSize = 1 << 20

// maxRefusals is how many refusals of one file are told.
const maxRefusals = 100

// File is what a configuration file says beside the settings.
type File struct {
	Policies []policy.Policy
	Guards   policy.Guards

	// Set are the flags of the settings that the file sets.
	Set map[string]bool

	// Ignore is eviction.method: Ignore.
	Ignore bool
}

// NotCarriedOut names what a valid file asks for and this version does not do.
func (f *File) NotCarriedOut() []string {
	var fields []string
	if len(f.Policies) > 0 {
		fields = append(fields, "policies")
	}
	if len(f.Guards.Rates) > 0 || len(f.Guards.Breakers) > 0 {
		fields = append(fields, "guards")
	}
	if f.Ignore {
		fields = append(fields, "eviction.method: Ignore")
	}
	return fields
}

// Decode reads a file of YAML or JSON. It writes each setting of the file to where the setting's Value points,
// but for those of kept flags. settings returns them, and their rules by what was written. Refusals are told
// in the order of their lines; with any, nothing of the answer counts.
func Decode(name string, data []byte, settings func() []Setting, kept func(flag string) bool) (*File, []Refusal) {
	root, refusal := parse(name, data)
	if refusal != nil {
		return nil, []Refusal{*refusal}
	}
	d := &decoder{name: name, file: &File{Set: map[string]bool{}}, nodes: map[string]*yaml.Node{}, kept: kept}
	for _, s := range settings() {
		d.fieldOf = append(d.fieldOf, "--"+s.Flag, s.Field)
	}
	d.value(root, fileShape(settings()), "")
	d.policies(root)
	d.rules(settings())
	return d.file, d.told()
}

// parse refuses what is no document that can be looked at.
func parse(name string, data []byte) (*yaml.Node, *Refusal) {
	whole := func(line int, allowed, next string) *Refusal {
		return &Refusal{File: name, Line: line, Allowed: allowed, Next: next}
	}
	switch {
	case len(data) > MaxFileSize:
		return nil, whole(0, fmt.Sprintf("it takes %d bytes at most, as a ConfigMap does", MaxFileSize), "leave out what does not belong there")
	case !utf8.Valid(data):
		return nil, whole(0, "it takes text in UTF-8", "save it as UTF-8")
	case len(strings.TrimSpace(string(data))) == 0:
		return nil, whole(0, "it is empty", "'taint-manager config defaults' prints a file to begin with")
	case data[0] == '{': // JSON may have tabs between its values, and has none within
		data = []byte(strings.ReplaceAll(string(data), "\t", " "))
	}
	documents := yaml.NewDecoder(strings.NewReader(string(data)))
	var document, second yaml.Node
	if err := documents.Decode(&document); err != nil {
		line, reason := readYAMLError(err)
		return nil, whole(line, "it is no YAML or JSON ("+reason+")", "'taint-manager config defaults' prints a file that is")
	}
	if documents.Decode(&second) == nil {
		return nil, whole(second.Line, "it takes one document", "leave out what follows ---")
	}
	if len(document.Content) != 1 {
		return nil, whole(0, "it is empty", "'taint-manager config defaults' prints a file to begin with")
	}
	return document.Content[0], nil
}

var yamlLine = regexp.MustCompile(`^line ([0-9]+): (.*)`)

// readYAMLError finds the line in an error of the library.
func readYAMLError(err error) (line int, reason string) {
	reason = strings.TrimPrefix(err.Error(), "yaml: ")
	if found := yamlLine.FindStringSubmatch(reason); found != nil {
		line, _ = strconv.Atoi(found[1])
		reason = found[2]
	}
	return line, shortened(reason)
}

// decoder walks one file.
type decoder struct {
	name     string
	file     *File
	nodes    map[string]*yaml.Node // by path
	refusals []Refusal
	kept     func(flag string) bool
	fieldOf  []string // flag, field, flag, field, ...: messages of settings name fields here
}

func (d *decoder) refuse(n *yaml.Node, path, allowed, next string) {
	d.refuseField(n.Line, path, shown(n), allowed, next)
}

// refuseField refuses what has no value to show: value is empty then.
func (d *decoder) refuseField(line int, path, value, allowed, next string) {
	if path == "" {
		value = "" // of the whole file
	}
	d.refusals = append(d.refusals, Refusal{File: d.name, Line: line, Field: path, Value: value, Allowed: allowed, Next: next})
}

// told returns the refusals in the order of their lines, and not more than somebody reads.
func (d *decoder) told() []Refusal {
	slices.SortStableFunc(d.refusals, func(a, b Refusal) int { return a.Line - b.Line })
	if more := len(d.refusals) - maxRefusals; more > 0 {
		d.refusals = append(d.refusals[:maxRefusals], Refusal{File: d.name, Allowed: fmt.Sprintf("there are %d more refusals", more), Next: "mend these first"})
	}
	return d.refusals
}

// at finds the value at a path, or the nearest one round it.
func (d *decoder) at(path string) *yaml.Node {
	for {
		if n := d.nodes[path]; n != nil || path == "" {
			return n
		}
		path = path[:max(strings.LastIndexAny(path, ".["), 0)]
	}
}

// policies decodes policies and guards, once their shape is right.
func (d *decoder) policies(root *yaml.Node) {
	if len(d.refusals) > 0 || d.nodes["policies"] == nil && d.nodes["guards"] == nil {
		return
	}
	var said struct {
		Policies []policy.Policy `json:"policies"`
		Guards   policy.Guards   `json:"guards"`
	}
	if err := decodeInto(root, &said); err != nil {
		d.refuse(root, "policies", "it can't be read ("+shortened(err.Error())+")", "'taint-manager config schema' says what it takes")
		return
	}
	d.file.Policies, d.file.Guards = said.Policies, said.Guards
	for _, p := range policy.Validate(said.Policies, said.Guards) {
		d.refuse(d.at(p.Path), p.Path, p.Allowed, p.Next)
	}
}

// decodeInto decodes by JSON, which the types of Kubernetes know. There are no aliases left.
func decodeInto(n *yaml.Node, into any) error {
	var plain any
	if err := n.Decode(&plain); err != nil {
		return fmt.Errorf("reading it: %w", err)
	}
	data, err := json.Marshal(plain)
	if err != nil {
		return fmt.Errorf("writing it as JSON: %w", err)
	}
	return json.Unmarshal(data, into)
}

// rules refuses the settings by their rules, which may be about several of them.
func (d *decoder) rules(settings []Setting) {
	if len(d.refusals) > 0 {
		return
	}
	words := strings.NewReplacer(d.fieldOf...)
	for _, s := range settings {
		if s.refused {
			d.refuse(d.at(s.Field), s.Field, "it takes "+words.Replace(s.takes), words.Replace(s.next))
		}
	}
}

// shown is a value in a few words.
func shown(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "{...}"
	case yaml.SequenceNode:
		return "[...]"
	case yaml.AliasNode:
		return "*" + visible(shortened(n.Value))
	}
	return visible(shortened(n.Value))
}

// shortened cuts what nobody would read to its end.
func shortened(s string) string {
	const most = 100
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "..."
}
