/** What the program reads and writes on objects, beside the fields of Kubernetes that are its very purpose. A test compares the names with the sources. */

export interface ObjectField {
  readonly name: string;
  /** The object that has it. */
  readonly on: string;
  /** Who writes it. */
  readonly by: 'you' | 'Outrigger' | 'kubelet' | 'other programs';
  readonly value: string;
  readonly means: string;
}

const retired = (stable: string): string => `The former name of \`${stable}\`, which is set with it.`;

/** In groups; each is a heading. */
export const objectFields: Readonly<Record<string, readonly ObjectField[]>> = {
  Annotations: [
    {
      name: 'outrigger.dev/release-load-balancer',
      on: 'Service',
      by: 'you',
      value: '`true`',
      means:
        'Removes the finalizer of a Service that is being deleted although its cloud does not answer. Parts may remain in the cloud; an Event names them.',
    },
    {
      name: 'outrigger.dev/load-balancer-provider',
      on: 'Service',
      by: 'Outrigger',
      value: 'name of a provider',
      means:
        'Which provider has created the load balancer. Change it only if that provider is run no more: the other one then serves the Service, or removes its finalizer.',
    },
    {
      name: 'outrigger.dev/share-load-balancer-with',
      on: 'Service',
      by: 'you',
      value: 'namespaces, separated by commas; `*`',
      means:
        'Services of these namespaces may use the load balancer of this Service too ([multi-tenant clusters](../guides/multi-tenant.md)).',
    },
    {
      name: 'outrigger.dev/load-balancer-parts',
      on: 'Service',
      by: 'Outrigger',
      value: '`kind/id`, separated by spaces',
      means: 'The parts of the load balancer that have been created, for the next process. Do not change it.',
    },
    {
      name: 'outrigger.dev/load-balancer-missing-since',
      on: 'Service',
      by: 'Outrigger',
      value: 'time and parts',
      means: 'Since when the cloud has not listed these parts. Do not change it.',
    },
    {
      name: 'service.beta.kubernetes.io/load-balancer-source-ranges',
      on: 'Service',
      by: 'you',
      value: 'CIDRs, separated by commas',
      means: 'Who may connect. Read only if `spec.loadBalancerSourceRanges` is empty.',
    },
    {
      name: 'outrigger.dev/allow-node-deletion',
      on: 'Node',
      by: 'you',
      value: '`true`',
      means:
        'The Node may be deleted although more machines are missing than `--node-deletion-max-fraction` allows. The cloud must still prove that its machine does not exist.',
    },
    {
      name: 'alpha.kubernetes.io/provided-node-ip',
      on: 'Node',
      by: 'kubelet',
      value: 'one address, or one of each family',
      means: "The kubelet's `--node-ip`: which of the addresses of the machine comes first.",
    },
    {
      name: 'vsphere.outrigger.dev/machine',
      on: 'Node',
      by: 'Outrigger',
      value: 'vCenter and managed object',
      means: 'Where the provider `vsphere` has found the machine, so that it is found again after it was moved.',
    },
  ],
  Labels: [
    {
      name: 'node.kubernetes.io/instance-type',
      on: 'Node',
      by: 'Outrigger',
      value: 'as the provider names it',
      means: 'The type of the machine. Written if it is missing; an existing value is not changed.',
    },
    {
      name: 'beta.kubernetes.io/instance-type',
      on: 'Node',
      by: 'Outrigger',
      value: '',
      means: retired('node.kubernetes.io/instance-type'),
    },
    {
      name: 'topology.kubernetes.io/zone',
      on: 'Node, PersistentVolume',
      by: 'Outrigger',
      value: 'as the provider names it',
      means: 'The zone of the machine or the volume.',
    },
    {
      name: 'failure-domain.beta.kubernetes.io/zone',
      on: 'Node',
      by: 'Outrigger',
      value: '',
      means: retired('topology.kubernetes.io/zone'),
    },
    {
      name: 'topology.kubernetes.io/region',
      on: 'Node, PersistentVolume',
      by: 'Outrigger',
      value: 'as the provider names it',
      means: 'The region of the machine or the volume.',
    },
    {
      name: 'failure-domain.beta.kubernetes.io/region',
      on: 'Node',
      by: 'Outrigger',
      value: '',
      means: retired('topology.kubernetes.io/region'),
    },
    {
      name: 'node.kubernetes.io/exclude-from-external-load-balancers',
      on: 'Node',
      by: 'you',
      value: 'anything but `false`',
      means: 'The node takes no traffic of load balancers.',
    },
  ],
  Taints: [
    {
      name: 'node.cloudprovider.kubernetes.io/uninitialized',
      on: 'Node',
      by: 'kubelet',
      value: '`NoSchedule`',
      means:
        'Set by kubelets with `--cloud-provider=external`. Outrigger removes it as soon as the node is initialized.',
    },
    {
      name: 'node.cloudprovider.kubernetes.io/shutdown',
      on: 'Node',
      by: 'Outrigger',
      value: '`NoSchedule`',
      means: 'The machine is shut down. Removed when it runs again.',
    },
    {
      name: 'ToBeDeletedByClusterAutoscaler',
      on: 'Node',
      by: 'other programs',
      value: '',
      means: 'The node takes no new traffic of load balancers: the cluster autoscaler is about to delete it.',
    },
  ],
  Finalizers: [
    {
      name: 'service.kubernetes.io/load-balancer-cleanup',
      on: 'Service',
      by: 'Outrigger',
      value: '',
      means:
        'Removed when every part of the load balancer is seen to be deleted, or as `outrigger.dev/release-load-balancer` asks.',
    },
  ],
  Conditions: [
    {
      name: 'NetworkUnavailable',
      on: 'Node',
      by: 'Outrigger',
      value: '`True`: `NoRouteCreated`; `False`: `RouteCreated`',
      means: 'Whether the cloud has the routes to the pods of the node. Only where the route controller runs.',
    },
    {
      name: 'MaintenancePlanned',
      on: 'Node',
      by: 'Outrigger',
      value: '`True`: `ReportedByCloud`; `False`: `NoLongerReportedByCloud`',
      means: 'The cloud plans maintenance of the machine ([maintenance](../guides/maintenance.md)).',
    },
    {
      name: 'MaintenanceInProgress',
      on: 'Node',
      by: 'Outrigger',
      value: '`True`: `ReportedByCloud`; `False`: `NoLongerReportedByCloud`',
      means: 'The machine is being maintained.',
    },
    {
      name: 'LoadBalancerReady',
      on: 'Service',
      by: 'Outrigger',
      value:
        '`True`: `Ready`; `False`: `Provisioning`, `WaitingForPart`, `NoNodes`, `Refused`, `QuotaExceeded`, `ImplementedElsewhere`, `Deleting`, `Failed`, or the code of the error',
      means: `Whether the load balancer is as the Service asks for, and what is waited for. [All reasons](service-conditions.md).`,
    },
    {
      name: 'LoadBalancerPortsError',
      on: 'Service',
      by: 'Outrigger',
      value: '`True`: the error of the first port, or `PortError`; `False`: `PortsServed`',
      means: 'A port of the Service could not be served. The ports are in `status.loadBalancer.ingress[].ports`.',
    },
    {
      name: 'outrigger.dev/AdoptLoadBalancer',
      on: 'Service',
      by: 'you',
      value: '`True`: `AdoptionRequested`, then `Adopted` or a reason of `LoadBalancerReady`',
      means:
        'The Service takes over the parts in the message. Written by `outrigger adopt`; the manager answers in it ([adoption](../guides/orphans.md)).',
    },
    {
      name: 'Approved',
      on: 'CertificateSigningRequest',
      by: 'Outrigger',
      value: '`True`: `ConfirmedByCloud`',
      means: 'The cloud gives each requested name and address to the machine.',
    },
    {
      name: 'Denied',
      on: 'CertificateSigningRequest',
      by: 'Outrigger',
      value: '`True`: `RefusedByCloud`, `NotOfAKubelet`',
      means: 'The request asked for more than the cloud gives to the machine, or is not of a kubelet.',
    },
  ],
};
