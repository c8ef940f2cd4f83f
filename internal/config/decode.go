package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/taint-manager/taint-manager/policy"
)

// The fields with which every configuration file begins.
const (
	APIVersion = "taint-manager/v1alpha1"
	Kind       = "TaintManagerConfiguration"
)

// MaxFileSize is the maximum size of a file, in bytes: that of a ConfigMap.
const MaxFileSize = 1 << 20

// maxRefusals is the maximum number of refusals that are reported for one file.
const maxRefusals = 100

// File is the content of a configuration file other than the settings.
type File struct {
	Policies []policy.Policy `json:"policies,omitempty"`
	Guards   policy.Guards   `json:"guards,omitzero"`

	// Set has the lines of the settings in the file, by their flags.
	Set map[string]int `json:"-"`

	name   string
	fields map[string]string // by flag
	words  *strings.Replacer // replaces flags by fields
}

// Refusal converts the refusal of a flag to a refusal of this file's field.
func (f *File) Refusal(r Refusal) Refusal {
	return Refusal{
		File: f.name, Line: f.Set[r.Flag], Field: f.fields[r.Flag], Value: visible(r.Value),
		Allowed: f.words.Replace(r.Allowed), Next: f.words.Replace(r.Next),
	}
}

// Decode parses a file of YAML or JSON. It writes each setting of the file to the setting's Value, except those whose
// flags are given. settings returns the settings, with rules that depend on the values written so far. Refusals are
// sorted by line; if there are any, the other results must not be used.
func Decode(name string, data []byte, settings func() []Setting, given func(flag string) bool) (*File, []Refusal) {
	root, refusal := parse(name, data)
	if refusal != nil {
		return nil, []Refusal{*refusal}
	}
	d := &decoder{name: name, file: newFile(name, settings()), nodes: map[string]*yaml.Node{}, given: given}
	value := d.value(root, fileShape(settings()), "")
	if misshapen := slices.Clone(d.refusals); d.excess == 0 { // otherwise there is enough to fix
		d.policies(value, misshapen)
		d.rules(settings(), misshapen)
	}
	return d.file, d.sorted()
}

func newFile(name string, settings []Setting) *File {
	f := &File{Set: map[string]int{}, name: name, fields: map[string]string{}, words: fieldWords(settings)}
	for _, s := range settings {
		f.fields[s.Flag] = s.Field
	}
	return f
}

// fieldWords returns a replacer that turns the flags in a setting's texts into fields.
func fieldWords(settings []Setting) *strings.Replacer {
	longestFirst := slices.Clone(settings) // one flag may be the prefix of another
	slices.SortFunc(longestFirst, func(a, b Setting) int { return len(b.Flag) - len(a.Flag) })
	var pairs []string
	for _, s := range longestFirst {
		pairs = append(pairs, "--"+s.Flag, s.Field)
	}
	return strings.NewReplacer(pairs...)
}

// parse refuses data that are not a single readable document.
func parse(name string, data []byte) (*yaml.Node, *Refusal) {
	whole := func(line int, allowed, next string) *Refusal {
		return &Refusal{File: name, Line: line, Allowed: allowed, Next: next}
	}
	switch {
	case len(data) > MaxFileSize:
		return nil, whole(0, fmt.Sprintf("it takes %d bytes at most, as a ConfigMap does", MaxFileSize),
			"leave out what does not belong there")
	case !utf8.Valid(data):
		return nil, whole(0, "it takes text in UTF-8", "save it as UTF-8")
	case len(strings.TrimSpace(string(data))) == 0:
		return nil, whole(0, "it is empty", "'taint-manager config defaults' prints a file to begin with")
	case data[0] == '{': // JSON may have tabs between its values, and has none within them
		data = []byte(strings.ReplaceAll(string(data), "\t", " "))
	}
	documents := yaml.NewDecoder(strings.NewReader(string(data)))
	var document, second yaml.Node
	switch err := documents.Decode(&document); {
	case errors.Is(err, io.EOF): // there are only comments
		return nil, whole(0, "it is empty", "'taint-manager config defaults' prints a file to begin with")
	case err != nil:
		line, reason := readYAMLError(err)
		return nil, whole(line, "it is not YAML or JSON ("+reason+")",
			"'taint-manager config defaults' prints a file that is")
	}
	if documents.Decode(&second) == nil {
		return nil, whole(second.Line, "it takes one document", "leave out what follows ---")
	}
	return document.Content[0], nil
}

var yamlLine = regexp.MustCompile(`^line ([0-9]+): (.*)`)

// readYAMLError returns the line in an error of the YAML library.
func readYAMLError(err error) (line int, reason string) {
	reason = strings.TrimPrefix(err.Error(), "yaml: ")
	if found := yamlLine.FindStringSubmatch(reason); found != nil {
		line, _ = strconv.Atoi(found[1])
		reason = found[2]
	}
	return line, shortened(reason)
}

// decoder decodes one file.
type decoder struct {
	name     string
	file     *File
	nodes    map[string]*yaml.Node // by path
	refusals []Refusal
	excess   int // refusals beyond maxRefusals
	given    func(flag string) bool
}

// refuse refuses the value at a path, or its absence.
func (d *decoder) refuse(path, allowed, next string) {
	if n := d.nodes[path]; n != nil {
		d.refuseField(n.Line, path, shown(n), allowed, next)
		return
	}
	d.refuseField(d.around(path).Line, path, "", allowed, next)
}

// refuseField refuses a field; value is empty if there is none to show.
func (d *decoder) refuseField(line int, path, value, allowed, next string) {
	if len(d.refusals) == maxRefusals {
		d.excess++
		return
	}
	if path == "" {
		value = "" // it would be the whole file
	}
	d.refusals = append(d.refusals, Refusal{
		File: d.name, Line: line, Field: path, Value: value,
		Allowed: d.file.words.Replace(allowed), Next: d.file.words.Replace(next),
	})
}

// sorted returns the refusals sorted by line, up to maxRefusals.
func (d *decoder) sorted() []Refusal {
	slices.SortStableFunc(d.refusals, func(a, b Refusal) int { return a.Line - b.Line })
	if d.excess > 0 {
		d.refusals = append(d.refusals, Refusal{
			File: d.name, Allowed: fmt.Sprintf("there are %d more refusals", d.excess), Next: "mend these first",
		})
	}
	return d.refusals
}

// around returns the innermost value that contains a path.
func (d *decoder) around(path string) *yaml.Node {
	for path != "" {
		path = parent(path)
		if n := d.nodes[path]; n != nil {
			return n
		}
	}
	return &yaml.Node{}
}

func parent(path string) string { return path[:max(strings.LastIndexAny(path, ".["), 0)] }

// policies reads policies and guards, without their refused parts, and validates them.
func (d *decoder) policies(value any, misshapen []Refusal) {
	data, err := json.Marshal(value)
	if err == nil {
		err = json.Unmarshal(data, d.file)
	}
	if err != nil {
		d.refuse("policies", "it can't be read ("+shortened(err.Error())+")",
			"'taint-manager config schema' says what it takes")
		return
	}
	for _, p := range policy.Validate(d.file.Policies, d.file.Guards) {
		if !d.follows(p.Path, false, misshapen) {
			d.refuse(p.Path, p.Allowed, p.Next)
		}
	}
}

// rules checks the settings against their rules, which may depend on several of them.
func (d *decoder) rules(settings []Setting, misshapen []Refusal) {
	for _, s := range settings {
		if s.refused && !d.follows(s.Field, s.compares, misshapen) {
			d.refuse(s.Field, "it takes "+s.takes, s.next)
		}
	}
}

// follows reports whether the refusal of a path may only follow from a misshapen part in the path, or around it. A
// misshapen part beside the path counts if the path has no value, as its name may be misspelt, or if its value is
// compared with the values beside it.
func (d *decoder) follows(path string, compared bool, misshapen []Refusal) bool {
	beside := parent(path) != "" && (compared || d.nodes[path] == nil)
	return slices.ContainsFunc(misshapen, func(r Refusal) bool {
		return within(r.Field, path) || within(path, r.Field) || beside && parent(r.Field) == parent(path)
	})
}

func within(inner, outer string) bool {
	rest, ok := strings.CutPrefix(inner, outer)
	return ok && outer != "" && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// shown returns a value in a few words.
func shown(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "{...}"
	case yaml.SequenceNode:
		return "[...]"
	case yaml.AliasNode:
		return "*" + visible(shortened(n.Value))
	}
	if n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0 {
		return strconv.Quote(shortened(n.Value))
	}
	return visible(shortened(n.Value))
}

// shortened truncates a long text.
func shortened(s string) string {
	const most = 100
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "..."
}
