package source

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/spf13/pflag"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/taint-manager/taint-manager/cli/suggest"
	"github.com/taint-manager/taint-manager/config"
	"github.com/taint-manager/taint-manager/internal/transport"
)

// kube is the connection to a cluster, as kubectl has it: by $KUBECONFIG or ~/.kube/config, or by the service
// account of the pod in which the program runs.
type kube struct {
	kubeconfig string
	overrides  clientcmd.ConfigOverrides // of the kubeconfig
	Namespace  string
	fs         *pflag.FlagSet // with all flags of the connection

	userAgent string
}

// bind adds the flags that every plugin of kubectl has. Rarely used ones are accepted, and hidden in the help.
// --server has another meaning here.
func (k *kube) bind(fs *pflag.FlagSet) {
	k.fs = fs
	fs.StringVar(&k.kubeconfig, "kubeconfig", "", "`FILE` that says how to reach the cluster. If empty, $KUBECONFIG "+
		"or ~/.kube/config, else the service account of the pod that this runs in.")
	names := clientcmd.RecommendedConfigOverrideFlags("")
	names.ContextOverrideFlags.Namespace, names.ClusterOverrideFlags.APIServer = clientcmd.FlagInfo{},
		clientcmd.FlagInfo{}
	names.AuthOverrideFlags.Username, names.AuthOverrideFlags.Password = clientcmd.FlagInfo{}, clientcmd.FlagInfo{}
	names.CurrentContext.Description = "`CONTEXT` of the kubeconfig to use. If empty, the current one."
	names.ContextOverrideFlags.ClusterName.Description = "`CLUSTER` of the kubeconfig to use, instead of that of " +
		"the context."
	names.ContextOverrideFlags.AuthInfoName.Description = "`USER` of the kubeconfig to use, instead of that of " +
		"the context."
	names.AuthOverrideFlags.Impersonate.Description = "`USER` to impersonate, as with kubectl --as."
	names.AuthOverrideFlags.ImpersonateGroups.Description = "`GROUP` to impersonate. May be given several times."
	names.Timeout.Description = "`DURATION` after which a request to the API server is given up, such as 10s; 0 " +
		"is no limit."
	clientcmd.BindOverrideFlags(&k.overrides, fs, names)
	for _, rare := range []string{
		clientcmd.FlagImpersonateUID, clientcmd.FlagBearerToken, clientcmd.FlagCertFile, clientcmd.FlagKeyFile,
		clientcmd.FlagCAFile,
		clientcmd.FlagInsecure, clientcmd.FlagTLSServerName, clientcmd.FlagProxyURL, clientcmd.FlagDisableCompression,
	} {
		fs.Lookup(rare).Hidden = true
	}
}

// check returns an error if the timeout is not valid.
func (k *kube) check() error {
	if _, err := clientcmd.ParseTimeout(k.overrides.Timeout); k.overrides.Timeout != "" && err != nil {
		return config.Refusal{
			Flag: clientcmd.FlagTimeout, Value: k.overrides.Timeout, Allowed: "it takes a duration",
			Next: "write it as 10s or 1m, or leave it out for no limit",
		}
	}
	return nil
}

// given returns the first flag of the connection that the user has set, or "".
func (k *kube) given() string {
	var first string
	k.fs.VisitAll(func(f *pflag.Flag) {
		if first == "" && f.Changed && f.Name != "filename" {
			first = "--" + f.Name
		}
	})
	return first
}

// reached is a cluster with its client.
type reached struct {
	client kubernetes.Interface

	// server is its address, which origin has provided.
	server, origin string

	// namespace is the one of the flag or, without it, of the kubeconfig's context.
	namespace string
}

// loader returns a loader that reads the kubeconfig on demand.
func (k *kube) loader() clientcmd.ClientConfig {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = k.kubeconfig
	overrides := k.overrides
	overrides.Context.Namespace = k.Namespace
	return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &overrides)
}

// contextNames returns the contexts of the kubeconfig, or none if it can't be read.
func (k *kube) contextNames() []string {
	raw, err := k.loader().RawConfig()
	if err != nil {
		return nil
	}
	return slices.Collect(maps.Keys(raw.Contexts))
}

// ContextNamespace returns the namespace of the kubeconfig's context, or "" if there is no kubeconfig.
func (k *kube) ContextNamespace() (string, error) {
	loader := k.loader()
	raw, err := loader.RawConfig()
	if err != nil && k.kubeconfig == "" && k.overrides.CurrentContext == "" {
		return "", nil
	}
	if err == nil && k.overrides.CurrentContext == "" && raw.Contexts[raw.CurrentContext] == nil {
		return "", nil
	}
	namespace, _, err := loader.Namespace()
	if err != nil {
		return "", k.unusable(loader, err)
	}
	return namespace, nil
}

// reach creates the client of the cluster. It sends no request.
func (k *kube) reach() (*reached, error) {
	if k.kubeconfig != "" {
		if err := transport.Readable(k.kubeconfig); err != nil {
			return nil, fmt.Errorf("--kubeconfig=%s can't be read: %w; name a kubeconfig file that this "+
				"user may read", k.kubeconfig, err)
		}
	}
	loader := k.loader()
	base, err := loader.ClientConfig()
	if err != nil {
		return nil, k.unusable(loader, err)
	}
	namespace, _, err := loader.Namespace()
	if err != nil {
		return nil, k.unusable(loader, err)
	}
	client, err := kubernetes.NewForConfig(forPeople(base, k.userAgent))
	if err != nil {
		return nil, fmt.Errorf("setting up the client of %s: %w", base.Host, err)
	}
	return &reached{client: client, server: base.Host, origin: k.origin(loader), namespace: namespace}, nil
}

// forPeople returns a configuration for few and large answers, for which a user waits.
func forPeople(base *rest.Config, userAgent string) *rest.Config {
	made := rest.CopyConfig(base)
	made.UserAgent = userAgent
	made.ContentType = config.ContentTypeProtobuf
	made.AcceptContentTypes = config.ContentTypeProtobuf + "," + config.ContentTypeJSON
	made.QPS = -1
	return made
}

// origin returns where the server's address comes from.
func (k *kube) origin(loader clientcmd.ClientConfig) string {
	if k.kubeconfig != "" {
		return "--kubeconfig=" + k.kubeconfig
	}
	for _, file := range loader.ConfigAccess().GetLoadingPrecedence() {
		if _, err := os.Stat(file); err == nil {
			return file
		}
	}
	return "the pod's service account"
}

// unusable returns an error that describes the problem with the kubeconfig.
func (k *kube) unusable(loader clientcmd.ClientConfig, err error) error {
	contexts := k.contextNames()
	switch {
	case clientcmd.IsEmptyConfig(err):
		return errors.New("there is no cluster: no kubeconfig, and this does not run in a pod; name a kubeconfig " +
			"file with --kubeconfig=FILE or $KUBECONFIG, or a dump with --filename=FILE")
	case k.overrides.CurrentContext != "" && len(contexts) > 0 &&
		!slices.Contains(contexts, k.overrides.CurrentContext):
		return fmt.Errorf("there is no context %q in %s%s; 'kubectl config "+
			"get-contexts' lists them", k.overrides.CurrentContext, k.origin(loader),
			suggest.Nearest(k.overrides.CurrentContext, contexts))
	}
	return fmt.Errorf("%s can't be used: %w; check it with 'kubectl cluster-info'", k.origin(loader), err)
}
