{{- define "taint-manager.labels" -}}
app.kubernetes.io/name: taint-manager
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
{{- end }}

{{- define "taint-manager.image" -}}
{{- with .Values.image -}}
{{ .repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end -}}
{{- end }}

{{- /* The namespace of the lease and of the journal. */ -}}
{{- define "taint-manager.leaseNamespace" -}}
{{ dig "leaderElection" "resourceNamespace" .Release.Namespace .Values.config }}
{{- end }}

{{- /* The name of the lease, and the beginning of the names of the journal's ConfigMaps. */ -}}
{{- define "taint-manager.leaseName" -}}
{{ dig "leaderElection" "resourceName" "taint-manager" .Values.config }}
{{- end }}

{{- define "taint-manager.config" -}}
{{- $config := deepCopy .Values.config -}}
{{- if ne .Release.Namespace "kube-system" -}}
{{- $lease := dict "leaderElection" (dict "resourceNamespace" (include "taint-manager.leaseNamespace" .)) -}}
{{- $config = mergeOverwrite $config $lease -}}
{{- end -}}
apiVersion: taint-manager/v1alpha1
kind: TaintManagerConfiguration
{{- with $config }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- /* The configuration without the fields that a running process takes in from the mounted file. */ -}}
{{- define "taint-manager.restartConfig" -}}
{{- $config := omit (include "taint-manager.config" . | fromYaml) "paused" "policies" "guards" -}}
{{- $eviction := omit (get $config "eviction" | default dict) "method" "workers" "comparisonOperators" -}}
{{- $config = omit $config "eviction" -}}
{{- if $eviction }}{{ $_ := set $config "eviction" $eviction }}{{ end -}}
{{ toYaml $config }}
{{- end }}

{{- define "taint-manager.subjects" -}}
subjects:
- kind: ServiceAccount
  name: taint-manager
  namespace: {{ .Release.Namespace }}
{{- end }}

{{- define "taint-manager.journalNames" -}}
{{- range until 8 }}
- {{ include "taint-manager.leaseName" $ }}-journal-{{ . }}
{{- end }}
{{- end }}

{{- /* The settings that extraArgs override. */ -}}
{{- define "taint-manager.method" -}}
{{- $method := dig "eviction" "method" "Delete" .Values.config -}}
{{- range .Values.extraArgs -}}
{{- if hasPrefix "--eviction-method=" . }}{{ $method = trimPrefix "--eviction-method=" . | title }}{{ end -}}
{{- end -}}
{{ $method }}
{{- end }}

{{- /* Whether a setting is on, of which a flag in extraArgs overrides the value: (list . "--flag" value). */ -}}
{{- define "taint-manager.on" -}}
{{- $flag := index . 1 -}}
{{- $on := index . 2 -}}
{{- range (index . 0).Values.extraArgs -}}
{{- if has . (list $flag (printf "%s=true" $flag)) }}{{ $on = true }}{{ end -}}
{{- if eq . (printf "%s=false" $flag) }}{{ $on = false }}{{ end -}}
{{- end -}}
{{- if $on }}true{{ end }}
{{- end }}

{{- define "taint-manager.dryRun" -}}
{{- include "taint-manager.on" (list . "--dry-run" (dig "dryRun" false .Values.config)) -}}
{{- end }}

{{- define "taint-manager.paused" -}}
{{- include "taint-manager.on" (list . "--paused" (dig "paused" false .Values.config)) -}}
{{- end }}

{{- /* The port of probes and metrics. */ -}}
{{- define "taint-manager.port" -}}
{{- range .Values.extraArgs -}}
{{- if hasPrefix "--secure-port" . }}{{ fail (printf "extraArgs has %s, and the probes would ask another port: set config.serving.securePort" .) }}{{ end -}}
{{- end -}}
{{- $address := dig "serving" "bindAddress" "" .Values.config -}}
{{- if or (hasPrefix "127." $address) (eq "::1" $address) }}{{ fail (printf "config.serving.bindAddress is %s, and the kubelet's probes come from outside of the pod: leave it out" $address) }}{{ end -}}
{{- $port := dig "serving" "securePort" 10270 .Values.config | int -}}
{{- if not $port }}{{ fail "config.serving.securePort is 0, and the probes need a port: set it to one of 1 to 65535, or leave it out for 10270" }}{{ end -}}
{{- $port -}}
{{- end }}

{{- /* GOMEMLIMIT, nine tenths of resources.limits.memory in bytes; empty without that limit. */ -}}
{{- define "taint-manager.goMemoryLimit" -}}
{{- $limit := dig "limits" "memory" nil (.Values.resources | default dict) -}}
{{- if not (kindIs "invalid" $limit) -}}
{{- $units := dict "" 1 "k" 1e3 "M" 1e6 "G" 1e9 "T" 1e12 "Ki" 1024 "Mi" 1048576 "Gi" 1073741824 "Ti" 1099511627776 -}}
{{- $text := toString $limit -}}
{{- $bytes := 0.0 -}}
{{- if regexMatch "^([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+]?[0-9]+|[KMGT]i|[kMGT])?$" $text -}}
{{- $unit := regexFind "([KMGT]i|[kMGT])?$" $text -}}
{{- $bytes = mulf (trimSuffix $unit $text) (get $units $unit) -}}
{{- end -}}
{{- if or (lt $bytes 1048576.0) (gt $bytes 1e15) }}{{ fail (printf "resources.limits.memory is %s, and GOMEMLIMIT can't be computed from it: set it to a quantity of 1Mi to 1000T without a suffix or with k, M, G, T, Ki, Mi, Gi or Ti, such as 512Mi, or to null for no limit" (toJson $limit)) }}{{ end -}}
{{ mulf $bytes 0.9 | floor | int64 }}B
{{- end -}}
{{- end }}

{{- /* Whether it takes part in leader election. A dry run does only if a flag says so. */ -}}
{{- define "taint-manager.elects" -}}
{{- range .Values.extraArgs -}}
{{- if hasPrefix "--leader-elect-resource-" . }}{{ fail (printf "extraArgs has %s, and the manifests would have another lease: set config.leaderElection.resourceName and resourceNamespace" .) }}{{ end -}}
{{- end -}}
{{- $elects := and (dig "leaderElection" "leaderElect" true .Values.config) (not (include "taint-manager.dryRun" .)) -}}
{{- $elects = include "taint-manager.on" (list . "--leader-elect" $elects) -}}
{{- if not (or $elects (include "taint-manager.dryRun" .) (eq 1 (int .Values.replicas))) }}{{ fail (printf "leader election is off, and each of %d replicas would evict: set replicas to 1, or leave leader election on" (int .Values.replicas)) }}{{ end -}}
{{- $elects -}}
{{- end }}

{{- /* The methods that carry an eviction out: a list of Delete and Evict. Policies in mode Audit carry out nothing. */ -}}
{{- define "taint-manager.methods" -}}
{{- $methods := list (include "taint-manager.method" .) -}}
{{- range .Values.config.policies -}}
{{- if ne (dig "mode" "Enforce" .) "Audit" -}}
{{- $methods = append $methods .method -}}
{{- if hasKey . "deleteAfter" }}{{ $methods = append $methods "Delete" }}{{ end -}}
{{- end -}}
{{- end -}}
{{- if include "taint-manager.dryRun" . }}{{ $methods = list }}{{ end -}}
{{- $methods | toJson -}}
{{- end }}

{{- define "taint-manager.watchesNamespaces" -}}
{{- range .Values.config.policies }}{{ if hasKey (dig "match" dict .) "namespaceSelector" }}true{{ end }}{{ end -}}
{{- end }}
