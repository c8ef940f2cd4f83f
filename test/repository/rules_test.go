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

	"github.com/google/go-cmp/cmp"
)

// atRoot runs a test at the root of the repository. The test cache takes account of the files that it reads there,
// which it would not if TestMain changed the folder.
func atRoot(t *testing.T) { t.Chdir(filepath.Join("..", "..")) }

const module = "github.com/taint-manager/taint-manager"

// source is a Go file of the root module that is not a test.
type source struct {
	path string // slashed, from the root
	file *ast.File
}

func (s source) dir() string { return path.Dir(s.path) }

func (s source) imports() (paths []string) {
	for _, spec := range s.file.Imports {
		paths = append(paths, strings.Trim(spec.Path.Value, `"`))
	}
	return paths
}

// sources returns all Go files of the root module except tests.
func sources(t *testing.T) (list []source) {
	t.Helper()
	err := filepath.WalkDir(".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && name != "." && (entry.Name()[0] == '.' || entry.Name() == "testdata" || ownModule(name)) {
			return fs.SkipDir
		}
		if entry.IsDir() || filepath.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		list = append(list, source{filepath.ToSlash(name), file})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func ownModule(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

// pure are the files, or folders of files, that use no clock, client, lock or goroutine.
var pure = []string{
	"internal/cluster/convert.go", "internal/cluster/tolerations.go", "internal/config", "internal/dump", "internal/foresight", "test/bench/report/report.go", "device", "internal/truncate", "internal/journal", "internal/builtin/finding.go", "policy", "internal/skew/interval.go", "internal/spelling", "taint",
	"internal/dispatch/backoff.go", "internal/dispatch/call.go", "internal/dispatch/choose.go", "internal/dispatch/core.go", "internal/dispatch/forecast.go", "internal/dispatch/input.go", "internal/dispatch/queue.go", "internal/dispatch/tokenset.go",
	"internal/dispatch/outage.go", "internal/dispatch/own.go", "internal/dispatch/pace.go", "internal/dispatch/places.go", "internal/dispatch/rates.go", "internal/dispatch/buckets.go",
	"internal/dispatch/roundrobin.go", "internal/dispatch/wait.go", "eviction", "internal/ordered",
	"internal/shard/backoff.go", "internal/shard/call.go", "internal/shard/core.go", "internal/shard/entry.go", "internal/shard/hold.go", "internal/shard/input.go", "internal/shard/step.go",
	"internal/shard/drained.go", "internal/shard/pending.go", "internal/shard/view.go",
	"internal/breaker/breakers.go", "internal/breaker/core.go", "internal/breaker/group.go", "internal/breaker/input.go",
	"internal/breaker/record.go", "internal/breaker/trips.go",
	"internal/journal/store/core.go", "internal/journal/store/input.go", "internal/journal/store/object.go",
}

var (
	impureImports = regexp.MustCompile(`^(sync|context|os|net/http|log|math/rand)(/|$)|^net$|^k8s\.io/(client-go|apiserver|klog|component-base/(cli|logs|metrics))`)
	impureCalls   = []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"}
)

func TestPureRoomsKnowNoClockClientLockOrGoroutine(t *testing.T) {
	atRoot(t)
	all := sources(t)
	for _, room := range pure {
		if _, err := os.Stat(room); err != nil {
			t.Errorf("the pure room %s is gone: %v", room, err)
		}
		for _, s := range all {
			if s.path == room || s.dir() == room {
				checkPure(t, s)
			}
		}
	}
}

func checkPure(t *testing.T, s source) {
	for _, imported := range s.imports() {
		if impureImports.MatchString(imported) {
			t.Errorf("%s imports %s", s.path, imported)
		}
	}
	ast.Inspect(s.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			t.Errorf("%s starts a goroutine", s.path)
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && x.Name == "time" && slices.Contains(impureCalls, n.Sel.Name) {
				t.Errorf("%s calls time.%s", s.path, n.Sel.Name)
			}
		}
		return true
	})
}

func TestEveryPackageSaysWhatItPromises(t *testing.T) {
	atRoot(t)
	said := map[string]bool{}
	for _, s := range sources(t) {
		said[s.dir()] = said[s.dir()] || s.file.Doc != nil && len(s.file.Doc.Text()) > 40
	}
	for dir, ok := range said {
		if !ok {
			t.Errorf("package %s has no package comment", dir)
		}
	}
}

// The block "arrows" of ARCHITECTURE.md has every room with its imports of this module.
func TestArchitectureShowsTheRoomsAndArrowsThatThereAre(t *testing.T) {
	atRoot(t)
	text, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)```arrows\n(.*?)```").FindSubmatch(text)
	if block == nil {
		t.Fatal("ARCHITECTURE.md has no block ```arrows")
	}
	got := map[string][]string{}
	for line := range strings.Lines(string(block[1])) {
		room, targets, _ := strings.Cut(strings.TrimSpace(line), "->")
		list := strings.FieldsFunc(targets, func(r rune) bool { return r == ',' || r == ' ' })
		slices.Sort(list)
		got[strings.TrimSpace(room)] = list
	}
	if diff := cmp.Diff(arrows(t), got); diff != "" {
		t.Errorf("the tree (-) and ARCHITECTURE.md (+) differ:\n%s", diff)
	}
}

// arrows returns the imports between the packages of this module, by package.
func arrows(t *testing.T) map[string][]string {
	edges := map[string][]string{}
	for _, s := range sources(t) {
		room := name(s.dir())
		list := edges[room]
		for _, imported := range s.imports() {
			if target, ok := strings.CutPrefix(imported, module); ok {
				list = append(list, name(strings.TrimPrefix(target, "/")))
			}
		}
		slices.Sort(list)
		edges[room] = slices.Compact(list)
	}
	for room, list := range edges {
		if list == nil {
			edges[room] = []string{}
		}
	}
	return edges
}

// name returns the name of a folder in ARCHITECTURE.md: for the root the name of its package.
func name(dir string) string {
	if dir == "." || dir == "" {
		return "taintmanager"
	}
	return dir
}

// The table of judgements in ARCHITECTURE.md names every file that calls taint.Decide, or Decide of a set or a judge of
// policies.
func TestArchitectureNamesEveryCallerOfDecide(t *testing.T) {
	atRoot(t)
	text, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	table := regexp.MustCompile(`(?s)### Each judgement.*?\n\n\|(.*?)\n\n`).FindSubmatch(text)
	if table == nil {
		t.Fatal("ARCHITECTURE.md has no table of judgements")
	}
	var got, want []string
	for _, named := range regexp.MustCompile("`([a-z/]+\\.go)`").FindAllSubmatch(table[1], -1) {
		got = append(got, string(named[1]))
	}
	for _, s := range sources(t) {
		if calls(s.file, "Decide") {
			want = append(want, s.path)
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(slices.Compact(want), slices.Compact(got)); diff != "" {
		t.Errorf("the callers of Decide (-) and those in ARCHITECTURE.md (+) differ:\n%s", diff)
	}
}

// calls reports whether the file uses a function or method of that name.
func calls(file *ast.File, function string) (found bool) {
	ast.Inspect(file, func(n ast.Node) bool {
		s, ok := n.(*ast.SelectorExpr)
		found = found || ok && s.Sel.Name == function
		return true
	})
	return found
}

func TestEveryFolderOfTheTreeIsInArchitecture(t *testing.T) {
	atRoot(t)
	text, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if entry.IsDir() && !slices.Contains([]string{".git", "bin", "dist"}, entry.Name()) && !strings.Contains(string(text), "`"+entry.Name()+"/") {
			t.Errorf("ARCHITECTURE.md does not name the folder %s/", entry.Name())
		}
	}
	for _, named := range regexp.MustCompile("`([a-z.][a-z/-]*)/`").FindAllStringSubmatch(string(text), -1) {
		if info, err := os.Stat(named[1]); !slices.Contains([]string{"bin", "dist"}, named[1]) && (err != nil || !info.IsDir()) {
			t.Errorf("ARCHITECTURE.md names the folder %s/, which does not exist", named[1])
		}
	}
}

func TestLinksInTheDocsLeadSomewhere(t *testing.T) {
	atRoot(t)
	link := regexp.MustCompile(`\]\(([^)#: ]*)(?:#([^)]*))?\)`)
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			for _, match := range link.FindAllStringSubmatch(read(t, file), -1) {
				target := file
				if match[1] != "" {
					target = filepath.Join(filepath.Dir(file), match[1])
				}
				if _, err := os.Stat(target); err != nil {
					t.Errorf("%s links to %s, which does not exist", file, match[1])
				} else if match[2] != "" && filepath.Ext(target) == ".md" && !slices.Contains(anchors(t, target), match[2]) {
					t.Errorf("%s links to %s#%s, which is no heading there", file, match[1], match[2])
				}
			}
		}
	}
}

// anchors returns the names by which links reach the headings of a file: in lower case, without punctuation, with hyphens
// for spaces.
func anchors(t *testing.T, file string) (all []string) {
	t.Helper()
	text := regexp.MustCompile("(?s)```.*?```").ReplaceAllString(read(t, file), "")
	for _, heading := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(text, -1) {
		name := regexp.MustCompile(`[^\p{L}\p{N}_ -]`).ReplaceAllString(strings.ToLower(strings.TrimSpace(heading[1])), "")
		all = append(all, strings.ReplaceAll(name, " ", "-"))
	}
	return all
}
