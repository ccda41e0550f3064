{{/* The generated DaemonSet or Deployment, with what the values say otherwise. Takes {root, object}, changes the object. */}}
{{- define "outrigger.workload" -}}
{{- $values := .root.Values -}}
{{- $spec := .object.spec -}}
{{- $pod := $spec.template.spec -}}
{{- $container := first $pod.containers -}}
{{- if eq .object.kind "Deployment" }}{{ $_ := set $spec "replicas" (int $values.replicas) }}{{ end -}}
{{- $tag := default .root.Chart.AppVersion $values.image.tag -}}
{{- $_ := set $container "image" (printf "%s:%s" $values.image.repository $tag) -}}
{{- with $values.image.pullPolicy }}{{ $_ := set $container "imagePullPolicy" . }}{{ end -}}
{{- with $values.imagePullSecrets }}{{ $_ := set $pod "imagePullSecrets" . }}{{ end -}}
{{- $_ := set $container "args" (include "outrigger.args" .root | fromYamlArray) -}}
{{- with $values.extraEnv }}{{ $_ := set $container "env" . }}{{ end -}}
{{- with $values.extraEnvFrom }}{{ $_ := set $container "envFrom" . }}{{ end -}}
{{- $_ := set $container "volumeMounts" (concat $container.volumeMounts $values.extraVolumeMounts) -}}
{{- $_ := set $pod "volumes" (concat $pod.volumes $values.extraVolumes) -}}
{{- with $values.cloudConfig.existingSecret }}{{ $_ := set (first $pod.volumes).secret "secretName" . }}{{ end -}}
{{- if not (kindIs "invalid" $values.resources) }}{{ $_ := set $container "resources" $values.resources }}{{ end -}}
{{- range $key := list "tolerations" "nodeSelector" "affinity" -}}
{{- if not (kindIs "invalid" (index $values $key)) }}{{ $_ := set $pod $key (index $values $key) }}{{ end -}}
{{- end -}}
{{- with $values.priorityClassName }}{{ $_ := set $pod "priorityClassName" . }}{{ end -}}
{{- with $values.topologySpreadConstraints }}{{ $_ := set $pod "topologySpreadConstraints" . }}{{ end -}}
{{- /* The labels by which its pods are selected stay as they are. */ -}}
{{- $_ := set $spec.template.metadata "labels" (merge $spec.template.metadata.labels $values.podLabels) -}}
{{- with $values.podAnnotations }}{{ $_ := set $spec.template.metadata "annotations" . }}{{ end -}}
{{- end -}}

{{- define "outrigger.args" -}}
- {{ printf "--cloud-provider=%s" .Values.cloudProvider | quote }}
- {{ printf "--cloud-config=/etc/outrigger/%s" .Values.cloudConfig.key | quote }}
- {{ printf "--cluster-name=%s" .Values.clusterName | quote }}
- {{ printf "--v=%d" (int .Values.verbosity) | quote }}
{{- with .Values.controllers }}
- {{ printf "--controllers=%s" (join "," .) | quote }}
{{- end }}
{{- with .Values.clusterCIDR }}
- {{ printf "--cluster-cidr=%s" . | quote }}
{{- end }}
{{- if .Values.allocateNodeCIDRs }}
- "--allocate-node-cidrs"
{{- end }}
{{- range .Values.extraArgs }}
- {{ quote . }}
{{- end }}
{{- end -}}
