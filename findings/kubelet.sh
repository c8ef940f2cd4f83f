# Sourced by the findings that need a kubelet: next to what controlplane.sh starts, it runs the kubelet of Kubernetes 1.36.3 for the
# node n1, unchanged, with the stand-ins of kubemark for cAdvisor and cgroups. Its containers are those of cri-client's fake
# runtime, another process, so that they outlive the kubelet. Nothing runs in them. Their names say how they take SIGTERM: see
# stubborn.
source "$(dirname "${BASH_SOURCE[0]}")/controlplane.sh"

# build_kubelet builds a program that is the kubelet or the runtime.
build_kubelet() {
  mkdir "$work/node"
  cp "$here/../test/controlplane/go.mod" "$here/../test/controlplane/go.sum" "$work/node"
  cat >"$work/node/main.go" <<'END'
package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/trace/noop"
	"google.golang.org/grpc"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	api "k8s.io/cri-api/pkg/apis/runtime/v1"
	cri "k8s.io/cri-client/pkg"
	"k8s.io/cri-client/pkg/fake"
	cadvisor "k8s.io/kubernetes/pkg/kubelet/cadvisor/testing"
	"k8s.io/kubernetes/pkg/kubelet/cm"
	"k8s.io/kubernetes/pkg/kubemark"
)

func main() {
	ctx, socket := context.Background(), os.Args[2]
	switch os.Args[1] {
	case "runtime":
		serve(strings.TrimPrefix(socket, "unix://"))
	case "kubelet":
		kubelet(ctx, socket, os.Args[3], os.Args[4], os.Args[5])
	}
}

func kubelet(ctx context.Context, socket, kubeconfig, root, port string) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	must(err)
	client := kubernetes.NewForConfigOrDie(config)
	runtime, err := cri.NewRemoteRuntimeService(ctx, socket, 2*time.Minute, noop.NewTracerProvider(), false)
	must(err)
	images, err := cri.NewRemoteImageService(ctx, socket, time.Minute, noop.NewTracerProvider(), false)
	must(err)
	number, err := strconv.Atoi(port)
	must(err)
	flags, c := kubemark.GetHollowKubeletConfig(&kubemark.HollowKubeletOptions{NodeName: "n1", KubeletPort: number, MaxPods: 20})
	flags.RootDirectory, c.Address = root, "127.0.0.1"
	kubemark.NewHollowKubelet(flags, c, client, client, &cadvisor.Fake{NodeName: "n1"}, images, runtime, cm.NewStubContainerManager()).Run(ctx)
}

// stubborn is the fake runtime. It prints how many seconds each container gets to end. Containers take all of them and are
// killed, except those named polite, which end with exit code 0 at once, and those named tidy, which do after 3 seconds.
type stubborn struct{ *fake.RemoteRuntime }

func (s stubborn) StopContainer(ctx context.Context, r *api.StopContainerRequest) (*api.StopContainerResponse, error) {
	status, err := s.RemoteRuntime.ContainerStatus(ctx, &api.ContainerStatusRequest{ContainerId: r.ContainerId})
	must(err)
	fmt.Println(status.Status.Metadata.Name, r.Timeout)
	switch status.Status.Metadata.Name {
	case "tidy":
		time.Sleep(3 * time.Second)
		fallthrough
	case "polite":
		return s.RemoteRuntime.StopContainer(ctx, r)
	}
	select {
	case <-time.After(time.Duration(r.Timeout) * time.Second):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	s.RuntimeService.Lock()
	s.RuntimeService.Containers[r.ContainerId].ExitCode = 137
	s.RuntimeService.Unlock()
	return s.RemoteRuntime.StopContainer(ctx, r)
}

func serve(socket string) {
	f := fake.NewFakeRemoteRuntime()
	f.ImageService.SetFakeImageSize(1)
	f.RuntimeService.FakeStatus = &api.RuntimeStatus{Conditions: []*api.RuntimeCondition{
		{Type: api.RuntimeReady, Status: true}, {Type: api.NetworkReady, Status: true},
	}}
	server := grpc.NewServer()
	api.RegisterRuntimeServiceServer(server, stubborn{f})
	api.RegisterImageServiceServer(server, f)
	listener, err := net.Listen("unix", socket)
	must(err)
	must(server.Serve(listener))
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
END
  echo "building the kubelet $version"
  GOFLAGS=-mod=mod go build -C "$work/node" -o "$work/kubelet" .
}

# start_node builds and starts the runtime and the kubelet, whose process is $kubelet.
start_node() {
  build_kubelet
  "$work/kubelet" runtime "unix://$work/cri.sock" >"$work/stops" 2>"$work/runtime.log" &
  pids+=($!)
  start_kubelet
  until_true 60 k wait --for=condition=Ready node/n1
  until_true 60 has "" k get node n1 -o 'jsonpath={.spec.taints}'
}

start_kubelet() {
  TMPDIR=$work "$work/kubelet" kubelet "unix://$work/cri.sock" "$work/kubeconfig" "$work/root" "$(free_port)" >>"$work/kubelet.log" 2>&1 &
  kubelet=$!
  pids+=($kubelet)
}

# pod NAME GRACE TOLERATIONS creates a pod on n1, whose container has its name, and waits until it runs.
pod() {
  k create -f - >/dev/null <<<'{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "'"$1"'", "labels": {"app": "a"}}, "spec": {
    "nodeName": "n1", "terminationGracePeriodSeconds": '"$2"', "automountServiceAccountToken": false, "tolerations": '"$3"',
    "containers": [{"name": "'"$1"'", "image": "i", "imagePullPolicy": "IfNotPresent"}]}}'
  until_true 120 has "Running " phase "$1"
}

phase() { k get pod "$1" -o 'jsonpath={.status.phase} {.status.reason}'; }

# stops prints the containers that had to end, each with the seconds that it got.
stops() { sort "$work/stops" | xargs; }
