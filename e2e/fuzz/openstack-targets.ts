/** The paths of a text through the provider `openstack`, beside those of a Service: patterns of subnets, and what the cloud answers. */
import { isCloudError } from '@outrigger/cloud-provider';
import { readPage } from '../../providers/openstack/src/client/next-page.ts';
import { refusalOf } from '../../providers/openstack/src/client/refusal.ts';
import { nodeAddresses } from '../../providers/openstack/src/instances/node-addresses.ts';
import {
  matchFloatingSubnets,
  subnetNamePattern,
} from '../../providers/openstack/src/load-balancer/desired/floating-subnets.ts';
import { parseNodeSelector } from '../../providers/openstack/src/load-balancer/desired/node-selector.ts';
import {
  markedDescription,
  markOf,
  ownersIn,
  unmarked,
} from '../../providers/openstack/src/load-balancer/ownership.ts';
import type { Target } from './target.ts';

const answerOf = (text: string) => ({ status: 409, text, header: () => undefined }) as never;
const asked = { service: 'network', operation: 'POST /ports', path: '/v2.0/ports' } as const;

let patterns = 0;

export const openStackTargets: readonly Target[] = [
  {
    name: 'pattern of a floating subnet',
    run: (text) => {
      const matches = subnetNamePattern(text);
      matches('x'.repeat(255));
    },
  },
  {
    // Of 25 Services: a longer one is refused.
    name: 'patterns of floating subnets',
    run: (text) => {
      for (let at = 0; at < Math.min(text.length, 25 * 230); at += 230) {
        const part = text.slice(at, at + 230);
        for (const pattern of [`~${part}`, `~[${part}]`, `~(?i)[${part}]`, `~(?i)(?:${part}){19}`]) {
          try {
            // No two are equal: one that is remembered costs nothing.
            subnetNamePattern(`${pattern}${patterns++}`);
          } catch (error) {
            if (!isCloudError(error, 'invalid')) throw error;
          }
        }
      }
    },
    scans: 10_000,
  },
  {
    name: 'name of a floating subnet',
    run: (text) => matchFloatingSubnets({ name: '~(a|b)*-pool-.*' }, [{ id: '1', name: text, tags: text.split(',') }]),
  },
  {
    name: 'tags of a floating subnet',
    run: (text) => matchFloatingSubnets({ tags: text }, [{ id: '1', name: 'a', tags: ['a', 'b'] }]),
  },
  { name: 'node selector', run: parseNodeSelector },
  { name: 'answer of OpenStack', run: (text) => refusalOf(asked, answerOf(text), 0) },
  {
    name: 'answer of OpenStack, in its words',
    run: (text) => refusalOf(asked, answerOf(JSON.stringify({ NeutronError: { message: text, type: text } })), 0),
  },
  {
    name: 'page of OpenStack',
    run: (text) => readPage({ a: [text], a_links: [{ rel: 'next', href: text }] }, 'a', 'b'),
  },
  {
    name: 'server of OpenStack',
    run: (text) => {
      const addresses = { [text]: text.split(',').map((addr) => ({ addr })) };
      const server = { id: text, status: text, name: text, addresses, metadata: { hostname: text }, accessIPv4: text };
      const networking = { publicNetworkName: [text], internalNetworkName: [], addressSortOrder: ['10.0.0.0/8', text] };
      return nodeAddresses(server, { ports: [], subports: [] }, { ...networking, ipv6SupportDisabled: false });
    },
  },
  {
    name: 'marks of an owner',
    run: (text) => {
      const owner = { clusterId: 'a', uid: 'b' };
      unmarked(text);
      markOf(text, [text]);
      ownersIn([`outrigger.dev/owner=${text}`, ...text.split(',')]);
      return markedDescription(text, { owner, keep: true });
    },
  },
];
