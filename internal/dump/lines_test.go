package dump_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Standard output and standard error of kubectl often end up in one file.
func TestWhatKubectlPrintsBetweenObjectsIsSkipped(t *testing.T) {
	all := []string{"node n1", "pod shop/web-0", "budget shop/web"}
	const (
		messages = "Warning: v1 ComponentStatus is deprecated in v1.19+\nE1127 12:00:00.000001       7 memcache.go:265] unauthorized\n"
		log      = "==== START logs for container c of pod shop/a ====\n" + aPod + "==== END logs for container d of pod shop/a ====\n{\n" +
			"==== END logs for container c of pod shop/a ====\n"
	)
	for name, text := range map[string]string{
		"messages before JSON": messages + asJSON(t, list),
		"messages before YAML": messages + list,
		"a log after JSON":     asJSON(t, list) + log,
		"logs around JSON":     log + asJSON(t, list) + log + log,
		"a log after YAML":     list + log,
		"carriage returns":     strings.ReplaceAll(list+log, "\n", "\r\n"),
		"a log without an end": log[:strings.LastIndex(log, "\n====")] + log[strings.LastIndex(log, "\n====")+1:] + list,
		"a long line in a log": asJSON(t, list) + strings.Replace(log, "{\n", strings.Repeat("{", 200_000)+"\n", 1),
	} {
		got, err := names(strings.NewReader(text))
		if diff := cmp.Diff(all, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
}

func TestATextThatEndsWithinALogIsCutOff(t *testing.T) {
	const begin = "==== START logs for container c of pod shop/a ====\nhello\n"
	const want = `it is truncated within a log, where "==== END logs for container c of pod shop/a ====" is missing`
	for name, text := range map[string]string{"JSON": asJSON(t, list), "YAML": list} {
		if _, err := names(strings.NewReader(text + begin)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestLinesOfYAMLAreCountedWithThoseThatAreSkipped(t *testing.T) {
	const log = "==== START logs for container c of pod shop/a ====\nhello\n==== END logs for container c of pod shop/a ====\n"
	for text, want := range map[string]string{
		"\nWarning: x\n\nkind: [\n":                "invalid document at line 4 ",
		"Warning: x\n" + aNode + log + "kind: [\n": "invalid document at line 8 ",
	} {
		if _, err := names(strings.NewReader(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}
