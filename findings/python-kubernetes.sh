#!/usr/bin/env bash
# Debian 12's python3-kubernetes 22.6.0 reads events of evictions, and renews a Lease. Seen on 2026-11-29.
#
# Guess:   EventsV1Api lists the events that taint-eviction-controller writes, with eventTime None; what the client reads from
#          a Lease, it writes back unchanged.
# Reality: - Every list of EventsV1Api that holds one event of the older API (no eventTime, as client-go's core recorder
#            writes all its events) raises ValueError, and nothing of the list is returned. CoreV1Api reads the same event.
#          - A renewTime that falls on a whole second loses its six zeros. kube-apiserver 1.36.3 refuses such a Lease with
#            400 ("cannot parse"): a renewal fails by chance, and always where the caller sets microsecond=0.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

fail() {
  echo "CHANGED: $*" >&2
  exit 1
}

packages="kubernetes cachetools certifi chardet charset-normalizer dateutil google-auth idna pyasn1 pyasn1-modules requests
  requests-oauthlib rsa urllib3 websocket"
# shellcheck disable=SC2086
apt-get -qq -o APT::Sandbox::User=root download $(printf 'python3-%s ' $packages)
for package in *.deb; do dpkg-deb -x "$package" root; done
[[ $(dpkg-deb -f python3-kubernetes_*.deb Version) == 22.6.0-2 ]] || fail "another version: $(ls python3-kubernetes_*.deb)"

cat >seen.py <<'END'
import json

from kubernetes import client


class Response:
    def __init__(self, value):
        self.data = json.dumps(value)


def read(kind, value):
    try:
        return api.deserialize(Response(value), kind)
    except ValueError as error:
        return error


api = client.ApiClient()
new = {"metadata": {"name": "new", "namespace": "d"}, "eventTime": "2026-11-29T07:00:00.000000Z", "regarding": {}}
old = {"metadata": {"name": "old", "namespace": "d"}, "eventTime": None, "regarding": {}, "reason": "TaintManagerEviction"}
print("one:", len(read("EventsV1EventList", {"items": [new]}).items))
print("two:", read("EventsV1EventList", {"items": [new, old]}))
print("core:", len(read("CoreV1EventList", {"items": [{"metadata": {}, "involvedObject": {}, "eventTime": None}]}).items))

for digits in ("000000", "500000"):
    lease = {"metadata": {"name": "l"}, "spec": {"renewTime": "2026-11-29T07:00:00." + digits + "Z"}}
    print("renewTime:", api.sanitize_for_serialization(read("V1Lease", lease))["spec"]["renewTime"])
END
PYTHONPATH=root/usr/lib/python3/dist-packages /usr/bin/python3 seen.py >seen
cat seen
diff - seen <<'END' || fail "see the lines above"
one: 1
two: Invalid value for `event_time`, must not be `None`
core: 1
renewTime: 2026-11-29T07:00:00+00:00
renewTime: 2026-11-29T07:00:00.500000+00:00
END
