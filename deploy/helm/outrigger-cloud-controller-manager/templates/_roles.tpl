{{/* What of files/more-rules.yaml is needed: of clusterCIDR, and of controllers that are off by default. */}}
{{- define "outrigger.needs" -}}
{{- $needs := list -}}
{{- if .Values.clusterCIDR }}{{ $needs = append $needs "routes" }}{{ end -}}
{{- range concat .Values.controllers .Values.extraArgs -}}
{{- $flag := regexReplaceAll "[=].*$" . "" | replace "_" "-" -}}
{{- if or (eq $flag "--controllers") (not (hasPrefix "-" .)) -}}
{{- if regexMatch "(^|[=,])(kubelet-serving-approver|kubelet-serving)(,|$)" . }}{{ $needs = append $needs "approver" }}{{ end -}}
{{- if regexMatch "(^|[=,])(persistent-volume-label-controller|pvlabel)(,|$)" . }}{{ $needs = append $needs "volumes" }}{{ end -}}
{{- end -}}
{{- if eq $flag "--cluster-cidr" }}{{ $needs = append $needs "routes" }}{{ end -}}
{{- if has $flag (list "--use-service-account-credentials" "--enable-leader-migration" "--leader-elect-resource-name" "--leader-elect-resource-namespace") -}}
{{- fail (printf "%s needs other roles than the chart has: use the values leaderMigration and leaderElectResourceName, or set rbac.create=false and apply what `outrigger rbac` prints for your flags" $flag) -}}
{{- end -}}
{{- end -}}
{{- join "," $needs -}}
{{- end -}}

{{/* The right to the Leases that the values name. Takes {root, object}, changes the object, a Role. */}}
{{- define "outrigger.leases" -}}
{{- $values := .root.Values -}}
{{- range $rule := .object.rules -}}
{{- if and (has "leases" $rule.resources) $rule.resourceNames -}}
{{- with $values.leaderElectResourceName }}{{ $_ := set $rule "resourceNames" (list .) }}{{ end -}}
{{- if $values.leaderMigration.enabled }}{{ $_ := set $rule "resourceNames" (append $rule.resourceNames $values.leaderMigration.leaderName) }}{{ end -}}
{{- end -}}
{{- end -}}
{{- end -}}
