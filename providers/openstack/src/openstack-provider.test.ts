import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isCloudError, type CloudErrorCode, type NodeRef } from '@outrigger/cloud-provider';
import { openProvider, type OpenedProvider } from '@outrigger/cloud-runtime';
import { silentLogger } from '@outrigger/kube';
import { FakeClock } from '@outrigger/testing';
import { createFakeOpenStack, type FakeOpenStack } from './fake/fake-openstack.ts';
import { FAKE_ORIGIN, inProcessFetch } from './fake/in-process-fetch.ts';
import { seededRandom } from './fake/seeded-random.ts';
import { seedProject } from './fake/seed-project.ts';
import createProvider from './index.ts';
import { createOpenStackProvider } from './openstack-provider.ts';

interface Rig extends AsyncDisposable {
  readonly cloud: FakeOpenStack;
  readonly opened: OpenedProvider;
  readonly node: NodeRef;
  readonly lines: readonly string[];
  /** The node's addresses, or the code of why not. */
  look(): Promise<readonly string[] | string>;
}

const config = (password: string, more = ''): string => `
[Global]
auth-url = ${FAKE_ORIGIN}/identity/v3
username = k8s
password = ${password}
user-domain-id = default
tenant-name = k8s
tenant-domain-id = default
region = RegionOne
${more}`;

const environment = { env: {}, workingDirectory: '/nowhere', homeDirectory: '/nowhere' };

async function openRig(text: string, name?: string): Promise<Rig> {
  const clock = new FakeClock();
  const cloud = createFakeOpenStack({ clock, random: seededRandom(1) });
  const { server } = seedProject(cloud).addNode({ name: 'node-1' });
  const lines: string[] = [];
  const write = (line: string): void => void lines.push(line);
  const provider = createOpenStackProvider({
    environment,
    fetch: inProcessFetch(cloud),
    ...(name !== undefined && { name }),
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

test('opening asks the cloud nothing; the config says what there is', async () => {
  await using plain = await openRig(config('k8s'));
  assert.deepEqual(plain.cloud.calls.all(), []);
  const plainly = capabilitiesOf(plain);
  assert.deepEqual(
    [plainly.includes('instances'), plainly.includes('loadBalancers'), plainly.includes('routes')],
    [true, true, false],
  );
  await using routed = await openRig(config('k8s', '[Route]\nrouter-id = r1\n[LoadBalancer]\nenabled = no'));
  const routedly = capabilitiesOf(routed);
  assert.deepEqual([routedly.includes('loadBalancers'), routedly.includes('routes')], [false, true]);
  assert.deepEqual((await plain.look()).length, 2);
});

test('a keystone that is down at the start ends nothing, and is found when it is up', async () => {
  await using rig = await openRig(config('k8s'));
  rig.cloud.faults.set({ service: 'identity', effect: 'proxy', status: 503 });
  assert.equal(await rig.look(), 'unavailable');
  rig.cloud.faults.set();
  assert.equal((await rig.look()).length, 2);
  assert.deepEqual(rig.lines, ['keystone gives no token']);
});

test('a wrong password is one line, whoever asks', async () => {
  await using rig = await openRig(config('wrong'));
  for (let i = 0; i < 5; i++) assert.equal(await rig.look(), 'unauthenticated');
  assert.deepEqual(rig.lines, ['keystone gives no token']);
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

test('a changed config is taken while keystone is down', async () => {
  await using rig = await openRig(config('k8s'));
  rig.cloud.faults.set({ service: 'identity', effect: 'proxy', status: 503 });
  await rig.opened.reconfigure({ text: config('k8s', '[Networking]\nipv6-support-disabled'), fileName: 'cloud.conf' });
  rig.cloud.faults.set();
  assert.equal((await rig.look()).length, 1);
  assert.ok(rig.lines.includes('the changed cloud config is in use, and could not be tried'));
});
