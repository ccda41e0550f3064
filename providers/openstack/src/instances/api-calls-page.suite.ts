/** The page of how many requests the instances need, out of the fake's own count of them. */
import assert from 'node:assert/strict';
import type { Instances, InstanceNeed, NodeRef } from '@outrigger/cloud-provider';
import type { FakeCall } from '../../fake/call-log.ts';
import { makeFakeProject, nodeOf, openFakeCluster, type FakeProject } from './fake-cluster.suite.ts';

const KINDS: readonly (readonly [title: string, is: (call: FakeCall) => boolean])[] = [
  ['nova `GET /servers/detail`', ({ operation, target }) => isList(operation) && !target.includes('name=')],
  ['the same, by name', ({ operation, target }) => isList(operation) && target.includes('name=')],
  ['nova `GET /servers/{id}`', ({ operation }) => operation === 'GET /servers/{id}'],
  ['neutron `GET /ports`', ({ operation }) => operation === 'GET /ports'],
];

const isList = (operation: string): boolean => operation === 'GET /servers/detail';

const hex = (byte: number): string => byte.toString(16).padStart(2, '0');

/** Servers of the project, with a port each; and how many of them are nodes. */
const PROJECTS = [
  { inProject: 10_000, clusters: [1, 20, 500, 5_000] },
  { inProject: 20, clusters: [20] },
  { inProject: 500, clusters: [500] },
] as const;

export async function apiCallsPage(): Promise<string> {
  const rows: string[] = [];
  for (const { inProject, clusters } of PROJECTS) {
    const project = makeFakeProject();
    seed(project, inProject);
    for (const nodes of clusters) rows.push(...(await measure(nodes, inProject, project)));
  }
  return `# Requests of the instances

The number of requests for one look-up of all nodes, counted by a test on the OpenStack in memory, through the real client. The token
and the versions of each service are requested once and not counted here. Pages have 1,000 items, which is the default of nova's \`max_limit\`.

| Nodes | Servers and ports in the project | Look-up | ${KINDS.map(([title]) => title).join(' | ')} | Total |
|---|---|---|${'---|'.repeat(KINDS.length + 1)}
${rows.join('\n')}

*First* is the first look-up after the start, by name: the size of the project is not known yet, and is taken to be the size of the cluster. *State* is
the look-up of the node lifecycle controller, *metadata* the look-up for new nodes and for the periodic refresh of addresses. Servers that are not in the list
are requested by ID in addition, at most 20 in one look-up. [How it is decided](instances.md#requests).
`;
}

function seed({ cloud, seeded: { project, network } }: FakeProject, count: number): void {
  for (let i = 0; i < count; i++) {
    const { id } = cloud.compute.addServer({ name: `server-${i}`, projectId: project.id });
    // IPv6 addresses come of it: one drawn at random is met twice among 10,000.
    const mac = `fa:16:3e:00:${hex(i >> 8)}:${hex(i & 0xff)}`;
    cloud.networking.ports.add({ network_id: network.id, project_id: project.id, device_id: id, mac_address: mac });
  }
}

/** With a provider that has not asked anything yet. */
async function measure(count: number, inProject: number, project: FakeProject): Promise<readonly string[]> {
  await using cluster = await openFakeCluster({ project });
  const { cloud, opened } = cluster;
  const { instances } = opened.capabilities;
  assert.ok(instances);
  const call = opened.callContext({ signal: new AbortController().signal, priority: 'normal' });
  const newestFirst = cloud.compute.newestFirst();
  const byName = newestFirst.slice(-count).map(({ name }) => nodeOf(name));
  const byId = newestFirst.slice(-count).map(({ name, id }) => nodeOf(name, id));
  // Connects: token and versions.
  await instances.read(byId[0]!, 'metadata', call);
  const row = async (title: string, nodes: readonly NodeRef[], need: InstanceNeed): Promise<string> => {
    const counts = await counted(cloud.calls, () => found(instances, nodes, need, call));
    const together = counts.reduce((sum, one) => sum + one, 0);
    const numbers = [...counts, together].map((one) => one.toLocaleString('en'));
    return `| ${[count.toLocaleString('en'), inProject.toLocaleString('en'), title, ...numbers].join(' | ')} |`;
  };
  return [
    await row('first, metadata', byName, 'metadata'),
    await row('state', byId, 'state'),
    await row('metadata', byId, 'metadata'),
  ];
}

async function counted(
  calls: { all(): readonly FakeCall[]; reset(): void },
  run: () => Promise<void>,
): Promise<readonly number[]> {
  calls.reset();
  await run();
  const counts = KINDS.map(([, is]) => calls.all().filter(is).length);
  assert.equal(
    counts.reduce((sum, one) => sum + one, 0),
    calls.all().length,
    'each request is one of the kinds',
  );
  return counts;
}

async function found(
  instances: Instances,
  nodes: readonly NodeRef[],
  need: InstanceNeed,
  call: Parameters<Instances['lookUp']>[2],
): Promise<void> {
  const answers = await instances.lookUp(nodes, need, call);
  assert.ok(answers.every(({ result }) => result.kind === 'found' && result.instance.providerID.length > 10));
}
