// Over 400 lines: one table, a row for each reason of an Event.
/** What each Event of the program means, and what to do about it. A test compares the reasons with the sources. */

export interface EventReason {
  readonly reason: string;
  readonly type: 'Normal' | 'Warning';
  /** What it is recorded on. */
  readonly on: string;
  readonly means: string;
  /** Nothing for what is told for information: each Warning has one. */
  readonly remedy?: string;
}

const guide = (page: string, text: string): string => `[${text}](../${page})`;

const held = 'Check the cloud and the credentials';

/** In groups, by controller. */
export const eventReasons: Readonly<Record<string, readonly EventReason[]>> = {
  'Node controller': [
    {
      reason: 'Synced',
      type: 'Normal',
      on: 'Node',
      means: 'The node is initialized. Only with `--node-synced-events`.',
    },
    {
      reason: 'InstanceNotFound',
      type: 'Warning',
      on: 'Node',
      means: 'The cloud has no instance for the node. It keeps its taint; the look-up is retried.',
      remedy:
        'Compare the name of the node with the name of the instance, and check the project, folder or region of the cloud config.',
    },
    {
      reason: 'InstanceLookUpFailed',
      type: 'Warning',
      on: 'Node',
      means: 'The look-up in the cloud failed. It is retried.',
      remedy: 'Follow the error code in the message: [errors of a provider](errors.md).',
    },
    {
      reason: 'AmbiguousInstance',
      type: 'Warning',
      on: 'Node',
      means: 'Several instances match the node.',
      remedy: 'Rename one of them, or set `--provider-id` on the kubelet.',
    },
    {
      reason: 'NoProviderID',
      type: 'Warning',
      on: 'Node',
      means: 'The provider returned no provider ID.',
      remedy: 'Report it to the author of the provider.',
    },
    {
      reason: 'ProviderIDTooLong',
      type: 'Warning',
      on: 'Node',
      means: 'The provider ID of the node is longer than any cloud has one.',
      remedy: 'Delete the Node and correct `--provider-id` of its kubelet.',
    },
    {
      reason: 'ForeignProviderID',
      type: 'Warning',
      on: 'Node',
      means:
        'The provider returned an ID with the prefix of another provider, which could not be changed once it is set.',
      remedy: 'Report it to the author of the provider.',
    },
    {
      reason: 'DuplicateProviderID',
      type: 'Warning',
      on: 'Node',
      means: 'Two Nodes have the same provider ID, or two forms of it. The younger one keeps its taint.',
      remedy: 'Delete the Node that is not that machine, and find out who registered it.',
    },
    {
      reason: 'NoAddresses',
      type: 'Warning',
      on: 'Node',
      means: 'The instance has no address yet.',
      remedy: 'Check the network interfaces of the instance in the cloud.',
    },
    {
      reason: 'ProvidedNodeIPNotFound',
      type: 'Warning',
      on: 'Node',
      means: "The kubelet's `--node-ip` is none of the addresses of the instance.",
      remedy: 'Correct `--node-ip`, or the interfaces of the instance.',
    },
    {
      reason: 'LabelsDiffer',
      type: 'Warning',
      on: 'Node, PersistentVolume',
      means: 'Labels of zone, region or type differ from what the cloud says. They are not changed.',
      remedy: 'Correct or remove the label; a missing one is set.',
    },
    {
      reason: 'InvalidLabels',
      type: 'Warning',
      on: 'Node, PersistentVolume',
      means: 'The cloud returned labels that Kubernetes does not accept. They are not set.',
      remedy: 'Rename them in the cloud.',
    },
    {
      reason: 'FailedToTagMachine',
      type: 'Warning',
      on: 'Node',
      means:
        'The tags that the cloud config asks for could not be put on the machine. It is tried again by the next refresh of the node that is at least 4 minutes later (`--node-status-update-frequency`).',
      remedy: 'Read the reason: often the credentials may not write tags.',
    },
    {
      reason: 'MaintenancePlanned',
      type: 'Normal',
      on: 'Node',
      means: `The cloud plans ${guide('guides/maintenance.md', 'maintenance')} of the machine. \`MaintenancePlannedOver\`: it no longer does.`,
    },
    {
      reason: 'MaintenanceInProgress',
      type: 'Normal',
      on: 'Node',
      means: 'The machine is being maintained. `MaintenanceInProgressOver`: it no longer is.',
    },
    {
      reason: 'MaintenanceConditionForeign',
      type: 'Warning',
      on: 'Node',
      means: 'Another program writes the maintenance condition of the node. It is ignored.',
      remedy: 'Turn off `--node-maintenance-conditions`, or the other program.',
    },
  ],
  'Node lifecycle controller': [
    { reason: 'DeletingNode', type: 'Normal', on: 'Node', means: 'The machine does not exist; the Node is deleted.' },
    {
      reason: 'DeletingNodeFailed',
      type: 'Warning',
      on: 'Node',
      means: 'The API server did not delete the Node. It is retried.',
      remedy: 'Follow the error: [errors of the Kubernetes API](kube-errors.md).',
    },
    {
      reason: 'NodeDeletionHeld',
      type: 'Warning',
      on: 'Node',
      means: 'The machine is not found, but so many are missing that more proof is needed.',
      remedy: `${held}: ${guide('runbooks/OutriggerNodeDeletionsHeld.md', 'runbook')}. If the machine is gone: \`kubectl annotate node NAME outrigger.dev/allow-node-deletion=true\`.`,
    },
    {
      reason: 'NodeDeletionUnproved',
      type: 'Warning',
      on: 'Node',
      means: 'The machine is neither found nor proved to be gone, again and again. The node is kept.',
      remedy: 'Do what the message says. If the machine is gone: `kubectl delete node NAME`.',
    },
  ],
  'Service controller': [
    {
      reason: 'EnsuringLoadBalancer',
      type: 'Normal',
      on: 'Service',
      means: 'The load balancer is being created or changed.',
    },
    {
      reason: 'EnsuredLoadBalancer',
      type: 'Normal',
      on: 'Service',
      means: 'The load balancer is as the Service asks.',
    },
    {
      reason: 'UpdatedLoadBalancer',
      type: 'Normal',
      on: 'Service',
      means: 'The back ends of the load balancer follow the nodes.',
    },
    { reason: 'DeletingLoadBalancer', type: 'Normal', on: 'Service', means: 'The load balancer is being deleted.' },
    {
      reason: 'DeletedLoadBalancer',
      type: 'Normal',
      on: 'Service',
      means: 'All parts of the load balancer are deleted.',
    },
    {
      reason: 'SyncLoadBalancerFailed',
      type: 'Warning',
      on: 'Service',
      means: 'The load balancer could not be created or changed. It is retried.',
      remedy: `Follow the error code in the message: [errors of a provider](errors.md), ${guide('runbooks/OutriggerServiceSyncFailing.md', 'runbook')}.`,
    },
    {
      reason: 'UpdateLoadBalancerFailed',
      type: 'Warning',
      on: 'Service',
      means: 'The back ends could not be changed. It is retried.',
      remedy: 'As `SyncLoadBalancerFailed`.',
    },
    {
      reason: 'DeleteLoadBalancerFailed',
      type: 'Warning',
      on: 'Service',
      means: 'The load balancer could not be deleted. It is retried, and the finalizer stays.',
      remedy:
        'Follow the error code. If the cloud is gone: `kubectl annotate service NAME outrigger.dev/release-load-balancer=true`.',
    },
    {
      reason: 'ReleasedLoadBalancer',
      type: 'Warning',
      on: 'Service',
      means: 'The finalizer was removed as annotated; parts may remain in the cloud.',
      remedy: 'Delete by hand what the message names.',
    },
    {
      reason: 'UnAvailableLoadBalancer',
      type: 'Warning',
      on: 'Service',
      means: 'No node can take traffic of the load balancer. Its current back ends are kept for a while.',
      remedy:
        'Check that nodes have a provider ID and are not labelled `node.kubernetes.io/exclude-from-external-load-balancers`.',
    },
    {
      reason: 'LoadBalancerPartsMissing',
      type: 'Warning',
      on: 'Service',
      means: 'The cloud does not list parts that were created. They count as absent once that has lasted for 90 s.',
      remedy:
        'Wait. If it lasts, check the named parts in the cloud, the project or region of the cloud config, and the permissions of the credentials.',
    },
    {
      reason: 'LoadBalancerAddressGone',
      type: 'Warning',
      on: 'Service',
      means:
        'The load balancer of a Service that cannot be changed as it asks no longer has an address, which was removed from the status.',
      remedy:
        'See the condition `LoadBalancerReady` for what keeps the Service from being changed. If it shares a load balancer, look at the others that do.',
    },
    {
      reason: 'LoadBalancerPartsHidden',
      type: 'Warning',
      on: 'Service',
      means: 'Parts exist, but the cloud does not list them.',
      remedy: 'Check permissions and tags of the named parts.',
    },
    {
      reason: 'ForeignLoadBalancer',
      type: 'Warning',
      on: 'Service',
      means: 'The load balancer is recorded for a provider that this program does not run.',
      remedy: 'Run that provider, or set the annotation that the message names.',
    },
    {
      reason: 'UnclaimedLoadBalancer',
      type: 'Warning',
      on: 'Service',
      means: 'A Service that is being deleted has the finalizer, and no provider is recorded on it.',
      remedy: 'Set the annotation that the message names.',
    },
    {
      reason: 'BackEndFlapping',
      type: 'Warning',
      on: 'Node',
      means: 'The node enters and leaves the load balancers all the time. It is kept as it is for a while.',
      remedy: 'Find out who changes its labels or addresses; its kubelet may.',
    },
    {
      reason: 'BackEndUnconfirmed',
      type: 'Warning',
      on: 'Node',
      means:
        'The cloud has no machine with the provider ID of the node: it does not become a back end. The cloud is asked again, after a minute at the latest. Also a node with no provider ID of this cloud, where the provider takes only those that are there at the start (OpenStack: `foreign-nodes`), and this one has joined later or has another address.',
      remedy:
        'Check the provider ID of the node, and which project, account or region the credentials see. `--unconfirmed-node-addresses` accepts such nodes. If nodes of nobody known join, set the option that the Event names.',
    },
  ],
  'Route controller': [
    {
      reason: 'FailedToCreateRoute',
      type: 'Warning',
      on: 'Node',
      means: 'A route to the pods of the node could not be created or deleted. It is retried.',
      remedy: `Follow the error code: ${guide('runbooks/OutriggerRoutesFailing.md', 'runbook')}.`,
    },
    {
      reason: 'PodCIDRWithoutRoute',
      type: 'Warning',
      on: 'Node',
      means:
        'The pod CIDR of the node is not in `--cluster-cidr`, invalid, or overlaps that of an older node or `--service-cluster-ip-range`: no route is created for it. One that exists already is kept.',
      remedy:
        'Correct `--cluster-cidr`, or delete the node and let it register again. If the pod CIDR overlaps another one, find out which of the two nodes chose it: a compromised node may draw traffic that way, also if it is the older one. Delete that Node: its route is deleted with it, and it gets no new one for a pod CIDR that overlaps.',
    },
    {
      reason: 'RouteRemovalHeld',
      type: 'Warning',
      on: 'Node, Namespace kube-system',
      means: 'Routes of nodes that no longer exist are kept for now.',
      remedy: `See the ${guide('runbooks/OutriggerRouteRemovalsHeld.md', 'runbook')}.`,
    },
    {
      reason: 'RouteRecordUnusable',
      type: 'Warning',
      on: 'Namespace kube-system',
      means: 'The record of routes in the cluster cannot be read or written.',
      remedy: 'Grant the permission that the message names.',
    },
  ],
  'Node IPAM controller': [
    {
      reason: 'CIDRNotAvailable',
      type: 'Warning',
      on: 'Node',
      means: 'There is no pod CIDR left for the node, or the cloud has assigned none.',
      remedy: `See the ${guide('runbooks/OutriggerPodCidrsExhausted.md', 'runbook')}.`,
    },
    {
      reason: 'PodCIDRClash',
      type: 'Warning',
      on: 'Node',
      means: 'The pod CIDR of the node overlaps that of another node or the Service range.',
      remedy: 'Delete one of the nodes and let it register again.',
    },
    {
      reason: 'CIDRAllocatorConflict',
      type: 'Warning',
      on: 'Node',
      means: 'Another program allocates pod CIDRs as well. None is allocated here until that stops.',
      remedy: `Disable one of the two: ${guide('runbooks/OutriggerOtherAllocator.md', 'runbook')}.`,
    },
    {
      reason: 'FailedToAssignPodCIDR',
      type: 'Warning',
      on: 'Node',
      means: 'The pod CIDR of the node could not be assigned to its machine. It is retried.',
      remedy: 'Follow the error in the message.',
    },
    {
      reason: 'CloudCIDRAllocatorInvalidMode',
      type: 'Warning',
      on: 'Node',
      means: 'The node has a pod CIDR and its machine has none.',
      remedy: 'Assign it to the machine, or use `--cidr-allocator-type=IPAMFromCluster`.',
    },
    {
      reason: 'CloudCIDRAllocatorMismatch',
      type: 'Warning',
      on: 'Node',
      means: 'The node and its machine have different pod CIDRs.',
      remedy: 'Correct the machine, or delete the node and let it register again.',
    },
  ],
  'Serving certificates': [
    {
      reason: 'ServingCertificatePending',
      type: 'Warning',
      on: 'Node, CertificateSigningRequest',
      means: 'A request of a kubelet for a serving certificate cannot be judged yet.',
      remedy: `See the ${guide('runbooks/OutriggerKubeletServingPending.md', 'runbook')}.`,
    },
    {
      reason: 'ServingCertificateDenied',
      type: 'Warning',
      on: 'Node, CertificateSigningRequest',
      means: 'A request asked for names or addresses that the cloud does not give to the machine.',
      remedy: `See the ${guide('runbooks/OutriggerKubeletServingDenied.md', 'runbook')}.`,
    },
  ],
  'Volume labels': [
    {
      reason: 'VolumeLookUpFailed',
      type: 'Warning',
      on: 'PersistentVolume',
      means: 'The cloud could not be asked for the zone of the volume. It is retried.',
      remedy: 'Follow the error code in the message: [errors of a provider](errors.md).',
    },
  ],
  Orphans: [
    {
      reason: 'OrphanedLoadBalancers',
      type: 'Warning',
      on: 'Namespace kube-system',
      means: 'Load balancers of this cluster belong to no Service.',
      remedy: `See ${guide('guides/orphans.md', 'orphans')}.`,
    },
    {
      reason: 'OrphanedRoutes',
      type: 'Warning',
      on: 'Namespace kube-system',
      means: 'Routes of this cluster belong to no node.',
      remedy: `See ${guide('guides/orphans.md', 'orphans')}.`,
    },
    {
      reason: 'OrphanRemoved',
      type: 'Normal',
      on: 'Namespace kube-system',
      means: 'An orphan was removed from the cloud.',
    },
    {
      reason: 'OrphanRemovalHeld',
      type: 'Warning',
      on: 'Namespace kube-system',
      means: 'So much looks orphaned that nothing is removed.',
      remedy: `See the ${guide('runbooks/OutriggerOrphanRemovalsHeld.md', 'runbook')}.`,
    },
    {
      reason: 'OrphanRemovalFailed',
      type: 'Warning',
      on: 'Namespace kube-system',
      means: 'An orphan could not be removed. It is retried.',
      remedy: 'Follow the error in the message.',
    },
  ],
  'The program': [
    { reason: 'LeaderElection', type: 'Normal', on: 'Lease', means: 'A replica became leader, or stopped leading.' },
    {
      reason: 'CloudCredentialsRefused',
      type: 'Warning',
      on: 'Namespace kube-system',
      means: 'The cloud refuses the credentials. New nodes, Services and routes wait; nothing is deleted.',
      remedy: `Correct them in the cloud config, which is read again: ${guide('runbooks/OutriggerCloudCallsFailing.md', 'runbook')}.`,
    },
    {
      reason: 'CloudUnreachable',
      type: 'Warning',
      on: 'Namespace kube-system',
      means: 'The cloud does not answer. New nodes, Services and routes wait; nothing is deleted.',
      remedy: `Check the cloud, a proxy and DNS: ${guide('runbooks/OutriggerCloudCallsFailing.md', 'runbook')}.`,
    },
    { reason: 'CloudAnswers', type: 'Normal', on: 'Namespace kube-system', means: 'The cloud answers again.' },
    {
      reason: 'FieldContested',
      type: 'Warning',
      on: 'Node, Service',
      means:
        'Another program writes the same field with another value, or removes it. It is written again with back-off.',
      remedy: 'Disable one of the two.',
    },
    {
      reason: 'SetAside',
      type: 'Warning',
      on: 'any object',
      means:
        'Work on the object has blocked the program twice. It is not reconciled for a minute, each time for longer, up to an hour.',
      remedy: `See the ${guide('runbooks/OutriggerEventLoopBlocked.md', 'runbook')}.`,
    },
  ],
  'Provider aws': [
    {
      reason: 'InstancesLeftOut',
      type: 'Warning',
      on: 'Service',
      means:
        'AWS does not take these machines as targets, or their security groups do not let the load balancer in. The other nodes are served; these are tried again later.',
      remedy:
        'Follow the message: start the instance, or tag it or its group. If it is no node of the cluster, look who registers nodes with its ID: [the group of a node](../../providers/aws/docs/load-balancers.md#the-group-of-a-node).',
    },
  ],
  'Provider openstack': [
    {
      reason: 'LoadBalancerAnnotationIgnored',
      type: 'Warning',
      on: 'Service',
      means: 'The value of an annotation is invalid; the default is used.',
      remedy: 'Correct it: [annotations](../../providers/openstack/docs/annotations.md).',
    },
    {
      reason: 'LoadBalancerForcedInternal',
      type: 'Warning',
      on: 'Service',
      means: 'The Service asks for a floating IP; `internal-lb=true` of the cloud config allows none.',
      remedy:
        'Remove the annotation `service.beta.kubernetes.io/openstack-internal-load-balancer`, or set `internal-lb=false` in the cloud config.',
    },
    {
      reason: 'LoadBalancerHealthMonitorNeeded',
      type: 'Warning',
      on: 'Service',
      means: '`externalTrafficPolicy: Local` without a health monitor: nodes without an endpoint drop traffic.',
      remedy: 'Set `loadbalancer.openstack.org/enable-health-monitor: "true"`.',
    },
    {
      reason: 'LoadBalancerChildInError',
      type: 'Warning',
      on: 'Service',
      means:
        'A listener, pool, member or health monitor is in ERROR: Octavia failed to change it. It is retried, ever more seldom.',
      remedy:
        'Ask the operator of Octavia: often the amphora cannot be reached (`openstack loadbalancer amphora list`).',
    },
    {
      reason: 'LoadBalancerInError',
      type: 'Warning',
      on: 'Service',
      means: 'Octavia says that the load balancer is in ERROR.',
      remedy: 'Fail it over: `openstack loadbalancer failover ID`.',
    },
    {
      reason: 'LoadBalancerLeft',
      type: 'Warning',
      on: 'Service',
      means: 'The owner of a shared load balancer in another namespace is gone.',
      remedy: 'Remove the annotation `loadbalancer.openstack.org/load-balancer-id`.',
    },
    {
      reason: 'LoadBalancerSingleStack',
      type: 'Warning',
      on: 'Service',
      means: 'The load balancer gets one address family, although the Service prefers two.',
      remedy: 'Follow the message: two need Octavia API 2.26 and a subnet of each family.',
    },
    {
      reason: 'LoadBalancerStuck',
      type: 'Warning',
      on: 'Service',
      means: 'Octavia has been changing the load balancer, or removing a listener or pool of it, for too long.',
      remedy: 'Ask the operator of Octavia.',
    },
    {
      reason: 'FloatingIPNotOwn',
      type: 'Warning',
      on: 'Service',
      means: 'A floating IP that this cluster did not create is left where it is.',
      remedy: 'Detach it, if it is not wanted: `openstack floating ip unset --port ID`.',
    },
    {
      reason: 'FloatingIPRefused',
      type: 'Warning',
      on: 'Service',
      means: 'The Service cannot have the floating IP that it asks for; the one that it had is attached again.',
      remedy: 'Follow the message: ask for another, or correct what is in its way.',
    },
    {
      reason: 'NoFloatingNetwork',
      type: 'Warning',
      on: 'Service',
      means: 'The project sees no external network with a subnet: no floating IP can be created for the Service.',
      remedy: 'Set `floating-network-id` in the cloud config.',
    },
    {
      reason: 'NoSecondAddress',
      type: 'Warning',
      on: 'Service',
      means: 'The load balancer was created with one address family and cannot get another one.',
      remedy: 'Recreate the Service.',
    },
    {
      reason: 'NodePortsClosed',
      type: 'Warning',
      on: 'Service',
      means:
        'The security group of the Service is not on the ports of some nodes: nova has no server there that is called as the node, or does not say at present what the server is called.',
      remedy:
        'Follow the message: name the servers like their nodes, or allow the node ports yourself: [security groups](../../providers/openstack/docs/load-balancers.md#security-groups).',
    },
  ],
};
