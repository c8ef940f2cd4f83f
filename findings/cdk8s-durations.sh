#!/usr/bin/env bash
# Tolerations and durations in cdk8s 2.70.106 and cdk8s-plus-33 2.5.57 (npm), seen on 2026-11-29.
#
# Guess:   Duration.parse reads ISO 8601, so evictAfter may be P1D; evictAfter may stand on every query, also on any().
# Reality: - Duration.parse refuses P1D and P1DT1H, and reads and writes PT1D and PT1D1H, which are no ISO 8601.
#          - toHumanString says "1 day 60 minutes" for 25 hours, and "1 day 1 hour" for 26 hours; the manifest is right.
#          - NodeTaintQuery.any() takes no options: "tolerate every taint for an hour" can't be said, only "for ever".
#          - evictAfter without an effect is refused when the query is made; 0 seconds is kept, and means "at once".
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm init -y >/dev/null
npm install --no-audit --no-fund --ignore-scripts cdk8s@2.70.106 cdk8s-plus-33@2.5.57 constructs@10 >/dev/null

cat >seen.js <<'END'
const { Duration, Testing } = require('cdk8s');
const { Node, NodeTaintQuery, Pod, TaintEffect } = require('cdk8s-plus-33');

function attempt(f) {
  try {
    return f();
  } catch (error) {
    return error.message;
  }
}

function tolerations(query) {
  const chart = Testing.chart();
  new Pod(chart, 'pod', { containers: [{ image: 'i' }] }).scheduling.tolerate(Node.tainted(query()));
  return JSON.stringify(Testing.synth(chart)[0].spec.tolerations);
}

const evictAfter = duration => ({ effect: TaintEffect.NO_EXECUTE, evictAfter: duration });
for (const text of ['P1D', 'P1DT1H', 'PT1D', 'PT1D1H', 'PT36H']) {
  console.log(text, '|', attempt(() => Duration.parse(text).toSeconds()));
}
for (const hours of [24, 25, 26]) {
  const duration = Duration.hours(hours);
  console.log(hours, 'hours |', duration.toIsoString(), '|', duration.toHumanString(), '|', duration.toSeconds());
}
console.log('any |', tolerations(() => NodeTaintQuery.any()), '|', NodeTaintQuery.any.length, 'parameters');
console.log('0 s |', tolerations(() => NodeTaintQuery.exists('k', evictAfter(Duration.seconds(0)))));
console.log('no effect |', attempt(() => tolerations(() => NodeTaintQuery.exists('k', { evictAfter: Duration.hours(1) }))));
END
node seen.js >seen
cat seen
diff - seen <<'END' || { echo "CHANGED: see the lines above" >&2; exit 1; }
P1D | Not a valid ISO duration: P1D
P1DT1H | Not a valid ISO duration: P1DT1H
PT1D | 86400
PT1D1H | 90000
PT36H | 129600
24 hours | PT1D | 1 day | 86400
25 hours | PT1D1H | 1 day 60 minutes | 90000
26 hours | PT1D2H | 1 day 1 hour | 93600
any | [{"operator":"Exists"}] | 0 parameters
0 s | [{"effect":"NoExecute","key":"k","operator":"Exists","tolerationSeconds":0}]
no effect | Only 'NO_EXECUTE' effects can specify 'evictAfter'
END
