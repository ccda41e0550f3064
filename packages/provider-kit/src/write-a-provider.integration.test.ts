/**
 * The guide docs/guides/write-a-provider, as its reader does it: the files of its chapters are written into a folder, and after each
 * chapter the provider there is loaded and judged over the cloud that the guide is about.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import {
  isCloudError,
  type CallContext,
  type DesiredLoadBalancer,
  type LoadBalancers,
  type NodeRef,
} from '@outrigger/cloud-provider';
import { loadProvider, openProvider, type OpenedProvider } from '@outrigger/cloud-runtime';
import { providerConformance, providerTests, type ProviderFixture } from '@outrigger/conformance';
import { silentLogger, systemClock, type Clock } from '@outrigger/kube';
import { FakeClock } from '@outrigger/testing';
import { readGuide, type GuideStep } from '../../../e2e/guide-page.ts';
import { MY_CLOUD_TOKEN, myServer, startMyCloud, type MyCloud } from './my-cloud.suite.ts';
import { desiredOf as acmeDesiredOf, serviceOf } from './parts/part-cloud.suite.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const guide = path.join(root, 'docs/guides/write-a-provider');
const examples = fileURLToPath(new URL('../examples/my-cloud/', import.meta.url));
const chapters = ['1-nodes', '2-absence', '3-load-balancers', '4-routes'];
/** Of each chapter, the files that its reader has at its end. */
const files = new Map<string, ReadonlyMap<string, string>>();
const steps = new Map<string, readonly GuideStep[]>();
const directory = await mkdtemp(path.join(tmpdir(), 'write-a-provider-'));

await symlink(path.join(root, 'node_modules'), path.join(directory, 'node_modules'));
{
  const folder = new Map<string, string>();
  for (const chapter of chapters) {
    const page = readGuide(await readFile(path.join(guide, `${chapter}.md`), 'utf8'));
    steps.set(chapter, page);
    for (const step of page) if (step.kind === 'file') folder.set(step.name, step.text);
    files.set(chapter, new Map(folder));
    await mkdir(path.join(directory, chapter));
    for (const [name, text] of folder) await writeFile(path.join(directory, chapter, name), text);
  }
}

after(() => rm(directory, { recursive: true }));

function configOf({ endpoint }: MyCloud): string {
  return `endpoint: ${endpoint}\ntoken: ${MY_CLOUD_TOKEN}\n`;
}

async function open(chapter: string, cloud: MyCloud, clock: Clock): Promise<OpenedProvider> {
  const provider = await loadProvider('./my-cloud.ts', {
    builtIn: {},
    workingDirectory: path.join(directory, chapter),
  });
  return openProvider(provider, {
    cluster: { id: 'cluster', name: 'test' },
    clock,
    logger: silentLogger,
    random: () => 0,
    budget: { maxAttempts: 1, buckets: { default: { qps: 10_000 } } },
    config: { fileName: 'cloud.yaml', text: configOf(cloud) },
  });
}

function refOf(name: string): NodeRef {
  return { name, uid: `uid-${name}`, labels: {}, annotations: {} };
}

/** Opened, with its cloud; both end with it. */
interface Rig extends AsyncDisposable {
  readonly cloud: MyCloud;
  readonly opened: OpenedProvider;
  readonly call: CallContext;
}

async function rigOf(chapter: string, clock: Clock = systemClock): Promise<Rig> {
  const cloud = await startMyCloud();
  const opened = await open(chapter, cloud, clock);
  return {
    cloud,
    opened,
    call: opened.callContext({ signal: new AbortController().signal, priority: 'normal' }),
    [Symbol.asyncDispose]: async () => {
      await opened[Symbol.asyncDispose]();
      await cloud[Symbol.asyncDispose]();
    },
  };
}

test('what the guide comes to is what lies in examples/my-cloud, where it is linted, compiled and formatted', async () => {
  const last = files.get(chapters.at(-1) ?? '');
  assert.deepEqual([...(last?.keys() ?? [])].toSorted(), [...(await readdir(examples)), 'try.ts'].toSorted());
  for (const name of await readdir(examples)) {
    assert.equal(last?.get(name), await readFile(path.join(examples, name), 'utf8'), name);
  }
});

test('every block of TypeScript on the pages is one of these files', async () => {
  for (const chapter of chapters) {
    const text = await readFile(path.join(guide, `${chapter}.md`), 'utf8');
    const blocks = [...text.matchAll(/^```ts\n([\s\S]*?)^```$/gmu)].map(([, block]) => block);
    const shown = steps.get(chapter)?.flatMap((step) => (step.kind === 'file' ? [step.text] : []));
    assert.deepEqual(blocks, shown, chapter);
  }
});

test('each command of the chapters prints what its page says', async () => {
  await using cloud = await startMyCloud();
  cloud.resources.get('servers')?.set('srv-node-1', myServer('node-1'));
  let commands = 0;
  for (const chapter of chapters) {
    const cwd = path.join(directory, chapter);
    await writeFile(path.join(cwd, 'cloud.yaml'), configOf(cloud));
    for (const step of steps.get(chapter) ?? []) {
      if (step.kind !== 'command') continue;
      const [command = '', ...args] = step.command.split(' ');
      assert.equal(command, 'node');
      const { stdout } = await promisify(execFile)(process.execPath, args, { cwd });
      assert.equal(stdout, step.output.replace(/\n*$/u, '\n'), step.command);
      commands++;
    }
  }
  assert.equal(commands, 4);
});

test('chapter 1: machines are found by name and by ID, and nothing is ever absent', async () => {
  await using rig = await rigOf('1-nodes');
  const { call, cloud, opened } = rig;
  const { instances } = opened.capabilities;
  cloud.resources.get('servers')?.set('srv-a', myServer('a'));
  const [byName] = (await instances?.lookUp([refOf('a')], 'metadata', call)) ?? [];
  assert.ok(byName?.result.kind === 'found');
  assert.equal(byName.result.instance.providerID, 'my-cloud://srv-a');
  const node = { ...refOf('a'), providerID: 'my-cloud://srv-a' };
  assert.equal((await instances?.read(node, 'metadata', call))?.result.kind, 'found');
  cloud.resources.get('servers')?.clear();
  const [gone] = (await instances?.lookUp([node], 'metadata', call)) ?? [];
  assert.equal(gone?.result.kind, 'missing');
  await assert.rejects(
    async () => instances?.read(node, 'state', call),
    (error) => isCloudError(error, 'unavailable'),
  );
  const provider = await loadProvider('./my-cloud.ts', {
    builtIn: {},
    workingDirectory: path.join(directory, '1-nodes'),
  });
  await assert.rejects(
    async () => provider.checkConfig?.({ fileName: 'cloud.yaml', text: 'endpoint: nowhere\ntoken: hunter2\n' }),
    (error: Error) => error.message.startsWith('cloud.yaml:1: endpoint') && !error.message.includes('hunter2'),
  );
});

async function fixture(): Promise<ProviderFixture & { readonly cloud: MyCloud }> {
  const cloud = await startMyCloud();
  const [servers, routes] = [cloud.resources.get('servers')!, cloud.resources.get('routes')!];
  const idOf = ({ name }: NodeRef): string => `srv-${name}`;
  return {
    cloud,
    config: { fileName: 'cloud.yaml', text: configOf(cloud) },
    http: {
      root: cloud.endpoint,
      config: (endpoint) => ({ fileName: 'cloud.yaml', text: configOf({ ...cloud, endpoint }) }),
    },
    clock: new FakeClock(),
    createMachine: async (name) => {
      servers.set(`srv-${name}`, myServer(name));
      return refOf(name);
    },
    stopMachine: async (node) => void servers.set(idOf(node), { ...myServer(node.name), status: 'stopped' }),
    deleteMachine: async (node) => void servers.delete(idOf(node)),
    listMachines: async () => [...servers.values()].map(({ name }) => String(name)),
    requests: async () => cloud.log.length,
    // Twenty of them are two pages.
    requestsOf: { lookUp: 2, createRoutes: 5 },
    listParts: async () =>
      ['addresses', 'load-balancers'].flatMap((name) => [...(cloud.resources.get(name)?.keys() ?? [])]),
    createForeignRoute: async (destination, node) =>
      void routes.set('by hand', { id: 'by hand', destination, server: idOf(node) }),
    limitRoutes: async (most) => void (cloud.mostRoutes = most),
    [Symbol.asyncDispose]: () => cloud[Symbol.asyncDispose](),
  };
}

const EMPTY_LIST = 'instances / a list that is empty makes no machine absent';
const providerOf = (chapter: string) => () =>
  loadProvider('./my-cloud.ts', { builtIn: {}, workingDirectory: path.join(directory, chapter) });

// Statuses come from the suite's own proxy, which cannot empty a list.
const without = { [EMPTY_LIST]: 'tried below' };
await providerConformance({
  name: 'chapter 2 of the guide',
  provider: providerOf('2-absence'),
  fixture,
  tests: providerTests.filter(({ feature }) => feature === 'instances'),
  without,
});
await providerConformance({ name: 'chapter 4 of the guide', provider: providerOf('4-routes'), fixture, without });
await providerConformance({
  name: 'chapter 4 of the guide',
  provider: providerOf('4-routes'),
  fixture: async () => {
    const made = await fixture();
    return { ...made, fail: async (how) => void (made.cloud.failure = how ? 'empty' : 0) };
  },
  tests: providerTests.filter(({ name }) => name === EMPTY_LIST),
});

test('chapter 2: in an account in which no machine of the cluster was seen, "not found" proves nothing', async () => {
  await using rig = await rigOf('2-absence');
  const node = { ...refOf('a'), providerID: 'my-cloud://srv-a' };
  await assert.rejects(
    async () => rig.opened.capabilities.instances?.read(node, 'state', rig.call),
    (error) => isCloudError(error, 'configuration') && /No machine of this cluster has been seen/u.test(error.message),
  );
});

function balancersOf({ opened }: Rig): LoadBalancers {
  assert.ok(opened.capabilities.loadBalancers);
  return opened.capabilities.loadBalancers;
}

/** With nodes of this provider. */
function desiredOf(...args: Parameters<typeof acmeDesiredOf>): DesiredLoadBalancer {
  const desired = acmeDesiredOf(...args);
  const backEnds = desired.backEnds.map((backEnd) => ({
    ...backEnd,
    node: { ...backEnd.node, providerID: `my-cloud://${backEnd.node.name}` },
  }));
  return { ...desired, backEnds };
}

/** Observes, plans and applies until all is as it should be; gives back the addresses. No request may be refused on the way. */
async function bring(rig: Rig, desired: DesiredLoadBalancer): Promise<readonly string[]> {
  const balancers = balancersOf(rig);
  for (let round = 0; round < 30; round++) {
    const [seen] = await balancers.observe([desired.service], rig.call);
    assert.ok(seen?.kind === 'parts');
    const plan = balancers.plan(desired, seen.parts);
    assert.equal(plan.refused, undefined);
    if (plan.complete) return plan.ingress.map(({ ip = '' }) => ip);
    for (const action of plan.actions) await balancers.apply(action, desired, rig.call);
  }
  return assert.fail('it does not come to an end');
}

const countsOf = ({ cloud }: Rig): readonly number[] =>
  ['addresses', 'load-balancers'].map((name) => cloud.resources.get(name)?.size ?? 0);

test('chapter 3: a load balancer is created in the background, changed, made again where it cannot be, and goes', async () => {
  await using rig = await rigOf('3-load-balancers');
  const service = serviceOf([80, 443]);
  const [ip = '', ...more] = await bring(rig, desiredOf(service));
  assert.match(ip, /^203\.0\.113\./u);
  assert.deepEqual([more, countsOf(rig)], [[], [1, 1]]);
  const writes = (): readonly string[] => rig.cloud.log.filter((line) => !line.startsWith('GET'));
  const before = writes().length;
  await bring(rig, desiredOf(service));
  assert.equal(writes().length, before, 'a second look changes nothing');
  await bring(rig, desiredOf(service, ['c']));
  assert.deepEqual(writes().slice(before), ['PUT /load-balancers']);
  const balancer = (): Readonly<Record<string, unknown>> | undefined =>
    rig.cloud.resources.get('load-balancers')?.values().next().value;
  assert.deepEqual(balancer()?.['servers'], ['c']);
  const large = serviceOf([80], undefined, { annotations: { 'my-cloud.example/size': 'large' } });
  assert.deepEqual(await bring(rig, desiredOf(large)), [ip], 'the address stays');
  assert.deepEqual([balancer()?.['size'], countsOf(rig)], ['large', [1, 1]]);
  assert.deepEqual(await bring(rig, desiredOf(large, [], false)), []);
  assert.deepEqual(countsOf(rig), [0, 0]);
});

test('chapter 3: lost answers leave nothing behind and create nothing twice; what is gone is proved', async () => {
  await using rig = await rigOf('3-load-balancers');
  const balancers = balancersOf(rig);
  const desired = desiredOf(serviceOf([80]));
  for (let round = 0; round < 4; round++) {
    const [seen] = await balancers.observe([desired.service], rig.call);
    assert.ok(seen?.kind === 'parts');
    const [action] = balancers.plan(desired, seen.parts).actions;
    if (!action) continue;
    rig.cloud.failure = 'lost';
    await assert.rejects(balancers.apply(action, desired, rig.call), (error) => isCloudError(error, 'unavailable'));
    rig.cloud.failure = 0;
  }
  await bring(rig, desired);
  assert.deepEqual(countsOf(rig), [1, 1]);
  const ids = ['addresses', 'load-balancers'].map((name) => [...(rig.cloud.resources.get(name)?.keys() ?? [])][0]);
  const ask = async (): Promise<readonly (string | undefined)[] | undefined> => {
    const parts = ['address', 'load-balancer'].map((kind, i) => ({ kind, id: ids[i] ?? '', owner: desired.owner }));
    return (await balancers.read?.(parts, rig.call))?.map(({ kind }) => kind);
  };
  assert.deepEqual(await ask(), ['there', 'there']);
  await bring(rig, { ...desired, wanted: false });
  assert.deepEqual(
    [countsOf(rig), await ask()],
    [
      [0, 0],
      ['absent', 'absent'],
    ],
  );
});

test('chapter 3: a wrong annotation is refused by its name, and the parts of others are left alone', async () => {
  await using rig = await rigOf('3-load-balancers');
  const wrong = serviceOf([80], undefined, { annotations: { 'my-cloud.example/size': 'huge' } });
  const { refused } = balancersOf(rig).plan(desiredOf(wrong), []);
  assert.match(refused?.message ?? '', /my-cloud\.example\/size: "huge" is not one of small, large/u);
  const labels = { 'outrigger-cluster': 'another', 'outrigger-uid': 'me' };
  rig.cloud.resources.get('addresses')?.set('theirs', { id: 'theirs', ip: '203.0.113.99', labels });
  const desired = desiredOf(serviceOf([80]));
  await bring(rig, desired);
  await bring(rig, { ...desired, wanted: false });
  assert.deepEqual([...(rig.cloud.resources.get('addresses')?.keys() ?? [])], ['theirs']);
});

test('at the end the provider has all three capabilities', async () => {
  await using rig = await rigOf('4-routes');
  assert.deepEqual(Object.keys(rig.opened.capabilities).toSorted(), ['instances', 'loadBalancers', 'routes']);
});

test('chapter 5: built into one file as the page says, it is loaded where nothing is installed', async () => {
  const page = await readFile(path.join(guide, '5-test-and-ship.md'), 'utf8');
  const [, command = ''] = /^```sh\nnpx (esbuild [\s\S]*?)^```$/mu.exec(page) ?? [];
  const bin = path.join(root, 'node_modules/.bin');
  const env = { ...process.env, PATH: `${bin}${path.delimiter}${process.env['PATH']}` };
  await promisify(execFile)('sh', ['-c', command], { cwd: path.join(directory, '4-routes'), env });
  const elsewhere = await mkdtemp(path.join(tmpdir(), 'one-file-'));
  try {
    await copyFile(path.join(directory, '4-routes/my-cloud.mjs'), path.join(elsewhere, 'my-cloud.mjs'));
    const script = `import(${JSON.stringify(path.join(elsewhere, 'my-cloud.mjs'))}).then((m) => console.log(m.default().name));`;
    await writeFile(path.join(elsewhere, 'load.mjs'), script);
    const { stdout } = await promisify(execFile)(process.execPath, ['load.mjs'], { cwd: elsewhere });
    assert.equal(stdout, 'my-cloud\n');
  } finally {
    await rm(elsewhere, { recursive: true });
  }
});
