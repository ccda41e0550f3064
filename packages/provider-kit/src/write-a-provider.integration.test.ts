/**
 * The guide docs/guides/write-a-provider, as its reader does it: the files of its pages are written into a folder, and after each
 * chapter the provider there is loaded and judged over the fake cloud of the guide.
 */
import assert from 'node:assert/strict';
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import {
  isCloudError,
  type CallContext,
  type DesiredLoadBalancer,
  type Instances,
  type LoadBalancers,
  type NodeRef,
} from '@outrigger/cloud-provider';
import { loadProvider, openProvider, type OpenedProvider } from '@outrigger/cloud-runtime';
import { silentLogger } from '@outrigger/kube';
import { FakeClock } from '@outrigger/testing';
import { readGuide, type GuideStep } from '../../../e2e/guide-page.ts';
import { addServer, configOf, startMyCloud } from '../examples/my-cloud/cloud.ts';
import type { RunningFakeCloud } from './fake/index.ts';
import { desiredOf as acmeDesiredOf, serviceOf } from './parts/part-cloud.suite.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const guide = path.join(root, 'docs/guides/write-a-provider');
const examples = fileURLToPath(new URL('../examples/my-cloud/', import.meta.url));
const pages = ['README', '1-nodes', '2-absence', '3-load-balancers', '4-routes', '5-test-and-ship'];
/** Of each page, the files that its reader has at its end. */
const files = new Map<string, ReadonlyMap<string, string>>();
const steps = new Map<string, readonly GuideStep[]>();
let directory = '';

before(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'write-a-provider-'));
  await symlink(path.join(root, 'node_modules'), path.join(directory, 'node_modules'));
  const folder = new Map<string, string>();
  for (const name of pages) {
    const page = readGuide(await readFile(path.join(guide, `${name}.md`), 'utf8'));
    steps.set(name, page);
    for (const step of page) if (step.kind === 'file') folder.set(step.name, step.text);
    files.set(name, new Map(folder));
    await mkdir(path.join(directory, name));
    for (const [file, text] of folder) await writeFile(path.join(directory, name, file), text);
  }
});

after(() => rm(directory, { recursive: true }));

/** Of the pages, and not compiled here: they import what stands above the kit. The stage `packages` compiles and runs them. */
const NOT_EXAMPLES = ['fixture.ts', 'my-cloud.test.ts', 'serve.ts', 'try.ts'];

test('what the guide comes to is what lies in examples/my-cloud, where it is linted, compiled and formatted', async () => {
  const last = files.get('5-test-and-ship');
  assert.deepEqual([...(last?.keys() ?? [])].toSorted(), [...(await readdir(examples)), ...NOT_EXAMPLES].toSorted());
  for (const name of await readdir(examples)) {
    assert.equal(last?.get(name), await readFile(path.join(examples, name), 'utf8'), name);
  }
});

test('every block of TypeScript on the pages is one of these files', async () => {
  for (const name of pages) {
    const text = await readFile(path.join(guide, `${name}.md`), 'utf8');
    const blocks = [...text.matchAll(/^```ts\n([\s\S]*?)^```$/gmu)].map(([, block]) => block);
    const shown = steps.get(name)?.flatMap((step) => (step.kind === 'file' ? [step.text] : []));
    assert.deepEqual(blocks, shown, name);
  }
});

/** As `node serve.ts` in a second shell. */
async function serve(cwd: string): Promise<ChildProcess> {
  const child = spawn(process.execPath, ['serve.ts'], { cwd, stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string];
  assert.match(line, /^My Cloud listens on http:\/\/127\.0\.0\.1:\d+\n$/u);
  return child;
}

/** The page leaves out what `…` stands for. */
function assertOutput(printed: string, shown: string, command: string): void {
  let rest = printed.trimEnd();
  const parts = shown.trimEnd().split('…');
  for (const [i, part] of parts.entries()) {
    const at = i === parts.length - 1 ? rest.lastIndexOf(part) : rest.indexOf(part);
    assert.ok(i === 0 ? at === 0 : at >= 0, `${command} prints ${printed}, and the page has ${shown}`);
    rest = rest.slice(at + part.length);
  }
  assert.equal(rest, '', command);
}

test('each command of the chapters prints what its page says', async () => {
  let commands = 0;
  for (const name of pages) {
    const own = (steps.get(name) ?? []).filter((step) => step.kind === 'command');
    if (own.length === 0) continue;
    const cwd = path.join(directory, name);
    const child = await serve(cwd);
    try {
      for (const step of own) {
        const [command, ...args] = step.command.split(' ');
        assert.equal(command, 'node');
        const { stdout } = await promisify(execFile)(process.execPath, args, { cwd });
        assertOutput(stdout, step.output, step.command);
        commands++;
      }
    } finally {
      child.kill();
      await once(child, 'exit');
    }
  }
  assert.equal(commands, 4);
});

/** Opened, with its cloud; both end with it. */
interface Rig extends AsyncDisposable {
  readonly clock: FakeClock;
  readonly cloud: RunningFakeCloud;
  readonly opened: OpenedProvider;
  readonly call: CallContext;
}

async function rigOf(page: string): Promise<Rig> {
  const clock = new FakeClock();
  const cloud = await startMyCloud(clock);
  const provider = await loadProvider('./my-cloud.ts', { builtIn: {}, workingDirectory: path.join(directory, page) });
  const opened = await openProvider(provider, {
    cluster: { id: 'cluster', name: 'test' },
    clock,
    logger: silentLogger,
    random: () => 0,
    budget: { maxAttempts: 1, buckets: { default: { qps: 10_000 } } },
    config: { fileName: 'cloud.yaml', text: configOf(cloud) },
  });
  return {
    clock,
    cloud,
    opened,
    call: opened.callContext({ signal: new AbortController().signal, priority: 'normal' }),
    [Symbol.asyncDispose]: async () => {
      await opened[Symbol.asyncDispose]();
      await cloud[Symbol.asyncDispose]();
    },
  };
}

function nodeOf(name: string, providerID?: string): NodeRef {
  return { name, uid: `uid-${name}`, providerID, labels: {}, annotations: {} };
}

function instancesOf({ opened }: Rig): Instances {
  assert.ok(opened.capabilities.instances);
  return opened.capabilities.instances;
}

/** What a look-up and a read say of one node: `failed` for what is thrown. */
async function askedOf(rig: Rig, node: NodeRef): Promise<readonly string[]> {
  const failed = (error: unknown): string => {
    assert.ok(isCloudError(error));
    return 'failed';
  };
  const looked = instancesOf(rig).lookUp([node], 'metadata', rig.call);
  const read = instancesOf(rig).read(node, 'metadata', rig.call);
  return Promise.all([
    looked.then(([one]) => one?.result.kind ?? 'none', failed),
    read.then((one) => one.result.kind, failed),
  ]);
}

test('chapter 1: machines are found by name and by ID, and nothing is ever absent', async () => {
  await using rig = await rigOf('1-nodes');
  addServer(rig.cloud, 'a');
  const [byName] = await instancesOf(rig).lookUp([nodeOf('a')], 'metadata', rig.call);
  assert.ok(byName?.result.kind === 'found');
  assert.equal(byName.result.instance.providerID, 'my-cloud://srv-a');
  const node = nodeOf('a', 'my-cloud://srv-a');
  assert.deepEqual(await askedOf(rig, node), ['found', 'found']);
  rig.cloud.resource('servers').delete('srv-a');
  assert.deepEqual(await askedOf(rig, node), ['missing', 'failed']);
});

test('chapter 1: a wrong configuration is one line with file, line and key, and without the token', async () => {
  const provider = await loadProvider('./my-cloud.ts', {
    builtIn: {},
    workingDirectory: path.join(directory, '1-nodes'),
  });
  await assert.rejects(
    async () => provider.checkConfig?.({ fileName: 'cloud.yaml', text: 'endpoint: nowhere\ntoken: hunter2\n' }),
    (error: Error) => error.message.startsWith('cloud.yaml:1: endpoint') && !error.message.includes('hunter2'),
  );
});

test('chapter 2: the cloud’s own "not found" is absence, once a machine of the cluster was seen in the account', async () => {
  await using rig = await rigOf('2-absence');
  const gone = nodeOf('gone', 'my-cloud://srv-gone');
  assert.deepEqual(await askedOf(rig, gone), ['missing', 'failed']);
  addServer(rig.cloud, 'a');
  assert.deepEqual(await askedOf(rig, nodeOf('a', 'my-cloud://srv-a')), ['found', 'found']);
  assert.deepEqual(await askedOf(rig, gone), ['missing', 'absent']);
  rig.cloud.resource('servers').patch('srv-a', { status: 'stopped' });
  const { result } = await instancesOf(rig).read(nodeOf('a', 'my-cloud://srv-a'), 'state', rig.call);
  assert.equal(result.kind === 'found' && result.instance.state, 'shutdown');
});

test('chapter 2: no failure of the cloud makes a machine absent', async () => {
  await using rig = await rigOf('2-absence');
  addServer(rig.cloud, 'a');
  const node = nodeOf('a', 'my-cloud://srv-a');
  assert.deepEqual(await askedOf(rig, node), ['found', 'found']);
  for (const status of [400, 401, 403, 404, 409, 429, 500, 503, 504]) {
    rig.cloud.faults.set({ status });
    assert.deepEqual(await askedOf(rig, node), ['failed', 'failed'], String(status));
    await rig.clock.advance(60_000);
  }
  rig.cloud.faults.set({ spoils: 'empty-list' });
  assert.deepEqual(await askedOf(rig, node), ['missing', 'found']);
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
    await rig.clock.advance(500);
  }
  return assert.fail('it does not come to an end');
}

const countsOf = ({ cloud }: Rig): readonly number[] =>
  ['addresses', 'load-balancers'].map((name) => cloud.resource(name).all().length);
const writesOf = ({ cloud }: Rig): readonly string[] =>
  Object.entries(cloud.calls.counts()).flatMap(([name, count]) => (name.startsWith('GET') ? [] : `${count} ${name}`));

test('chapter 3: a load balancer is created in the background, changed, made again where it cannot be, and goes', async () => {
  await using rig = await rigOf('3-load-balancers');
  const service = serviceOf([80, 443]);
  const [ip = '', ...more] = await bring(rig, desiredOf(service));
  assert.match(ip, /^203\.0\.113\./u);
  assert.deepEqual([more, countsOf(rig)], [[], [1, 1]]);
  await bring(rig, desiredOf(service));
  assert.deepEqual(writesOf(rig), ['1 POST /addresses', '1 POST /load-balancers'], 'a second look changes nothing');
  await bring(rig, desiredOf(service, ['c']));
  assert.deepEqual(writesOf(rig).slice(2), ['1 PUT /load-balancers/{id}']);
  const balancer = (): Readonly<Record<string, unknown>> | undefined => rig.cloud.resource('load-balancers').all()[0];
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
  for (let round = 0; round < 8; round++) {
    const [seen] = await balancers.observe([desired.service], rig.call);
    assert.ok(seen?.kind === 'parts');
    const [action] = balancers.plan(desired, seen.parts).actions;
    await rig.clock.advance(500);
    if (!action) continue;
    rig.cloud.faults.set({ status: 500, takesEffect: true });
    await assert.rejects(balancers.apply(action, desired, rig.call), (error) => isCloudError(error, 'unavailable'));
    rig.cloud.faults.set();
  }
  await bring(rig, desired);
  assert.deepEqual(countsOf(rig), [1, 1]);
  const ids = ['addresses', 'load-balancers'].map((name) => rig.cloud.resource(name).ids()[0]);
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
  rig.cloud.resource('addresses').put({ id: 'theirs', ip: '203.0.113.99', labels });
  const desired = desiredOf(serviceOf([80]));
  await bring(rig, desired);
  await bring(rig, { ...desired, wanted: false });
  assert.deepEqual(rig.cloud.resource('addresses').ids(), ['theirs']);
});

test('chapter 4: routes are created once, listed as owned, and deleted; those of others stay', async () => {
  await using rig = await rigOf('4-routes');
  assert.deepEqual(Object.keys(rig.opened.capabilities).toSorted(), ['instances', 'loadBalancers', 'routes']);
  const { routes } = rig.opened.capabilities;
  assert.ok(routes);
  for (const name of ['a', 'b']) addServer(rig.cloud, name);
  rig.cloud.resource('routes').put({ id: 'by-hand', destination: '10.9.0.0/24', server: 'srv-a' });
  const requests = ['a', 'b', 'nobody'].map((name, i) => ({
    node: nodeOf(name, `my-cloud://srv-${name}`),
    addresses: [],
    destination: `10.0.${i}.0/24`,
  }));
  const kinds = async (): Promise<readonly string[]> =>
    (await routes.create(requests, rig.call)).map(({ kind }) => kind);
  assert.deepEqual(await kinds(), ['done', 'done', 'failed']);
  assert.deepEqual(await kinds(), ['exists', 'exists', 'failed']);
  rig.cloud.resource('servers').delete('srv-b');
  const { routes: listed } = await routes.list(rig.call);
  assert.deepEqual(
    listed.map(({ blackhole, destination, ownership }) => [destination, ownership, blackhole]),
    [
      ['10.9.0.0/24', 'foreign', false],
      ['10.0.0.0/24', 'owned', false],
      ['10.0.1.0/24', 'owned', true],
    ],
  );
  assert.deepEqual(
    (await routes.delete(listed, rig.call)).map(({ kind }) => kind),
    ['failed', 'done', 'done'],
  );
  assert.deepEqual(rig.cloud.resource('routes').ids(), ['by-hand']);
});

test('chapter 5: the provider keeps every promise that the conformance suite tries', async () => {
  const cwd = path.join(directory, '5-test-and-ship');
  // The runner of this test must not take the other for a file of its own.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const args = ['--test', '--test-reporter=tap', 'my-cloud.test.ts'];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd, env }).catch(
    ({ stdout }: { stdout: string }) => assert.fail(stdout),
  );
  const [, passed = '0'] = /^# pass (\d+)$/mu.exec(stdout) ?? [];
  assert.ok(Number(passed) >= 20, stdout);
  const skipped = [...stdout.matchAll(/^ok \d+ - my-cloud: (.*) # SKIP (.*)$/gmu)].map(([, ...said]) => said);
  // A change of its cloud config takes a restart.
  const reconfigure = 'provider / a changed config that cannot be read leaves the old one in use';
  assert.deepEqual(
    skipped.map(([name]) => name),
    [reconfigure],
  );
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
