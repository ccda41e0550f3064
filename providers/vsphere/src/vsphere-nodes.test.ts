/** The provider below the host's look-ups and the node controller: what nodes are told, and what that costs. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { openProvider } from '@outrigger/cloud-runtime';
import { silentLogger, type EventNote, type Metrics, type Node } from '@outrigger/kube';
import { FakeClock } from '@outrigger/testing';
import { FakeVim } from '../fake/fake-vim.ts';
import { MemoryVcenter } from '../fake/memory-vcenter.ts';
import { createNodeController } from '../../../packages/controllers/src/node/node-controller.ts';
import { FakeNodeApi } from '../../../packages/controllers/src/node/fake-node-api.suite.ts';
import { machine, nic } from './instances/machine.suite.ts';
import { openVcenter } from './inventory/open-vcenter.ts';
import { createVsphereProvider, type VsphereProviderOptions } from './vsphere-provider.ts';

const uuid = (number: number): string => `422e4956-ad22-1139-6d72-${String(number).padStart(12, '0')}`;
const ZONE = 'topology.kubernetes.io/zone';

class Rig {
  readonly clock: FakeClock = new FakeClock();
  readonly api: FakeNodeApi = new FakeNodeApi();
  readonly events: EventNote[] = [];
  /** By the name of the metric and its labels. */
  readonly counted: Map<string, number> = new Map();
  readonly #t: TestContext;

  constructor(t: TestContext) {
    this.#t = t;
  }

  /** A node whose kubelet has just registered it. */
  register(number: number): void {
    this.api.put({
      metadata: { name: `node-${number}`, uid: `uid-${number}`, labels: {}, annotations: {} },
      spec: {
        taints: [{ key: 'node.cloudprovider.kubernetes.io/uninitialized', value: 'true', effect: 'NoSchedule' }],
      },
      status: { nodeInfo: { systemUUID: uuid(number) } as never },
    });
  }

  node(number: number): Node {
    return this.api.nodes.get(`node-${number}`) ?? {};
  }

  async start(servers: readonly string[], open: VsphereProviderOptions['open']): Promise<void> {
    const sections = servers.map((server) => `  ${server}: { server: ${server}, user: user, password: pass }\n`);
    const text = `vcenter:\n${sections.join('')}labels: { zone: k8s-zone, region: k8s-region }\n`;
    const environment = { env: {}, workingDirectory: '/nowhere' };
    const { clock } = this;
    const opened = await openProvider(createVsphereProvider({ environment, ...(open && { open }) }), {
      cluster: { id: 'cluster-1', name: 'test' },
      clock,
      logger: silentLogger,
      random: () => 0,
      config: { fileName: 'vsphere.yaml', text },
    });
    assert.ok(opened.lookups);
    const count = ({ name }: { readonly name: string }, labels: object = {}, value: number): void => {
      const key = [name, ...Object.values(labels)].join(' ');
      this.counted.set(key, (this.counted.get(key) ?? 0) + value);
    };
    const metrics: Metrics = {
      counter: (options) => ({ inc: (labels, value = 1) => count(options, labels, value) }),
      gauge: () => ({ set: () => {} }),
      histogram: () => ({ observe: () => {} }),
      onCollect: () => {},
    };
    const ended = new AbortController();
    const controller = createNodeController({
      client: this.api.client,
      store: this.api.store,
      lookups: opened.lookups,
      events: { record: (_, note) => void this.events.push(note) },
      clock,
      logger: silentLogger,
      metrics,
      random: () => 0.5,
      options: { providerName: 'vsphere', nodeStatusUpdateFrequencyMs: 300_000 },
    });
    const running = controller.run(ended.signal);
    this.#t.after(async () => {
      ended.abort();
      await running;
      await opened[Symbol.asyncDispose]();
    });
    await this.settle();
  }

  async settle(): Promise<void> {
    for (let turn = 0; turn < 20; turn++) {
      await this.clock.settle();
      await new Promise((resolve) => void setImmediate(resolve));
    }
  }
}

test('vMotion to another zone: an Event and a metric tell of it once, and no label changes', async (t) => {
  const rig = new Rig(t);
  const vcenter = new MemoryVcenter('a', 'aaaaaaaa-0000-4000-8000-000000000001');
  for (const number of [1, 2]) {
    const reference = `host-${number}`;
    vcenter.objects.set(reference, { type: 'HostSystem', reference, name: `esx-${number}` });
    vcenter.attached.set(reference, [
      { category: 'k8s-zone', name: `zone-${number}` },
      { category: 'k8s-region', name: 'region-1' },
    ]);
  }
  const there = machine({ reference: 'vm-1', biosUuid: uuid(1), nics: [nic('nodes', '10.0.0.1')], host: 'host-1' });
  vcenter.put(there);
  rig.register(1);
  await rig.start(['a'], () => vcenter);
  const { labels } = rig.node(1).metadata ?? {};
  assert.equal(labels?.[ZONE], 'zone-1');
  assert.deepEqual(rig.events, []);
  // vCenter tells of it by WaitForUpdatesEx.
  vcenter.put({ ...there, host: 'host-2' });
  for (let second = 0; second < 10; second++) {
    await rig.clock.advance(1_000);
    await rig.settle();
  }
  assert.deepEqual(rig.events, [
    {
      type: 'Warning',
      reason: 'LabelsDiffer',
      message: `Labels of node node-1 differ from the cloud and stay as they are: ${ZONE} is zone-1, in the cloud zone-2; failure-domain.beta.kubernetes.io/zone is zone-1, in the cloud zone-2. Correct the label, or remove it to have it set.`,
    },
  ]);
  assert.equal(rig.counted.get(`outrigger_node_label_differences_total ${ZONE}`), 1);
  await rig.clock.advance(1_800_000);
  await rig.settle();
  assert.equal(rig.events.length, 1);
  assert.deepEqual(rig.node(1).metadata?.labels, labels);
});

for (const { endsRest, most, servers } of [
  { servers: ['a'], endsRest: false, most: 8 },
  { servers: ['a', 'b'], endsRest: false, most: 8 },
  // As vCenter may end a session of REST that asks nothing for some minutes.
  { servers: ['a', 'b'], endsRest: true, most: 12 },
]) {
  const ends = endsRest ? ', whose idle REST sessions end' : '';
  test(`an idle hour with zones costs at most ${most} requests of each of ${servers.length} vCenters${ends}`, async (t) => {
    const rig = new Rig(t);
    const vims = new Map(servers.map((server) => [server, new FakeVim(rig.clock)]));
    for (const [at, vim] of [...vims.values()].entries()) {
      vim.identity = `${'ab'[at]?.repeat(8)}-0000-4000-8000-000000000001`;
      vim.tags.set('t1', ['zone-1', 'k8s-zone']);
      vim.tags.set('t2', ['region-1', 'k8s-region']);
      for (let number = 10 * at; number < 10 * at + 10; number++) {
        const net = `<network>nodes</network><deviceConfigId>4000</deviceConfigId><ipAddress>10.0.0.${number}</ipAddress>`;
        const more = { 'guest.hostName': `node-${number}`, 'guest.net': `<GuestNicInfo>${net}</GuestNicInfo>` };
        vim.machines.set(`vm-${number}`, { name: `node-${number}`, uuid: uuid(number), more });
        vim.attached.set(`vm-${number}`, ['t1', 't2']);
        rig.register(number);
      }
    }
    await rig.start(servers, (settings, host) =>
      openVcenter({ host, settings, fetch: (vims.get(settings.server) as FakeVim).fetch }),
    );
    const all = [...rig.api.nodes.values()];
    assert.deepEqual(
      all.map(({ metadata }) => metadata?.labels?.[ZONE]),
      all.map(() => 'zone-1'),
    );
    for (let hour = 0; hour < 3; hour++) {
      for (const vim of vims.values()) vim.asked.length = 0;
      for (let minute = 0; minute < 60; minute++) {
        await rig.clock.advance(60_000);
        await rig.settle();
        if (endsRest) for (const vim of vims.values()) vim.restSessions.clear();
      }
      for (const { asked } of vims.values()) {
        const of = (text: string): number => asked.filter((name) => name.includes(text)).length;
        assert.equal(of('WaitForUpdatesEx'), 4);
        // The refresh of all nodes, half an hour apart.
        assert.ok(of('RetrievePropertiesEx') >= 1 && of('RetrievePropertiesEx') <= 2, asked.join(', '));
        assert.ok(of('list-attached-tags-on-objects') >= 1 && asked.length <= most, asked.join(', '));
      }
    }
  });
}
