{{- define "taint-manager.labels" -}}
app.kubernetes.io/name: taint-manager
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
{{- range $key, $value := .Values.commonLabels }}
{{ include "taint-manager.freeLabel" (list "commonLabels" $key) }}: {{ $value | quote }}
{{- end }}
{{- end }}

{{- /* A key that a value may set, as the chart does not: (list "name of the value" key). */ -}}
{{- define "taint-manager.freeLabel" -}}
{{- $key := index . 1 -}}
{{- if has $key (list "app.kubernetes.io/name" "app.kubernetes.io/version" "app.kubernetes.io/managed-by" "taint-manager/config-sha256") }}{{ fail (printf "%s has %s, which the chart sets itself: leave it out" (index . 0) $key) }}{{ end -}}
{{- $key | quote -}}
{{- end }}

{{- /* The labels of all objects and those of a value: (list $ "name of the value" labels). */ -}}
{{- define "taint-manager.labelsWith" -}}
{{- $common := (index . 0).Values.commonLabels -}}
{{- $name := index . 1 -}}
{{ include "taint-manager.labels" (index . 0) }}
{{- range $key, $value := index . 2 }}
{{- if hasKey $common $key }}{{ fail (printf "%s and commonLabels have %s: set it in one of them" $name $key) }}{{ end }}
{{ include "taint-manager.freeLabel" (list $name $key) }}: {{ $value | quote }}
{{- end }}
{{- end }}

{{- define "taint-manager.serviceAccount" -}}
{{- if and (not .Values.serviceAccount.create) (not .Values.serviceAccount.name) }}{{ fail "serviceAccount.create is false, and the permissions need a service account: set serviceAccount.name to one that is there" }}{{ end -}}
{{ .Values.serviceAccount.name | default "taint-manager" }}
{{- end }}

{{- /* Refuses flags of which the file has the field, and what the container has already. */ -}}
{{- define "taint-manager.checkExtras" -}}
{{- range .Values.extraArgs -}}
{{- if not (hasPrefix "--tls-sni-cert-key=" .) }}{{ fail (printf "extraArgs has %s, which would override the configuration file: set its field in config, as 'taint-manager config defaults' shows it" .) }}{{ end -}}
{{- end -}}
{{- range .Values.extraEnv -}}
{{- if has .name (list "POD_UID" "POD_NAME" "GOMEMLIMIT") }}{{ fail (printf "extraEnv has %s, which the chart sets itself: leave it out" .name) }}{{ end -}}
{{- end -}}
{{- $volumes := list "config" }}{{ $paths := list "/etc/taint-manager/" -}}
{{- if include "taint-manager.certificate" . }}{{ $volumes = append $volumes "certificate" }}{{ $paths = append $paths "/etc/taint-manager-tls/" }}{{ end -}}
{{- range .Values.extraVolumes -}}
{{- if has .name $volumes }}{{ fail (printf "extraVolumes has %s, which the chart sets itself: give the volume another name" .name) }}{{ end -}}
{{- end -}}
{{- range .Values.extraVolumeMounts -}}
{{- $mount := .mountPath -}}
{{- range $paths }}{{ if hasPrefix . (printf "%s/" $mount) }}{{ fail (printf "extraVolumeMounts has %s, where the chart mounts a volume itself: mount it elsewhere" $mount) }}{{ end }}{{ end -}}
{{- end -}}
{{- end }}

{{- define "taint-manager.image" -}}
{{- with .Values.image -}}
{{ .repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end -}}
{{- end }}

{{- /* What the pods of the Deployment and of the hook have in common, and their containers. */ -}}
{{- define "taint-manager.podSettings" -}}
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
{{- toYaml . | nindent 0 }}
{{- end }}
{{- if .Values.hostNetwork }}
hostNetwork: true
{{- end }}
securityContext:
  {{- toYaml .Values.podSecurityContext | nindent 2 }}
{{- with .Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
tolerations:
{{- toYaml .Values.tolerations | nindent 0 }}
{{- end }}

{{- define "taint-manager.containerSettings" -}}
image: {{ include "taint-manager.image" . }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
command: [/taint-manager]
securityContext:
  {{- toYaml .Values.securityContext | nindent 2 }}
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
{{- if .Values.hostNetwork -}}
{{- if get $config "statusAddress" }}{{ fail (printf "config.statusAddress is %s, and with hostNetwork every process of the node could read the page: leave it out" (get $config "statusAddress")) }}{{ end -}}
{{- $_ := set $config "statusAddress" "" -}}
{{- end -}}
{{- if .Values.metrics.anonymous -}}
{{- $config = merge $config (dict "authorization" (dict "alwaysAllowPaths" (list "/healthz" "/readyz" "/livez" "/metrics"))) -}}
{{- end -}}
{{- if include "taint-manager.certificate" . -}}
{{- $config = merge $config (dict "serving" (dict "tlsCertFile" "/etc/taint-manager-tls/tls.crt" "tlsPrivateKeyFile" "/etc/taint-manager-tls/tls.key")) -}}
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
  name: {{ include "taint-manager.serviceAccount" . | toYaml }}
  namespace: {{ .Release.Namespace | toYaml }}
{{- end }}

{{- define "taint-manager.journalNames" -}}
{{- range until 8 }}
- {{ include "taint-manager.leaseName" $ }}-journal-{{ . }}
{{- end }}
- {{ include "taint-manager.leaseName" . }}-journal-state
{{- end }}

{{- define "taint-manager.method" -}}
{{- dig "eviction" "method" "Delete" .Values.config -}}
{{- end }}

{{- define "taint-manager.dryRun" -}}
{{- if dig "dryRun" false .Values.config }}true{{ end -}}
{{- end }}

{{- /* The port of probes and metrics. */ -}}
{{- define "taint-manager.port" -}}
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

{{- /* Whether it takes part in leader election. A dry run does not. */ -}}
{{- define "taint-manager.elects" -}}
{{- $elects := and (dig "leaderElection" "leaderElect" true .Values.config) (not (include "taint-manager.dryRun" .)) -}}
{{- if not (or $elects (include "taint-manager.dryRun" .) (eq 1 (int .Values.replicas))) }}{{ fail (printf "leader election is off, and each of %d replicas would evict: set replicas to 1, or leave leader election on" (int .Values.replicas)) }}{{ end -}}
{{- if $elects }}true{{ end -}}
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
