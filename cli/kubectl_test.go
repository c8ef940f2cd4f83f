package cli_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// kubectlPaths are the paths of resources, by the names that docs/dumps.md uses for kubectl.
var kubectlPaths = map[string]string{
	"nodes": "api/v1/nodes", "pods": "api/v1/pods", "pdb": "apis/policy/v1/poddisruptionbudgets", "events": "api/v1/events",
	"lease": "apis/coordination.k8s.io/v1/namespaces/%s/leases/", "cm": "api/v1/namespaces/%s/configmaps/",
}

// kubectl is a program that answers "get" as kubectl does, as far as docs/dumps.md uses it: it writes the objects that
// exist in one list, and fails if others do not.
func kubectl() {
	fs := pflag.NewFlagSet("kubectl", pflag.ExitOnError)
	everywhere := fs.BoolP("all-namespaces", "A", false, "")
	namespace := fs.StringP("namespace", "n", "", "")
	output := fs.StringP("output", "o", "", "")
	fs.Bool("show-managed-fields", false, "")
	_ = fs.Parse(os.Args[1:])
	args := fs.Args()
	if len(args) < 2 || args[0] != "get" || *output != "json" || *everywhere == (*namespace != "") {
		fail(fmt.Errorf("this kubectl does not know %q", os.Args[1:]))
	}
	items, code := []any{}, 0
	for _, arg := range args[1:] {
		for what := range strings.SplitSeq(arg, ",") {
			kind, name, _ := strings.Cut(what, "/")
			path := kubectlPaths[kind]
			if name != "" {
				path = fmt.Sprintf(path, *namespace) + name
			}
			found, err := fetch(path)
			if err != nil {
				fmt.Fprintln(os.Stderr, "Error from server:", err)
				code = 1
				continue
			}
			if list, ok := found["items"].([]any); ok {
				items = append(items, list...)
			} else {
				items = append(items, found)
			}
		}
	}
	list := map[string]any{"apiVersion": "v1", "items": items, "kind": "List", "metadata": map[string]any{"resourceVersion": ""}}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetIndent("", "    ")
	if err := encoder.Encode(list); err != nil {
		fail(err)
	}
	os.Exit(code)
}

// fetch gets an object or a list from the API server of KUBECONFIG.
func fetch(path string) (found map[string]any, err error) {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return nil, err
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	response, err := client.Get(config.Host + "/" + path)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = errors.New(response.Status)
	}
	if err != nil {
		return nil, err
	}
	return found, json.Unmarshal(text, &found)
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "error:", err)
	os.Exit(1)
}
