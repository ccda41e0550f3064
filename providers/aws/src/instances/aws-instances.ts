/** Instances of EC2, and nodes of Fargate. Entry point of this folder. */
import {
  asError,
  CloudError,
  isCloudError,
  type CallContext,
  type InstanceAnswer,
  type InstanceHint,
  type InstanceNeed,
  type InstanceResult,
  type Instances,
  type NodeRef,
} from '@outrigger/cloud-provider';
import type { Instance as Ec2Instance, NetworkInterface } from '../client/generated/ec2.ts';
import type { AwsSetup } from '../cluster/aws-setup.ts';
import type { ClusterFacts } from '../cluster/own-cluster.ts';
import { askedInstance, fargateAddressIn, type AskedInstance } from './asked-instance.ts';
import { instancesByFilter, instancesByIds, instancesByNames, type ByKey } from './described-instances.ts';
import { fargateInterfaces } from './fargate.ts';
import { fargateMetadata, metadataOf, providerIDOf, stateOf } from './instance-metadata.ts';
import { KnownInstances } from './known-instances.ts';
import { NetworkTopology } from './network-topology.ts';
import { whyNotOwn } from './own-instance.ts';
import { ZoneIds } from './zone-ids.ts';

/** For so long nobody is asked again what the cluster is, where that cannot be found out. */
const UNKNOWN_MS = 60_000;

/** What was found of a node, before it is an answer. */
type Found =
  | { readonly kind: 'instance'; readonly instance: Ec2Instance; readonly isById: boolean }
  | { readonly kind: 'fargate'; readonly networkInterface: NetworkInterface }
  | { readonly kind: 'not-found'; readonly id: string }
  | InstanceResult;

type Facts = Partial<ClusterFacts> | Error;

export class AwsInstances implements Instances {
  /** Chunks of it are asked for at the same time. */
  readonly batchSize = 5_000;
  readonly #setup: AwsSetup;
  readonly #known: KnownInstances;
  readonly #topology: NetworkTopology;
  readonly #zones: ZoneIds;
  /** When it could not be found out last what the cluster is. Monotonic. */
  #unknownAt = -Infinity;

  constructor(setup: AwsSetup) {
    const { client, config, host } = setup;
    this.#setup = setup;
    this.#known = new KnownInstances(host.clock);
    this.#topology = new NetworkTopology({ client, clock: host.clock, types: () => config().topologyTypes });
    this.#zones = new ZoneIds(client.ec2);
  }

  async lookUp(nodes: readonly NodeRef[], need: InstanceNeed, call: CallContext): Promise<readonly InstanceAnswer[]> {
    const asOf = this.#setup.host.clock.monotonic();
    const found = await this.#find(nodes, call);
    const results = found.map((one): Found => (one.kind === 'not-found' ? { kind: 'missing' } : one));
    const answers = await this.#answers(nodes, results, { asOf, need }, call);
    const failed = answers.flatMap(({ result }) => (result.kind === 'failed' ? [result.error] : []));
    const [first] = failed;
    // Nothing at all is known: the host waits, and says so once.
    if (first !== undefined && failed.length === nodes.length && failed.every((error) => error === first)) throw first;
    return answers;
  }

  async read(node: NodeRef, need: InstanceNeed, call: CallContext): Promise<InstanceAnswer> {
    const asOf = this.#setup.host.clock.monotonic();
    const [found = { kind: 'missing' }] = await this.#find([node], call);
    const result = found.kind === 'not-found' ? await this.#gone(node, found.id, call) : found;
    const [answer] = await this.#answers([node], [result], { asOf, need }, call);
    if (!answer) throw new Error(`read of node ${node.name}: no answer`);
    return answer;
  }

  machineOf(providerID: string): string | undefined {
    const asked = askedInstance({ name: '', providerID }, this.#setup.name);
    if (asked.by === 'fargate') return asked.address;
    return asked.by === 'id' ? asked.id : undefined;
  }

  /** Labels of the network have come. EC2 has nothing that tells of other changes without a queue of the user's own. */
  changes(call: CallContext): AsyncIterable<InstanceHint> {
    return this.#topology.changes(call);
  }

  /** Another cloud config is in use. */
  reconfigured(): void {
    this.#unknownAt = -Infinity;
    this.#topology.reconfigured();
    this.#zones.reconfigured();
  }

  async #find(nodes: readonly NodeRef[], call: CallContext): Promise<readonly Found[]> {
    const { client, name, place } = this.#setup;
    try {
      await place.learn(call);
    } catch (error) {
      call.signal.throwIfAborted();
      // Where these credentials lead elsewhere, nobody is asked; else it is asked again before an absence counts.
      if (isCloudError(error, 'configuration')) throw error;
    }
    const asked = nodes.map((node) => askedInstance(node, name));
    const ids = asked.flatMap((one) => (one.by === 'id' ? [one.id] : []));
    const [byId, byName, byAddress] = await Promise.all([
      instancesByIds(client.ec2, ids, call),
      this.#byNames(asked, call),
      this.#fargate(asked, call),
    ]);
    const isUnknown = [...byId.values()].includes('not-found');
    const region = isUnknown ? await client.region(call) : '';
    return asked.map((one, at) => {
      switch (one.by) {
        case 'id': {
          const instance = byId.get(one.id);
          if (instance instanceof Error) return { kind: 'failed', error: instance };
          if (instance === 'not-found') {
            const { zone = region } = one;
            // Here nobody knows of the instances of another region.
            if (zone.startsWith(region)) return { kind: 'not-found', id: one.id };
            return { kind: 'failed', error: ofAnotherRegion(nodes[at], zone, region) };
          }
          return instance ? { kind: 'instance', instance, isById: true } : { kind: 'missing' };
        }
        case 'name': {
          const instance = byName.get(one.name);
          if (instance instanceof Error) return { kind: 'failed', error: instance };
          return instance ? { kind: 'instance', instance, isById: false } : { kind: 'missing' };
        }
        case 'fargate': {
          const networkInterface = byAddress.get(one.address);
          if (networkInterface instanceof Error) return { kind: 'failed', error: networkInterface };
          return networkInterface ? { kind: 'fargate', networkInterface } : { kind: 'missing' };
        }
        case 'error':
          return { kind: 'failed', error: one.error };
        default:
          return { kind: 'missing' };
      }
    });
  }

  async #byNames(asked: readonly AskedInstance[], call: CallContext): Promise<ByKey> {
    const names = asked.flatMap((one) => (one.by === 'name' ? [one.name] : []));
    if (names.length === 0) return new Map();
    try {
      const { client, cluster } = this.#setup;
      return await instancesByNames(client.ec2, names, await cluster.learn(call), call);
    } catch (error) {
      call.signal.throwIfAborted();
      return new Map(names.map((name) => [name, asError(error)]));
    }
  }

  async #fargate(asked: readonly AskedInstance[], call: CallContext): ReturnType<typeof fargateInterfaces> {
    const addresses = asked.flatMap((one) => (one.by === 'fargate' ? [one.address] : []));
    if (addresses.length === 0) return new Map();
    try {
      const { client, cluster } = this.#setup;
      return await fargateInterfaces(client.ec2, addresses, (await cluster.learn(call)).vpcId, call);
    } catch (error) {
      call.signal.throwIfAborted();
      return new Map(addresses.map((address) => [address, asError(error)]));
    }
  }

  /** EC2 does not know the ID: a second read, by another index, has to say the same. */
  async #gone(node: NodeRef, id: string, call: CallContext): Promise<Found> {
    // By a resource name alone: the name is the kubelet's word.
    if (!node.providerID || this.#known.isYoung(id, node)) return { kind: 'missing' };
    const { client, place } = this.#setup;
    const [instance] = await instancesByFilter(client.ec2, [id], call);
    if (instance) return { kind: 'instance', instance, isById: true };
    const proof = `DescribeInstances ${id}: InvalidInstanceID.NotFound, and with the filter instance-id=${id} it finds none`;
    const gone = await place.machineGone({ id, proof }, call);
    this.#known.forget(id);
    return gone;
  }

  async #answers(
    nodes: readonly NodeRef[],
    found: readonly Found[],
    { asOf, need }: { readonly asOf: number; readonly need: InstanceNeed },
    call: CallContext,
  ): Promise<readonly InstanceAnswer[]> {
    const instances = found.flatMap((one) => (one.kind === 'instance' ? [one.instance] : []));
    const isMetadata = need === 'metadata' && found.some(({ kind }) => kind === 'instance' || kind === 'fargate');
    const region = isMetadata ? await this.#setup.client.region(call) : '';
    if (isMetadata) await this.#zones.learn(instances, call);
    const facts = instances.length > 0 ? await this.#facts(call) : {};
    return nodes.map((node, at) => {
      const one = found[at] ?? { kind: 'missing' };
      const result = this.#result(node, one, { facts, need, region });
      const { place } = this.#setup.place;
      return { asOf, result, ...(place !== undefined && { place }) };
    });
  }

  #result(
    node: NodeRef,
    found: Found,
    { facts, need, region }: { readonly facts: Facts; readonly need: InstanceNeed; readonly region: string },
  ): InstanceResult {
    const { config, name } = this.#setup;
    const { nodeIpFamilies: families, nodeTags: tags } = config();
    switch (found.kind) {
      case 'not-found':
        return { kind: 'missing' };
      case 'fargate': {
        const { networkInterface } = found;
        const { Attachment, AvailabilityZone = '', PrivateIpAddress } = networkInterface;
        // Those of Fargate are called by the address, and a kubelet does not choose that name; AWS shows no instance of theirs.
        if (fargateAddressIn(node.name) !== PrivateIpAddress || Attachment?.InstanceId) {
          const message = `node ${node.name}: the provider ID ${node.providerID} is another machine's: correct spec.providerID`;
          return { kind: 'failed', error: new CloudError('invalid', message) };
        }
        const zoneId = this.#zones.of({ Placement: { AvailabilityZone } });
        const metadata = need === 'metadata' ? fargateMetadata(networkInterface, { families, region, zoneId }) : {};
        return { kind: 'found', instance: { providerID: node.providerID ?? '', state: 'running', ...metadata } };
      }
      case 'instance': {
        const { instance, isById } = found;
        const id = instance.InstanceId ?? '';
        if (instance.State?.Name === 'terminated') {
          this.#saw(node, id, isById);
          if (!node.providerID) return { kind: 'missing' };
          return { kind: 'absent', proof: `DescribeInstances ${id}: its state is terminated`, wasHere: true };
        }
        const isError = facts instanceof Error;
        const error = isById ? (isError ? facts : whyNotOwn(node, instance, facts)) : undefined;
        if (error) {
          // It is there, and says nothing of whether this is where the cluster's instances are.
          this.#known.found(id);
          return { kind: 'failed', error };
        }
        this.#saw(node, id, isById);
        try {
          // Where it is not known, no instance is known to be the cluster's, and none lacks tags.
          const cluster = isError ? undefined : facts.tags;
          const providerID = providerIDOf(node, instance, name);
          const zoneId = this.#zones.of(instance);
          const labels = need === 'metadata' ? this.#topology.labelsOf(instance, providerID, node.labels) : {};
          const options = { cluster, families, labels, region, tags, zoneId };
          const metadata = need === 'metadata' ? metadataOf(node, instance, options) : {};
          return { kind: 'found', instance: { providerID, state: stateOf(instance), ...metadata } };
        } catch (error) {
          return { kind: 'failed', error: asError(error) };
        }
      }
      default:
        return found;
    }
  }

  /**
   * What an instance is held against: of the cluster what can be known. A kubelet has no part in what that is. An error: it could not be asked.
   */
  async #facts(call: CallContext): Promise<Facts> {
    const { cluster, config, host } = this.#setup;
    const now = host.clock.monotonic();
    try {
      if (cluster.known || now >= this.#unknownAt + UNKNOWN_MS) return await cluster.learn(call);
    } catch (error) {
      call.signal.throwIfAborted();
      if (!isCloudError(error, 'configuration')) return asError(error);
      this.#unknownAt = now;
    }
    const { clusterId: id, usesLegacyTags: isLegacy, vpcId } = config();
    return { ...(id !== undefined && { tags: { id, isLegacy } }), ...(vpcId !== undefined && { vpcId }) };
  }

  /** A terminated one is a witness too: EC2 remembers the account's own alone. */
  #saw(node: NodeRef, id: string, isById: boolean): void {
    const { place } = this.#setup;
    this.#known.found(id);
    if (isById && node.providerID) place.sawById();
    else place.sawByName(id);
  }
}

function ofAnotherRegion(
  { name = '', providerID = '' }: Partial<NodeRef> = {},
  zone: string,
  region: string,
): CloudError {
  const what = `node ${name}: the provider ID ${providerID} is of ${zone}, and only ${region} is asked`;
  return new CloudError('invalid', `${what}; the node is left as it is`);
}
