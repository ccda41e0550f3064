/** A whole life of nodes over two vCenters, with each fault that ever cost one its Node: none that is alive is deleted, each that has gone goes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '@outrigger/kube';
import type { LabVcenter } from '../../providers/vsphere/lab/lab.ts';
import { isInitialised } from '../initialised-node.ts';
import { SHUTDOWN_TAINT, tagZones, VsphereCluster, type PlacedMachine } from './vsphere-cluster.ts';

/** Of each of two clusters of each of two vCenters. */
const MACHINES = 45;
/**
 * Those that do not grow with its nodes: to log in by SOAP and REST, views, the objects around machines, each category and tag that is in use, and to
 * follow changes. 24 here.
 */
const CALLS_A_VCENTER = 24;
const CALLS_A_NODE = 0.05;
/** Longer than the grace period before a deletion and the wait between two proofs. */
const FAULT_MS = 5_000;
const NEW_UUID = '00000000-0000-4000-8000-00000000000';

const zoneOf = async (cluster: VsphereCluster, name: string): Promise<string | undefined> =>
  (await cluster.node(name))?.metadata?.labels?.['topology.kubernetes.io/zone'];

const isShutDown = async (cluster: VsphereCluster, name: string): Promise<boolean> =>
  (await cluster.node(name))?.spec?.taints?.some(({ key }) => key === SHUTDOWN_TAINT) ?? false;

test('180 nodes of two vCenters live, and go when their machines do', { timeout: 600_000 }, async (t) => {
  const cluster = await VsphereCluster.start(t, {
    vcenters: ['a', 'b'].map((name) => ({ name, clusters: 2, machines: MACHINES })),
  });
  if (!cluster) return;
  const [a, b] = cluster.vcenters;
  assert.ok(a && b);
  await Promise.all(cluster.vcenters.map((vcenter) => tagZones(vcenter)));
  const { manager } = cluster;
  const machines = await cluster.machines();
  await cluster.register(machines);

  await t.test('all are initialised, by a few calls', async (t) => {
    manager.start();
    const ms = await cluster.until(
      'all nodes initialised',
      async () => (await cluster.initialised()) === machines.length,
    );
    const calls = (await Promise.all(cluster.vcenters.map((vcenter) => vcenter.calls(true)))).flat();
    t.diagnostic(`${machines.length} nodes in ${(ms / 1_000).toFixed(1)} s by ${calls.length} calls`);
    const byMethod = Map.groupBy(calls, ({ method }) => method);
    t.diagnostic([...byMethod].map(([method, some]) => `${method} ${some.length}`).join(', '));
    assert.ok(calls.length <= 2 * CALLS_A_VCENTER + CALLS_A_NODE * machines.length, `${calls.length} calls`);
    for (const { address, biosUuid, name, vcenter } of machines) {
      const node = await cluster.node(name);
      assert.equal(node?.spec?.providerID, `vsphere://${biosUuid}`);
      assert.match(
        node.metadata?.labels?.['topology.kubernetes.io/zone'] ?? '',
        new RegExp(`^${vcenter.name}-dc0-c[01]$`, 'u'),
      );
      assert.equal(node.metadata?.labels?.['topology.kubernetes.io/region'], `region-${vcenter.name}`);
      const told: readonly string[] | undefined = node.status?.addresses
        ?.map((one) => `${one.type} ${one.address}`)
        .sort();
      assert.deepEqual(told, [`ExternalIP ${address}`, `Hostname ${name}`, `InternalIP ${address}`]);
    }
  });

  await t.test('a machine that is shut down has the taint within 5 s, and none when it runs', async (t) => {
    const { reference } = await cluster.machine('a-0');
    await a.power(reference, 'poweredOff');
    await cluster.setReady(['a-0'], 'Unknown');
    const ms = await cluster.until('a-0 has the taint', () => isShutDown(cluster, 'a-0'), 20_000);
    t.diagnostic(`tainted after ${ms.toFixed(0)} ms`);
    assert.ok(ms <= 5_000, `${ms} ms`);
    await a.power(reference, 'poweredOn');
    await cluster.setReady(['a-0'], 'True');
    await cluster.until('a-0 has no taint', async () => !(await isShutDown(cluster, 'a-0')));
  });

  await t.test('nodes of machines that were destroyed go', async () => {
    for (const name of ['a-1', 'b-1']) {
      const { reference, vcenter } = await cluster.machine(name);
      await vcenter.destroy(reference);
    }
    await cluster.setReady(['a-1', 'b-1'], 'Unknown');
    await cluster.gone('a-1', 'b-1');
    assert.deepEqual(await cluster.wronglyDeleted(), []);
  });

  await t.test('a machine of another name is the same node', async () => {
    const { reference } = await cluster.machine('a-2');
    await a.rename(reference, 'renamed');
    await cluster.setReady(['a-2'], 'Unknown');
    await systemClock.sleep(FAULT_MS);
    assert.deepEqual(await cluster.wronglyDeleted(), []);
    await cluster.setReady(['a-2'], 'True');
  });

  await t.test('a new machine under an old name is a new node', async () => {
    const old = await cluster.machine('a-3');
    await a.destroy(old.reference);
    await a.create((await cluster.machine('a-4')).reference, {
      name: 'a-3',
      uuid: `${NEW_UUID}3`,
      address: '10.250.0.3',
    });
    await cluster.setReady(['a-3'], 'Unknown');
    await cluster.gone('a-3');
    await cluster.register([await cluster.machine('a-3')]);
    await cluster.until('a-3 is initialised', async () => {
      const node = await cluster.node('a-3');
      return node !== undefined && isInitialised(node);
    });
    assert.equal((await cluster.node('a-3'))?.spec?.providerID, `vsphere://${NEW_UUID}3`);
  });

  await t.test('labels stay when a machine moves to another zone, and when tags change', async () => {
    const [moved, tagged] = [await cluster.machine('a-5'), await cluster.machine('b-5')];
    const before = [await zoneOf(cluster, 'a-5'), await zoneOf(cluster, 'b-5')];
    const hosts = await a.objects('HostSystem');
    const elsewhere = hosts.find(
      ({ parent }) => parent !== hosts.find((host) => host.reference === moved.host)?.parent,
    );
    assert.ok(elsewhere);
    await a.migrate(moved.reference, elsewhere.reference);
    const host = (await b.objects('HostSystem')).find((one) => one.reference === tagged.host);
    assert.ok(host);
    await b.tag(host, 'k8s-zone', 'another');
    await cluster.setReady(['a-5', 'b-5'], 'Unknown');
    await systemClock.sleep(FAULT_MS);
    await cluster.setReady(['a-5', 'b-5'], 'True');
    assert.deepEqual([await zoneOf(cluster, 'a-5'), await zoneOf(cluster, 'b-5')], before);
    await b.untag(host, 'k8s-zone', 'another');
  });

  await t.test('other credentials are read without a restart', async () => {
    await Promise.all(cluster.vcenters.map((vcenter) => vcenter.setPassword('other')));
    await cluster.writeCredentials('user', 'other');
    await Promise.all(cluster.vcenters.map((vcenter) => vcenter.killSessions()));
    const { reference } = await cluster.machine('b-6');
    await b.destroy(reference);
    await cluster.setReady(['b-6'], 'Unknown');
    await cluster.gone('b-6');
    assert.deepEqual(await cluster.wronglyDeleted(), []);
  });

  const of = (vcenter: LabVcenter, count: number): readonly PlacedMachine[] =>
    machines.filter((machine) => machine.vcenter === vcenter && cluster.alive.has(machine.name)).slice(20, 20 + count);
  const ten = of(a, 10);
  const [{ host } = assert.fail('no machines')] = ten;
  const onHost = machines.filter(
    (machine) => machine.vcenter === a && machine.host === host && cluster.alive.has(machine.name),
  );
  interface Fault {
    readonly name: string;
    /** Their kubelets fall silent. */
    readonly of: readonly PlacedMachine[];
    readonly begin: () => Promise<unknown>;
    readonly end: () => Promise<unknown>;
  }
  const all = <T>(items: readonly T[], act: (item: T) => Promise<unknown>): Promise<unknown> =>
    Promise.all(items.map((item) => act(item)));
  const faults: readonly Fault[] = [
    {
      name: 'sessions end in the middle of each list',
      of: ten,
      begin: () =>
        a.setRules([
          { method: 'ContinueRetrievePropertiesEx', killSessions: true },
          { method: 'RetrievePropertiesEx', skip: 1, killSessions: true, count: 20 },
        ]),
      end: () => a.setRules([]),
    },
    {
      name: 'a host is disconnected',
      of: onHost,
      begin: () => a.setHost(host, 'notResponding'),
      end: () => a.setHost(host, 'connected'),
    },
    ...(['inaccessible', 'orphaned', 'invalid'] as const).map((state): Fault => ({
      name: `machines are ${state}`,
      of: ten,
      begin: () => all(ten, ({ reference }) => a.setConnection(reference, state)),
      end: () => all(ten, ({ reference }) => a.setConnection(reference, 'connected')),
    })),
    {
      name: 'no permission on a folder',
      of: ten,
      begin: () => a.hide(ten.map(({ reference }) => reference)),
      end: () => a.hide([]),
    },
    {
      name: 'one vCenter is down',
      of: of(a, 100),
      begin: () => a.setDown(true),
      end: () => a.setDown(false),
    },
    {
      name: 'every search fails, by the rules of the simulator',
      of: of(b, 10),
      begin: () => b.addFault({ method: '*', type: 'SearchIndex', fault: 'NoPermission' }),
      end: () => b.setRules([]),
    },
    {
      name: 'half of all calls fail, by the rules of the simulator',
      of: of(b, 10),
      begin: () => b.addFault({ method: '*', fault: 'Network', probability: 0.5 }),
      end: () => b.setRules([]),
    },
    {
      name: 'what has gone is said of machines that are there',
      of: of(b, 10),
      begin: () => b.setRules([{ method: 'FindAllByUuid', status: 404 }]),
      end: () => b.setRules([]),
    },
  ];
  for (const { begin, end, name, of } of faults) {
    await t.test(name, async () => {
      const names = of.map((machine) => machine.name);
      await begin();
      await cluster.setReady(names, 'Unknown');
      await systemClock.sleep(FAULT_MS);
      assert.deepEqual(await cluster.wronglyDeleted(), []);
      await end();
      await cluster.setReady(names, 'True');
    });
  }

  await t.test('all of it at once, amid kills of the program', async () => {
    const silent = [...onHost, ...of(b, 40)].map(({ name }) => name);
    const [lost = assert.fail('no machines'), dead = assert.fail('no machines')] = of(b, 42).slice(40);
    await a.setHost(host, 'notResponding');
    await all(ten.slice(0, 5), ({ reference }) => a.setConnection(reference, 'inaccessible'));
    await a.hide(ten.slice(5).map(({ reference }) => reference));
    await b.setRules([{ method: 'ContinueRetrievePropertiesEx', killSessions: true }]);
    await b.destroy(dead.reference);
    await cluster.setReady([...silent, dead.name], 'Unknown');
    for (let round = 0; round < 3; round++) {
      await manager.end('SIGKILL');
      manager.start();
      await systemClock.sleep(FAULT_MS);
    }
    await a.setDown(true);
    await manager.end('SIGKILL');
    await b.destroy(lost.reference);
    manager.start();
    await cluster.setReady([lost.name], 'Unknown');
    await systemClock.sleep(FAULT_MS);
    for (const { name } of [lost, dead]) cluster.alive.delete(name);
    assert.deepEqual(await cluster.wronglyDeleted(), []);

    await a.setDown(false);
    await a.hide([]);
    await a.setHost(host, 'connected');
    await all(ten, ({ reference }) => a.setConnection(reference, 'connected'));
    await b.setRules([]);
    await cluster.gone(lost.name, dead.name);
    assert.deepEqual(await cluster.wronglyDeleted(), []);
  });

  await t.test('it logs out of every session when it ends', async () => {
    const open = (): Promise<readonly { readonly soap: number; readonly rest: number }[]> =>
      Promise.all(cluster.vcenters.map((vcenter) => vcenter.sessions()));
    const before = await open();
    assert.equal(await manager.end('SIGTERM'), 0);
    const after = await open();
    // Those of processes that were killed are open until vCenter ends them; the last one has perhaps asked for no tags.
    assert.deepEqual(
      after.map(({ soap }) => soap),
      before.map(({ soap }) => soap - 1),
    );
    assert.ok(
      after.every(({ rest }, index) => rest <= Math.min(5, before[index]?.rest ?? 0)),
      JSON.stringify([before, after]),
    );
  });
});
