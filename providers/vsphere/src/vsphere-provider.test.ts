import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { CloudError, isCloudError, type ConfigText } from '@outrigger/cloud-provider';
import { openProvider, type OpenedProvider } from '@outrigger/cloud-runtime';
import { silentLogger } from '@outrigger/kube';
import { FakeClock } from '@outrigger/testing';
import { MemoryVcenter } from '../fake/memory-vcenter.ts';
import type { VcenterCredentials } from './client/sign-in.ts';
import { machine, UUID } from './instances/machine.suite.ts';
import { createVsphereProvider, type VsphereEnvironment } from './vsphere-provider.ts';

const NOWHERE: VsphereEnvironment = { env: {}, workingDirectory: '/nowhere' };
const NODE = { name: 'node-1', uid: 'u1', providerID: `vsphere://${UUID}`, labels: {}, annotations: {} };

function configOf(text: string): ConfigText {
  return { fileName: 'vsphere.yaml', text };
}

const WITH_A = configOf('vcenter: {a: {server: a, user: u, password: secret-1}}');

class Rig implements AsyncDisposable {
  readonly clock = new FakeClock();
  readonly signal = new AbortController().signal;
  readonly logged: string[] = [];
  /** Each that was opened, in order; by server, what it answers. */
  readonly opened: { readonly vcenter: MemoryVcenter; readonly credentials: VcenterCredentials }[] = [];
  readonly identities: Record<string, string> = {
    a: 'aaaaaaaa-0000-4000-8000-000000000001',
    b: 'bbbbbbbb-0000-4000-8000-000000000002',
  };
  /** Of those that are opened from now on. */
  fault: MemoryVcenter['fault'];
  provider = createVsphereProvider({
    environment: NOWHERE,
    open: ({ credentials, server }) => {
      const vcenter = new MemoryVcenter(server, this.identities[server] ?? '');
      vcenter.fault = this.fault;
      vcenter.put(machine());
      this.opened.push({ vcenter, credentials });
      return vcenter;
    },
  });
  #manager: OpenedProvider | undefined;

  async open(config: ConfigText): Promise<OpenedProvider> {
    const tell = (message: string, fields?: unknown): void =>
      void this.logged.push(
        `${message} ${JSON.stringify(fields, (_, one: unknown) => (one instanceof Error ? one.message : one)) ?? ''}`,
      );
    this.#manager = await openProvider(this.provider, {
      cluster: { id: 'c', name: 'c' },
      clock: this.clock,
      logger: { ...silentLogger, error: tell, warn: tell },
      random: () => 0.5,
      budget: { maxAttempts: 1 },
      signal: this.signal,
      config,
    });
    await this.clock.settle();
    return this.#manager;
  }

  reconfigure(config: ConfigText): Promise<void> {
    assert.ok(this.#manager);
    return (
      this.provider.reconfigure?.(config, this.#manager.callContext({ signal: this.signal, priority: 'normal' })) ??
      Promise.resolve()
    );
  }

  /** What a look-up says of the node. */
  async kind(): Promise<string> {
    const answer = await this.#manager?.lookups?.lookUp(NODE, { need: 'state', signal: this.signal });
    return answer?.result.kind ?? 'none';
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#manager?.[Symbol.asyncDispose]();
  }
}

const refused = (text: RegExp) => (error: unknown) => isCloudError(error, 'configuration') && text.test(error.message);

test('it declares instances alone: no load balancers, no routes', async () => {
  await using rig = new Rig();
  const { capabilities } = await rig.open(WITH_A);
  assert.deepEqual(Object.keys(capabilities), ['instances']);
  assert.equal(await rig.kind(), 'found');
});

test('a wrong config is told before anything is asked, with the key that was misspelt', async () => {
  const { provider } = new Rig();
  await assert.rejects(
    async () => provider.checkConfig?.(configOf('vcenter: {a: {server: a, user: u, pasword: p}}')),
    refused(
      /^vsphere\.yaml: the vCenter a has no credentials.*vcenter\.a\.pasword: there is no such key \(did you mean password\?\)/,
    ),
  );
  await assert.rejects(async () => provider.checkConfig?.(undefined), refused(/--cloud-config/));
});

test('credentials that are refused at the start are logged, and nothing is secret in it', async () => {
  await using rig = new Rig();
  rig.fault = () => new CloudError('unauthenticated', 'Cannot complete login: incorrect user name or password');
  await rig.open(WITH_A);
  assert.match(rig.logged.join('\n'), /A vCenter cannot be used as the cloud config says .*incorrect user name/);
  assert.doesNotMatch(rig.logged.join('\n'), /secret-1/);
});

test('a changed config is taken as a whole, and the sessions of the old one are ended', async () => {
  await using rig = new Rig();
  await rig.open(WITH_A);
  await rig.reconfigure(
    configOf('vcenter: {a: {server: a, user: u, password: secret-2}, b: {server: b, user: u, password: p}}'),
  );
  assert.deepEqual(
    rig.opened.map(({ vcenter }) => [vcenter.address, vcenter.isClosed]),
    [
      ['a', true],
      ['a', false],
      ['b', false],
    ],
  );
  assert.deepEqual(rig.opened[1]?.credentials, { kind: 'user', user: 'u', password: 'secret-2' });
  assert.equal(await rig.kind(), 'failed', 'two vCenters have a machine of this UUID');
});

test('a changed config that is refused leaves the old one in use', async () => {
  await using rig = new Rig();
  await rig.open(WITH_A);
  assert.equal(await rig.kind(), 'found');
  await assert.rejects(rig.reconfigure(configOf('vcenter: {}')), refused(/no vCenter is named/));
  rig.fault = () => new CloudError('unauthenticated', 'wrong password');
  await assert.rejects(rig.reconfigure(WITH_A), /wrong password/);
  await rig.clock.advance(300_000);
  rig.fault = undefined;
  rig.identities['a'] = 'cccccccc-0000-4000-8000-000000000003';
  await assert.rejects(rig.reconfigure(WITH_A), refused(/was aaaaaaaa-.* and is now cccccccc-/));
  assert.deepEqual(
    rig.opened.map(({ vcenter }) => vcenter.isClosed),
    [false, true, true],
  );
  assert.equal(await rig.kind(), 'found');
});

test('credentials that were refused at a reload are not tried each minute; others are tried at once', async () => {
  await using rig = new Rig();
  await rig.open(WITH_A);
  const logins = (): number => rig.opened.slice(1).flatMap(({ vcenter }) => vcenter.requests).length;
  const wrong = configOf('vcenter: {a: {server: a, user: u, password: secret-2}}');
  rig.fault = () => new CloudError('unauthenticated', 'wrong password');
  for (let minute = 0; minute < 16; minute++) {
    await assert.rejects(rig.reconfigure(wrong), /wrong password/);
    await rig.clock.advance(60_000);
  }
  assert.equal(logins(), 3, 'at once, after 5 minutes, after 10 more');
  assert.ok(rig.opened.slice(1).every(({ vcenter }) => vcenter.isClosed));
  rig.fault = undefined;
  await rig.reconfigure(configOf('vcenter: {a: {server: a, user: u, password: secret-3}}'));
  assert.equal(logins(), 4);
});

test('a changed config whose vCenter cannot be reached is taken all the same', async () => {
  await using rig = new Rig();
  await rig.open(WITH_A);
  rig.fault = () => new CloudError('unavailable', 'no route to host');
  await rig.reconfigure(WITH_A);
  assert.equal(rig.opened[0]?.vcenter.isClosed, true);
  assert.match(rig.logged.join('\n'), /could not be reached .*no route to host/);
});

test('credentials of a mounted Secret are watched, and rotated with the config as it is', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'outrigger-rotation-'));
  try {
    const write = (password: string): Promise<void> => writeFile(path.join(folder, 'a.password'), password);
    await writeFile(path.join(folder, 'a.username'), 'u');
    await write('first');
    const config = configOf(`global: {secretsDirectory: ${folder}}\nvcenter: {a: {server: a}}`);
    await using rig = new Rig();
    await rig.open(config);
    assert.ok(rig.provider.watchedFiles?.().includes(path.join(folder, 'a.password')));
    await write('second');
    await rig.reconfigure(config);
    assert.deepEqual(
      rig.opened.map(({ credentials }) => credentials.kind === 'user' && credentials.password),
      ['first', 'second'],
    );
  } finally {
    await rm(folder, { recursive: true });
  }
});
