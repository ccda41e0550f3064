import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { rootCertificates } from 'node:tls';
import { isCloudError, type CloudErrorCode, type NodeRef } from '@outrigger/cloud-provider';
import { openProvider, type OpenedProvider } from '@outrigger/cloud-runtime';
import { silentLogger } from '@outrigger/kube';
import { FakeClock } from '@outrigger/testing';
import { createFakeOpenStack, type FakeOpenStack } from '../fake/fake-openstack.ts';
import { fakeCloudConf, NOWHERE as environment } from '../fake/fake-cloud-conf.ts';
import { inProcessFetch } from '../fake/in-process-fetch.ts';
import { seededRandom } from '../fake/seeded-random.ts';
import { seedProject } from '../fake/seed-project.ts';
import createProvider from './index.ts';
import { createOpenStackProvider } from './openstack-provider.ts';

interface Rig extends AsyncDisposable {
  readonly cloud: FakeOpenStack;
  readonly opened: OpenedProvider;
  readonly node: NodeRef;
  /** Warnings and errors, without what goes with them. */
  readonly lines: readonly string[];
  /** Waits for an event. */
  until(holds: () => boolean): Promise<void>;
  /** The node's addresses, or the code of why not. */
  look(): Promise<readonly string[] | string>;
}

const config = (password: string, more = ''): string => fakeCloudConf({ password, more });

/** `before`: what there is when the provider opens. */
async function openRig(text: string, before: (cloud: FakeOpenStack) => void = () => {}): Promise<Rig> {
  const clock = new FakeClock();
  const cloud = createFakeOpenStack({ clock, random: seededRandom(1) });
  const { server } = seedProject(cloud).addNode({ name: 'node-1' });
  before(cloud);
  const lines: string[] = [];
  const write = (line: string): void => void lines.push(line);
  const provider = createOpenStackProvider({
    environment,
    fetch: inProcessFetch(cloud),
  });
  const opened = await openProvider(provider, {
    cluster: { id: 'cluster-1', name: 'test' },
    config: { text, fileName: 'cloud.conf' },
    clock,
    logger: { ...silentLogger, error: write, warn: write },
    random: () => 0,
    budget: { maxAttempts: 1 },
  });
  const node: NodeRef = {
    name: 'node-1',
    uid: 'u1',
    providerID: `openstack:///${server.id}`,
    labels: {},
    annotations: {},
  };
  return {
    cloud,
    opened,
    node,
    lines,
    until: async (holds) => {
      while (!holds()) await clock.settle();
    },
    look: async () => {
      const call = opened.callContext({ signal: new AbortController().signal, priority: 'normal' });
      const codeOf = (error: unknown): string => (isCloudError(error) ? error.code : String(error));
      try {
        const answer = await opened.capabilities.instances?.read(node, 'metadata', call);
        if (answer?.result.kind === 'failed') return codeOf(answer.result.error);
        if (answer?.result.kind !== 'found') return answer?.result.kind ?? 'none';
        return (answer.result.instance.addresses ?? []).map(({ address }) => address);
      } catch (error) {
        return codeOf(error);
      }
    },
    [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
  };
}

const capabilitiesOf = ({ opened }: Rig): string[] =>
  Object.entries(opened.capabilities).flatMap(([name, capability]) => (capability ? [name] : []));

const code = (wanted: CloudErrorCode, message: RegExp) => (error: unknown) => {
  assert.ok(isCloudError(error, wanted), String(error));
  assert.match(error.message, message);
  return true;
};

test('opening waits for no cloud; the config says what there is', async () => {
  await using plain = await openRig(config('k8s'), (cloud) =>
    cloud.faults.set({ service: 'identity', effect: 'hang' }),
  );
  plain.cloud.faults.set();
  const plainly = capabilitiesOf(plain);
  assert.deepEqual(
    [plainly.includes('instances'), plainly.includes('loadBalancers'), plainly.includes('routes')],
    [true, true, false],
  );
  await using routed = await openRig(config('k8s', '[Route]\nrouter-id = r1\n[LoadBalancer]\nenabled = no'));
  const routedly = capabilitiesOf(routed);
  assert.deepEqual([routedly.includes('loadBalancers'), routedly.includes('routes')], [false, true]);
});

test('what is wrong is one line soon after the start, though nothing is asked for', async () => {
  const down = (cloud: FakeOpenStack): void => cloud.faults.set({ service: 'identity', effect: 'refused' });
  await using noKeystone = await openRig(config('k8s'), down);
  await noKeystone.until(() => noKeystone.lines.length > 0);
  assert.deepEqual(noKeystone.lines, ['Keystone issues no token']);
  assert.equal(noKeystone.cloud.calls.all().length, 1);
  await using noNova = await openRig(config('k8s'), (cloud) => {
    cloud.catalogue = cloud.catalogue.filter(({ type }) => type !== 'compute');
  });
  await noNova.until(() => noNova.lines.length > 0);
  assert.deepEqual(noNova.lines, ['OpenStack cannot be used as the cloud config says']);
  await using well = await openRig(config('k8s'));
  await well.until(() => well.cloud.calls.all().length > 0);
  assert.equal((await well.look()).length, 2);
  assert.equal(well.cloud.calls.counts()['identity POST /auth/tokens'], 1);
  assert.deepEqual(well.lines, []);
});

test('a keystone that is down at the start ends nothing, and is found when it is up', async () => {
  await using rig = await openRig(config('k8s'), (cloud) =>
    cloud.faults.set({ service: 'identity', effect: 'proxy', status: 503 }),
  );
  assert.equal(await rig.look(), 'unavailable');
  rig.cloud.faults.set();
  assert.equal((await rig.look()).length, 2);
  assert.deepEqual(rig.lines, ['Keystone issues no token']);
});

test('a wrong password is one line, whoever asks', async () => {
  await using rig = await openRig(config('wrong'));
  for (let i = 0; i < 5; i++) assert.equal(await rig.look(), 'unauthenticated');
  assert.deepEqual(rig.lines, ['Keystone issues no token']);
  assert.equal(rig.cloud.calls.all().length, 1);
});

test('what --user-agent says goes before its own name, the last first', async () => {
  const clock = new FakeClock();
  const cloud = createFakeOpenStack({ clock, random: seededRandom(1) });
  seedProject(cloud);
  const agents = new Set<string | undefined>();
  const send = inProcessFetch(cloud);
  const provider = createOpenStackProvider({
    environment,
    userAgent: ['a/1', 'b/2'],
    fetch: (url, init) => {
      agents.add(init.headers['user-agent']);
      return send(url, init);
    },
  });
  await using opened = await openProvider(provider, {
    cluster: { id: 'cluster-1', name: 'test' },
    config: { text: config('k8s'), fileName: 'cloud.conf' },
    clock,
    logger: silentLogger,
    random: () => 0,
    budget: { maxAttempts: 1 },
  });
  await opened.reconfigure({ text: config('k8s'), fileName: 'cloud.conf' });
  assert.deepEqual([...agents], ['b/2 a/1 outrigger-provider-openstack']);
});

test('a config that is not right does not open', async () => {
  const opening = (text: string): Promise<Rig> => openRig(text);
  await assert.rejects(opening('[Global'), code('configuration', /^cloud\.conf:1: expected \]/u));
  await assert.rejects(
    opening('[Global]\nauth-url = http://h'),
    code('configuration', /^cloud\.conf: \[Global\] has no password/u),
  );
  assert.equal(createProvider().name, 'openstack');
  assert.equal(createProvider({ name: 'north' }).name, 'north');
});

test('what is refused before anything is opened says what it was warned of too: a misspelt key may be the reason', async () => {
  const text = '[Global]\nauth-url=http://127.0.0.1:1/v3\nusername=a\npasswrod=b\n';
  await assert.rejects(
    async () => createOpenStackProvider({ environment }).checkConfig?.({ text, fileName: 'cloud.conf' }),
    /^CloudError: cloud\.conf: \[Global\] has no password.*; cloud\.conf:4: .*passwrod/u,
  );
});

test('a changed config is in use with the next request; one that is wrong changes nothing', async () => {
  await using rig = await openRig(config('k8s'));
  const before = rig.opened.capabilities;
  const change = (text: string): Promise<void> => rig.opened.reconfigure({ text, fileName: 'cloud.conf' });
  assert.equal((await rig.look()).length, 2);
  await assert.rejects(change(config('wrong')), code('unauthenticated', /does not accept the user/u));
  await assert.rejects(
    change(config('k8s', '[Networking]\nipv6-support-disabled = maybe')),
    code('configuration', /cloud\.conf:\d+: \[Networking\] ipv6/u),
  );
  assert.equal(rig.opened.capabilities, before);
  assert.equal((await rig.look()).length, 2);
  await change(config('k8s', '[Networking]\nipv6-support-disabled = true'));
  assert.equal(rig.opened.capabilities.instances, before.instances);
  assert.equal(rig.opened.capabilities.loadBalancers, before.loadBalancers);
  assert.equal((await rig.look()).length, 1);
});

test('a changed config takes capabilities away and gives new ones; what it does not concern goes on', async () => {
  await using rig = await openRig(config('k8s', '[Route]\nrouter-id = r1'));
  const { instances, loadBalancers, routes } = rig.opened.capabilities;
  const change = (more: string): Promise<void> =>
    rig.opened.reconfigure({ text: config('k8s', more), fileName: 'cloud.conf' });
  await change('[Route]\nrouter-id = r1\n[LoadBalancer]\nenabled = false');
  assert.equal(rig.opened.capabilities.routes, routes);
  assert.equal(rig.opened.capabilities.loadBalancers, undefined);
  await change('[Route]\nrouter-id = r2');
  assert.notEqual(rig.opened.capabilities.routes, routes);
  assert.notEqual(rig.opened.capabilities.loadBalancers, loadBalancers);
  await change('');
  assert.equal(rig.opened.capabilities.routes, undefined);
  assert.equal(rig.opened.capabilities.instances, instances);
});

test('nodes of nobody known are members if they are there at the start, until the config says otherwise, also a changed one', async () => {
  await using rig = await openRig(config('k8s'));
  const takes: unknown[] = [rig.opened.capabilities.loadBalancers?.takesForeignNodes];
  for (const value of ['false', 'true', 'no', 'at-start']) {
    const { loadBalancers } = rig.opened.capabilities;
    const text = config('k8s', `[LoadBalancer]\nforeign-nodes = ${value}`);
    await rig.opened.reconfigure({ text, fileName: 'cloud.conf' });
    assert.equal(rig.opened.capabilities.loadBalancers, loadBalancers, 'its controller goes on');
    takes.push(loadBalancers?.takesForeignNodes);
  }
  assert.deepEqual(takes, ['at-start', false, true, false, 'at-start']);
});

test('a changed config is taken while keystone is down', async () => {
  await using rig = await openRig(config('k8s'));
  rig.cloud.faults.set({ service: 'identity', effect: 'proxy', status: 503 });
  await rig.opened.reconfigure({ text: config('k8s', '[Networking]\nipv6-support-disabled'), fileName: 'cloud.conf' });
  rig.cloud.faults.set();
  assert.equal((await rig.look()).length, 1);
  assert.ok(rig.lines.includes('The changed cloud config is in use, but could not be verified'));
});

/** The user's other project, with a server of the same name. */
function otherProject({ identity, compute }: FakeOpenStack): void {
  const project = identity.addProject('other');
  const [user] = [...identity.users.values()].filter(({ name }) => name === 'k8s');
  assert.ok(user);
  identity.grant(user, project, ['member', 'reader']);
  compute.addServer({ name: 'node-1', projectId: project.id });
}

const elsewhere: Readonly<Record<string, string>> = {
  'another project': fakeCloudConf({ project: 'other' }),
  'another region': fakeCloudConf({ region: 'RegionTwo' }),
};

for (const [what, text] of Object.entries(elsewhere)) {
  test(`a changed config that leads to ${what} is refused, and the old one stays in use`, async () => {
    await using rig = await openRig(config('k8s'), otherProject);
    assert.equal((await rig.look()).length, 2);
    const change = rig.opened.reconfigure({ text, fileName: 'cloud.conf' });
    await assert.rejects(
      change,
      code('configuration', /^the cloud config leads to project .*, and this cluster is in/u),
    );
    assert.deepEqual(rig.lines, [], 'whoever reloads has the error, and tells it');
    assert.equal((await rig.look()).length, 2);
  });

  test(`one that is taken while keystone is down asks nothing of ${what}`, async () => {
    await using rig = await openRig(config('k8s'), otherProject);
    assert.equal((await rig.look()).length, 2);
    rig.cloud.faults.set({ service: 'identity', effect: 'proxy', status: 503 });
    await rig.opened.reconfigure({ text, fileName: 'cloud.conf' });
    rig.cloud.faults.set();
    rig.cloud.calls.reset();
    for (let i = 0; i < 3; i++) assert.equal(await rig.look(), 'configuration');
    assert.deepEqual(rig.cloud.calls.counts(), { 'identity POST /auth/tokens': 1 });
    assert.deepEqual(rig.lines, [
      'The changed cloud config is in use, but could not be verified',
      'The token of keystone is not used',
    ]);
    await rig.opened.reconfigure({ text: config('k8s'), fileName: 'cloud.conf' });
    assert.equal((await rig.look()).length, 2);
  });
}

test('in a project with none of the cluster’s servers nothing is absent, and the config can be corrected', async () => {
  await using rig = await openRig(fakeCloudConf({ project: 'other' }), otherProject);
  for (let i = 0; i < 3; i++) assert.equal(await rig.look(), 'configuration');
  assert.deepEqual(rig.lines, ['A server is not here, and no other of this cluster: is this its project and region?']);
  await rig.opened.reconfigure({ text: config('k8s'), fileName: 'cloud.conf' });
  assert.equal((await rig.look()).length, 2);
  rig.cloud.compute.remove(rig.node.providerID?.slice('openstack:///'.length) ?? '');
  assert.equal(await rig.look(), 'absent');
});

test('a region without nova can be corrected too', async () => {
  await using rig = await openRig(fakeCloudConf({ region: 'RegionTwo' }));
  await rig.until(() => rig.lines.length > 0);
  await rig.opened.reconfigure({ text: config('k8s'), fileName: 'cloud.conf' });
  assert.equal((await rig.look()).length, 2);
});

test('the last server of a cluster is absent while nova knows what was done with it, and by a server that was seen', async () => {
  await using restarted = await openRig(config('k8s'));
  const id = restarted.node.providerID?.slice('openstack:///'.length) ?? '';
  restarted.cloud.compute.remove(id);
  assert.equal(await restarted.look(), 'absent');
  await using late = await openRig(config('k8s'));
  late.cloud.compute.remove(id);
  late.cloud.compute.archive();
  assert.equal(await late.look(), 'configuration');
  await using awake = await openRig(config('k8s'));
  assert.equal((await awake.look()).length, 2);
  awake.cloud.compute.remove(id);
  awake.cloud.compute.archive();
  assert.equal(await awake.look(), 'absent');
});

test('answers say in which project and region was asked, and whether nova remembers the server', async () => {
  await using rig = await openRig(config('k8s'));
  const call = rig.opened.callContext({ signal: new AbortController().signal, priority: 'normal' });
  const { instances } = rig.opened.capabilities;
  assert.ok(instances);
  const [listed] = await instances.lookUp([rig.node], 'state', call);
  assert.match(listed?.place ?? '', /^project [0-9a-f-]{32,36} of region RegionOne$/);
  await using restarted = await openRig(config('k8s'));
  restarted.cloud.compute.remove(restarted.node.providerID?.slice('openstack:///'.length) ?? '');
  const answer = await restarted.opened.capabilities.instances?.read(
    restarted.node,
    'state',
    restarted.opened.callContext({ signal: new AbortController().signal, priority: 'normal' }),
  );
  assert.equal(answer?.place, listed?.place);
  assert.ok(answer?.result.kind === 'absent' && answer.result.wasHere);
});

test('each capability says what it has to be granted', async () => {
  await using rig = await openRig(config('k8s', '[Route]\nrouter-id = r1'));
  const { permissions = {} } = createOpenStackProvider();
  assert.deepEqual(Object.keys(permissions).toSorted(), capabilitiesOf(rig).toSorted());
});

test('clouds.yaml and the files of certificates are to be watched, and a changed one is read with the same cloud.conf', async () => {
  const directory = await mkdtemp(path.join(tmpdir(), 'outrigger-openstack-'));
  try {
    const [clouds, ca] = [path.join(directory, 'clouds.yaml'), path.join(directory, 'ca.pem')];
    const write = (password: string): Promise<void> =>
      writeFile(clouds, `clouds: {c: {auth: {password: ${password}}}}`);
    await write('k8s');
    await writeFile(ca, rootCertificates[0] ?? '');
    const text = config('', `use-clouds = true\nclouds-file = ${clouds}\nca-file = ${ca}`);
    await using rig = await openRig(text);
    assert.deepEqual(rig.opened.watchedFiles(), [clouds, ca]);
    await write('wrong');
    const changed = (): Promise<void> => rig.opened.reconfigure({ text, fileName: 'cloud.conf' });
    await assert.rejects(changed(), (error) => isCloudError(error, 'unauthenticated'));
    await write('k8s');
    await changed();
    assert.equal((await rig.look()).length, 2);
  } finally {
    await rm(directory, { recursive: true });
  }
});
