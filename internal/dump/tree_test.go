package dump_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/taint-manager/taint-manager/internal/dump"
)

const (
	aNode = "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\n"
	aPod  = "apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: shop}\n"
)

// read is what a tree has: the objects of each collection, and the holes.
type read struct {
	objects map[string]int
	tools   map[string]string
	holes   []string
}

// treeOf reads with a tree.
func treeOf(by func(*dump.Tree) error) (r read, err error) {
	r = read{objects: map[string]int{}, tools: map[string]string{}}
	tree := dump.NewTree(func(root string) dump.Visit {
		return func(any, []time.Time) { r.objects[root]++ }
	})
	err = by(tree)
	for _, root := range slices.Sorted(maps.Keys(tree.Collections)) {
		c := tree.Collections[root]
		if recognized := c.Recognize(); recognized != nil {
			return r, recognized
		}
		if c.Tool != nil {
			r.tools[root] = c.Tool.Name
		}
		for _, h := range c.Holes {
			r.holes = append(r.holes, h.What)
		}
	}
	return r, err
}

func folder(files map[string]string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return fsys
}

// tarOf and zipOf return an archive of files.
func tarOf(t *testing.T, files map[string]string) string {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(files[name]))}); err != nil {
			t.Fatal(err)
		}
		must(io.WriteString(w, files[name]))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func zipOf(t *testing.T, files map[string]string) string {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		must(io.WriteString(must(w.Create(name)), files[name]))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestToolsAreRecognizedByTheirPlaces(t *testing.T) {
	for tool, files := range map[string]map[string]string{
		"oc adm inspect":               {"x/cluster-scoped-resources/core/nodes/n1.yaml": aNode, "x/namespaces/shop/core/pods.yaml": aPod, "x/namespaces/shop/pods/a/a/a/logs/current.log": aPod},
		"troubleshoot":                 {"x/cluster-resources/nodes.json": aNode, "x/cluster-resources/pods/shop.json": aPod, "x/podlogs/a.txt": aPod},
		"velero":                       {"x/resources/nodes/cluster/n1.json": aNode, "x/resources/pods/namespaces/shop/a.json": aPod, "x/metadata/version": "1"},
		"sonobuoy":                     {"x/resources/cluster/core_v1_nodes.json": aNode, "x/resources/ns/shop/core_v1_pods.json": aPod, "x/serverversion.json": `{"major": "1"}`},
		"Rancher's support-bundle-kit": {"x/yamls/cluster/v1/nodes.yaml": aNode, "x/yamls/namespaced/shop/v1/pods.yaml": aPod, "x/logs/a.txt": aPod},
		"kubectl cluster-info dump":    {"nodes.json": aNode, "shop/pods.json": aPod, "shop/a/logs.txt": aPod},
	} {
		t.Run(tool, func(t *testing.T) {
			for form, by := range map[string]func(*dump.Tree) error{
				"folder": func(tree *dump.Tree) error { return tree.Folder("d", folder(files)) },
				"tar":    func(tree *dump.Tree) error { return tree.File("d", strings.NewReader(tarOf(t, files))) },
				"tar.gz": func(tree *dump.Tree) error {
					return tree.File("d", strings.NewReader(compressed(t, "gzip", tarOf(t, files))))
				},
				"zip": func(tree *dump.Tree) error { return tree.File("d", strings.NewReader(zipOf(t, files))) },
			} {
				got, err := treeOf(by)
				objects := 0
				for root, n := range got.objects {
					objects += n
					if got.tools[root] != tool {
						t.Errorf("%s: the objects in %q are of %q", form, root, got.tools[root])
					}
				}
				if err != nil || objects != 2 || len(got.objects) != 1 || len(got.holes) > 0 {
					t.Errorf("%s: %v, %v", form, got, err)
				}
			}
		})
	}
}

func TestAnArchiveWithinAnotherIsACollectionOfItsOwn(t *testing.T) {
	files := map[string]string{"nodes.yaml": aNode, "pods.yaml": aPod}
	inner := map[string]string{"nodes.yaml": aNode, "older/more.zip": zipOf(t, files), "older.tar.gz": compressed(t, "gzip", tarOf(t, files))}
	got, err := treeOf(func(tree *dump.Tree) error { return tree.File("d.tar", strings.NewReader(tarOf(t, inner))) })
	want := map[string]int{"": 1, "d.tar/older.tar.gz": 2, "d.tar/older/more.zip": 2}
	if diff := cmp.Diff(want, got.objects); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestTheTextNullOfRancherIsNullOrEmpty(t *testing.T) {
	const pod = `{"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "a", "namespace": "shop", "deletionTimestamp": "null", "annotations":"null", "finalizers":["null","null","null"],
"labels": {"null": "null", "x": "say \"null\"", "y":"null"}}, "spec": {"tolerations": "null", "nodeName": "null"}}`
	var got any
	tree := dump.NewTree(func(string) dump.Visit { return func(o any, _ []time.Time) { got = o } })
	err := tree.Folder("d", folder(map[string]string{"yamls/namespaced/shop/v1/pods.yaml": pod}))
	want := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "shop", Labels: map[string]string{"null": "", "x": `say "null"`, "y": ""}, Finalizers: []string{"", "", ""}}}
	if diff := cmp.Diff(any(want), got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// In a folder, what is no object is skipped; what may have lost objects is a hole.
func TestWhatMayBeMissingInAFolderIsNamed(t *testing.T) {
	for _, c := range []struct{ name, file, text, want string }{
		{"no object", "serverversion.json", `{"major": "1"}`, ""},
		{"a list of groups", "servergroups.json", `{"kind": "APIGroupList", "apiVersion": "v1", "groups": []}`, ""},
		{"a list of resources", "resources.json", `{"kind": "APIResourceList", "apiVersion": "v1", "resources": [{"name": "pods", "kind": "Pod"}]}`, ""},
		{"a list of resources without a kind", "resources.json", `[{"groupVersion": "v1", "resources": [{"name": "pods", "kind": "Pod"}]}]`, ""},
		{"an object with a type", "pods.json", `{"type": "service"}`, ""},
		{"a misspelt kind", "pods.json", `{"kind": "Po", "apiVersion": "v1"}`, "d: pods.json: the object near byte 0 has apiVersion \"v1\" and kind \"Po\" (did you mean apiVersion: v1, kind: Pod?), so objects may be missing"},
		{"a text", "timestamp", "2026-05-01 12:00:02.1 +0000 UTC m=+0.1\n2026-05-01", ""},
		{"a log of Pods", "a/current.log", aPod, ""},
		{"a log in a folder of logs", "a/logs/current.txt", aPod, ""},
		{"a cut list of pods", "pods.json", `{"kind": "PodList", "apiVersion": "v1", "items": [`, "d: pods.json: it is truncated at byte 50, so objects may be missing"},
		{"a Status", "x/pods/shop.json", `{"kind": "Status", "apiVersion": "v1", "message": "pods is forbidden"}`, "d: x/pods/shop.json: the object near byte 0 is the Status of a failed request: pods is forbidden, so objects may be missing"},
		{"errors of troubleshoot", "x/cluster-resources/pods-errors.json", `{"shop": "forbidden"}`, "d: x/cluster-resources/pods-errors.json: a request of troubleshoot failed: \"shop\": \"forbidden\""},
		{"a message of kubectl", "pods.json", "Error from server (Forbidden): pods is forbidden\n", "d: pods.json: it is a kubectl message: Error from server (Forbidden): pods is forbidden, so objects may be missing"},
		{"nothing", "shop-pods.json", "", "d: shop-pods.json: it is empty, so objects may be missing"},
		{"nothing of a namespace", "x/pods-shop.yaml", "", "d: x/pods-shop.yaml: it is empty, so objects may be missing"},
		{"nothing of troubleshoot", "x/cluster-resources/pod-disruption-budgets/shop.json", "", "d: x/cluster-resources/pod-disruption-budgets/shop.json: it is empty, so objects may be missing"},
		{"nothing of a node of velero", "x/resources/nodes/cluster/n1.json", "", "d: x/resources/nodes/cluster/n1.json: it is empty, so objects may be missing"},
		{"nothing about routes", "namespaces/shop/route.openshift.io/routes.yaml", "", ""},
		{"a login page", "pods.json", "<html>", "d: pods.json: it is HTML: a login page or a proxy answered instead of the API server, so objects may be missing"},
		{"a page in a file of another name", "index.json", "<html>", ""},
		{"UTF-16", "nodes.json", "\xff\xfe{\x00", "d: nodes.json: it is in UTF-16 (in PowerShell, use '| Out-File -Encoding utf8 FILE' instead of >), so objects may be missing"},
		{"the output of kubectl describe", "pods.txt", "Name:             web-0\nNamespace:        shop\n", ""},
		{"an audit log", "audit.json", `{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata"}`, ""},
		{"a table", "pods.txt", "NAME      READY   STATUS    RESTARTS   AGE\nweb-0     1/1     Running   0          7d\n", ""},
		{"a bundle with an error of Rancher", "x/bundleGenerationError.log", "timeout", "d: x/bundleGenerationError.log: a request of Rancher's support-bundle-kit failed: timeout"},
		{"errors of troubleshoot in an array", "x/cluster-resources/nodes-errors.json", `["forbidden", "it said \"no\""]`, "d: x/cluster-resources/nodes-errors.json: a request of troubleshoot failed: \"forbidden\"; d: x/cluster-resources/nodes-errors.json: a request of troubleshoot failed: \"it said \\\"no\\\"\""},
		{"errors of troubleshoot about what is not read", "x/cluster-resources/ingress-errors.json", `{"shop": "forbidden"}`, ""},
		{"watch events", "pods.json", `{"type": "ADDED", "object": {"kind": "Pod", "apiVersion": "v1"}}`, "d: pods.json: the object near byte 0 is a watch event (run kubectl without --output-watch-events), so objects may be missing"},
		{"no errors of troubleshoot", "x/cluster-resources/pods-errors.json", `{}`, ""},
		{"errors of sonobuoy", "x/meta/query-time.json", `[{"queryobj": "pods", "error": "forbidden"}, {"queryobj": "nodes"}]`, "d: x/meta/query-time.json: a request of sonobuoy failed: \"error\": \"forbidden\""},
		{"errors of sonobuoy about what is not read", "x/meta/query-time.json", `[{"queryobj": "ingresses", "namespace": "shop", "time": "1ms", "error": "forbidden"}, {"queryobj": "PodLogs", "error": {}}]`, ""},
		{"errors of sonobuoy without their words", "x/meta/query-time.json", `[{"queryobj":"ingresses","error":{}},{"queryobj":"pods","namespace":"shop","time":"1ms","error":{}}]`, "d: x/meta/query-time.json: a request of sonobuoy failed: \"error\":{}"},
		{"errors of sonobuoy about a group and a version", "x/meta/query-time.json", `[{"queryobj": "policy_v1_poddisruptionbudgets", "error": "timeout"}]`, "d: x/meta/query-time.json: a request of sonobuoy failed: \"error\": \"timeout\""},
	} {
		got, err := treeOf(func(tree *dump.Tree) error { return tree.Folder("d", folder(map[string]string{c.file: c.text})) })
		if err != nil || strings.Join(got.holes, "; ") != c.want || len(got.objects) > 0 {
			t.Errorf("%s: got %v, %v, want %s", c.name, got, err, c.want)
		}
	}
}

func TestACutObjectOfAnyKindThatIsReadIsAHole(t *testing.T) {
	for kind, want := range map[string]int{
		"Node": 1, "Pod": 1, "Event": 1, "ConfigMap": 1, "Namespace": 1, "Lease": 1, "PodDisruptionBudget": 1,
		"ResourceClaim": 1, "ResourceSlice": 1, "DeviceTaintRule": 1, "Status": 1, "Service": 0, "PodTemplate": 0,
	} {
		for _, text := range []string{`{"apiVersion": "x", "kind": "` + kind + `", "metadata": {`, "kind: " + kind + "List\nmetadata: {\n"} {
			got, err := treeOf(func(tree *dump.Tree) error { return tree.Folder("d", folder(map[string]string{"x.json": text})) })
			if err != nil || len(got.holes) != want {
				t.Errorf("%s: got %v, %v, want %d holes", text, got, err, want)
			}
		}
	}
}

func TestAFailedRequestConcernsTheNamespaceThatTheToolNames(t *testing.T) {
	for file, text := range map[string]string{
		"x/cluster-resources/pods-errors.json": `{"pay": "forbidden", "shop": "forbidden"}`,
		"x/meta/query-time.json": `[{"queryobj": "nodes", "namespace": "", "time": 1}, {"namespace": "pay", "error": "forbidden"},
			{"namespace": "data", "time": 1}, {"queryobj": "pods", "namespace": "shop", "time": 1, "error": "forbidden"}]`,
	} {
		tree := dump.NewTree(func(string) dump.Visit { return func(any, []time.Time) {} })
		err := tree.Folder("d", folder(map[string]string{file: text}))
		var got []string
		for _, h := range tree.Collections["d/x"].Holes {
			got = append(got, h.Namespace)
		}
		if diff := cmp.Diff([]string{"pay", "shop"}, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", file, err, diff)
		}
	}
}

func TestOfManyHolesSomeAreNamed(t *testing.T) {
	files := map[string]string{}
	for i := range 1000 {
		files[fmt.Sprintf("%d/pods.json", i)] = "{"
	}
	got, err := treeOf(func(tree *dump.Tree) error { return tree.Folder("d", folder(files)) })
	if err != nil || len(got.holes) != 20 || got.holes[19] != "more files or objects of d can't be read" {
		t.Errorf("%v, %q", err, got.holes)
	}
}

// Nodes of two clusters or times are never mixed, unless the user gives the files one by one.
func TestFoldersWithNodesOfTheirOwnAreRefused(t *testing.T) {
	files := map[string]string{"prod/nodes.yaml": aNode, "prod/pods.yaml": aPod, "old/nodes/n1.yaml": aNode}
	_, err := treeOf(func(tree *dump.Tree) error { return tree.Folder("d", folder(files)) })
	if want := "the folders d/old and d/prod have separate nodes"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	got, err := treeOf(func(tree *dump.Tree) error {
		return errors.Join(tree.File("a", strings.NewReader(aNode)), tree.File("b", strings.NewReader(aNode)),
			tree.Folder("d", folder(map[string]string{"all.yaml": aNode + aPod})), tree.File("e", strings.NewReader(aPod)))
	})
	if err != nil || got.objects[""] != 5 {
		t.Errorf("got %v, %v", got, err)
	}
}

// Pods are those of the folder with the nodes, in a file that has all, or in folders below it.
func TestPodsOfAnotherFolderThanThatOfTheNodesAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		files []string
		want  string
	}{
		"a folder beside it":        {[]string{"prod/nodes.yaml", "prod/pods.yaml", "old/pods.yaml"}, "the folders d/prod and d/old have separate pods"},
		"pods by their names":       {[]string{"prod/nodes.yaml", "prod/a.yaml", "old/a.yaml"}, "the folders d/prod and d/old have separate pods"},
		"two dumps of cluster-info": {[]string{"prod/nodes.yaml", "prod/shop/pods.yaml", "old/shop/pods.yaml"}, "the folders d/prod and d/old/shop have separate pods"},
		"a folder within it":        {[]string{"nodes.yaml", "pods.yaml", "old/pods.yaml"}, "the folders d and d/old have separate pods"},
		"one dump of cluster-info":  {[]string{"nodes.yaml", "shop/pods.yaml", "pay/pods.yaml"}, ""},
		"a folder for each kind":    {[]string{"nodes/n1.yaml", "pods/a.yaml"}, ""},
		"one folder for each kind":  {[]string{"a/nodes.yaml", "b/pods.yaml"}, ""},
	} {
		files := map[string]string{}
		for _, file := range c.files {
			if files[file] = aPod; strings.Contains(file, "nodes") {
				files[file] = aNode
			}
		}
		got, err := treeOf(func(tree *dump.Tree) error { return tree.Folder("d", folder(files)) })
		if refused := err != nil && err.Error() == c.want; !refused && (c.want != "" || err != nil || got.objects[""] != len(files)) {
			t.Errorf("%s: got %v, %v, want %s", name, got, err, c.want)
		}
	}
}

func TestEveryCompressionIsRead(t *testing.T) {
	for name, text := range map[string]string{
		"bzip2": "QlpoOTFBWSZTWfxaJvMAAAlfgAAQQAAgEAABAQAmK90KIAAxQNNDIyYhEyA00A9I8VmRDTSRlwCk1UpyPNn3oWx4V8g6bdEqQ+LuSKcKEh+LRN5g",
		"xz":    "/Td6WFoAAATm1rRGAgAhARYAAAB0L+WjAQAuYXBpVmVyc2lvbjogdjEKa2luZDogTm9kZQptZXRhZGF0YToge25hbWU6IG4xfQoAADg32IML0bH2AAFHL7BRbzQftvN9AQAAAAAEWVo=",
		"gzip":  base64.StdEncoding.EncodeToString([]byte(compressed(t, "gzip", aNode))),
		"zstd":  base64.StdEncoding.EncodeToString([]byte(compressed(t, "zstd", aNode))),
	} {
		got, err := names(base64.NewDecoder(base64.StdEncoding, strings.NewReader(text)))
		if diff := cmp.Diff([]string{"node n1"}, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
}

func TestArchivesAreReadToALimitedDepth(t *testing.T) {
	text := aNode
	for depth := range 8 {
		if got, err := names(strings.NewReader(text)); err != nil || len(got) != 1 {
			t.Errorf("depth %d: %q, %v", depth, got, err)
		}
		text = compressed(t, "gzip", text)
	}
	const want = "archives are nested too deeply; extract this one first"
	if _, err := names(strings.NewReader(text)); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// A small archive may have any number of files, and of bytes once it is decompressed.
func TestATreeIsReadToALimitOfFilesAndOfBytes(t *testing.T) {
	files := map[string]string{"a.yaml": aNode, "b.yaml": aPod, "c.log": aPod, "d.yaml": strings.Repeat("x\n", 1<<19)}
	read := func(count int, bytes int64, by func(*dump.Tree) error) error {
		_, err := treeOf(func(tree *dump.Tree) error {
			tree.Limit(count, bytes)
			return by(tree)
		})
		return err
	}
	for form, by := range map[string]func(*dump.Tree) error{
		"folder": func(tree *dump.Tree) error { return tree.Folder("d", folder(files)) },
		"tar":    func(tree *dump.Tree) error { return tree.File("d", strings.NewReader(tarOf(t, files))) },
		"zip":    func(tree *dump.Tree) error { return tree.File("d", strings.NewReader(zipOf(t, files))) },
		"tar.gz": func(tree *dump.Tree) error {
			return tree.File("d", strings.NewReader(compressed(t, "gzip", tarOf(t, files))))
		},
		"tar in a zip": func(tree *dump.Tree) error {
			return tree.File("d", strings.NewReader(zipOf(t, map[string]string{"e.tar": tarOf(t, files)})))
		},
	} {
		if err := read(5, 8<<20, by); err != nil {
			t.Errorf("%s, within the limits: %v", form, err)
		}
		if err := read(3, 8<<20, by); err == nil || !strings.HasSuffix(err.Error(), "it has more than 1048576 files") {
			t.Errorf("%s, too many files: %v", form, err)
		}
		if err := read(5, 1<<19, by); err == nil || !strings.HasSuffix(err.Error(), "it has more than 64 GiB") {
			t.Errorf("%s, too many bytes: %v", form, err)
		}
	}
}

// Whatever such files contain, they are of the system that packed an archive, or of programs that print what they got.
func TestFilesThatHaveNoObjectsAreNotReadInAnArchive(t *testing.T) {
	files := map[string]string{"nodes.yaml": aNode}
	for _, name := range []string{
		"__MACOSX/pods.yaml", "._pods.yaml", ".DS_Store", "a/logs.txt", "a/c.log", "a/c.log.1", "a/logs/c", "podlogs/a.json", "pod-logs/a.json",
		"previous", "previous.json", "event-filter.html", "image.png", "timestamp", "stdout", "x-logs.txt", "x-logs.json",
		"a/LOGS.txt", "a/Logs/c.json", "container-logs/a.json", "pod_logs/a.json", "logs-2026/a.json", "c.log-prev.txt",
		"x.log.txt", "previous/current.json", "namespaces/shop/pods/a/c/c/rotated/0.json",
	} {
		files[name] = aPod
	}
	for form, text := range map[string]string{"tar": tarOf(t, files), "zip": zipOf(t, files)} {
		got, err := names(strings.NewReader(text))
		if diff := cmp.Diff([]string{"node n1"}, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", form, err, diff)
		}
	}
}

// A namespace or a pod may have the name of logs.
func TestWhatIsNamedLikeLogsIsReadWhereObjectsAre(t *testing.T) {
	for _, name := range []string{
		"logs/pods.json", "Pods.JSON", "shop/pods.txt", "log-agent.yaml", "catalogs/a.yml", "namespaces/logs/core/pods.yaml",
		"shop.kyaml", "namespaces/shop/pods/log/log.yaml", "x/resources/pods/namespaces/logs/previous.json", "x/A.ZIP",
	} {
		text := aPod
		if strings.HasSuffix(name, "ZIP") {
			text = zipOf(t, map[string]string{"pods.yaml": aPod})
		}
		got, err := names(strings.NewReader(tarOf(t, map[string]string{name: text})))
		if diff := cmp.Diff([]string{"pod shop/a"}, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
}

// It would have to be held in memory. Rancher has one with the logs of each node.
func TestAZipWithinAnArchiveIsReadIfItIsSmall(t *testing.T) {
	files := map[string]string{
		"x/yamls/cluster/v1/nodes.yaml": aNode, "x/nodes/n1.zip": zipOf(t, map[string]string{"kubelet.log": aPod}),
		"x/yamls/namespaced/shop/v1/pods.yaml": aPod,
	}
	for most, want := range map[int64]string{
		1 << 20: "", 50: "d: x/nodes/n1.zip: the zip archive has more than 64 MiB and is not a file of its own, so it was not read",
	} {
		got, err := treeOf(func(tree *dump.Tree) error {
			tree.LimitZip(most)
			return tree.File("d", strings.NewReader(tarOf(t, files)))
		})
		if err != nil || got.objects["d/x"] != 2 || len(got.objects) != 1 || strings.Join(got.holes, "; ") != want {
			t.Errorf("%d: got %v, %v, want %s", most, got, err, want)
		}
	}
	got, err := treeOf(func(tree *dump.Tree) error {
		tree.LimitZip(50)
		return tree.File("d", strings.NewReader(zipOf(t, map[string]string{"nodes.yaml": aNode})))
	})
	if err != nil || got.objects[""] != 1 || len(got.holes) > 0 {
		t.Errorf("a file of its own: got %v, %v", got, err)
	}
}

func TestABadArchiveIsRefusedByItsName(t *testing.T) {
	whole := tarOf(t, map[string]string{"nodes.yaml": aNode, "pods.yaml": aPod})
	encrypted := []byte(zipOf(t, map[string]string{"nodes.yaml": aNode}))
	encrypted[bytes.Index(encrypted, []byte("PK\x01\x02"))+8] |= 1
	for _, c := range []struct{ name, text, want string }{
		{"a cut tar", whole[:540], "cannot read the tar archive: "},
		{"a cut tar within a tar", tarOf(t, map[string]string{"old.tar": whole[:540]}), "old.tar: cannot read the tar archive: "},
		{"a cut zip", zipOf(t, map[string]string{"nodes.yaml": aNode})[:60], "cannot read the zip archive: "},
		{"an encrypted member", string(encrypted), "nodes.yaml: it is encrypted; "},
	} {
		_, err := treeOf(func(tree *dump.Tree) error { return tree.File("d", strings.NewReader(c.text)) })
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", c.name, err, c.want)
		}
	}
}

func TestAnEncryptedMemberThatIsNotReadIsSkipped(t *testing.T) {
	log := []byte(zipOf(t, map[string]string{"app.log": "secret"}))
	log[bytes.Index(log, []byte("PK\x01\x02"))+8] |= 1
	if _, err := treeOf(func(tree *dump.Tree) error { return tree.File("d", bytes.NewReader(log)) }); err != nil {
		t.Error(err)
	}
}

// What follows the cut is missing, and archive/tar returns no error.
func TestATarThatIsCutBetweenTwoFilesIsAHole(t *testing.T) {
	whole := tarOf(t, map[string]string{"nodes.yaml": aNode, "pods.yaml": aPod})
	for name, cut := range map[string]int{"after a header and a text": 512 + len(aNode), "after a file": 1024, "without the end mark": 2048} {
		got, err := treeOf(func(tree *dump.Tree) error { return tree.File("d", strings.NewReader(whole[:cut])) })
		last := "nodes.yaml"
		if cut == 2048 {
			last = "pods.yaml"
		}
		want := "d: " + last + ": the tar archive ends after this file without its end mark, so files may be missing"
		if err != nil || strings.Join(got.holes, "; ") != want {
			t.Errorf("%s: got %v, %v, want %s", name, got.holes, err, want)
		}
	}
	if got, err := treeOf(func(tree *dump.Tree) error { return tree.File("d", strings.NewReader(whole)) }); err != nil || len(got.holes) > 0 {
		t.Errorf("whole: got %v, %v", got.holes, err)
	}
}

func TestALinkNeverLeavesTheFolder(t *testing.T) {
	outside, inside := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{filepath.Join(outside, "pod.yaml"): aPod, filepath.Join(inside, "node.yaml"): aNode} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(outside, "pod.yaml"), filepath.Join(inside, "pod.yaml")); err != nil {
		t.Fatal(err)
	}
	root := must(os.OpenRoot(inside))
	defer root.Close()
	got, err := treeOf(func(tree *dump.Tree) error { return tree.Folder("d", root.FS()) })
	if err != nil || got.objects[""] != 1 {
		t.Errorf("got %v, %v", got, err)
	}
}

// Whatever files a tree has, reading it ends with objects or with an error, in bounded memory.
func FuzzTree(f *testing.F) {
	for _, seed := range []string{aNode, list, "PK\x03\x04", "\x1f\x8b", "BZh9", "\xfd7zXZ\x00", "==== START logs for container c of pod a/b ====\n", `{"kind": "PodList", "items": [`} {
		f.Add("namespaces/shop/core/pods.yaml", seed, "x.tar.gz", seed)
	}
	f.Add("cluster-resources/pods-errors.json", `{"shop": "forbidden"}`, "cluster-resources/pods/shop.json", list)
	f.Add("meta/query-time.json", `[{"error": "forbidden"}]`, "resources/ns/shop/core_v1_pods.json", list)
	f.Add("bundleGenerationError.log", "timeout", "yamls/namespaced/shop/v1/pods.yaml", list)
	f.Fuzz(func(t *testing.T, name, text, other, more string) {
		files, fsys := map[string]string{"n/" + name: text, "o/" + other: more}, fstest.MapFS{}
		for name, text := range files {
			if strings.ContainsRune(name, 0) || strings.HasSuffix(name, "/") || len(name) > 1000 {
				t.Skip("no archive can be written with this name")
			}
			if fs.ValidPath(name) {
				fsys[name] = &fstest.MapFile{Data: []byte(text)}
			}
		}
		by := func(tree *dump.Tree) error {
			if err := tree.Folder("d", fsys); err != nil {
				return err
			}
			if err := tree.File("e", strings.NewReader(tarOf(t, files))); err != nil {
				return err
			}
			return tree.File("f", strings.NewReader(zipOf(t, files)))
		}
		var err error
		grown := growth(func() { _, err = treeOf(by) })
		if err != nil && strings.TrimSpace(err.Error()) == "" {
			t.Error("an error without words")
		}
		if grown > mostGrowth {
			t.Errorf("the memory grows by %d MiB", grown>>20)
		}
	})
}
