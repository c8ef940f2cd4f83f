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

// The forms in which an answer is printed.
const (
	asTable   = "table"
	asWide    = "wide"
	asSummary = "summary"
	asJSON    = "json"
	asYAML    = "yaml"
	asName    = "name"
	asPath    = "jsonpath=" // and the template
)

// output is how an answer is printed: the values of the flags.
type output struct {
	form      string
	noHeaders bool
	forms     []string // that the command has, in the order in which help and completion name them
}

// flags adds the flags.
func (o *output) flags(fs *pflag.FlagSet, forms ...string) {
	o.form, o.forms = asTable, forms
	fs.StringVarP(&o.form, "output", "o", asTable, "`FORM` of the answer: "+suggest.Listed(o.named(), "or")+".")
	fs.BoolVar(&o.noHeaders, "no-headers", false, "Print the rows of the table alone.")
}

// named are the forms as help and messages name them.
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

// style is how an answer is printed, and where.
type style struct {
	form          string
	noHeaders     bool
	chosen        bool // the form, by the user
	columns, rows int  // of the terminal; 0 where there is none
	terminal.Painter
}

// style returns how to print to the command's output.
func (o *output) style(cmd *cobra.Command) style {
	s := style{form: o.form, noHeaders: o.noHeaders, chosen: cmd.Flags().Changed("output"), Painter: terminal.PainterFor(cmd.OutOrStdout())}
	if terminal.OnTerminal(cmd.OutOrStdout()) {
		s.columns, s.rows, _ = term.TerminalSize(cmd.OutOrStdout())
	}
	if s.form == asWide {
		s.columns = 0 // all is wanted
	}
	return s
}

// print prints the table, without its headings where they are not wanted.
func (s *style) print(t *terminal.Table, to *terminal.Builder) {
	if s.noHeaders {
		t.NoHeadings()
	}
	t.Print(to, s.Painter, s.columns)
}

// overflows reports whether a text has more lines than the terminal has rows, and the user has not asked for it.
func (s *style) overflows(text string) bool {
	return s.rows > 0 && !s.chosen && !s.noHeaders && strings.Count(text, "\n") >= s.rows
}

// isDocument reports whether a form is that of a document for other programs.
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

// documentIn writes a document in a form.
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

// inYAML writes a document. One with characters that a terminal might obey is written in JSON, which is YAML,
// too, as YAML would leave some of them as they are.
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
