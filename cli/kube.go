package cli

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"github.com/spf13/pflag"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/taint-manager/taint-manager/config"
)

// kube is how people reach a cluster, as with kubectl: by $KUBECONFIG or ~/.kube/config, or by the
// service account of the pod that this runs in.
type kube struct {
	kubeconfig string
	context    string
	namespace  string
}

func (k *kube) flags(fs *pflag.FlagSet) {
	fs.StringVar(&k.kubeconfig, "kubeconfig", "", "`FILE` that says how to reach the cluster. If empty, $KUBECONFIG or ~/.kube/config, else the service account of the pod that this runs in.")
	fs.StringVar(&k.context, "context", "", "`CONTEXT` of the kubeconfig to use. If empty, the current one.")
}

// reached is a cluster that can be talked to.
type reached struct {
	client kubernetes.Interface

	// server is its address, which is from origin.
	server, origin string

	// namespace of the flag or, where there is none, of the kubeconfig's context.
	namespace string
}

// reach finds out how to talk to the cluster, and does not talk to it.
func (k *kube) reach() (*reached, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	if rules.ExplicitPath = k.kubeconfig; k.kubeconfig != "" {
		if err := readable(k.kubeconfig); err != nil {
			return nil, fmt.Errorf("--kubeconfig=%s can't be read: %w; name a kubeconfig file that this user may read", k.kubeconfig, err)
		}
	}
	overrides := &clientcmd.ConfigOverrides{CurrentContext: k.context}
	overrides.Context.Namespace = k.namespace
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, overrides)
	base, err := loader.ClientConfig()
	if err != nil {
		return nil, k.unusable(loader, rules, err)
	}
	namespace, _, err := loader.Namespace()
	if err != nil {
		return nil, k.unusable(loader, rules, err)
	}
	client, err := kubernetes.NewForConfig(forPeople(base))
	if err != nil {
		return nil, fmt.Errorf("setting up the client of %s: %w", base.Host, err)
	}
	return &reached{client: client, server: base.Host, origin: k.origin(rules), namespace: namespace}, nil
}

// forPeople is for few and large answers, which somebody waits for.
func forPeople(base *rest.Config) *rest.Config {
	made := rest.CopyConfig(base)
	made.UserAgent = userAgent(thisBuild())
	made.ContentType = config.ContentTypeProtobuf
	made.AcceptContentTypes = config.ContentTypeProtobuf + "," + config.ContentTypeJSON
	made.QPS = -1
	return made
}

// origin is where the server's address is from.
func (k *kube) origin(rules *clientcmd.ClientConfigLoadingRules) string {
	if k.kubeconfig != "" {
		return "--kubeconfig=" + k.kubeconfig
	}
	for _, file := range rules.Precedence {
		if _, err := os.Stat(file); err == nil {
			return file
		}
	}
	return "the pod's service account"
}

// unusable says what is wrong with the kubeconfig.
func (k *kube) unusable(loader clientcmd.ClientConfig, rules *clientcmd.ClientConfigLoadingRules, err error) error {
	if clientcmd.IsEmptyConfig(err) {
		return errors.New("there is no cluster: no kubeconfig, and this does not run in a pod; name a kubeconfig file with --kubeconfig=FILE or $KUBECONFIG, or a dump with --filename=FILE")
	}
	if raw, failed := loader.RawConfig(); k.context != "" && failed == nil && raw.Contexts[k.context] == nil {
		var contexts []string
		for name := range raw.Contexts {
			contexts = append(contexts, name)
		}
		return fmt.Errorf("there is no context %s in %s%s; 'kubectl config get-contexts' lists them", strconv.Quote(k.context), k.origin(rules), nearest(k.context, contexts))
	}
	return fmt.Errorf("%s can't be used: %w; check it with 'kubectl cluster-info'", k.origin(rules), err)
}
