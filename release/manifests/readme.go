package manifests

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"
)

const readmeHeader = `# The chart of taint-manager

<!-- Written by 'make manifests' from the comments of values.yaml. -->

` + "```sh" + `
helm install taint-manager deploy/chart -n kube-system -f values.yaml
helm upgrade taint-manager deploy/chart -n kube-system -f values.yaml
` + "```" + `

Keep your values in a file: ` + "`helm upgrade --set`" + ` drops what an earlier ` + "`--set`" + ` has set. A value that
[values.schema.json](values.schema.json) does not know is refused. [docs/install.md](../../docs/install.md) says what
runs, and how the image gets to the nodes.

| value | default | |
|---|---|---|
`

// readme returns the README of the chart: its values with their defaults and comments.
func readme(root string) (string, error) {
	text, err := os.ReadFile(filepath.Join(root, ChartDir, "values.yaml"))
	if err != nil {
		return "", fmt.Errorf("reading the values: %w", err)
	}
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return "", fmt.Errorf("decoding the values: %w", err)
	}
	rows, err := rowsOf(document.Content[0], "")
	return readmeHeader + rows, err
}

// rowsOf returns a row for each value. A mapping on several lines has a row for each of its values; a mapping on a
// single line is a value. A comment belongs to the value below the comment, or to all values of a mapping on several
// lines.
func rowsOf(mapping *yaml.Node, prefix string) (rows string, err error) {
	for i := 0; i < len(mapping.Content); i += 2 {
		key, value := mapping.Content[i], mapping.Content[i+1]
		comment := strings.Join(strings.Fields(strings.NewReplacer("\n#", " ", "|", `\|`).Replace(strings.TrimPrefix(key.HeadComment, "#"))), " ")
		name := prefix + key.Value
		nested := value.Kind == yaml.MappingNode && value.Style&yaml.FlowStyle == 0
		if nested && comment != "" {
			rows += fmt.Sprintf("| `%s` | | %s |\n", name, comment)
		}
		if nested {
			below, err := rowsOf(value, name+".")
			if err != nil {
				return "", err
			}
			rows += below
			continue
		}
		shown, err := inline(value)
		if err != nil {
			return "", fmt.Errorf("the default of %s: %w", name, err)
		}
		rows += fmt.Sprintf("| `%s` | `%s` | %s |\n", name, shown, comment)
	}
	return rows, nil
}

// inline returns a value on one line.
func inline(value *yaml.Node) (string, error) {
	flow := *value
	plain(&flow)
	text, err := yaml.Marshal(&flow)
	return strings.Join(strings.Fields(string(text)), " "), err
}

// plain removes comments, and sets the style that needs only one line.
func plain(n *yaml.Node) {
	n.HeadComment, n.LineComment, n.FootComment = "", "", ""
	if n.Kind != yaml.ScalarNode {
		n.Style = yaml.FlowStyle
	}
	for _, below := range n.Content {
		plain(below)
	}
}
