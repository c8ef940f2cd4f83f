package inspect

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/component-base/term"
	"sigs.k8s.io/yaml"

	"github.com/taint-manager/taint-manager/cli/suggest"
	"github.com/taint-manager/taint-manager/cli/terminal"
	"github.com/taint-manager/taint-manager/config"
)

// The forms of an answer.
const (
	asTable   = "table"
	asWide    = "wide"
	asSummary = "summary"
	asJSON    = "json"
	asYAML    = "yaml"
	asName    = "name"
	asPath    = "jsonpath=" // followed by the template
)

// output has the values of the flags for the form of an answer.
type output struct {
	form      string
	noHeaders bool
	forms     []string // the forms of the command, in the order of help and completion
}

// flags adds the flags.
func (o *output) flags(fs *pflag.FlagSet, forms ...string) {
	o.form, o.forms = asTable, forms
	fs.StringVarP(&o.form, "output", "o", asTable, "`FORM` of the answer: "+suggest.Listed(o.named(), "or")+".")
	fs.BoolVar(&o.noHeaders, "no-headers", false, "Print the rows of the table alone.")
}

// named returns the forms as help and messages name them.
func (o *output) named() []string {
	names := slices.Clone(o.forms)
	for i, name := range names {
		if name == asPath {
			names[i] += "TEMPLATE"
		}
	}
	return names
}

func (o *output) check() error {
	if template, ok := strings.CutPrefix(o.form, asPath); ok && slices.Contains(o.forms, asPath) {
		_, err := parsePath(template)
		return err
	}
	if o.form != asPath && slices.Contains(o.forms, o.form) {
		return nil
	}
	return config.Refusal{Flag: "output", Value: o.form, Allowed: "it takes " + suggest.Listed(o.named(), "or"), Next: "leave it out for table"}
}

// style is the form of an answer, with its destination.
type style struct {
	form          string
	noHeaders     bool
	chosen        bool // whether the user has chosen the form
	columns, rows int  // of the terminal; 0 if the output is not a terminal
	terminal.Painter
}

// style returns the style for the command's output.
func (o *output) style(cmd *cobra.Command) style {
	s := style{form: o.form, noHeaders: o.noHeaders, chosen: cmd.Flags().Changed("output"), Painter: terminal.PainterFor(cmd.OutOrStdout())}
	if terminal.OnTerminal(cmd.OutOrStdout()) {
		s.columns, s.rows, _ = term.TerminalSize(cmd.OutOrStdout())
	}
	if s.form == asWide {
		s.columns = 0 // nothing is shortened
	}
	return s
}

// print prints the table, without its headings if the user does not want them.
func (s *style) print(t *terminal.Table, to *terminal.Builder) {
	if s.noHeaders {
		t.NoHeadings()
	}
	t.Print(to, s.Painter, s.columns)
}

// overflows reports whether a text has more lines than the terminal has rows, and the user has not chosen the form.
func (s *style) overflows(text string) bool {
	return s.rows > 0 && !s.chosen && !s.noHeaders && strings.Count(text, "\n") >= s.rows
}

// isDocument reports whether a form is a document for other programs.
func isDocument(form string) bool {
	return form == asJSON || form == asYAML || strings.HasPrefix(form, asPath)
}

// printDocument prints a versioned document.
func printDocument(w io.Writer, document any, form string) error {
	text, err := documentIn(document, form)
	if err != nil {
		return fmt.Errorf("printing the answer: %w", err)
	}
	_, err = w.Write(text)
	return err
}

// documentIn returns a document in a form.
func documentIn(document any, form string) ([]byte, error) {
	switch form {
	case asYAML:
		return inYAML(document)
	case asJSON:
		text, err := json.MarshalIndent(document, "", "  ")
		return append(terminal.EscapeJSON(text), '\n'), err
	}
	return byPath(document, strings.TrimPrefix(form, asPath))
}

// inYAML returns a document in YAML. If it contains characters that a terminal might obey, it is in JSON, which is
// YAML, too, because YAML would leave some of them unescaped.
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
