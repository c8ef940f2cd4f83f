package answer

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"sigs.k8s.io/yaml"

	"github.com/taint-manager/taint-manager/cli/flags"
	"github.com/taint-manager/taint-manager/cli/terminal"
	"github.com/taint-manager/taint-manager/internal/foresight"
)

// The forms of an answer.
const (
	AsTable   = "table"
	AsWide    = "wide"
	AsSummary = "summary"
	AsJSON    = "json"
	AsYAML    = "yaml"
	AsName    = "name"
	asPath    = "jsonpath=" // followed by the template
)

// Answer is a finished answer of package foresight.
type Answer interface {
	Said() *foresight.Remarks
	CannotSay() error // an error if the answer is incomplete

	// Names returns the namespaces and names of the pods that are to be evicted, because of the change if there is one.
	Names() []string

	// Evictions returns the number of all pods that are to be evicted.
	Evictions() int
}

// Output has the values of the flags for the form of an answer, and for the exit code.
type Output struct {
	Form string
	Exit ExitCode

	noHeaders bool
	forms     []string // of the command, in the order of help and completion
}

// Bind adds --output. more are the command's forms in addition to table, wide, json, yaml, name and jsonpath.
func (o *Output) Bind(fs *pflag.FlagSet, more ...string) {
	o.Form, o.forms = AsTable, slices.Concat([]string{AsTable, AsWide}, more, []string{AsJSON, AsYAML, AsName, asPath})
	fs.StringVarP(&o.Form, "output", "o", AsTable,
		"Output format. `FORMAT` is one of: "+strings.Join(o.named(), ", ")+".")
}

// BindNoHeaders adds --no-headers.
func (o *Output) BindNoHeaders(fs *pflag.FlagSet) {
	fs.BoolVar(&o.noHeaders, "no-headers", false, "Print only the rows of pods: no headers and no summary.")
}

// Forms completes the names of the forms.
func (o *Output) Forms() cobra.CompletionFunc {
	return cobra.FixedCompletions(o.forms, cobra.ShellCompDirectiveNoFileComp)
}

// named returns the forms as help and messages name them.
func (o *Output) named() []string {
	names := slices.Clone(o.forms)
	names[len(names)-1] += "TEMPLATE"
	return names
}

// Check returns an error if the form is not one of the command.
func (o *Output) Check() error {
	if template, ok := strings.CutPrefix(o.Form, asPath); ok {
		_, err := parsePath(template)
		return err
	}
	if o.noHeaders && o.Form == AsSummary {
		return errors.New("--no-headers and --output=summary cannot be used together, because a summary has several tables")
	}
	if slices.Contains(o.forms, o.Form) {
		return nil
	}
	return flags.Invalid("output", o.Form, "must be "+flags.JoinWords(o.named(), "or"))
}

// Print prints the answer in its form, and then its notes; show writes the forms for people. It returns an error if the
// exit code must report evictions. If the answer is incomplete, it returns an [Incomplete] in place of printing notes.
func (o *Output) Print(cmd *cobra.Command, a Answer, show func(*Text)) error {
	text, err := o.in(cmd, a, show)
	if err == nil {
		_, err = cmd.OutOrStdout().Write(text)
	}
	if err != nil {
		return fmt.Errorf("printing the answer: %w", err)
	}
	if err := a.CannotSay(); err != nil {
		return Incomplete{err, a.Said()}
	}
	Remark(cmd.ErrOrStderr(), a.Said())
	return o.Exit.check(len(a.Names()), a.Evictions())
}

// in returns the answer in its form.
func (o *Output) in(cmd *cobra.Command, a Answer, show func(*Text)) ([]byte, error) {
	switch o.Form {
	case AsName:
		var names terminal.Builder
		for _, name := range a.Names() {
			names.Printf("%s\n", name)
		}
		return []byte(names.String()), nil
	case AsTable, AsWide, AsSummary:
		return []byte(o.Text(cmd, show)), nil
	}
	return Document(a, o.Form)
}

// Text returns what show writes for people.
func (o *Output) Text(cmd *cobra.Command, show func(*Text)) string {
	w := cmd.OutOrStdout()
	t := Text{Painter: terminal.PainterFor(w), Form: o.Form, Bare: o.noHeaders}
	if !t.Wide() {
		t.columns, _, _ = terminal.Size(w) // 0 if w is not a terminal
	}
	show(&t)
	return t.String()
}

// Incomplete is the error of an incomplete answer, whose remarks are still to be written.
type Incomplete struct {
	error
	Remarks *foresight.Remarks
}

// Remark writes the warnings and the notes of an answer, but not the warning that comes before it.
func Remark(w io.Writer, said *foresight.Remarks) {
	for i, warning := range said.Warnings {
		if i > 0 || !said.WarnFirst {
			warn(w, warning)
		}
	}
	for _, n := range said.Notes {
		Note(w, n)
	}
}

// WarnFirst writes the warning that comes before the answer, if there is one.
func WarnFirst(w io.Writer, said *foresight.Remarks) {
	if said.WarnFirst {
		warn(w, said.Warnings[0])
	}
}

func warn(w io.Writer, s string) { Say(w, "Warning: "+sentence(s)) }

// Note writes a note to w, which is not the output of the answer.
func Note(w io.Writer, s string) { Say(w, "Note: "+sentence(s)) }

// sentence ends a text with a full stop, unless it is a question.
func sentence(s string) string {
	if strings.HasSuffix(s, "?") {
		return s
	}
	return s + "."
}

// Say writes a sentence to w, which is not the output of the answer.
func Say(w io.Writer, s string) { _, _ = fmt.Fprintln(w, terminal.Escape(s)) }

// Document returns a versioned document in a form for programs.
func Document(document any, form string) ([]byte, error) {
	switch form {
	case AsYAML:
		return inYAML(document)
	case AsJSON:
		text, err := json.MarshalIndent(document, "", "  ")
		return append(terminal.EscapeJSON(text), '\n'), err
	}
	return byPath(document, strings.TrimPrefix(form, asPath))
}

// inYAML returns a document in YAML. If it contains characters that a terminal might obey, inYAML writes JSON, which is
// also YAML, because YAML would leave some of them unescaped.
func inYAML(document any) ([]byte, error) {
	plain, err := json.Marshal(document)
	if err != nil {
		return nil, err
	}
	if safe := terminal.EscapeJSON(plain); len(safe) != len(plain) {
		return append(safe, '\n'), nil
	}
	return yaml.Marshal(document)
}
