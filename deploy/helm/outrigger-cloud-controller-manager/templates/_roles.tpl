{{/* "approving" when the values turn on kubelet-serving-approver; "everything" when the values turn on what is off by default, or what only some flags bring; else "default". */}}
{{- define "outrigger.roles" -}}
{{- $more := or .Values.clusterCIDR .Values.allocateNodeCIDRs -}}
{{- $approves := false -}}
{{- range .Values.controllers -}}
{{- if has . (list "kubelet-serving-approver" "kubelet-serving") }}{{ $approves = true }}{{ end -}}
{{- if has . (list "node-ipam-controller" "node-ipam" "persistent-volume-label-controller" "pvlabel") }}{{ $more = true }}{{ end -}}
{{- end -}}
{{- range .Values.extraArgs -}}
{{- $flag := regexReplaceAll "[=].*$" . "" | replace "_" "-" -}}
{{- if and (eq $flag "--controllers") (regexMatch "(^|[=,])kubelet-serving(-approver)?(,|$)" .) }}{{ $approves = true }}{{ end -}}
{{- if has $flag (list "--controllers" "--cluster-cidr" "--allocate-node-cidrs" "--cidr-allocator-type") }}{{ $more = true }}{{ end -}}
{{- if has $flag (list "--use-service-account-credentials" "--enable-leader-migration" "--leader-elect-resource-name" "--leader-elect-resource-namespace") -}}
{{- fail (printf "%s needs other roles than the chart has: use the values leaderMigration and leaderElectResourceName, or set rbac.create=false and apply what `outrigger rbac` prints for your flags" $flag) -}}
{{- end -}}
{{- end -}}
{{- if $approves }}approving{{ else }}{{ ternary "everything" "default" (not (not $more)) }}{{ end -}}
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
