/** Wrong about machines. */
import {
  CloudError,
  isCloudError,
  type Instance,
  type InstanceAnswer,
  type Instances,
} from '@outrigger/cloud-provider';
import { lingering, ofInstances, type Mutant } from './mutant.suite.ts';

const ABSENT: InstanceAnswer = { result: { kind: 'absent', proof: 'a mutant says so' } };

type Change = (instance: Instance) => Partial<Instance>;

function found(answer: InstanceAnswer, change: Change): InstanceAnswer {
  const { result } = answer;
  if (result.kind !== 'found') return answer;
  return { ...answer, result: { kind: 'found', instance: { ...result.instance, ...change(result.instance) } } };
}

/** Look-ups that tell something else of each machine that they find. */
function changed(own: Instances, change: Change): Pick<Instances, 'lookUp'> {
  return {
    lookUp: async (nodes, need, call) => (await own.lookUp(nodes, need, call)).map((answer) => found(answer, change)),
  };
}

let opened = 0;

export const instanceMutants: readonly Mutant[] = [
  ofInstances('a list proves absence', 'a list that is empty makes no machine absent', (own) => ({
    lookUp: async (nodes, need, call) =>
      (await own.lookUp(nodes, need, call)).map((answer) => (answer.result.kind === 'missing' ? ABSENT : answer)),
  })),
  ofInstances(
    'any failure of a read proves absence',
    'a request that fails makes no machine missing or absent',
    (own) => ({
      read: (node, need, call) => own.read(node, need, call).catch(() => ABSENT),
    }),
  ),
  ofInstances('a failed look-up is missing', 'a request that fails makes no machine missing or absent', (own) => ({
    lookUp: (nodes, need, call) =>
      own.lookUp(nodes, need, call).catch(() => nodes.map(() => ({ result: { kind: 'missing' } }))),
  })),
  ofInstances(
    'a time-out proves absence',
    'a cloud that does not answer is no proof: the call ends at its deadline',
    (own) => ({
      // It hurries, so that its own answer is there before the host's end of the call.
      read: (node, need, call) => {
        const late = new AbortController();
        const hasty = AbortSignal.any([call.signal, late.signal]);
        const asked = own.read(node, need, { ...call, signal: hasty }).catch(() => ABSENT);
        const turns = Promise.resolve().then(async () => {
          for (let i = 0; i < 40; i++) await new Promise((resolve) => void setImmediate(resolve));
          return ABSENT;
        });
        return Promise.race([asked, turns]);
      },
    }),
  ),
  ofInstances(
    "a proxy's 404 proves absence",
    'no status of the cloud, nor of a proxy before it, makes a machine absent',
    (own) => ({
      read: (node, need, call) =>
        own.read(node, need, call).catch((error: unknown) => {
          if (isCloudError(error) && error.message.includes('(404)')) return ABSENT;
          throw error;
        }),
    }),
  ),
  ofInstances(
    'a node without an ID is absent when its name is not found',
    'without a provider ID nothing is absent',
    (own) => ({
      read: async (node, need, call) => {
        if (node.providerID) return own.read(node, need, call);
        const [answer] = await own.lookUp([node], need, call);
        return answer?.result.kind === 'found' ? answer : ABSENT;
      },
    }),
  ),
  ofInstances('a read is answered from memory', 'a read is sent to the cloud each time', (own) => {
    const cache = new Map<string, InstanceAnswer>();
    return {
      read: async (node, need, call) => {
        const answer = cache.get(node.name) ?? (await own.read(node, need, call));
        cache.set(node.name, answer);
        return answer;
      },
    };
  }),
  ofInstances(
    'a read is a look at the list',
    'lists that lag make no new machine absent, and none that is gone found by a read',
    (own) => ({
      read: async (node, need, call) => (await own.lookUp([node], need, call))[0] ?? ABSENT,
    }),
  ),
  ofInstances(
    'a machine that is gone is missing, also by a read',
    'a machine that is gone is missing or absent, and a direct read proves it',
    (own) => ({
      read: async (node, need, call) => {
        const answer = await own.read(node, need, call);
        return answer.result.kind === 'absent' ? { ...answer, result: { kind: 'missing' } } : answer;
      },
    }),
  ),
  ofInstances('a stopped machine runs', 'a stopped machine is there, and shut down', (own) => ({
    read: async (node, need, call) => found(await own.read(node, need, call), () => ({ state: 'running' })),
  })),
  ofInstances(
    'a stopped machine is left out',
    'a provider ID belongs to one machine, and stays the same over stops and restarts',
    (own) => ({
      read: async (node, need, call) => {
        const answer = await own.read(node, need, call);
        return answer.result.kind === 'found' && answer.result.instance.state === 'shutdown' ? ABSENT : answer;
      },
    }),
  ),
  ofInstances('answers are sorted by name', 'answers come in the order of the question, one for each node', (own) => ({
    lookUp: (nodes, need, call) =>
      own.lookUp(
        nodes.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
        need,
        call,
      ),
  })),
  ofInstances(
    'what is not found is left out of the answers',
    'answers come in the order of the question, one for each node',
    (own) => ({
      lookUp: async (nodes, need, call) =>
        (await own.lookUp(nodes, need, call)).filter(({ result }) => result.kind === 'found'),
    }),
  ),
  ofInstances('a name is found by its beginning', 'the name of a node is compared as a whole', (own, { cloud }) => ({
    lookUp: (nodes, need, call) => {
      const longer = (name: string): string => cloud.instances().find((one) => one.name.startsWith(name))?.name ?? name;
      return own.lookUp(
        nodes.map((node) => (node.providerID ? node : { ...node, name: longer(node.name) })),
        need,
        call,
      );
    },
  })),
  ofInstances('a request for each node', 'a whole batch costs as many requests as are declared', (own) => ({
    lookUp: async (nodes, need, call) =>
      (await Promise.all(nodes.map((node) => own.lookUp([node], need, call)))).flat(),
  })),
  ofInstances('a page that fails is left out', 'a part of a list is never taken for all of it', (own) => ({
    lookUp: async (nodes, need, call) => {
      const pages = [nodes.slice(0, 10), nodes.slice(10)].filter((page) => page.length > 0);
      const answers = pages.map((page, i) =>
        own.lookUp(page, need, call).catch((error: unknown) => {
          if (i === 0) throw error;
          return page.map((): InstanceAnswer => ({ result: { kind: 'missing' } }));
        }),
      );
      return (await Promise.all(answers)).flat();
    },
  })),
  ofInstances(
    "another provider's IDs are taken for its own",
    "another provider's ID is never found and never absent",
    (own) => ({
      lookUp: (nodes, need, call) =>
        own.lookUp(
          nodes.map((node) => ({ ...node, providerID: node.providerID?.replace(/^[^:]*:/u, 'memory:') })),
          need,
          call,
        ),
    }),
  ),
  ofInstances(
    'a broken ID breaks its batch',
    'a broken provider ID is found nowhere, is no failure of the cloud, and harms no other of its batch',
    (own) => ({
      lookUp: (nodes, need, call) => {
        for (const { providerID } of nodes) {
          if (providerID !== undefined && !/^memory:\/\/[^/]*\/[^/]+$/u.test(providerID))
            throw new Error('no ID of mine');
        }
        return own.lookUp(nodes, need, call);
      },
    }),
  ),
  ofInstances(
    'another path answers for what is no ID',
    'a broken provider ID is found nowhere, is no failure of the cloud, and harms no other of its batch',
    (own) => ({
      read: (node, need, call) => {
        if (!node.providerID?.endsWith('/detail')) return own.read(node, need, call);
        throw new CloudError('unavailable', 'GET /instances/detail: the answer is not of this machine');
      },
    }),
  ),
  ofInstances('an abort is noticed late', 'a call that is aborted ends at once, and proves nothing', (own, world) => ({
    read: (node, need, call) => lingering(own.read(node, need, call), call, world),
  })),
  ofInstances(
    'each machine is in a place of its own',
    'place is one text for all machines and over restarts',
    (own) => ({
      read: async (node, need, call) => ({ ...(await own.read(node, need, call)), place: node.name }),
    }),
  ),
  ofInstances('asOf is the wall clock', 'asOf is a time of the host that has passed', (own, { host }) => ({
    read: async (node, need, call) => ({ ...(await own.read(node, need, call)), asOf: host.clock.now() }),
  })),
  ofInstances(
    'the provider ID changes with each start',
    'a provider ID belongs to one machine, and stays the same over stops and restarts',
    (own) => {
      const start = opened++;
      return changed(own, ({ providerID }) => ({ providerID: providerID.replace('://', `://${start}`) }));
    },
  ),
  ofInstances(
    'the zone is no label value',
    'metadata: type, zone and region are label values, addresses are addresses',
    (own) => changed(own, ({ zone }) => ({ zone: `Zone ${zone}` })),
  ),
  ofInstances(
    'machines are called what no node is called',
    'the name of a machine, where one is given, finds its node',
    (own) => changed(own, ({ providerID }) => ({ name: `vm-${providerID.length}` })),
  ),
  ofInstances(
    'annotations count the answers',
    'annotations are ones that a node can have, and the same each time',
    (own) => {
      let answers = 0;
      return changed(own, () => ({ annotations: { 'example.com/answers': String(answers++) } }));
    },
  ),
  ofInstances('annotations of Kubernetes', 'annotations are ones that a node can have, and the same each time', (own) =>
    changed(own, () => ({ annotations: { 'node.kubernetes.io/machine': 'x' } })),
  ),
  ofInstances(
    'maintenance is never over',
    'maintenance is told of its machine alone, and no longer when it is over',
    (own) => {
      const said = new Map<string, Instance['maintenance']>();
      return changed(own, ({ maintenance, providerID }) => {
        if (maintenance) said.set(providerID, maintenance);
        return { maintenance: said.get(providerID) };
      });
    },
  ),
  ofInstances(
    'addresses without an address',
    'metadata: type, zone and region are label values, addresses are addresses',
    (own) => changed(own, () => ({ addresses: [{ type: 'InternalIP', address: '' }] })),
  ),
  ofInstances('hints fail at once', 'hints end with their call', () => ({
    // oxlint-disable-next-line require-yield -- It fails before the first.
    changes: async function* () {
      throw new CloudError('invalid', 'there are no hints');
    },
  })),
  ofInstances('hints go on when they are to end', 'hints end with their call', (own, { host }) => ({
    changes: async function* (call) {
      try {
        yield* own.changes?.(call) ?? [];
      } catch {
        // It begins anew by itself.
      }
      for (;;) {
        await host.clock.sleep(10_000);
        yield {};
      }
    },
  })),
];
