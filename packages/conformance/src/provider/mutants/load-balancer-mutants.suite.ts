// Over 400 lines: one table, a mutant for each promise that a provider can break.
/** Wrong about load balancers. */
import { randomUUID } from 'node:crypto';
import {
  CloudError,
  type CallContext,
  type DesiredLoadBalancer,
  type LoadBalancerAction,
  type LoadBalancerActionResult,
  type LoadBalancerObservation,
  type LoadBalancerPart,
  type LoadBalancerPlan,
  type LoadBalancers,
} from '@outrigger/cloud-provider';
import type { MemoryPart } from '@outrigger/provider-memory';
import { NETWORK_ANNOTATION } from '../../../../../providers/memory/src/memory-fixture.suite.ts';
import { lingering, ofLoadBalancers, type Mutant, type World } from './mutant.suite.ts';

type Service = DesiredLoadBalancer['service'];

/** What a look shows is another. */
function showing(
  own: LoadBalancers,
  change: (part: LoadBalancerPart, service: Service) => LoadBalancerPart | undefined,
): LoadBalancers['observe'] {
  return async (services, call) => {
    const seen = await own.observe(services, call);
    return seen.map((one, i): LoadBalancerObservation => {
      const service = services[i];
      if (one.kind === 'failed' || !service) return one;
      return { ...one, parts: one.parts.flatMap((part) => change(part, service) ?? []) };
    });
  };
}

/** The plan is that of another goal. */
function planningFor(
  own: LoadBalancers,
  change: (desired: DesiredLoadBalancer) => DesiredLoadBalancer,
): LoadBalancers['plan'] {
  return (desired, parts) => own.plan(change(desired), parts);
}

const withService = (desired: DesiredLoadBalancer, service: Partial<Service>): DesiredLoadBalancer => ({
  ...desired,
  service: { ...desired.service, ...service },
});

/** Makes parts past the cloud's own rule of one of a kind for an owner. */
function doubling(isIdempotent: boolean): (own: LoadBalancers, world: World) => Pick<LoadBalancers, 'apply'> {
  return (own, { cloud }) => ({
    apply: async (action, desired, call): Promise<LoadBalancerActionResult> => {
      if (action.kind !== 'create') return own.apply(action, desired, call);
      const { clusterId, uid } = desired.owner;
      const tags = (): Record<string, string> => ({ clusterId, uid, nonce: randomUUID() });
      const send = async (): Promise<void> =>
        void cloud.createPart({ kind: action.part, tags: tags(), attributes: action.input });
      await call.call({ name: 'POST /parts', idempotent: isIdempotent }, send);
      return { kind: 'done' };
    },
  });
}

/** Makes a part without its tags, and tags it in a second request. */
async function createThenTag(
  { input, part }: LoadBalancerAction,
  { owner }: DesiredLoadBalancer,
  call: CallContext,
  { cloud }: World,
): Promise<LoadBalancerActionResult> {
  const tags = { nonce: randomUUID() };
  const made = await call.call({ name: 'POST /parts' }, async () =>
    cloud.createPart({ kind: part, tags, attributes: input }),
  );
  const { clusterId, uid } = owner;
  await call.call({ name: 'PUT /parts/{id}' }, async () => cloud.updatePart(made.id, { tags: { clusterId, uid } }));
  return { kind: 'done', made: { kind: part, id: made.id } };
}

/** Each action makes use of what the Service names, too, as the fixture has it. */
function usingWhatIsNamed(
  own: LoadBalancers,
  { cloud }: World,
  mayUse: (part: MemoryPart, service: Service) => boolean,
): LoadBalancers['apply'] {
  return async (action, desired, call) => {
    const { annotations, uid } = desired.service;
    const named = cloud.part(annotations[NETWORK_ANNOTATION] ?? '');
    if (named && mayUse(named, desired.service)) {
      const attributes = { usedBy: uid };
      await call.call({ name: 'PUT /parts/{id}' }, async () => void cloud.updatePart(named.id, { attributes }));
    }
    return own.apply(action, desired, call);
  };
}

let opened = 0;

export const loadBalancerMutants: readonly Mutant[] = [
  ofLoadBalancers(
    'the address is said before all is made',
    'one is made, gets its address last, and is complete',
    (own) => ({
      plan: (desired, parts) => {
        const plan = own.plan(desired, parts);
        const ip = parts.find(({ kind }) => kind === 'address')?.attributes['ip'];
        return desired.wanted && typeof ip === 'string' ? { ...plan, ingress: [{ ip }] } : plan;
      },
    }),
  ),
  ofLoadBalancers(
    'it is complete without an address',
    'one is made, gets its address last, and is complete',
    (own) => ({
      plan: (desired, parts) => {
        const plan = own.plan(desired, parts);
        return plan.actions.length === 0 && desired.wanted ? { ...plan, ingress: [], complete: true } : plan;
      },
    }),
  ),
  ofLoadBalancers(
    'each process writes anew',
    'a second pass has nothing to do, in this process and in the next',
    (own) => {
      const process = opened++;
      return {
        plan: (desired, parts) => {
          const plan = own.plan(desired, parts);
          const there = parts.find(({ kind }) => kind === 'firewall');
          if (!desired.wanted || !there || plan.actions.length > 0 || there.attributes['by'] === process) return plan;
          const input = { ...there.attributes, by: process };
          return { ...plan, actions: [{ kind: 'update', part: 'firewall', id: there.id, input }], ingress: [] };
        },
      };
    },
  ),
  ofLoadBalancers(
    'the plan has something new each time',
    'the plan is pure: the same input gives the same plan, and is not changed',
    (own) => {
      let plans = 0;
      return {
        plan: (desired, parts) => {
          const plan = own.plan(desired, parts);
          return { ...plan, actions: plan.actions.map((action) => ({ ...action, summary: `plan ${plans++}` })) };
        },
      };
    },
  ),
  ofLoadBalancers(
    'the plan sorts what it was given',
    'the plan is pure: the same input gives the same plan, and is not changed',
    (own) => ({
      plan: (desired, parts) => {
        (parts as LoadBalancerPart[]).sort((a, b) => (a.id < b.id ? -1 : 1));
        return own.plan(desired, parts);
      },
    }),
  ),
  ofLoadBalancers('the ports stay those of the beginning', 'a changed port is followed', (own) => {
    const first = new Map<string, Service['ports']>();
    return {
      plan: planningFor(own, (desired) => {
        const { ports, uid } = desired.service;
        if (!first.has(uid)) first.set(uid, ports);
        return withService(desired, { ports: first.get(uid) ?? ports });
      }),
    };
  }),
  ofLoadBalancers('node ports are not compared', 'a changed port is followed', (own) => ({
    plan: planningFor(own, (desired) =>
      withService(desired, { ports: desired.service.ports.map((port) => ({ ...port, nodePort: 30_000 })) }),
    ),
  })),
  ofLoadBalancers('a member is forgotten', 'the members follow the nodes', (own) => ({
    plan: planningFor(own, (desired) => ({ ...desired, backEnds: desired.backEnds.slice(0, -1) })),
  })),
  ofLoadBalancers('members come, and never go', 'the members follow the nodes', (own) => {
    const known = new Map<string, DesiredLoadBalancer['backEnds'][number]>();
    return {
      plan: planningFor(own, (desired) => {
        for (const one of desired.backEnds) known.set(one.node.name, one);
        return { ...desired, backEnds: [...known.values()] };
      }),
    };
  }),
  ofLoadBalancers(
    'a refused wish reaches the ports with the members',
    'while its wish is refused, its members follow the nodes and the rest stays',
    (own) => ({
      planMembers: (desired, parts): LoadBalancerPlan => {
        const plan = own.planMembers?.(desired, parts) ?? { actions: [], ingress: [] };
        const ports = desired.service.ports.map(({ nodePort, port, protocol }) => ({ port, protocol, nodePort }));
        return { ...plan, actions: plan.actions.map((action) => ({ ...action, input: { ...action.input, ports } })) };
      },
    }),
  ),
  ofLoadBalancers(
    'members stay while the wish is refused',
    'while its wish is refused, its members follow the nodes and the rest stays',
    () => ({
      planMembers: () => ({ actions: [], ingress: [], complete: true }),
    }),
  ),
  ofLoadBalancers(
    'a look leaves out the address while the wish is refused',
    'while its wish is refused, its members follow the nodes and the rest stays',
    (own) => ({
      observe: showing(own, (part, { ports }) => (ports.length > 1 ? { ...part, addresses: [] } : part)),
    }),
  ),
  ofLoadBalancers('a rule is left behind, and not shown', 'what is taken away is gone, and nothing is left', (own) => {
    const going = new Set<string>();
    return {
      plan: (desired, parts) => {
        if (!desired.wanted) going.add(desired.service.uid);
        const plan = own.plan(desired, parts);
        return desired.wanted ? plan : { ...plan, actions: plan.actions.filter(({ part }) => part !== 'firewall') };
      },
      observe: showing(own, (part, { uid }) => (going.has(uid) && part.kind === 'firewall' ? undefined : part)),
    };
  }),
  ofLoadBalancers(
    'a rule is left behind, and lost from sight everywhere',
    'what is taken away is gone, and nothing is left',
    (own, { cloud }) => ({
      apply: async (action, desired, call) => {
        if (action.kind !== 'delete' || action.part !== 'firewall') return own.apply(action, desired, call);
        await call.call({ name: 'PUT /parts/{id}' }, async () => cloud.updatePart(action.id ?? '', { tags: {} }));
        return { kind: 'done' };
      },
    }),
  ),
  ofLoadBalancers(
    'what is gone already cannot be deleted',
    'what is gone can be taken away again',
    (own, { cloud }) => ({
      apply: async (action, desired, call) => {
        if (action.kind === 'delete' && !cloud.part(action.id ?? '')) throw new CloudError('not-found', 'it is gone');
        return own.apply(action, desired, call);
      },
    }),
  ),
  ofLoadBalancers('no idempotency: a create makes another one', 'each action may be applied twice', doubling(false)),
  ofLoadBalancers(
    'a create whose answer was lost is sent again',
    'an answer that is lost after its request was carried out makes nothing twice',
    (own, world) => {
      const doubled = doubling(false)(own, world);
      return {
        apply: (action, desired, call) =>
          doubled.apply(action, desired, call).catch(() => doubled.apply(action, desired, call)),
      };
    },
  ),
  ofLoadBalancers(
    'a create says that it is idempotent, and is not',
    'a request that says it is idempotent may be sent twice',
    doubling(true),
  ),
  ofLoadBalancers(
    'looks at the same time share an answer',
    'many at the same time come and go, each with what it needs',
    (own) => {
      let underWay: ReturnType<LoadBalancers['observe']> | undefined;
      return {
        observe: (services, call) => {
          underWay ??= own.observe(services, call).finally(() => {
            underWay = undefined;
          });
          return underWay;
        },
      };
    },
  ),
  ofLoadBalancers(
    'looks of Services that have nothing are left out',
    'looks answer in the order of the Services, also of those that have nothing',
    (own) => ({
      observe: async (services, call) => {
        const seen = await own.observe(services, call);
        const some = seen.filter((one) => one.kind === 'failed' || one.parts.length > 0);
        return services.length === 1 ? seen : some;
      },
    }),
  ),
  ofLoadBalancers('no node is selected', 'lockKey and selectBackEnds are pure', () => ({ selectBackEnds: () => [] })),
  ofLoadBalancers('a lock for each question', 'lockKey and selectBackEnds are pure', () => ({
    lockKey: () => randomUUID(),
  })),
  ofLoadBalancers('an orphan needs its name', 'an orphan goes by its UID alone', (own) => ({
    plan: (desired, parts) => {
      const plan = own.plan(desired, parts);
      if (desired.wanted || desired.service.name !== '') return plan;
      return { ...plan, actions: plan.actions.filter(({ part }) => part !== 'dns') };
    },
  })),
  ofLoadBalancers(
    'an apply goes on after its abort',
    'an apply that is aborted ends at once, and the next try comes to the end',
    (own, world) => ({
      apply: (action, desired, call) => lingering(own.apply(action, desired, call), call, world),
    }),
  ),
  ofLoadBalancers(
    'an unwell cloud refuses Services',
    'a Service that is served is not refused before it is stored',
    (own) => ({
      validate: async (service, call) =>
        (await own.validate?.(service, call).catch((error: unknown) => ({ refused: error as Error }))) ?? {},
    }),
  ),
  ofLoadBalancers('an ignored family', 'serves what it declares: both IP families on one Service', (own) => ({
    features: { ...own.features, ipFamilies: ['IPv4', 'IPv6'], dualStack: true },
  })),
  ofLoadBalancers('IPv6 is declared, and IPv4 given', 'serves what it declares: IP family IPv6', (own) => ({
    features: { ...own.features, ipFamilies: ['IPv4', 'IPv6'] },
  })),
  ofLoadBalancers('affinity is declared, and ignored', 'serves what it declares: session affinity', (own) => ({
    features: { ...own.features, sessionAffinity: true },
  })),
  ofLoadBalancers('source ranges are declared, and ignored', 'serves what it declares: source ranges', (own) => ({
    plan: planningFor(own, (desired) => withService(desired, { sourceRanges: [] })),
  })),
  ofLoadBalancers('UDP is declared, and refused', 'serves what it declares: protocol UDP', (own) => ({
    plan: (desired, parts) => {
      if (!desired.service.ports.some(({ protocol }) => protocol === 'UDP')) return own.plan(desired, parts);
      return { actions: [], ingress: [], refused: new CloudError('unsupported', 'no UDP') };
    },
  })),
  ofLoadBalancers(
    'of several protocols the first is served',
    'serves what it declares: several protocols on one Service',
    (own) => ({
      plan: planningFor(own, (desired) => withService(desired, { ports: desired.service.ports.slice(0, 1) })),
    }),
  ),
  ofLoadBalancers('both families together, and not each', 'what is declared fits together', (own) => ({
    features: { ...own.features, dualStack: true },
  })),
  ofLoadBalancers(
    'a tag is missing',
    'each part says whose it is: this cluster and this Service',
    (own, { cloud }) => ({
      apply: async (action, desired, call) => {
        const result = await own.apply(action, desired, call);
        const { made } = result.kind === 'failed' ? {} : result;
        if (action.part === 'address' && made) cloud.updatePart(made.id, { tags: { uid: desired.owner.uid } });
        return result;
      },
      observe: async (services, call) => {
        const seen = await own.observe(services, call);
        const all = cloud.parts().filter(({ kind }) => kind === 'address');
        return seen.map((one, i) => {
          const mine = all.filter(({ tags }) => tags['uid'] === services[i]?.uid);
          if (one.kind === 'failed') return one;
          const owner = { clusterId: 'nobody', uid: services[i]?.uid ?? '' };
          const parts = mine.map(({ attributes, id, kind }) => ({
            id,
            kind,
            owner,
            attributes,
            state: 'ready' as const,
          }));
          return { ...one, parts: [...one.parts.filter(({ kind }) => kind !== 'address'), ...parts] };
        });
      },
      plan: (desired, parts) => {
        const mine = parts.map((part) =>
          part.owner?.uid === desired.owner.uid ? { ...part, owner: desired.owner } : part,
        );
        return own.plan(desired, mine);
      },
    }),
  ),
  ofLoadBalancers(
    'the cluster in the tag is not compared',
    'another cluster sees nothing of this one as its own, and takes nothing of it away',
    (own, { cloud, host }) => ({
      observe: async (services, call) => {
        const seen = await own.observe(services, call);
        return seen.map((one, i) => {
          const uid = services[i]?.uid ?? '';
          const owner = { clusterId: host.cluster.id, uid };
          const parts = cloud.parts().filter(({ tags }) => tags['uid'] === uid);
          if (one.kind === 'failed') return one;
          return {
            ...one,
            parts: parts.map(({ attributes, id, kind }) => ({ id, kind, owner, attributes, state: 'ready' as const })),
          };
        });
      },
    }),
  ),
  ofLoadBalancers(
    'listOwned has the parts of all clusters',
    'another cluster sees nothing of this one as its own, and takes nothing of it away',
    (_, { cloud }) => ({
      listOwned: async (call) => {
        await call.call({ name: 'GET /parts', idempotent: true }, async () => {});
        return cloud.parts().map(({ attributes, id, kind, tags }) => {
          const owner = { clusterId: tags['clusterId'] ?? '', uid: tags['uid'] ?? '' };
          return { id, kind, attributes, owner, state: 'ready' as const };
        });
      },
    }),
  ),
  ofLoadBalancers(
    'the name of an earlier Service is taken from it',
    'a Service of the same name waits for the earlier one, or has parts of its own',
    (own, { cloud }) => ({
      observe: async (services, call) => {
        for (const { name, namespace, uid } of services) {
          const there = cloud
            .parts()
            .find(({ attributes }) => attributes['name'] === `${name}.${namespace}.memory.test`);
          if (there && there.tags['uid'] !== uid) cloud.updatePart(there.id, { tags: { ...there.tags, uid } });
        }
        return own.observe(services, call);
      },
    }),
  ),
  ofLoadBalancers(
    'a deletion takes the address of another too',
    'the deletion of one Service leaves the others as they are',
    (own, { cloud }) => ({
      apply: async (action, desired, call) => {
        const result = await own.apply(action, desired, call);
        const other = cloud.parts().find(({ kind, tags }) => kind === 'address' && tags['uid'] !== desired.owner.uid);
        if (action.kind === 'delete' && action.part === 'address' && other) cloud.deletePart(other.id);
        return result;
      },
    }),
  ),
  ofLoadBalancers(
    "the plan deletes what is another's",
    "the plan touches no part that is another's, and only claims what is nobody's",
    (own) => ({
      plan: (desired, parts) => {
        if (desired.wanted) return own.plan(desired, parts);
        const actions = parts.map(({ id, kind }) => ({ kind: 'delete', part: kind, id, input: {} }) as const);
        return { actions, ingress: [] };
      },
    }),
  ),
  ofLoadBalancers(
    "the plan changes what is nobody's",
    "the plan touches no part that is another's, and only claims what is nobody's",
    (own) => ({
      plan: (desired, parts) =>
        own.plan(
          desired,
          parts.map((part) => ({ ...part, owner: part.owner ?? desired.owner })),
        ),
    }),
  ),
  ofLoadBalancers(
    'what a Service names is used, whoever may use it',
    'what a Service names of others is used only where a plan declares it and its namespace may use it',
    (own, world) => ({ apply: usingWhatIsNamed(own, world, () => true) }),
  ),
  ofLoadBalancers(
    'what a Service may use is used, and no plan declares it',
    'what a Service names of others is used only where a plan declares it and its namespace may use it',
    (own, world) => ({
      apply: usingWhatIsNamed(own, world, ({ attributes }, { namespace }) => attributes['namespace'] === namespace),
    }),
  ),
  ofLoadBalancers(
    'made in one request, tagged in the next',
    'a process that dies between two requests leaves nothing that the next one does not finish',
    (own, world) => ({
      apply: (action, desired, call) =>
        action.kind === 'create' ? createThenTag(action, desired, call, world) : own.apply(action, desired, call),
    }),
  ),
  ofLoadBalancers('what is half made is not taken away', 'what is half made can be taken away', (own) => ({
    plan: (desired, parts) => {
      const plan = own.plan(desired, parts);
      const isWhole = parts.some(({ kind }) => kind === 'load-balancer');
      return desired.wanted || isWhole || parts.length === 0 ? plan : { ...plan, actions: [] };
    },
  })),
  ofLoadBalancers(
    'what is half gone is not taken away',
    'a deletion that dies between two requests is finished by the next process',
    (own) => ({
      plan: (desired, parts) => {
        const plan = own.plan(desired, parts);
        const isWhole = parts.some(({ kind }) => kind === 'dns');
        return desired.wanted || isWhole || parts.length === 0 ? plan : { ...plan, actions: [] };
      },
    }),
  ),
  ofLoadBalancers(
    'a look that failed shows nothing',
    'a look that fails is no look: it shows nothing, and not that nothing is there',
    (own) => ({
      observe: (services, call) =>
        own.observe(services, call).catch(() => services.map(() => ({ kind: 'parts', parts: [] }))),
    }),
  ),
  ofLoadBalancers(
    'a status of the cloud is a look',
    'no status of the cloud makes a part absent, nor a list empty',
    (own) => ({
      observe: (services, call) =>
        own.observe(services, call).catch((error: unknown) => {
          if (error instanceof Error && error.message.includes('(404)'))
            return services.map(() => ({ kind: 'parts', parts: [] }));
          throw error;
        }),
    }),
  ),
  ofLoadBalancers('listOwned swallows failures', 'listOwned shows all, or throws', (own) => ({
    listOwned: (call) => own.listOwned(call).catch(() => []),
  })),
  ofLoadBalancers('listOwned forgets a kind', 'listOwned shows all, or throws', (own) => ({
    listOwned: async (call) => (await own.listOwned(call)).filter(({ kind }) => kind !== 'dns'),
  })),
  ofLoadBalancers('a failed read is absent', 'no failure makes a part absent', (own) => ({
    read: async (parts, call) =>
      (await own.read?.(parts, call))?.map((answer) =>
        answer.kind === 'failed' ? { kind: 'absent', proof: 'it failed' } : answer,
      ) ?? [],
  })),
  ofLoadBalancers(
    "another's part is there for this one",
    'read says there of what is there, and absent with a proof of what is gone',
    (own) => ({
      read: async (parts, call) =>
        (await own.read?.(parts, call))?.map((answer) =>
          answer.kind === 'absent' && answer.proof.includes('belongs to') ? { kind: 'there' } : answer,
        ) ?? [],
    }),
  ),
  ofLoadBalancers(
    'parts are not found by their name',
    'read says there of what is there, and absent with a proof of what is gone',
    (own) => ({
      read: async (parts, call) =>
        (await own.read?.(parts, call))?.map((answer, i) =>
          parts[i]?.id === undefined ? { kind: 'absent', proof: 'no name' } : answer,
        ) ?? [],
    }),
  ),
  ofLoadBalancers(
    'strong is declared, and lists lag',
    'lists that lag hide nothing for good: nothing is made twice, nothing is left',
    (own, world) => ({
      ...doubling(false)(own, world),
      consistency: 'strong',
      namedByOwner: [],
      read: undefined as never,
    }),
  ),
];
