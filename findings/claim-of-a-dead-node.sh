#!/usr/bin/env bash
# ResourceClaims of pods that were evicted from a dead node. Kubernetes 1.36.3 (kube-scheduler, ResourceClaim controller,
# taint-eviction-controller), seen on 2026-11-30.
#
# Guess:   the replacement of each evicted pod gets a device of the other node at once, whether the claim was made from a
#          template, or is one that the Deployment names.
# Reality: - The claim that the Deployment names keeps its device on the dead node, as the evicted pod counts as its user.
#            The new pod could only run there, and waits.
#          - It waits until the evicted pod is gone, which takes the taint node.kubernetes.io/out-of-service. Then the claim
#            gets a device of the other node.
source "$(dirname "$0")/controlplane.sh"

slice() {
  k create -f - >/dev/null <<END
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: $1}
spec:
  driver: gpu.example.com
  nodeName: $1
  pool: {name: $1, generation: 1, resourceSliceCount: 1}
  devices: [{name: gpu-0}, {name: gpu-1}]
END
}

deployment() {
  k create -f - >/dev/null <<END
apiVersion: apps/v1
kind: Deployment
metadata: {name: $1}
spec:
  selector: {matchLabels: {app: $1}}
  template:
    metadata: {labels: {app: $1}}
    spec:
      terminationGracePeriodSeconds: 2
      resourceClaims: [{name: gpu, $2}]
      containers: [{name: c, image: i, resources: {claims: [{name: gpu}]}}]
END
}

start_controlplane
k create -f - >/dev/null <<END
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu}
spec: {selectors: [{cel: {expression: device.driver == "gpu.example.com"}}]}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: shared}
spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu}}]}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: gpu}
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu}}]}}}
END
node n1 True
slice n1
deployment named "resourceClaimName: shared"
deployment template "resourceClaimTemplateName: gpu"
for app in named template; do runs "app=$app"; done
node n2 True
slice n2
k taint node n1 broken=yes:NoExecute >/dev/null
on_n2() { k get pods -l "app=$1" --field-selector spec.nodeName=n2 -o name | grep .; }
until_true 30 on_n2 template
echo "template: replaced on n2, with a device of its own"

sleep 30 # time in which the other one might be bound
new=$(k get pods -l app=named --field-selector spec.nodeName= -o name)
[[ -n $new ]] || fail "the new pod is bound already"
message=$(k get "$new" -o 'jsonpath={.status.conditions[?(@.type=="PodScheduled")].message}')
pool() { k get resourceclaim shared -o 'jsonpath={.status.allocation.devices.results[0].pool}'; }
has n1 pool || fail "the claim has a device of $(pool)"
[[ $message == *"0/2 nodes are available"* ]] || fail "the new pod is $new: $message"
echo "named: the claim keeps the device of n1, and the new pod waits: $message"

node n1 False
k taint node n1 node.kubernetes.io/out-of-service=off:NoExecute >/dev/null
until_true 120 on_n2 named
has n2 pool || fail "the claim has a device of $(pool)"
echo "named: after the taint out-of-service, the pod is on n2, and so is the device of the claim"
