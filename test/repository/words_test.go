package repository

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// turns are turns of phrase that have to be read twice, with what to write instead.
var turns = map[string]string{
	`\bwhoever\b`: "name the subject",
	`\b(is|are|be|was|were) to be (told|known|had|heard)\b`:                     "reports, returns, is known, is available",
	`\b(is|are|was|were) told (of|that|by|when|what|how|so|to)\b`:               "is called, is notified, receives",
	`\b(tells|tell|told) (people|of)\b`:                                         "reports",
	`\bbetters\b`:                                                               "updates, improves",
	`\b(that|where|as|if) there (are|is) not\b`:                                 "missing, unknown, does not exist",
	`\b(that|what) there (are|is)\b[.,;:]`:                                      "name it",
	`\bwhat (it|they|he|this|that|each|one|a \w+|the \w+) (has|have) come to\b`: "the result, the outcome",
	`\b(has|have|had) come to (it|nothing|this)\b`:                              "the result, the outcome",
	`\b(for|of|to|from|by) who\b`:                                               "name the subject",
	`\bwho (asks|ask|has asked|writes|looks|knows|comes|reads|needs)\b`:         "the caller, the client, the reader",
	`\bso (many|much|long) (\w+ ){0,2}as\b`:                                     "the number of, at most, while",
	`\b(is|are) none of\b`:                                                      "is not one of",
	`\blets? go of\b`:                                                           "releases",
	`\b(it|this) says whether\b`:                                                "reports whether",
	`\b(says|tells) (whether|if)\b`:                                             "reports whether",
	`\b(is|was|are) heard of\b`:                                                 "answers",
	`\bmust be had\b`:                                                           "is required",
	`\b(is|are) not to be had\b`:                                                "is not available",
	`\b(that|which|what) may be had\b`:                                          "that is available",
	`\bhow (it|they|he|\w+ \w+) fares?\b`:                                       "the state of",
	`\bis another (than|now)\b`:                                                 "differs from, has changed",
	`\b(are|is) others than\b`:                                                  "differ from",
	`\bhas the last word\b`:                                                     "decides",
	`\bholds? up (who|whoever|nobody|others)\b`:                                 "delays, blocks",
	`\bnobody (any longer|any more)\b`:                                          "no longer",
	`\bin vain\b`:                                                               "without effect",
	`\bsomebody\b`:                                                              "name the subject",
	`\bthose whom?\b`:                                                           "name the subject",
	`\bpass(es|ed|ing)? over\b`:                                                 "ignores, skips",
	`\bmade to go\b`:                                                            "is evicted",
	`\b(come|comes|came) of (it|them|that)\b`:                                   "the result",
	`\bnone such\b`:                                                             "no such, nil",
	`\bfor so (many|much|long)\b`:                                               "for this number of, for this long",
	`\bstands? for election\b`:                                                  "is a candidate",
	`\bbut for\b`:                                                               "except for",
	`\bwants that\b`:                                                            "requires that",
	`\b(has|have) told\b`:                                                       "reports, has shown",
}

// replaced are identifiers that docs/glossary.md has replaced, as regular expressions, and what replaces them, in
// the rooms where they had that meaning; everywhere where no rooms are given.
var replaced = []struct {
	names, instead string
	rooms          []string
}{
	{`(?i)(slow)?grant(s|ed|ing|Slot|Place)?`, "candidate, slot, slowPlace", []string{"internal/evict", "internal/shard", "test/sim"}},
	{`(?i)(slow)?gate`, "dispatcher", []string{"internal/evict", "internal/shard", "test/sim"}},
	{`(?i)brake\w*`, "outageBackoff", nil},
	{`(?i)pace[rs]?|paceSlack`, "rateLimit", []string{"internal/evict", "internal/shard", "test/sim"}},
	{`(?i)ramp(First|Step)?`, "slowStart", []string{"internal/evict", "internal/shard", "test/sim"}},
	{`Hindered|hindered|Hindrance`, "EvictionDelayed, Delayed, stuck", nil},
	{`Pretended|pretended|Pretends`, "DryRun", nil},
	{`Marking|Cancelling`, "EvictionStarted, EvictionCancelled", nil},
	{`(?i)withdr[ae]w\w*`, "cancel, cancelled", []string{"eviction", "internal/event", "cli"}},
	{`CauseUnavailable|DryRunFirst`, "CauseGateway, PreflightFirst", nil},
	{`(?i)heldUp`, "stuck, delayed", nil},
	{`(?i)Sheets?|Sightings?|[A-Z]?[a-z]*Pages?`, "StoredPartition, Observation, partition", []string{"internal/journal"}},
	{`Known|Reading`, "NodeHistory, Observation", []string{"internal/journal"}},
	{`Reading`, "Observation", []string{"test/sim"}},
	{`Known`, "PodLookup, Measured", []string{"internal/cluster", "internal/skew"}},
	{`(?i)Fates?|Outlook|Inventory`, "Prediction, Forecast, Model", nil},
	{`Doubt|Look|LookAt`, "WhyUnconfirmed, LiveNode, NewLiveNode", nil},
	{`[mM]ost[A-Z]\w*|Most`, "maxX, MaxX", nil},
	{`awaiting|explaining|planning|ledger`, "pendingOptions, explainOptions, planOptions, journalLocation", nil},
	{`told|lives|life|settle`, "recorded, presences, presence", []string{"internal/journal/adopt.go", "internal/journal/convert.go", "internal/journal/join.go", "internal/journal/nodehistory.go", "internal/journal/presence.go"}},
	{`crowds?|newCrowd\w*|floor`, "load, baseline", nil},
	{`odd|spaces`, "warnings, namespaces", []string{"internal/cluster"}},
	{`(?i)multitude|deeds?|weather|carriers?`, "sharedLoad, action, faults, taintedNodes", nil},
	{`Went|hub|board`, "PastEviction, sampler", nil},
}

// separator keeps turns from being found across two comments.
const separator = "\n;\n"

func TestCommentsAndDocumentsAreInPlainEnglish(t *testing.T) {
	atRoot(t)
	texts := prose(t)
	for turn, instead := range turns {
		pattern := regexp.MustCompile(`(?i)` + strings.ReplaceAll(turn, " ", `\s+`))
		for name, text := range texts {
			for _, found := range pattern.FindAllString(text, -1) {
				t.Errorf("%s says %q; write %s", name, strings.Join(strings.Fields(found), " "), instead)
			}
		}
	}
}

// within reports whether the file is in one of the rooms: a folder with all below it, a file, or "root".
func within(name string, rooms []string) bool {
	for _, room := range rooms {
		if name == room || strings.HasPrefix(name, room+"/") || room == "root" && path.Dir(name) == "." && path.Ext(name) == ".go" {
			return true
		}
	}
	return false
}

// prose returns the comments of Go files, scripts and style sheets, and whole documents, by file.
func prose(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for _, name := range tree(t) {
		switch path.Ext(name) {
		case ".go":
			texts[name] = goComments(t, name)
		case ".md":
			texts[name] = read(t, name)
			if name == "CHANGELOG.md" { // it quotes what was replaced
				texts[name] = regexp.MustCompile("`[^`]*`").ReplaceAllString(texts[name], "")
			}
		case ".js", ".css":
			texts[name] = strings.Join(regexp.MustCompile(`(?s)/\*.*?\*/|(?m-s://.*$)`).FindAllString(read(t, name), -1), separator)
		}
	}
	return texts
}

// tree returns all files but those that are built, installed or recorded, and this one, which lists what it refuses.
func tree(t *testing.T) (names []string) {
	t.Helper()
	skipped := []string{"bin", "dist", "node_modules", "testdata", "test/repository/words_test.go"}
	err := filepath.WalkDir(".", func(name string, entry fs.DirEntry, err error) error {
		name = filepath.ToSlash(name)
		switch {
		case err != nil:
			return err
		case name != "." && (entry.Name()[0] == '.' || slices.Contains(skipped, entry.Name())):
			if entry.IsDir() {
				return fs.SkipDir
			}
		case !entry.IsDir() && !slices.Contains(skipped, name):
			names = append(names, name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func goComments(t *testing.T, name string) string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for _, group := range file.Comments {
		text.WriteString(group.Text() + separator)
	}
	return text.String()
}

func TestNoIdentifierHasANameThatTheGlossaryHasReplaced(t *testing.T) {
	atRoot(t)
	patterns := make([]*regexp.Regexp, len(replaced))
	for i, r := range replaced {
		patterns[i] = regexp.MustCompile(`^(` + r.names + `)$`)
	}
	for _, name := range tree(t) {
		for _, identifier := range identifiers(t, name) {
			for i, r := range replaced {
				if (r.rooms == nil || within(name, r.rooms)) && patterns[i].MatchString(identifier) {
					t.Errorf("%s names something %s; the glossary has %s", name, identifier, r.instead)
				}
			}
		}
	}
}

// identifiers returns the identifiers of a Go file or a script, each once.
func identifiers(t *testing.T, name string) (list []string) {
	t.Helper()
	switch path.Ext(name) {
	case ".go":
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if ident, ok := n.(*ast.Ident); ok {
				list = append(list, ident.Name)
			}
			return true
		})
	case ".js":
		code := regexp.MustCompile("(?s)/\\*.*?\\*/|//[^\n]*|'[^'\n]*'|`[^`]*`|Math\\.floor").ReplaceAllString(read(t, name), " ")
		list = regexp.MustCompile(`[A-Za-z_$][\w$]*`).FindAllString(code, -1)
	}
	slices.Sort(list)
	return slices.Compact(list)
}
