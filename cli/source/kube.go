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

	"github.com/taint-manager/taint-manager/cli/flags"
	"github.com/taint-manager/taint-manager/internal/config"
	"github.com/taint-manager/taint-manager/internal/hint"
	"github.com/taint-manager/taint-manager/internal/skew"
	"github.com/taint-manager/taint-manager/internal/transport"
)

// bindKube adds the flags that every plugin of kubectl has. Rarely used ones are accepted, and hidden in the help.
// --server has another meaning here.
func (f *Flags) bindKube(fs *pflag.FlagSet) {
	var noFlag clientcmd.FlagInfo
	f.ofCluster = fs
	fs.StringVar(&f.kubeconfig, "kubeconfig", "", "Path to the kubeconfig `FILE`. The default is $KUBECONFIG or "+
		"~/.kube/config, or else the in-cluster service account.")
	names := clientcmd.RecommendedConfigOverrideFlags("")
	target, user := &names.ContextOverrideFlags, &names.AuthOverrideFlags
	target.Namespace, names.ClusterOverrideFlags.APIServer = noFlag, noFlag
	user.Username, user.Password = noFlag, noFlag
	names.CurrentContext.Description = "The kubeconfig `CONTEXT` to use. The default is the current context."
	target.ClusterName.Description = "The kubeconfig `CLUSTER` to use. The default is the cluster of the context."
	target.AuthInfoName.Description = "The kubeconfig `USER` to use. The default is the user of the context."
	user.Impersonate.Description = "The `USER` to impersonate."
	user.ImpersonateGroups.Description = "The `GROUP` to impersonate. Can be repeated."
	names.Timeout.Description = "The `DURATION` to wait before giving up on a request to the API server, such as " +
		"10s. 0 means no limit."
	clientcmd.BindOverrideFlags(&f.overrides, fs, names)
	for _, rare := range []string{
		clientcmd.FlagImpersonateUID, clientcmd.FlagBearerToken, clientcmd.FlagCertFile, clientcmd.FlagKeyFile,
		clientcmd.FlagCAFile, clientcmd.FlagInsecure, clientcmd.FlagTLSServerName, clientcmd.FlagProxyURL,
		clientcmd.FlagDisableCompression,
	} {
		fs.Lookup(rare).Hidden = true
	}
}

// Check returns an error for flags that contradict each other, or that are not valid. configs are the configuration
// files, which may be the standard input, too.
func (f *Flags) Check(configs ...string) error {
	inputs := slices.DeleteFunc(slices.Concat(f.files, configs), func(name string) bool { return name != "-" })
	if len(inputs) > 1 {
		return errors.New("standard input (-) can be used only once")
	}
	if given := f.given(); len(f.files) > 0 && given != "" {
		return fmt.Errorf("--filename and %s cannot be used together", given)
	}
	if f.kubernetes != "" && len(f.files) == 0 {
		return errors.New("--kubernetes-version requires --filename, because a cluster reports its version")
	}
	if f.Namespace != "" && f.Everywhere {
		return errors.New("--namespace and --all-namespaces cannot be used together")
	}
	if _, err := clientcmd.ParseTimeout(f.overrides.Timeout); f.overrides.Timeout != "" && err != nil {
		return flags.Invalid(clientcmd.FlagTimeout, f.overrides.Timeout, "must be a duration, such as 10s or 1m")
	}
	return nil
}

// given returns the first flag of the connection that the user has set, or "".
func (f *Flags) given() string {
	var first string
	f.ofCluster.VisitAll(func(flag *pflag.Flag) {
		if first == "" && flag.Changed && flag.Name != "filename" && flag.Name != "kubernetes-version" {
			first = "--" + flag.Name
		}
	})
	return first
}

// loader returns a loader that reads the kubeconfig on demand.
func (f *Flags) loader() clientcmd.ClientConfig {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = f.kubeconfig
	overrides := f.overrides
	overrides.Context.Namespace = f.Namespace
	return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &overrides)
}

// contexts returns the names of the contexts of the kubeconfig, or none if it can't be read.
func (f *Flags) contexts() []string {
	raw, err := f.loader().RawConfig()
	if err != nil {
		return nil
	}
	return slices.Collect(maps.Keys(raw.Contexts))
}

// ContextNamespace returns the namespace of the kubeconfig's context, or "" if there is no kubeconfig.
func (f *Flags) ContextNamespace() (string, error) {
	loader := f.loader()
	raw, err := loader.RawConfig()
	named := f.overrides.CurrentContext != ""
	if !named && (err != nil && f.kubeconfig == "" || err == nil && raw.Contexts[raw.CurrentContext] == nil) {
		return "", nil
	}
	namespace, _, err := loader.Namespace()
	if err != nil {
		return "", f.unusable(loader, err)
	}
	return namespace, nil
}

// Live opens the cluster, and returns the namespace, as Open does. It sends no request.
func (f *Flags) Live(everywhere bool) (c Cluster, namespace string, err error) {
	if f.kubeconfig != "" {
		if err := transport.Readable(f.kubeconfig); err != nil {
			return c, "", err
		}
	}
	loader := f.loader()
	base, err := loader.ClientConfig()
	if err == nil {
		namespace, _, err = loader.Namespace()
	}
	if err != nil {
		return c, "", f.unusable(loader, err)
	}
	if everywhere {
		namespace = f.Namespace
	}
	base = rest.CopyConfig(base)
	base.UserAgent, base.QPS = f.userAgent, -1 // a user waits for a few large answers
	base.ContentType = config.ContentTypeProtobuf
	base.AcceptContentTypes = config.ContentTypeProtobuf + "," + config.ContentTypeJSON
	clock := skew.New()
	base.Wrap(clock.RoundTripper)
	client, err := kubernetes.NewForConfig(base)
	if err != nil {
		return c, "", fmt.Errorf("setting up the client of %s: %w", base.Host, err)
	}
	c = Cluster{
		client: client, server: base.Host, origin: f.origin(loader), now: serverTime(clock.Ahead), location: f.location,
	}
	return c, namespace, nil
}

// origin returns where the server's address comes from.
func (f *Flags) origin(loader clientcmd.ClientConfig) string {
	if f.kubeconfig != "" {
		return "--kubeconfig=" + f.kubeconfig
	}
	for _, file := range loader.ConfigAccess().GetLoadingPrecedence() {
		if _, err := os.Stat(file); err == nil {
			return file
		}
	}
	return "the pod's service account"
}

// unusable returns an error that describes the problem with the kubeconfig.
func (f *Flags) unusable(loader clientcmd.ClientConfig, err error) error {
	contexts := f.contexts()
	switch {
	case clientcmd.IsEmptyConfig(err):
		return hint.Add(errors.New("no cluster configured: no kubeconfig found, and not running in a pod"),
			"Specify a kubeconfig file with --kubeconfig=FILE or $KUBECONFIG, or a dump with --filename=FILE.")
	case f.overrides.CurrentContext != "" && len(contexts) > 0 &&
		!slices.Contains(contexts, f.overrides.CurrentContext):
		return hint.Add(fmt.Errorf("context %q does not exist in %s%s", f.overrides.CurrentContext, f.origin(loader),
			flags.Nearest(f.overrides.CurrentContext, contexts)), "Check with 'kubectl config get-contexts'.")
	}
	return hint.Add(fmt.Errorf("cannot use %s: %w", f.origin(loader), err), "Check it with 'kubectl cluster-info'.")
}
