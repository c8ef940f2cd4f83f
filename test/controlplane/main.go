// Command controlplane is a Kubernetes control plane in one binary: etcd, kube-apiserver, kube-controller-manager,
// kube-scheduler and kubectl, unchanged, as built from their modules. Its first argument selects one of them; the
// others are that program's own:
//
//	controlplane kube-apiserver --etcd-servers=http://127.0.0.1:2379 ...
//
// One file is a third of the size of five, and is linked once. The modules in versions/ build this same file with other
// versions of Kubernetes, and with exactly the libraries that each requires. The module of this folder also has kwok,
// for which some libraries, such as gRPC, are newer than Kubernetes requires.
package main

import (
	"fmt"
	"os"

	_ "time/tzdata" // time zones of CronJobs

	"go.etcd.io/etcd/server/v3/etcdmain"
	_ "k8s.io/client-go/plugin/pkg/client/auth" // the ways kubectl can log in
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"          // --logging-format=json
	_ "k8s.io/component-base/metrics/prometheus/clientgo" // client metrics
	_ "k8s.io/component-base/metrics/prometheus/version"  // version metric
	kubectl "k8s.io/kubectl/pkg/cmd"
	kubectlutil "k8s.io/kubectl/pkg/cmd/util"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

const usage = "usage: controlplane etcd|kube-apiserver|kube-controller-manager|kube-scheduler|kubectl [arguments]"

func main() {
	component := ""
	if len(os.Args) > 1 {
		component = os.Args[1]
		os.Args = os.Args[1:] // where the components look for their name and arguments
	}
	os.Exit(run(component))
}

// run runs the component to its end and returns its exit code.
func run(component string) int {
	switch component {
	case "etcd":
		etcdmain.Main(os.Args)
		return 0
	case "kube-apiserver":
		return cli.Run(apiserver.NewAPIServerCommand())
	case "kube-controller-manager":
		return cli.Run(controllermanager.NewControllerManagerCommand())
	case "kube-scheduler":
		return cli.Run(scheduler.NewSchedulerCommand())
	case "kubectl":
		return runKubectl()
	default:
		fmt.Fprintln(os.Stderr, usage)
		return 2
	}
}

// runKubectl leaves the verbosity to kubectl's own flags.
func runKubectl() int {
	if err := cli.RunNoErrOutput(kubectl.NewDefaultKubectlCommand()); err != nil {
		kubectlutil.CheckErr(err) // prints it and exits
	}
	return 0
}
