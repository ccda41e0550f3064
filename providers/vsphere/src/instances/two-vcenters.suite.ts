/** Instances over two vCenters in memory, for tests. */
import type { CallContext, InstanceAnswer, InstanceNeed, InstanceResult, NodeRef } from '@outrigger/cloud-provider';
import { silentLogger } from '@outrigger/kube';
import { FakeClock } from '@outrigger/testing';
import { MemoryVcenter } from '../../fake/memory-vcenter.ts';
import type { VcenterSettings } from '../config/vsphere-config.ts';
import { KnownIdentities } from '../inventory/known-identities.ts';
import { KnownVcenter } from './known-vcenter.ts';
import { machine } from './machine.suite.ts';
import { VsphereInstances, type Site } from './vsphere-instances.ts';

export const IDENTITIES = ['aaaaaaaa-0000-4000-8000-000000000001', 'bbbbbbbb-0000-4000-8000-000000000002'] as const;

/** Of the machine of this number. */
export function uuidOf(number: number): string {
  return `422e4956-ad22-1139-6d72-${String(number).padStart(12, '0')}`;
}

/** The node `node-<number>`, as the host asks about it. */
export function node(number: number, overrides: Partial<NodeRef> = {}): NodeRef {
  const name = `node-${number}`;
  return {
    name,
    uid: `uid-${number}`,
    providerID: `vsphere://${uuidOf(number)}`,
    labels: {},
    annotations: {},
    ...overrides,
  };
}

function settingsOf(name: string, datacenters: readonly string[] = []): VcenterSettings {
  return {
    name,
    server: name,
    port: 443,
    credentials: { kind: 'user', user: 'u', password: 'p' },
    insecure: false,
    caFile: undefined,
    thumbprint: undefined,
    datacenters,
    families: ['ipv4'],
  };
}

const NO_RULES: Site['addresses'] = {
  internalSubnets: [],
  externalSubnets: [],
  excludedInternalSubnets: [],
  excludedExternalSubnets: [],
  internalNetwork: undefined,
  externalNetwork: undefined,
};

export class TwoVcenters {
  readonly clock: FakeClock = new FakeClock();
  readonly a: MemoryVcenter = new MemoryVcenter('a', IDENTITIES[0]);
  readonly b: MemoryVcenter = new MemoryVcenter('b', IDENTITIES[1]);
  readonly aborter: AbortController = new AbortController();
  readonly call: CallContext = {
    signal: this.aborter.signal,
    priority: 'normal',
    logger: silentLogger,
    call: (_operation, send) => send(this.aborter.signal),
  };
  site: Site;
  instances: VsphereInstances;

  constructor(more: Partial<Site> & { readonly datacenters?: readonly string[] } = {}) {
    const { datacenters, ...site } = more;
    const identities = new KnownIdentities();
    const vcenters = [this.a, this.b].map(
      (one) => new KnownVcenter(settingsOf(one.address, datacenters), one, identities),
    );
    this.site = { vcenters, addresses: NO_RULES, zones: undefined, signal: this.aborter.signal, ...site };
    this.instances = this.#fresh();
  }

  /** A new process, which knows nothing of before. */
  restart(): void {
    const identities = new KnownIdentities();
    const vcenters = [this.a, this.b].map((one) => new KnownVcenter(settingsOf(one.address), one, identities));
    this.site = { ...this.site, vcenters };
    this.instances = this.#fresh();
  }

  /** A running machine `vm-<number>` of `node-<number>`. */
  put(vcenter: MemoryVcenter, number: number, overrides: Parameters<typeof machine>[0] = {}): void {
    const guestHostName = `node-${number}`;
    vcenter.put(
      machine({
        reference: `vm-${number}`,
        name: `machine-${number}`,
        biosUuid: uuidOf(number),
        guestHostName,
        ...overrides,
      }),
    );
  }

  async lookUp(nodes: readonly NodeRef[], need: InstanceNeed = 'state'): Promise<readonly InstanceAnswer[]> {
    return this.instances.lookUp(nodes, need, this.call);
  }

  /** What the look-up says of each, in a word. */
  async kinds(...nodes: readonly NodeRef[]): Promise<readonly string[]> {
    return (await this.lookUp(nodes)).map(({ result }) => wordOf(result));
  }

  async read(node: NodeRef): Promise<string> {
    return this.instances.read(node, 'state', this.call).then(
      ({ result }) => wordOf(result),
      (error: unknown) => `failed: ${String(error instanceof Error ? error.message : error)}`,
    );
  }

  #fresh(): VsphereInstances {
    return new VsphereInstances({ name: 'vsphere', clock: this.clock, site: () => this.site });
  }
}

function wordOf(result: InstanceResult): string {
  switch (result.kind) {
    case 'found':
      return `${result.instance.state} ${result.instance.providerID}`;
    case 'failed':
      return `failed: ${result.error.message}`;
    case 'absent':
      return `absent: ${result.proof}`;
    default:
      return result.kind;
  }
}
