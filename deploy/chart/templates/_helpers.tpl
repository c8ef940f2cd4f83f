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
