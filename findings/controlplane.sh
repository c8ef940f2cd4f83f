# Sourced by findings that need a real control plane: etcd, kube-apiserver, kube-controller-manager and kube-scheduler,
# unchanged, of the version in test/controlplane/go.mod or, if the finding sets it, of another one that the tests build.
# Nothing of taint-manager runs. No kubelet runs either: a node is an object whose status is patched, and a pod whose
# deletion begins stays, as on a machine that has lost its power.
#
# After start_controlplane, k runs kubectl. manager_flags and scheduler_flags are added to those of kube-controller-manager
# and kube-scheduler. Everything is in a temporary folder, and is removed at exit.

set -euo pipefail
version=${version:-1.36.3}
manager_flags=("${manager_flags[@]:---v=2}")
scheduler_flags=("${scheduler_flags[@]:---v=2}")
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
pids=()

stop() {
  kill -KILL "${pids[@]}" 2>/dev/null || true # a kube-apiserver that has lost its etcd takes minutes to end
  wait 2>/dev/null || true
  rm -rf "$work"
}
trap stop EXIT

fail() {
  echo "CHANGED: $*" >&2
  exit 1
}

k() { "$work/kubernetes" kubectl --kubeconfig "$work/kubeconfig" "$@"; }

background() {
  local name=$1
  shift
  "$work/kubernetes" "$@" >"$work/$name.log" 2>&1 &
  pids+=($!)
}

free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

build() {
  local module=test/controlplane program=bin/controlplane
  if [[ $version != 1.36.* ]]; then
    module=test/controlplane/versions/${version%.*} program=bin/controlplane-${version%.*}
  fi
  grep -q "k8s.io/kubernetes v$version\$" "$here/../$module/go.mod" || fail "$module has another version"
  echo "building Kubernetes $version, which takes minutes when Go's caches are empty"
  make -s -C "$here/.." "$program"
  cp "$here/../$program" "$work/kubernetes"
}

# certificate makes the certificate of the API server, of its administrator and of webhooks; the files $work/certs/tls.*
# are links to it.
certificate() {
  mkdir "$work/certs"
  ln -s ../crt "$work/certs/tls.crt"
  ln -s ../key "$work/certs/tls.key"
  openssl req -x509 -newkey rsa:2048 -nodes -days 2 -keyout "$work/key" -out "$work/crt" -subj "/O=system:masters/CN=admin" \
    -addext "subjectAltName=IP:127.0.0.1" -addext "extendedKeyUsage=serverAuth,clientAuth" 2>/dev/null
}

# start_controlplane FLAG... starts everything; the flags are for kube-apiserver.
start_controlplane() {
  build
  certificate
  local etcd peer api scheduler
  etcd=$(free_port) peer=$(free_port) api=$(free_port) scheduler=$(free_port)
  cat >"$work/kubeconfig" <<END
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "https://127.0.0.1:$api", certificate-authority: $work/crt}}]
users: [{name: u, user: {client-certificate: $work/crt, client-key: $work/key}}]
contexts: [{name: c, context: {cluster: c, user: u}}]
current-context: c
END
  background etcd etcd --data-dir="$work/etcd" --unsafe-no-fsync --log-level=warn \
    --listen-client-urls="http://127.0.0.1:$etcd" --advertise-client-urls="http://127.0.0.1:$etcd" \
    --listen-peer-urls="http://127.0.0.1:$peer" --initial-advertise-peer-urls="http://127.0.0.1:$peer" \
    --initial-cluster="default=http://127.0.0.1:$peer"
  background apiserver kube-apiserver --etcd-servers="http://127.0.0.1:$etcd" --bind-address=127.0.0.1 --secure-port="$api" \
    --tls-cert-file="$work/crt" --tls-private-key-file="$work/key" --client-ca-file="$work/crt" \
    --service-account-issuer=https://kubernetes.default.svc --service-account-key-file="$work/key" \
    --service-account-signing-key-file="$work/key" --service-cluster-ip-range=10.0.0.0/16 --authorization-mode=RBAC \
    --disable-admission-plugins=ServiceAccount --endpoint-reconciler-type=none --advertise-address=127.0.0.1 "$@"
  until_true 180 k get --raw /readyz
  start_manager
  background scheduler kube-scheduler --kubeconfig="$work/kubeconfig" --leader-elect=false --bind-address=127.0.0.1 \
    --secure-port="$scheduler" --authentication-kubeconfig="$work/kubeconfig" --authorization-kubeconfig="$work/kubeconfig" \
    "${scheduler_flags[@]}"
}

# start_manager starts kube-controller-manager, whose process is $manager.
start_manager() {
  background manager kube-controller-manager --kubeconfig="$work/kubeconfig" --leader-elect=false --bind-address=127.0.0.1 \
    --secure-port="$(free_port)" --authentication-kubeconfig="$work/kubeconfig" --authorization-kubeconfig="$work/kubeconfig" \
    --service-account-private-key-file="$work/key" --node-monitor-grace-period=24h --node-startup-grace-period=24h \
    "${manager_flags[@]}"
  manager=${pids[-1]}
}

# module MODULE@VERSION copies the source code of a Go module; the result is the folder $module.
module() {
  local dir
  dir=$(cd "$work" && GOFLAGS=-mod=mod go mod download -json "$1" | python3 -c 'import json, sys; print(json.load(sys.stdin)["Dir"])')
  module=$work/module
  cp -r "$dir" "$module"
  chmod -R u+w "$module"
  echo "building $1"
}

# webhook PORT PATH GROUP/VERSION RESOURCE registers a mutating webhook of this machine.
webhook() {
  k create -f - >/dev/null <<END
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata: {name: $4}
webhooks:
- name: $4.example.com
  admissionReviewVersions: [v1]
  sideEffects: None
  clientConfig: {url: "https://127.0.0.1:$1/$2", caBundle: $(base64 -w0 "$work/crt")}
  rules: [{apiGroups: ["$([[ $3 != */* ]] || echo "${3%/*}")"], apiVersions: ["${3##*/}"], operations: [CREATE], resources: [$4]}]
END
}

# controller_config VERSION PORT prints the configuration, in this API version, of a controller whose webhooks are on the port.
controller_config() {
  cat <<END
apiVersion: $1
kind: Configuration
webhook: {port: $2, host: 127.0.0.1, certDir: $work/certs}
leaderElection: {leaderElect: false}
internalCertManagement: {enable: false}
metrics: {bindAddress: "0"}
health: {healthProbeBindAddress: "127.0.0.1:$(free_port)"}
END
}

# until_true SECONDS COMMAND... repeats the command until it succeeds.
until_true() {
  local end=$((SECONDS + $1))
  shift
  until "$@" >/dev/null 2>&1; do
    ((SECONDS < end)) || fail "never true: $*"
    sleep 0.5
  done
}

# has TEXT COMMAND... reports whether the command prints exactly this text.
has() {
  local want=$1
  shift
  [[ $("$@" 2>/dev/null) == "$want" ]]
}

# node NAME READY creates the node, or changes its condition Ready to True or False.
node() {
  k get node "$1" >/dev/null 2>&1 || k create -f - >/dev/null <<<"{apiVersion: v1, kind: Node, metadata: {name: $1}}"
  k patch node "$1" --subresource=status --type=merge >/dev/null -p '{"status": {
    "allocatable": {"cpu": "4", "memory": "4Gi", "pods": "20"}, "capacity": {"cpu": "4", "memory": "4Gi", "pods": "20"},
    "conditions": [{"type": "Ready", "status": "'"$2"'", "reason": "Patched",
      "lastHeartbeatTime": "2026-01-01T00:00:00Z", "lastTransitionTime": "2026-01-01T00:00:00Z"}]}}'
  [[ $2 != True ]] || until_true 60 has "" k get node "$1" -o 'jsonpath={.spec.taints}'
}

# runs SELECTOR waits until a pod with these labels is bound, and says that it runs; the result is in $pod.
runs() {
  until_true 60 bound "$1"
  pod=$(k get pods -l "$1" -o name)
  running "$pod"
}

# running POD... says that these pods run.
running() {
  local one
  for one in "$@"; do
    k patch "$one" --subresource=status --type=merge >/dev/null \
      -p '{"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}}'
  done
}

bound() { [[ -n $(k get pods -l "$1" -o 'jsonpath={.items[0].spec.nodeName}') ]]; }

# terminating [APP] prints the pods with the label app=APP, or all, that are being deleted, each with a space after it.
terminating() {
  k get pods ${1:+-l "app=$1"} -o 'go-template={{range .items}}{{if .metadata.deletionTimestamp}}{{.metadata.name}} {{end}}{{end}}'
}

# ended POD... removes pods that are being deleted, as a kubelet does once it has stopped their containers.
ended() {
  local one
  for one in "$@"; do
    k delete --raw "/api/v1/namespaces/default/pods/$one?gracePeriodSeconds=0" >/dev/null
  done
}
