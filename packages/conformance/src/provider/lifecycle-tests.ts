/** What `CloudProvider` promises of its life in the program, and of its requests. */
import { strict as assert } from 'node:assert';
import { isCloudError } from '@outrigger/cloud-provider';
import { has, type ConformanceTest } from './conformance-test.ts';
import { NotVerifiable } from './not-verifiable.ts';
import type { ProviderRig } from './provider-rig.ts';
import { RequestFaults } from './request-faults.ts';

const TYPES = 'packages/cloud-provider/src/cloud-provider.ts';
const REQUESTS = 'docs/reference/what-the-host-does.md#requests';
const RETRY_AFTER_S = 7;

function promise(
  name: string,
  source: string,
  run: (rig: ProviderRig) => Promise<void>,
  more: Pick<ConformanceTest, 'hooks' | 'declares'> = {},
): ConformanceTest {
  return { name: `provider / ${name}`, feature: 'provider', source, run, ...more };
}

const instances = { declares: has('instances') };

export const lifecycleTests: readonly ConformanceTest[] = [
  promise('a cloud that is down does not keep it from opening', `${TYPES} CloudProvider.open`, async (rig) => {
    const faults = new RequestFaults();
    faults.set(() => ({ kind: 'fail', code: 'unavailable' }));
    const other = await rig.beside({ faults });
    faults.set();
    if (!other.capabilities.instances) return;
    const node = await rig.createMachine('later');
    await other.recovers('the machine is found', async () => (await other.lookUp(node))[0]?.result.kind === 'found');
  }),

  promise(
    'two of it in one process do not meddle with each other',
    `${TYPES} ProviderFactory`,
    async (rig) => {
      const other = await rig.beside();
      const node = await rig.createMachine('both');
      await rig.instanceOf(node);
      await other.instanceOf(node);
      await other.close();
      await rig.instanceOf(node);
    },
    instances,
  ),

  promise(
    'after close it sends nothing, and leaves no timer and no connection',
    `${TYPES} CloudProvider.close`,
    async (rig) => {
      const faults = new RequestFaults();
      await rig.close();
      await quiet(rig, 'close', () => true);
      const before = resources();
      const other = await rig.beside({ faults });
      if (other.capabilities.instances) await other.instanceOf(await other.createMachine('open'));
      await other.close();
      const sent = faults.log.length;
      await quiet(rig, 'its connections are closed', () => leaked(before, resources()).length === 0);
      assert.equal(other.pendingSleeps, 0, 'it still waits on its clock');
      await rig.wait(rig.fixture.clock ? 3_600_000 : 1_000);
      assert.equal(faults.log.length, sent, 'requests after close');
      await rig.start();
    },
  ),

  promise(
    'a request that is under way is cut off by close',
    `${TYPES} CloudProvider.close`,
    async (rig) => {
      const node = await rig.createMachine('cut');
      await rig.instanceOf(node);
      rig.faults.set(() => ({ kind: 'hang' }));
      const asked = rig.lookUp(node).then(
        () => 'answered',
        () => 'cut off',
      );
      await rig.until('a request is sent', () => rig.faults.hanging > 0);
      const since = rig.clock.monotonic();
      await rig.close();
      await asked;
      assert.ok(rig.clock.monotonic() - since < 30_000, 'close waits for a request that never ends');
      assert.equal(rig.faults.hanging, 0);
      rig.faults.set();
      await rig.start();
    },
    instances,
  ),

  promise(
    'each request goes through call.call',
    REQUESTS,
    async (rig) => {
      const requests = async (): Promise<number> => (await rig.fixture.requests?.()) ?? 0;
      const node = await rig.createNode('counted');
      const before = await requests();
      const sent = rig.faults.log.length;
      await rig.lookUp(node);
      await rig.read(node);
      const { loadBalancers, routes } = rig.capabilities;
      if (routes) await rig.call('list', (call) => routes.list(call));
      if (loadBalancers) await rig.call('listOwned', (call) => loadBalancers.listOwned(call));
      assert.equal(
        (await requests()) - before,
        rig.faults.log.length - sent,
        'requests that the cloud got, and that the host knew of',
      );
    },
    { hooks: ['requests'], ...instances },
  ),

  promise(
    'the names of operations hold no IDs: they are labels of metrics',
    'packages/cloud-provider/src/call-context.ts CloudOperation.name',
    async (rig) => {
      const nodes = [await rig.createNode('a'), await rig.createNode('b')];
      for (const node of nodes) await rig.read(node);
      await rig.lookUp(...nodes);
      const names = new Set(rig.faults.log.map(({ operation }) => operation.name));
      for (const { name, providerID = '', uid } of nodes) {
        for (const text of [name, uid, providerID.split('/').at(-1) ?? name]) {
          const holder = [...names].find((one) => one.includes(text));
          assert.equal(holder, undefined, `${holder} holds ${text}`);
        }
      }
      assert.ok(
        [...names].every((name) => name.trim() !== ''),
        'each operation has a name',
      );
    },
    instances,
  ),

  promise(
    'it retries nothing by itself: that is for the host',
    REQUESTS,
    async (rig) => {
      const node = await rig.createNode('once');
      await rig.read(node);
      rig.faults.set();
      await rig.read(node);
      const usual = rig.faults.count('read');
      // Before a request that follows a 429 the host itself waits.
      for (const code of ['unavailable', 'throttled'] as const) {
        rig.faults.set(() => ({ kind: 'fail', code, retryAfterMs: 1_000 }));
        const since = rig.clock.monotonic();
        await rig.read(node).catch((error: unknown) => assert.ok(isCloudError(error), String(error)));
        const sent = rig.faults.count('read');
        assert.ok(sent <= usual, `${sent} requests where ${usual} are usual: it sends again what was ${code}`);
        assert.ok(rig.clock.monotonic() - since < 1_000, `it waits after what was ${code}`);
      }
      rig.faults.set();
    },
    instances,
  ),

  promise(
    'a 429 and its Retry-After reach the host, which waits for it',
    'docs/reference/what-the-host-does.md#errors',
    async (rig) => {
      if (!rig.fixture.fail) await rig.proxy();
      const faults = new RequestFaults();
      const patient = await rig.beside({ faults, budget: { maxAttempts: 3 } });
      const node = await patient.createNode('throttled');
      await rig.fail({ kind: 'status', status: 429, retryAfterSeconds: RETRY_AFTER_S });
      const asked = patient.read(node);
      const settled = asked.then(
        ({ result }) => result.kind,
        (error: unknown) => String(error),
      );
      const before = faults.log.length;
      await patient.until('a request is sent', () => faults.log.length > before);
      const since = rig.clock.monotonic();
      await patient.until('it is answered', () => faults.busy === 0);
      await rig.fail(undefined);
      const first = faults.log.length;
      assert.equal(await settled, 'found', 'the host sends an idempotent request again, and the cloud is well by then');
      const tookMs = rig.clock.monotonic() - since;
      assert.ok(faults.log.length > first, 'no second request was sent');
      assert.ok(
        tookMs >= RETRY_AFTER_S * 1_000 - 500,
        `Retry-After was ${RETRY_AFTER_S} s, and the next request was sent after ${tookMs} ms`,
      );
    },
    { hooks: ['fail'], ...instances },
  ),

  promise(
    'a request on the wire is cut off by its signal',
    'packages/cloud-provider/src/call-context.ts CallContext.signal',
    async (rig) => {
      const proxy = await rig.proxy();
      const node = await rig.createNode('wire');
      const instances = rig.use('instances');
      const stop = new AbortController();
      proxy.hang();
      const context = rig.opened.callContext({ signal: stop.signal, priority: 'normal', reads: true });
      const asked = instances.read(node, 'state', rig.faults.context(context, 'read')).catch(() => undefined);
      await rig.until('a request is sent', () => rig.faults.busy > 0);
      stop.abort(new DOMException('the suite gives up', 'AbortError'));
      await rig.drive(asked);
      await rig.until('the request is given up: its signal is handed on', () => rig.faults.busy === 0);
      proxy.fail(undefined);
    },
    { hooks: ['http'], ...instances },
  ),

  promise(
    'a config that cannot be read is told by checkConfig, and asks no cloud',
    `${TYPES} CloudProvider.checkConfig`,
    async (rig) => {
      const { provider } = await rig.unopened();
      const { checkConfig } = { checkConfig: provider.checkConfig?.bind(provider) };
      if (!checkConfig) throw new NotVerifiable('the provider has no checkConfig');
      const before = await rig.fixture.requests?.();
      await checkConfig(rig.config);
      const broken = { fileName: 'broken.conf', text: '\u0000{[not a config of anything' };
      await assert.rejects(checkConfig(broken), (error) => {
        assert.ok(isCloudError(error, 'configuration'), `not a configuration error: ${String(error)}`);
        assert.ok(error.message.includes('broken.conf'), `the message names the file: ${error.message}`);
        return true;
      });
      assert.equal(await rig.fixture.requests?.(), before, 'it has asked the cloud');
    },
  ),

  promise(
    'a changed config that cannot be read leaves the old one in use',
    `${TYPES} CloudProvider.reconfigure`,
    async (rig) => {
      const { provider } = await rig.unopened();
      if (!provider.reconfigure)
        throw new NotVerifiable('the provider has no reconfigure: a change asks for a restart');
      const node = await rig.createMachine('kept');
      await rig.instanceOf(node);
      const broken = { fileName: 'broken.conf', text: '\u0000{[not a config of anything' };
      await assert.rejects(rig.drive(rig.opened.reconfigure(broken)), (error) => isCloudError(error, 'configuration'));
      await rig.instanceOf(node);
    },
    instances,
  ),
];

/** What keeps this process alive, by kind. */
function resources(): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const kind of process.getActiveResourcesInfo()) {
    // Files that are being read, and what the event loop runs next, come and go.
    if (/^(TCP|TLS|HTTP|Pipe|Timeout|UDP|Process)/.test(kind)) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return counts;
}

function leaked(before: ReadonlyMap<string, number>, after: ReadonlyMap<string, number>): readonly string[] {
  return [...after].filter(([kind, count]) => count > (before.get(kind) ?? 0)).map(([kind]) => kind);
}

async function quiet(rig: ProviderRig, what: string, holds: () => boolean): Promise<void> {
  await rig.settle();
  await rig.until(what, holds);
}
