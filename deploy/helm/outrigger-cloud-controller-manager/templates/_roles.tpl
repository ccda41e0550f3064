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
{{- fail (printf "%s needs other roles than the chart has: set rbac.create=false, and apply what `outrigger rbac` prints for your flags" $flag) -}}
{{- end -}}
{{- end -}}
{{- if $approves }}approving{{ else }}{{ ternary "everything" "default" (not (not $more)) }}{{ end -}}
{{- end -}}
