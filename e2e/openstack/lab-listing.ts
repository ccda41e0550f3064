/** All that a project holds, in lines that can be compared: what a test has left behind is in one listing and not in the other. */
import type { LabCloud, LabService } from './lab-cloud.ts';

interface Row {
  readonly id: string;
  readonly name?: string;
  readonly device_id?: string;
  readonly description?: string;
  readonly routes?: readonly { readonly destination: string; readonly nexthop: string }[];
  readonly allowed_address_pairs?: readonly { readonly ip_address: string }[];
  readonly security_groups?: readonly unknown[];
  readonly tags?: readonly string[];
}

const LISTS: readonly (readonly [kind: string, service: LabService, path: string])[] = [
  ['server', 'compute', '/servers/detail'],
  ['port', 'network', '/ports'],
  ['floating IP', 'network', '/floatingips'],
  ['security group', 'network', '/security-groups'],
  ['router', 'network', '/routers'],
  ['network', 'network', '/networks'],
  ['subnet', 'network', '/subnets'],
  ['load balancer', 'load-balancer', '/loadbalancers'],
  ['listener', 'load-balancer', '/listeners'],
  ['pool', 'load-balancer', '/pools'],
  ['health monitor', 'load-balancer', '/healthmonitors'],
];

/** With what the program may have written onto things that others made: routes, address pairs, security groups, tags. */
export async function listProject(cloud: LabCloud): Promise<readonly string[]> {
  const lines = await Promise.all(
    LISTS.map(async ([kind, service, path]) =>
      (await cloud.list<Row>(service, path)).map((row) => {
        const { allowed_address_pairs = [], device_id, id, name, routes = [], security_groups = [], tags = [] } = row;
        const written = { routes, pairs: allowed_address_pairs, security_groups, tags };
        return `${kind} ${id} ${name ?? ''} ${device_id ?? ''} ${JSON.stringify(written)}`;
      }),
    ),
  );
  return lines.flat().sort();
}

/** Lines of `after` that `before` lacks, with `+`, and the other way round with `-`. */
export function differenceOf(before: readonly string[], after: readonly string[]): readonly string[] {
  const [had, has] = [new Set(before), new Set(after)];
  return [
    ...after.filter((line) => !had.has(line)).map((line) => `+ ${line}`),
    ...before.filter((line) => !has.has(line)).map((line) => `- ${line}`),
  ];
}
