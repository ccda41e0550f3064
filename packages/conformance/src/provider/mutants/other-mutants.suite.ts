/** Wrong about routes, volumes and pod ranges. */
import { CloudError } from '@outrigger/cloud-provider';
import { ofNodeTags, ofPodRanges, ofRoutes, ofVolumes, type Mutant } from './mutant.suite.ts';

const ZONE = 'topology.kubernetes.io/zone';

export const otherMutants: readonly Mutant[] = [
  ofRoutes('an ignored family', 'routes of both families are made in a batch, and listed as made', (own) => ({
    create: async (requests, call) => {
      const four = requests.filter(({ destination }) => !destination.includes(':'));
      const results = await own.create(four, call);
      return requests.map((request) => results[four.indexOf(request)] ?? { kind: 'done' });
    },
  })),
  ofRoutes('a request for each route', 'a batch costs as many requests as are declared', (own) => ({
    create: async (requests, call) => (await Promise.all(requests.map((one) => own.create([one], call)))).flat(),
  })),
  ofRoutes(
    'a route that leads elsewhere is taken',
    'what is there exists; what leads elsewhere is a conflict, and is not changed',
    (own, { cloud }) => ({
      create: async (requests, call) => {
        for (const { destination, node } of requests) {
          const there = cloud.routes().find((one) => one.destination === destination);
          if (there && there.instanceId !== node.name) cloud.deleteRoute(there.id);
        }
        return own.create(requests, call);
      },
    }),
  ),
  ofRoutes('what is there already has failed', 'an answer that is lost is found by the next try', (own) => ({
    create: async (requests, call) =>
      (await own.create(requests, call)).map((result) =>
        result.kind === 'exists' ? { kind: 'failed', error: new CloudError('conflict', 'it is there') } : result,
      ),
  })),
  ofRoutes(
    'what is gone cannot be removed',
    'removing is idempotent, and takes what was asked for alone',
    (own, { cloud }) => ({
      delete: async (routes, call) => {
        const there = new Set(cloud.routes().map(({ id }) => id));
        return (await own.delete(routes, call)).map((result, i) =>
          there.has(routes[i]?.id ?? '') ? result : { kind: 'failed', error: new CloudError('not-found', 'gone') },
        );
      },
    }),
  ),
  ofRoutes('a deletion takes all of the node', 'removing is idempotent, and takes what was asked for alone', (own) => ({
    delete: async (routes, call) => {
      const { routes: all } = await own.list(call);
      const nodes = new Set(routes.map(({ targetNodeName }) => targetNodeName));
      await own.delete(
        all.filter(({ targetNodeName }) => nodes.has(targetNodeName)),
        call,
      );
      return own.delete(routes, call);
    },
  })),
  ofRoutes('foreign routes are removed', "another's route is shown, and never removed or changed", (own) => ({
    delete: (routes, call) =>
      own.delete(
        routes.map((route) => ({ ...route, ownership: 'owned' })),
        call,
      ),
  })),
  ofRoutes('foreign routes are not shown', "another's route is shown, and never removed or changed", (own) => ({
    list: async (call) => ({ routes: (await own.list(call)).routes.filter(({ ownership }) => ownership === 'owned') }),
  })),
  ofRoutes("another cluster's routes are its own", "another cluster's route is foreign here", (own) => ({
    list: async (call) => ({
      routes: (await own.list(call)).routes.map((route) => ({ ...route, ownership: 'owned' as const })),
    }),
  })),
  ofRoutes(
    'a route to nowhere leads to its machine',
    'a route to a machine that is gone can be removed, and is a blackhole where the cloud knows machines',
    (own) => ({
      list: async (call) => ({
        routes: (await own.list(call)).routes.map((route) => ({ ...route, blackhole: false })),
      }),
    }),
  ),
  ofRoutes('one failure fails the batch', 'a machine that does not exist fails its routes alone', (own) => ({
    create: async (requests, call) => {
      const results = await own.create(requests, call);
      const failed = results.find(({ kind }) => kind === 'failed');
      return failed ? results.map(() => failed) : results;
    },
  })),
  ofRoutes('a quota is any failure', 'a quota that is reached fails the routes concerned alone', (own) => ({
    create: async (requests, call) =>
      (await own.create(requests, call)).map((result) =>
        result.kind === 'failed' ? { kind: 'failed', error: new CloudError('unavailable', 'no') } : result,
      ),
  })),
  ofRoutes('a list that failed is empty', 'a list that fails throws; it is never a part of one', (own) => ({
    list: (call) => own.list(call).catch(() => ({ routes: [] })),
  })),
  ofRoutes('a 404 is an empty list', 'no status of the cloud is a list', (own) => ({
    list: (call) =>
      own.list(call).catch((error: unknown) => {
        if (error instanceof Error && error.message.includes('(404)')) return { routes: [] };
        throw error;
      }),
  })),
  ofVolumes(
    'zones are joined by commas',
    'zone and region of a volume are its labels; several zones are joined',
    (own) => ({
      lookUp: async (volumes, call) =>
        (await own.lookUp(volumes, call)).map((result) => {
          if (result.kind !== 'found') return result;
          return { ...result, labels: { ...result.labels, [ZONE]: result.labels[ZONE]?.replace('__', ',') ?? '' } };
        }),
    }),
  ),
  ofVolumes('answers have each volume once', 'answers come in the order of the question', (own) => ({
    lookUp: (volumes, call) => own.lookUp([...new Set(volumes)], call),
  })),
  ofVolumes(
    'a volume that is gone is a failure',
    'what is not of this cloud, or gone, is unknown and no error',
    (own) => ({
      lookUp: async (volumes, call) =>
        (await own.lookUp(volumes, call)).map((result) =>
          result.kind === 'unknown' ? { kind: 'failed', error: new CloudError('not-found', 'gone') } : result,
        ),
    }),
  ),
  ofVolumes('a failed look-up is unknown', 'a request that fails makes no volume unknown', (own) => ({
    lookUp: (volumes, call) => own.lookUp(volumes, call).catch(() => volumes.map(() => ({ kind: 'unknown' }))),
  })),
  ofPodRanges(
    'ranges of a machine are replaced',
    'what a machine has already exists; others for it are a conflict, and nothing is taken',
    (own, { cloud }) => ({
      assign: async (requests, call) => {
        for (const { node } of requests) cloud.updateInstance(node.name, { podCidrs: [] });
        return own.assign(requests, call);
      },
    }),
  ),
  ofPodRanges('two machines get one range', 'no two machines have a part of one range', (own, { cloud }) => ({
    assign: async (requests, call) => {
      const results = await own.assign(requests, call);
      return results.map((result, i) => {
        const { node, podCidrs } = requests[i] ?? { node: undefined, podCidrs: [] };
        if (result.kind !== 'failed' || !node) return result;
        cloud.updateInstance(node.name, { podCidrs });
        return { kind: 'done' };
      });
    },
  })),
  ofPodRanges(
    'the first range of a request alone',
    'a machine gets its ranges, of both families, and shows them',
    (own) => ({
      assign: (requests, call) =>
        own.assign(
          requests.map((one) => ({ ...one, podCidrs: one.podCidrs.slice(0, 1) })),
          call,
        ),
    }),
  ),
  ofNodeTags('no tag is put', 'machines get what they lack, and lack nothing then', () => ({
    put: async (nodes) => nodes.map(() => ({ kind: 'done' })),
  })),
  ofNodeTags(
    'a tag that is there is a conflict',
    'what is there already is put once more without harm',
    (own, { cloud }) => ({
      put: async (nodes, call) => {
        const had = nodes.map(({ name }) => Object.keys(cloud.instance(name)?.tags ?? {}).length > 0);
        const results = await own.put(nodes, call);
        return results.map((result, i) =>
          had[i] ? { kind: 'failed', error: new CloudError('conflict', 'it is there') } : result,
        );
      },
    }),
  ),
  ofNodeTags('all machines are tagged', 'machines that are not named get nothing', (own, { cloud }) => ({
    put: async (nodes, call) => {
      const all = cloud
        .instances()
        .map(({ name, providerID }) => ({ name, uid: '', providerID, labels: {}, annotations: {} }));
      await own.put(all, call);
      return own.put(nodes, call);
    },
  })),
  ofNodeTags('one that is gone fails all', 'a machine that is gone fails alone', (own) => ({
    put: async (nodes, call) => {
      const results = await own.put(nodes, call);
      const failed = results.find(({ kind }) => kind === 'failed');
      return failed ? results.map(() => failed) : results;
    },
  })),
];
