/** What the page of annotations says of each beside the table. */
import type { AnnotationKey } from '../../providers/openstack/src/load-balancer/desired/annotation-table.ts';

type ShownBy = 'lab' | 'lab, seeded' | 'fake';

interface AnnotationNote {
  /** Where the answer is no, or differs from CPO's. */
  readonly note?: string;
  /** What it was seen at work on: see `docs/lab.md`, Marks. Absent: on nothing but its own unit tests. */
  readonly shownBy?: ShownBy;
}

const NOT_OVN = 'Ignored by the provider `ovn`, with a warning.';
const NO_OVN = 'Refused with the provider `ovn`.';
const AT_CREATION = 'Only when the load balancer is made.';

export const annotationNotes: Readonly<Partial<Record<AnnotationKey, AnnotationNote>>> = {
  internal: { shownBy: 'lab' },
  nodeSelector: { shownBy: 'lab' },
  class: { note: 'Any Service may name any class.', shownBy: 'lab, seeded' },
  floatingNetworkId: { shownBy: 'lab' },
  floatingSubnetId: { shownBy: 'lab, seeded' },
  floatingSubnet: { shownBy: 'lab, seeded' },
  floatingSubnetTags: {
    note: 'CPO reads two tags after `!` the other way round: `!a,b` there spares subnets that have one of them.',
    shownBy: 'lab, seeded',
  },
  keepFloatingIP: { shownBy: 'lab' },
  networkId: { note: AT_CREATION, shownBy: 'lab' },
  subnetId: { note: AT_CREATION, shownBy: 'lab' },
  memberSubnetId: { shownBy: 'lab' },
  portId: { note: AT_CREATION, shownBy: 'lab' },
  connectionLimit: { shownBy: 'lab' },
  proxyProtocol: { note: NO_OVN, shownBy: 'lab' },
  xForwardedFor: { note: NO_OVN, shownBy: 'lab' },
  lbMethod: {
    note: '`ovn` has `SOURCE_IP_PORT`, and since 2026 `SOURCE_IP`; `amphora` has all but `SOURCE_IP_PORT`.',
    shownBy: 'lab',
  },
  timeoutClientData: { note: NOT_OVN, shownBy: 'lab' },
  timeoutMemberConnect: { note: NOT_OVN, shownBy: 'lab' },
  timeoutMemberData: { note: NOT_OVN, shownBy: 'lab' },
  timeoutTcpInspect: { note: NOT_OVN, shownBy: 'lab' },
  enableHealthMonitor: { shownBy: 'lab' },
  healthMonitorDelay: {
    note: 'Of UDP Octavia takes 3 or more, unless its administrator has set `udp_connect_min_interval_health_monitor`.',
    shownBy: 'lab',
  },
  healthMonitorTimeout: { shownBy: 'lab' },
  healthMonitorMaxRetries: { shownBy: 'lab' },
  healthMonitorMaxRetriesDown: { shownBy: 'lab' },
  flavorId: { note: `${AT_CREATION} ${NOT_OVN}`, shownBy: 'lab, seeded' },
  availabilityZone: { note: `${AT_CREATION} ${NOT_OVN}`, shownBy: 'lab, seeded' },
  tlsContainerRef: {
    note: `With \`container-store=barbican\` it ends in \`/containers/…\` or \`/secrets/…\`; Octavia itself looks whether it is there. ${NO_OVN}`,
    shownBy: 'fake',
  },
  hostname: { shownBy: 'lab' },
  loadBalancerId: { shownBy: 'lab' },
  loadBalancerAddress: { shownBy: 'lab' },
};
