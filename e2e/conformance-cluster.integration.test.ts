// Over 400 lines: one cluster, and one test for each promise that a broken manager breaks.
/** The cluster suite and its command on the embedded API server: what they say, what they leave, and how they end. */
import assert from 'node:assert/strict';
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import {
  runClusterConformance,
  runClusterTests,
  type ClusterFixture,
  type ClusterRun,
  type RunClusterOptions,
} from '@outrigger/conformance';
import {
  createClient,
  createTransport,
  loadConfig,
  resources,
  StatusError,
  systemClock,
  type Client,
  type Node,
  type Transport,
} from '@outrigger/kube';
import { createMemoryCloud, serveMemoryCloud, type MemoryCloud } from '@outrigger/provider-memory';
import { hollowNode, startEmbeddedApiServer } from '@outrigger/testing';
import { ConformanceJudges, startOurs } from './conformance-judges.ts';
import { memoryClusterFixture } from './memory-cluster-fixture.ts';

interface Cluster {
  readonly client: Client;
  readonly transport: Transport;
  readonly directory: string;
  readonly kubeconfig: string;
  readonly judges: ConformanceJudges;
}

async function startCluster(t: TestContext): Promise<Cluster> {
  const directory = mkdtempSync(path.join(tmpdir(), 'conformance-'));
  const server = await startEmbeddedApiServer();
  const kubeconfig = path.join(directory, 'kubeconfig');
  await writeFile(kubeconfig, server.kubeconfig('token').yaml);
  const transport = createTransport(await loadConfig({ kubeconfig }));
  t.after(async () => {
    await transport[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
    rmSync(directory, { recursive: true, force: true });
  });
  const client = createClient(transport);
  const apiServer = { server: '', certificateAuthority: '', token: '' };
  return {
    client,
    transport,
    directory,
    kubeconfig,
    judges: new ConformanceJudges({ client, kubeconfig, apiServer, directory }),
  };
}

/** Ours, on a cloud of its own. */
async function runOurs({ directory, kubeconfig }: Cluster, running: AsyncDisposableStack): Promise<MemoryCloud> {
  const cloud = createMemoryCloud({ clock: systemClock, random: () => 0.5 });
  const { endpoint } = running.use(await serveMemoryCloud(cloud));
  const cloudConfig = path.join(directory, 'cloud.json');
  await writeFile(cloudConfig, JSON.stringify({ endpoint }));
  running.use(await startOurs(kubeconfig, cloudConfig, directory));
  return cloud;
}

/** What there is of the suite's own, in the whole cluster. */
async function ownObjects(client: Client): Promise<readonly string[]> {
  const labelSelector = 'conformance.outrigger.dev/run';
  const services = (await client.of(resources.services).list({ labelSelector })).items;
  const nodes = (await client.of(resources.nodes).list({ labelSelector })).items;
  return [...services, ...nodes].map(({ metadata }) => metadata?.name ?? '');
}

async function command(
  { directory, kubeconfig }: Pick<Cluster, 'directory' | 'kubeconfig'>,
  args: readonly string[],
  { signal, env = {} }: { readonly signal?: AbortSignal; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }> {
  const out: string[] = [];
  const err: string[] = [];
  const code = await runClusterConformance([`--kubeconfig=${kubeconfig}`, ...args], {
    stdout: { write: (text) => out.push(text) },
    stderr: { write: (text) => err.push(text) },
    env,
    cwd: directory,
    ...(signal && { signal }),
  });
  return { code, stdout: out.join(''), stderr: err.join('') };
}

test('ours keeps every promise that the embedded API server can show', async (t) => {
  const { client, judges } = await startCluster(t);
  const { report, left } = await judges.judge({ quietMs: 500, timeoutMs: 300_000 });
  const failed = report.results.filter(({ outcome }) => outcome === 'failed' || outcome === 'unverifiable');
  assert.deepEqual(failed, []);
  assert.ok(report.results.length >= 30);
  assert.deepEqual(left, []);
  assert.deepEqual(await ownObjects(client), []);
});

test('without a fixture, what needs a machine is unverifiable, and the rest is judged all the same', async (t) => {
  const cluster = await startCluster(t);
  await using running = new AsyncDisposableStack();
  const cloud = await runOurs(cluster, running);
  const args = [
    '--timeout=300s',
    '--quiet-period=300ms',
    '--report-dir=reports',
    '--subject=ours',
    '--subject-version=1.2.3',
  ];
  const { code, stdout, stderr } = await command(cluster, args);
  assert.equal(code, 0, stdout);
  assert.match(stdout, /^cluster conformance of ours 1\.2\.3\n/u);
  assert.match(
    stdout,
    /unverifiable {2}nodes \/ the provider ID is set .*\n +it needs a machine: give --fixture or --node\n/u,
  );
  assert.match(stdout, /passed {8}services \/ a load balancer gets an address/u);
  assert.match(stderr, /^passed services \/ a deleted Service goes$/mu);
  const report = JSON.parse(readFileSync(path.join(cluster.directory, 'reports/report.json'), 'utf8')) as {
    readonly suite: string;
    readonly results: readonly unknown[];
  };
  assert.equal(report.suite, 'cluster');
  assert.ok(report.results.length >= 30);
  assert.ok(existsSync(path.join(cluster.directory, 'reports/report.html')));
  assert.deepEqual(await ownObjects(cluster.client), []);
  assert.deepEqual(cloud.parts(), [], 'and nothing is left in the cloud');
});

test('where no manager runs, everything ends in time, fails, and says what is left', async (t) => {
  const cluster = await startCluster(t);
  const args = ['--timeout=4s', '--quiet-period=50ms', '--only=services', '--features=services'];
  const { code, stdout } = await command(cluster, args);
  assert.equal(code, 1);
  assert.match(stdout, /not within 4 s: Service balanced of type LoadBalancer gets an address\n/u);
  assert.match(stdout, /last seen: \{/u, 'with what was seen');
  assert.deepEqual(await ownObjects(cluster.client), []);
});

test('a manager that does not run is not praised for what it leaves alone', async (t) => {
  const cluster = await startCluster(t);
  const { fixture } = namedMachines();
  const only = ['left alone', 'a node of another cloud is kept'];
  const { report } = await runAlone(cluster, fixture, '', { only });
  assert.deepEqual(
    report.results.map(({ outcome }) => outcome),
    ['unverifiable', 'unverifiable', 'unverifiable'],
  );
  for (const { reason } of report.results)
    assert.match(reason ?? '', /^the manager does nothing at all: not within 0\.3 s/u);
});

test('a finalizer that never goes is told, and not taken away', async (t) => {
  const cluster = await startCluster(t);
  const { client } = cluster;
  const services = client.of(resources.services);
  // Within this time the test has to find the Service.
  const running = command(cluster, ['--timeout=8s', '--only=gets an address']);
  const labelSelector = 'conformance.outrigger.dev/run';
  let found = (await services.list({ labelSelector })).items[0]?.metadata;
  while (!found) {
    await systemClock.sleep(10);
    found = (await services.list({ labelSelector })).items[0]?.metadata;
  }
  const body = { metadata: { finalizers: ['service.kubernetes.io/load-balancer-cleanup'] } };
  const ref = { namespace: found.namespace ?? '', name: found.name ?? '' };
  await services.patch(ref, { type: 'merge', body });
  const { code, stderr } = await running;
  assert.equal(code, 1);
  assert.match(
    stderr,
    /^left behind: Service \S+\/balanced is left: it waits for service\.kubernetes\.io\/load-balancer-cleanup$/mu,
  );
});

test('a run that is stopped takes away what it has made', async (t) => {
  const cluster = await startCluster(t);
  const stop = new AbortController();
  const running = command(cluster, ['--only=gets an address', '--report-dir=stopped'], { signal: stop.signal });
  while ((await ownObjects(cluster.client)).length === 0) await systemClock.sleep(10);
  stop.abort();
  const { code, stdout } = await running;
  assert.equal(code, 1);
  assert.match(stdout, /the run was stopped/u);
  assert.match(stdout, /^STOPPED: 2 of 2 tests did not come to an end$/mu);
  const [finished = ''] = globSync('stopped/*/finished.json', { cwd: cluster.directory });
  const { passed, result } = JSON.parse(readFileSync(path.join(cluster.directory, finished), 'utf8')) as {
    readonly passed: boolean;
    readonly result: string;
  };
  assert.deepEqual([passed, result], [false, 'ABORTED']);
  assert.deepEqual(await ownObjects(cluster.client), []);
});

/** Runs `only` with this fixture, where no manager runs. */
async function runAlone(
  { client }: Cluster,
  fixture: ClusterFixture,
  only: string,
  options: Partial<RunClusterOptions> = {},
): Promise<ClusterRun> {
  return await runClusterTests({
    client,
    clock: systemClock,
    fixture,
    subject: { name: 'none' },
    features: ['nodes', 'node-lifecycle', 'services'],
    disruptive: false,
    node: '',
    timeoutMs: 300,
    quietMs: 50,
    concurrency: 8,
    only: [only],
    run: 'alone',
    signal: new AbortController().signal,
    ...options,
  });
}

/** Where it matters what is left: each step of the removal has no more time than anything else, and some requests to make. */
const LONGER = { timeoutMs: 4_000 } as const;

/** A fixture whose machines are names in `machines`; like a real one it does nothing after its signal has aborted. */
function namedMachines(): { readonly machines: Set<string>; readonly fixture: ClusterFixture } {
  const machines = new Set<string>();
  const fixture: ClusterFixture = {
    makeMachine: async (name, signal) => {
      signal.throwIfAborted();
      machines.add(name);
      return await Promise.resolve({ nodeName: name });
    },
    deleteMachine: async ({ nodeName }, signal) => {
      signal.throwIfAborted();
      machines.delete(nodeName);
      return await Promise.resolve();
    },
  };
  return { machines, fixture };
}

test('machines, Nodes and the namespace go although a Service stays', async (t) => {
  const cluster = await startCluster(t);
  const { client } = cluster;
  const { fixture, machines } = namedMachines();
  const namespace = 'outrigger-conformance-alone';
  const ref = { namespace, name: 'balanced' };
  const stuck: ClusterFixture = {
    ...fixture,
    makeMachine: async (name, signal) => {
      const metadata = { ...ref, finalizers: ['service.kubernetes.io/load-balancer-cleanup'] };
      const spec = { ports: [{ port: 80 }] };
      await client.of(resources.services).create({ apiVersion: 'v1', kind: 'Service', metadata, spec });
      return await fixture.makeMachine(name, signal);
    },
  };
  const { left } = await runAlone(cluster, stuck, 'the uninitialized taint is removed', LONGER);
  assert.deepEqual(left, [
    `Service ${namespace}/balanced is left: it waits for service.kubernetes.io/load-balancer-cleanup`,
  ]);
  assert.deepEqual([...machines], []);
  assert.deepEqual((await client.of(resources.nodes).list()).items, []);
});

test('a fixture that never answers does not hold up the run, and what it was making is taken away', async (t) => {
  const cluster = await startCluster(t);
  const { fixture, machines } = namedMachines();
  const hangs: ClusterFixture = {
    ...fixture,
    makeMachine: async (name) => {
      machines.add(name);
      return await new Promise<never>(() => {});
    },
  };
  const { report, left } = await runAlone(cluster, hangs, 'the uninitialized taint is removed', LONGER);
  assert.match(report.results[0]?.reason ?? '', /makeMachine of the fixture: no answer within 4000 ms/u);
  assert.deepEqual(left, []);
  assert.deepEqual([...machines], []);
  const deaf: ClusterFixture = { ...fixture, deleteMachine: async () => await new Promise<never>(() => {}) };
  const again = await runAlone(cluster, deaf, 'the uninitialized taint is removed', { ...LONGER, run: 'again' });
  assert.equal(again.left.length, 1);
  assert.match(
    again.left[0] ?? '',
    /^the machine of node conformance-again-1 could not be removed: NotVerifiable: deleteMachine of the fixture: no answer within 4000 ms/u,
  );
});

test('a cloud that is made to fail works again when a stopped run ends', async (t) => {
  const cluster = await startCluster(t);
  const { fixture } = namedMachines();
  const { client } = cluster;
  const stop = new AbortController();
  let failing = false;
  const failCloud: ClusterFixture['failCloud'] = async () => {
    failing = true;
    stop.abort();
    return await Promise.resolve({
      [Symbol.asyncDispose]: async () => {
        await systemClock.sleep(100);
        failing = false;
      },
    });
  };
  const makeMachine: ClusterFixture['makeMachine'] = async (name, signal) => {
    const machine = await fixture.makeMachine(name, signal);
    void (async () => {
      const nodes = client.of(resources.nodes);
      while ((await nodes.list()).items.length === 0) await systemClock.sleep(5);
      await nodes.patch({ name }, { type: 'merge', body: { spec: { taints: null } } });
    })();
    return machine;
  };
  const { left } = await runAlone(
    cluster,
    { ...fixture, makeMachine, failCloud },
    'a node is kept while the cloud answers errors',
    { signal: stop.signal, timeoutMs: 120_000 },
  );
  assert.equal(failing, false);
  assert.deepEqual(left, []);
});

test('a Node that was there before the run is neither labelled nor taken away', async (t) => {
  const cluster = await startCluster(t);
  const nodes = cluster.client.of(resources.nodes);
  const before = await nodes.create({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'worker' } });
  // Times of the API server are whole seconds.
  await systemClock.sleep(1_000);
  const { fixture } = namedMachines();
  const wrong: ClusterFixture = {
    ...fixture,
    nodesFrom: 'kubelet',
    makeMachine: async () => await Promise.resolve({ nodeName: 'worker' }),
  };
  const { report } = await runAlone(cluster, wrong, 'the uninitialized taint is removed');
  assert.equal(report.results[0]?.outcome, 'unverifiable');
  assert.match(report.results[0].reason ?? '', /node worker was there before the run began/u);
  assert.deepEqual((await nodes.get({ name: 'worker' })).metadata, before.metadata);
});

test("no load balancer of the cluster sends to the run's Nodes, and no DaemonSet for Linux has pods on them", async (t) => {
  const cluster = await startCluster(t);
  const { client } = cluster;
  await using running = new AsyncDisposableStack();
  const fixture = memoryClusterFixture(await runOurs(cluster, running));
  const seen: Node[] = [];
  const spy: ClusterFixture = {
    makeMachine: fixture.makeMachine,
    deleteMachine: async (machine, signal) => {
      seen.push(...(await client.of(resources.nodes).list()).items);
      await fixture.deleteMachine(machine, signal);
    },
  };
  await runAlone(cluster, spy, 'node', { timeoutMs: 120_000 });
  assert.ok(seen.some(({ metadata }) => metadata?.name?.endsWith('-foreign')));
  for (const { metadata } of seen) {
    assert.ok(metadata?.labels?.['node.kubernetes.io/exclude-from-external-load-balancers'], metadata?.name);
    assert.equal(metadata.labels['kubernetes.io/os'], undefined, metadata.name);
  }
});

test('what the API server forbids, or the fixture cannot do, is unverifiable; and where nothing passed, the run has failed', async (t) => {
  const cluster = await startCluster(t);
  const { fixture } = namedMachines();
  const full: ClusterFixture = {
    ...fixture,
    makeMachine: async () => await Promise.reject(new Error('quota exceeded')),
  };
  const broken = await runAlone(cluster, full, 'the uninitialized taint is removed');
  const [made] = broken.report.results;
  assert.deepEqual([made?.outcome, made?.reason], ['unverifiable', 'makeMachine of the fixture: quota exceeded']);
  const { transport } = cluster;
  const forbidden = createClient({
    send: async (request) => {
      if (request.method === 'POST' && request.path.startsWith('/api/v1/nodes'))
        throw new StatusError('POST /api/v1/nodes', 403, { message: 'nodes is forbidden' });
      return await transport.send(request);
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  });
  const { report } = await runAlone(cluster, fixture, 'a node of another cloud is kept', {
    client: forbidden,
    run: 'forbidden',
  });
  assert.equal(report.results[0]?.outcome, 'unverifiable');
  assert.match(report.results[0].reason ?? '', /nodes is forbidden/u);
  const { code, stdout } = await command(cluster, ['--features=routes', '--timeout=1s', '--quiet-period=10ms']);
  assert.match(stdout, /^\d+ unverifiable, \d+ skipped in/mu);
  assert.equal(code, 1);
});

test('Nodes that kubelets register are labelled, judged and taken away', async (t) => {
  const cluster = await startCluster(t);
  const { client } = cluster;
  await using running = new AsyncDisposableStack();
  const whole = memoryClusterFixture(await runOurs(cluster, running));
  const fixture: ClusterFixture = {
    ...whole,
    nodesFrom: 'kubelet',
    makeMachine: async (name, signal) => {
      const machine = await whole.makeMachine(name, signal);
      await client.of(resources.nodes).create(hollowNode({ name, images: 0 }));
      return machine;
    },
  };
  const { report, left } = await runClusterTests({
    client,
    clock: systemClock,
    fixture,
    subject: { name: 'ours' },
    features: ['nodes'],
    disruptive: false,
    node: '',
    timeoutMs: 300_000,
    quietMs: 200,
    concurrency: 8,
    only: ['nodes /'],
    run: 'kubelets',
    signal: new AbortController().signal,
  });
  const others = report.results.filter(({ outcome }) => outcome !== 'passed');
  assert.deepEqual(others, []);
  assert.deepEqual(left, []);
  assert.deepEqual((await client.of(resources.nodes).list()).items, []);
});

test('a Node that the user names is read alone', async (t) => {
  const cluster = await startCluster(t);
  const { client } = cluster;
  const addresses = [{ type: 'InternalIP', address: '10.0.0.1' }];
  const created = await client.of(resources.nodes).create({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'worker' },
    spec: { providerID: 'acme://1' },
    status: { addresses },
  });
  const { code, stdout } = await command(cluster, [
    '--node=worker',
    '--features=nodes',
    '--timeout=60s',
    '--quiet-period=100ms',
  ]);
  assert.equal(code, 0, stdout);
  assert.match(stdout, /passed {8}nodes \/ the provider ID is set/u);
  assert.match(stdout, /unverifiable {2}nodes \/ labels tell zone.*\n +node worker has no label topology/u);
  const now = await client.of(resources.nodes).get({ name: 'worker' });
  assert.equal(now.metadata?.resourceVersion, created.metadata?.resourceVersion);
});

test('a wrong command line, fixture or cluster is refused in one line', async (t) => {
  const cluster = await startCluster(t);
  await writeFile(path.join(cluster.directory, 'no-fixture.ts'), 'export const nothing: number = 1;\n');
  await writeFile(path.join(cluster.directory, 'half.ts'), 'export const createClusterFixture = () => ({});\n');
  const rows: readonly (readonly [readonly string[], RegExp])[] = [
    [['--featurs=nodes'], /unknown flag --featurs.*--features/u],
    [['--features=node'], /invalid value "node" for --features: did you mean nodes\?/u],
    [['--only=nothing like it'], /--only=nothing like it: no test has this in its name; see --list/u],
    [['--fixture=absent.ts'], /--fixture=absent\.ts could not be loaded: /u],
    [['--fixture=no-fixture.ts'], /--fixture=no-fixture\.ts has no function createClusterFixture/u],
    [['--fixture=half.ts'], /createClusterFixture of --fixture=half\.ts returned no makeMachine/u],
    [['--kubeconfig=absent'], /absent/u],
  ];
  for (const [args, message] of rows) {
    const { code, stderr } = await command(cluster, args);
    assert.equal(code, 1);
    assert.match(stderr, message);
    assert.match(stderr, /^conformance cluster: [^\n]*\n$/u);
  }
});

test('--list and --help say what there is', async () => {
  const nowhere = { directory: '/', kubeconfig: '' };
  const list = await command(nowhere, ['--list']);
  assert.equal(list.code, 0);
  assert.match(list.stdout, /^nodes \/ the uninitialized taint is removed\n {2}https:\/\/kubernetes\.io\//u);
  const help = await command(nowhere, ['--help']);
  assert.match(help.stdout, /--quiet-period duration/u);
});

test('in a plugin of Sonobuoy, the results and then the file `done` are written, also when nothing could be begun', async (t) => {
  const cluster = await startCluster(t);
  const { directory } = cluster;
  const env = { SONOBUOY_RESULTS_DIR: path.join(directory, 'results') };
  const read = (name: string): string => readFileSync(path.join(env.SONOBUOY_RESULTS_DIR, name), 'utf8');
  await command(cluster, ['--features=nodes', '--timeout=200ms', '--quiet-period=10ms'], { env });
  assert.equal(read('done'), path.join(env.SONOBUOY_RESULTS_DIR, 'junit.xml'));
  assert.match(read('junit.xml'), /<testsuite name="cluster-conformance"/u);
  const { code } = await command(cluster, ['--fixture=absent.ts'], { env });
  assert.equal(code, 1);
  assert.equal(read('done'), path.join(env.SONOBUOY_RESULTS_DIR, 'error.log'));
  assert.match(read('error.log'), /could not be loaded/u);
});
