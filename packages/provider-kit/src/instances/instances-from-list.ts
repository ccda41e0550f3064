/** The contract's instances, of a cloud that lists its machines and reads one. */
import {
  CloudError,
  formatProviderID,
  isCloudError,
  parseProviderID,
  type CallContext,
  type ClusterPlace,
  type Instance,
  type InstanceResult,
  type Instances,
  type NodeRef,
} from '@outrigger/cloud-provider';

/** A machine as an instance, which gets its provider ID by its ID. */
export interface MachineInstance extends Omit<Instance, 'providerID'> {
  readonly id: string;
  readonly name: string;
}

export interface InstancesFromListOptions<Machine> {
  /** The provider's: `<name>://<id>` is the provider ID. */
  readonly name: string;
  /**
   * Where is asked, as `InstanceAnswer.place` says; a `ClusterPlace` also judges each "not found", and is told of what was seen. Default:
   * it is not said, and each `not-found` of `read` counts as proof.
   */
  readonly place?: string | (() => string | undefined) | ClusterPlace;
  /** The cloud's calls: a `RestCollection`, or anything that has these. */
  readonly machines: {
    /** All machines. A whole list or an error. */
    list(call: CallContext): Promise<readonly Machine[]>;
    /** One machine, directly. Throw `not-found` for the cloud's own word about this ID alone: on it a node is deleted. */
    read(id: string, call: CallContext): Promise<Machine>;
  };
  /** With its ID, and the name that its node has. */
  readonly instanceOf: (machine: Machine) => MachineInstance;
  /** Most nodes of one look-up, which is one list whatever their number. Default: 1,000. */
  readonly batchSize?: number;
}

/** A node without a provider ID is found by its name, where one machine alone has it. */
export function instancesFromList<Machine>(options: InstancesFromListOptions<Machine>): Instances {
  const { batchSize = 1_000, instanceOf, machines, name, place } = options;
  const idIn = ({ providerID }: NodeRef): string | undefined => parseProviderID(providerID, name);
  const judge = typeof place === 'object' ? place : undefined;
  const placed = (): { readonly place?: string } => {
    const said = typeof place === 'object' ? place.place : typeof place === 'function' ? place() : place;
    return said === undefined ? {} : { place: said };
  };
  const saw = (node: NodeRef, id: string): void =>
    node.providerID === undefined ? judge?.sawByName(id) : judge?.sawById();
  const found = ({ id, name: _name, ...instance }: MachineInstance): InstanceResult => ({
    kind: 'found',
    instance: { ...instance, providerID: formatProviderID(name, id) },
  });
  return {
    batchSize,
    async lookUp(nodes, _need, call) {
      await judge?.learn(call);
      const all = (await machines.list(call)).map(instanceOf);
      const byId = new Map(all.map((machine) => [machine.id, machine]));
      const byName = Map.groupBy(all, (machine) => machine.name);
      return nodes.map((node) => {
        const [named, ...more] = node.providerID === undefined ? (byName.get(node.name) ?? []) : [];
        const machine = node.providerID === undefined ? named : byId.get(idIn(node) ?? '');
        if (more.length > 0) {
          const error = new CloudError(
            'conflict',
            `${more.length + 1} machines have the name ${node.name}; rename all but one`,
          );
          return { ...placed(), result: { kind: 'failed', error } };
        }
        // A list proves no absence.
        if (machine === undefined) return { ...placed(), result: { kind: 'missing' } };
        saw(node, machine.id);
        return { ...placed(), result: found(machine) };
      });
    },
    async read(node, _need, call) {
      const id = idIn(node);
      if (id === undefined) return { result: { kind: 'missing' } };
      await judge?.learn(call);
      let machine: Machine;
      try {
        machine = await machines.read(id, call);
      } catch (error) {
        if (!isCloudError(error, 'not-found')) throw error;
        const gone = { id, proof: error.message };
        const result = (await judge?.machineGone(gone, call)) ?? { kind: 'absent' as const, proof: gone.proof };
        return { ...placed(), result };
      }
      saw(node, id);
      return { ...placed(), result: found(instanceOf(machine)) };
    },
  };
}
