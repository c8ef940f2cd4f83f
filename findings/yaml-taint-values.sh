#!/usr/bin/env bash
# Taint values that one YAML library writes without quotes, and kubectl 1.36.3 reads as something else. PyYAML 6.0 (Debian 12),
# js-yaml 5.5.0 and yaml 2.9.1 (npm), seen on 2026-11-29. All values are valid label values.
#
# Guess:   PyYAML loses values such as 1e3, JavaScript's libraries lose yes, no, on and off; what kubectl writes, all read.
# Reality: - yaml loses yes, no, on and off, and also y, n, 1_0 and 1_. js-yaml quotes all of these; it loses 0X1F, 0_8 and 1_e3.
#          - PyYAML loses y and n, which it does not take for booleans, 08 and 008, and 0o17, as well as 1e3.
#          - kubectl reads as no standard says: underscores as in YAML 1.1, 0o17 as in YAML 1.2, and 08 as the number 8.
#          - What kubectl writes, all three read back unchanged.
source "$(dirname "$0")/controlplane.sh"

build
cd "$work"
npm init -y >/dev/null
npm install --no-audit --no-fund --ignore-scripts js-yaml@5.5.0 yaml@2.9.1 >/dev/null
apt-get -qq -o APT::Sandbox::User=root download python3-yaml=6.0-3+b2
dpkg-deb -x python3-yaml_*.deb debian
export PYTHONPATH="$work/debian/usr/lib/python3/dist-packages"

cat >values.py <<'END'
import json, sys

import yaml

values = ("yes y n on off No 1e3 1.5e3 1e-3 08 008 010 0o17 0x1f 0X1F 0b1 1_0 1_ 0_8 1_e3 1.0 -1 00 null true 2026-11-28 "
          "20261128 1.2.3 1x e1 nan inf").split()
if sys.argv[1] == "node":
    taints = [{"key": "k", "value": value, "effect": "NoSchedule"} for value in values]
    print(json.dumps({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}, "spec": {"taints": taints}}))
elif sys.argv[1] == "write":
    print(yaml.dump(json.load(open("node.json"))))
else:
    file = open(sys.argv[2])
    read = yaml.safe_load(file) if sys.argv[2] == "kubectl.yaml" else json.load(file)
    print(*[value for value, taint in zip(values, read["spec"]["taints"]) if taint["value"] != value])
END
/usr/bin/python3 values.py node >node.json
/usr/bin/python3 values.py write >PyYAML.yaml
kubectl() { "$work/kubernetes" kubectl label --local -f "$1" a=b -o "$2"; }
kubectl node.json yaml >kubectl.yaml
cat >write.js <<'END'
const fs = require('fs');
const libraries = { 'js-yaml': [require('js-yaml').dump, require('js-yaml').load], yaml: [require('yaml').stringify, require('yaml').parse] };
const node = JSON.parse(fs.readFileSync('node.json'));
for (const [name, [write, read]] of Object.entries(libraries)) {
  fs.writeFileSync(name + '.yaml', write(node));
  const taints = read(fs.readFileSync('kubectl.yaml', 'utf8')).spec.taints;
  console.log('kubectl to ' + name + ':', ...taints.filter((t, i) => t.value !== node.spec.taints[i].value).map(t => t.value));
}
END
command node write.js >seen
echo "kubectl to PyYAML: $(/usr/bin/python3 values.py read kubectl.yaml)" >>seen
for writer in PyYAML js-yaml yaml; do
  kubectl "$writer.yaml" json >"$writer.json"
  echo "$writer to kubectl: $(/usr/bin/python3 values.py read "$writer.json")" >>seen
done
sed -i 's/ *$//' seen
cat seen
diff - seen <<'END' || fail "see the lines above"
kubectl to js-yaml:
kubectl to yaml:
kubectl to PyYAML:
PyYAML to kubectl: y n 1e3 1.5e3 1e-3 08 008 0o17 0X1F 0_8 1_e3
js-yaml to kubectl: 0X1F 0_8 1_e3
yaml to kubectl: yes y n on off No 0X1F 0b1 1_0 1_ 0_8 1_e3
END
