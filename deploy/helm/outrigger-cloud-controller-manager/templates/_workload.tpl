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
{{- if $values.providers }}{{ $_ := set $pod "volumes" (include "outrigger.configVolumes" .root | fromYamlArray) -}}
{{- else }}{{ with $values.cloudConfig.existingSecret }}{{ $_ := set (first $pod.volumes).secret "secretName" . }}{{ end }}{{ end -}}
{{- with $values.cloudCredentials.existingSecret -}}
{{- $_ := set $pod "volumes" (append $pod.volumes (dict "name" "cloud-credentials" "secret" (dict "secretName" . "defaultMode" 288))) -}}
{{- $_ := set $container "volumeMounts" (append $container.volumeMounts (dict "name" "cloud-credentials" "mountPath" $values.cloudCredentials.mountPath "readOnly" true)) -}}
{{- end -}}
{{- $module := include "outrigger.moduleVolume" .root | fromYaml -}}
{{- if $module -}}
{{- $_ := set $pod "volumes" (append $pod.volumes (merge (dict "name" "provider-module") $module)) -}}
{{- $_ := set $container "volumeMounts" (append $container.volumeMounts (dict "name" "provider-module" "mountPath" "/etc/outrigger-provider" "readOnly" true)) -}}
{{- end -}}
{{- if not (kindIs "invalid" $values.resources) }}{{ $_ := set $container "resources" $values.resources }}{{ end -}}
{{- /* It says where the pods of a DaemonSet run in place of the manifest's affinity, which those of a Deployment need besides. */ -}}
{{- if and (eq .object.kind "DaemonSet") (not (kindIs "invalid" $values.nodeSelector)) }}{{ $_ := unset $pod "affinity" }}{{ end -}}
{{- range $key := list "tolerations" "nodeSelector" "affinity" -}}
{{- if not (kindIs "invalid" (index $values $key)) }}
{{- $value := index $values $key -}}
{{- /* One that says nothing of nodes must not bring a DaemonSet to all of them. */ -}}
{{- if and (eq $key "affinity") (eq $.object.kind "DaemonSet") }}{{ $value = merge (deepCopy $value) (default dict $pod.affinity) }}{{ end -}}
{{- $_ := set $pod $key $value -}}
{{- end -}}
{{- end -}}
{{- with $values.priorityClassName }}{{ $_ := set $pod "priorityClassName" . }}{{ end -}}
{{- with $values.topologySpreadConstraints }}{{ $_ := set $pod "topologySpreadConstraints" . }}{{ end -}}
{{- /* The labels by which its pods are selected stay as they are. */ -}}
{{- $_ := set $spec.template.metadata "labels" (merge $spec.template.metadata.labels $values.podLabels) -}}
{{- with include "outrigger.webhookSecret" .root -}}
{{- $secret := dict "secretName" . "defaultMode" 288 -}}
{{- /* cert-manager's pods wait for nodes, which wait for this program: it must not wait for cert-manager. */ -}}
{{- if $values.webhooks.issuerRef -}}
{{- $_ := set $secret "optional" true -}}
{{- $pair := "cloud-controller-manager-webhook" -}}
{{- $_ := set $secret "items" (list (dict "key" "tls.crt" "path" (printf "%s.crt" $pair)) (dict "key" "tls.key" "path" (printf "%s.key" $pair))) -}}
{{- end -}}
{{- $_ := set $pod "volumes" (append $pod.volumes (dict "name" "webhook-certificate" "secret" $secret)) -}}
{{- $_ := set $container "volumeMounts" (append $container.volumeMounts (dict "name" "webhook-certificate" "mountPath" "/etc/outrigger-webhook" "readOnly" true)) -}}
{{- end -}}
{{- if $values.leaderMigration.enabled -}}
{{- $_ := set $pod "volumes" (append $pod.volumes (dict "name" "leader-migration" "configMap" (dict "name" "outrigger-cloud-controller-manager-leader-migration"))) -}}
{{- $_ := set $container "volumeMounts" (append $container.volumeMounts (dict "name" "leader-migration" "mountPath" "/etc/outrigger-leader-migration" "readOnly" true)) -}}
{{- end -}}
{{- if not $values.hostNetwork }}{{ $_ := unset $pod "hostNetwork" }}{{ end -}}
{{- $annotations := deepCopy $values.podAnnotations -}}
{{- /* Both are read once: a change restarts the pods. */ -}}
{{- with $values.leaderMigration }}{{ if .enabled }}{{ $_ := set $annotations "checksum/leader-migration" (toJson . | sha256sum) }}{{ end }}{{ end -}}
{{- with $values.providerModule.files }}{{ $_ := set $annotations "checksum/provider-module" (toJson . | sha256sum) }}{{ end -}}
{{- with $annotations }}{{ $_ := set $spec.template.metadata "annotations" . }}{{ end -}}
{{- end -}}

{{/* The configuration of each of several providers, as one directory: their Secrets may have the same keys. */}}
{{- define "outrigger.configVolumes" -}}
- name: cloud-config
  projected:
    defaultMode: 288
    sources:
    {{- range .Values.providers }}
    {{- $config := default dict .config }}
    - secret:
        {{- if $config.existingSecret }}
        name: {{ quote $config.existingSecret }}
        items: [{ key: {{ default "cloud.conf" $config.key | quote }}, path: {{ printf "%s.conf" .name | quote }} }]
        {{- else }}
        name: outrigger-cloud-controller-manager-config
        items: [{ key: {{ printf "%s.conf" .name | quote }}, path: {{ printf "%s.conf" .name | quote }} }]
        {{- end }}
    {{- end }}
{{- end -}}

{{/* What the chart's Secret has: the configurations that are in the values. Empty: there is no such Secret. */}}
{{- define "outrigger.configData" -}}
{{- $data := dict -}}
{{- if .Values.providers -}}
{{- $names := list -}}
{{- range .Values.providers -}}
{{- if has .name $names }}{{ fail (printf "providers: two of them are named %s" .name) }}{{ end -}}
{{- $names = append $names .name -}}
{{- $config := default dict .config -}}
{{- if not $config.existingSecret }}{{ $_ := set $data (printf "%s.conf" .name) (default "{}\n" $config.inline) }}{{ end -}}
{{- end -}}
{{- else if not .Values.cloudConfig.existingSecret -}}
{{- $_ := set $data .Values.cloudConfig.key .Values.cloudConfig.inline -}}
{{- end -}}
{{- toJson $data -}}
{{- end -}}

{{/* The source of the volume with a provider that is not in the image; nothing where there is none. */}}
{{- define "outrigger.moduleVolume" -}}
{{- $module := .Values.providerModule -}}
{{- $set := list -}}
{{- range $key, $value := $module }}{{ if $value }}{{ $set = append $set $key }}{{ end }}{{ end -}}
{{- if gt (len $set) 1 }}{{ fail (printf "providerModule: set one of %s" (join ", " (sortAlpha $set))) }}{{ end -}}
{{- with $module.files }}{{ toYaml (dict "configMap" (dict "name" "outrigger-cloud-controller-manager-provider")) }}{{ end -}}
{{- with $module.existingConfigMap }}{{ toYaml (dict "configMap" (dict "name" .)) }}{{ end -}}
{{- with $module.image }}{{ toYaml (dict "image" (dict "reference" .)) }}{{ end -}}
{{- with $module.volume }}{{ toYaml . }}{{ end -}}
{{- end -}}

{{/* The Secret with the certificate of the webhooks; nothing where there are none. */}}
{{- define "outrigger.webhookSecret" -}}
{{- with .Values.webhooks -}}
{{- if or .pvLabel .services -}}
{{- if and .issuerRef .existingSecret }}{{ fail "webhooks: set issuerRef, or existingSecret with caBundle, not both" }}{{ end -}}
{{- if not (or .issuerRef (and .existingSecret .caBundle)) }}{{ fail "webhooks need a certificate: set issuerRef, or existingSecret with caBundle" }}{{ end -}}
{{- range $.Values.extraArgs }}{{ if hasPrefix "--feature-gates" . }}{{ fail "webhooks set --feature-gates: leave it out of extraArgs, or set the flags of webhooks there" }}{{ end }}{{ end -}}
{{- default "outrigger-cloud-controller-manager-webhook" .existingSecret -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "outrigger.args" -}}
{{- if .Values.providers }}
{{- $providers := list }}{{ $configs := list -}}
{{- range .Values.providers -}}
{{- $providers = append $providers (ternary .name (printf "%s=%s" .name .provider) (eq .name .provider)) -}}
{{- $configs = append $configs (printf "%s=/etc/outrigger/%s.conf" .name .name) -}}
{{- end }}
- {{ printf "--cloud-provider=%s" (join "," $providers) | quote }}
- {{ printf "--cloud-config=%s" (join "," $configs) | quote }}
{{- else }}
- {{ printf "--cloud-provider=%s" .Values.cloudProvider | quote }}
- {{ printf "--cloud-config=/etc/outrigger/%s" .Values.cloudConfig.key | quote }}
{{- end }}
{{- if or .Values.providerModule.image .Values.providerModule.volume }}
- "--provider-path=/etc/outrigger-provider"
{{- end }}
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
{{- with .Values.leaderElectResourceName }}
- {{ printf "--leader-elect-resource-name=%s" . | quote }}
{{- end }}
{{- if .Values.leaderMigration.enabled }}
- "--enable-leader-migration"
- "--leader-migration-config=/etc/outrigger-leader-migration/leader-migration.yaml"
{{- end }}
{{- if include "outrigger.webhookSecret" . }}
{{- with .Values.webhooks }}
- {{ printf "--webhooks=%s" (join "," (compact (list (ternary "pvlabel" "" .pvLabel) (ternary "service" "" (not (not .services)))))) | quote }}
{{- end }}
- "--feature-gates=CloudControllerManagerWebhook=true"
{{- if .Values.webhooks.issuerRef }}
- "--webhook-cert-dir=/etc/outrigger-webhook"
{{- else }}
- "--webhook-tls-cert-file=/etc/outrigger-webhook/tls.crt"
- "--webhook-tls-private-key-file=/etc/outrigger-webhook/tls.key"
{{- end }}
{{- end }}
{{- range .Values.extraArgs }}
- {{ quote . }}
{{- end }}
{{- end -}}
