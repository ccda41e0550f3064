/** A whole life of nodes over two vCenters, with each fault that ever cost one its Node: none that is alive is deleted, each that has gone goes. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { systemClock } from '@outrigger/kube';
import type { LabCall, LabVcenter, WireRule } from '../../providers/vsphere/lab/lab.ts';
import { isInitialised } from '../initialised-node.ts';
import { SHUTDOWN_TAINT, tagZones, VsphereCluster, type PlacedMachine } from './vsphere-cluster.ts';

/** Of each of two clusters of each of two vCenters. */
const MACHINES = 45;
/**
 * Those that do not grow with its nodes: to log in by SOAP and REST, views, the objects around machines, each category and tag that is in use, and to
 * follow changes. 24 here.
 */
const CALLS_A_VCENTER = 24;
/** Where a busy machine has the nodes come in parts, each part is asked about. */
const CALLS_A_NODE = 0.25;
/** A fault lasts so many times as long as a node took to go, measured here, and no shorter: it would have gone amid the fault. */
const FAULT_IN_DELETIONS = 2;
const SHORTEST_FAULT_MS = 7_000;
/** By which the program finds out whether a machine is there. */
const PROBES = new Set(['FindAllByUuid', 'RetrievePropertiesEx']);
/** A list of machines alone is one page here; only that with what is around them has a second one. */
const ENDING_SESSIONS: readonly WireRule[] = [
  { method: 'ContinueRetrievePropertiesEx', killSessions: true },
  { method: 'RetrievePropertiesEx', skip: 1, killSessions: true, count: 20 },
];
const REST_SESSION = '/rest/com/vmware/cis/session';
const NEW_UUID = '00000000-0000-4000-8000-00000000000';

const zoneOf = async (cluster: VsphereCluster, name: string): Promise<string | undefined> =>
  (await cluster.node(name))?.metadata?.labels?.['topology.kubernetes.io/zone'];

const isShutDown = async (cluster: VsphereCluster, name: string): Promise<boolean> =>
  (await cluster.node(name))?.spec?.taints?.some(({ key }) => key === SHUTDOWN_TAINT) ?? false;

test('180 nodes of two vCenters live, and go when their machines do', { timeout: 1_800_000 }, async (t) => {
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
    const calls = (await Promise.all(cluster.vcenters.map((vcenter) => cluster.callsOf(vcenter)))).flat();
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

  await t.test('a machine that is shut down has the taint soon, and none when it runs', async (t) => {
    const { reference } = await cluster.machine('a-0');
    await a.power(reference, 'poweredOff');
    await cluster.setReady(['a-0'], 'Unknown');
    const ms = await cluster.until('a-0 has the taint', () => isShutDown(cluster, 'a-0'));
    t.diagnostic(`tainted after ${ms.toFixed(0)} ms`);
    // Within 5 s, where nothing else wants the processors.
    assert.ok(ms <= 20_000, `${ms} ms`);
    await a.power(reference, 'poweredOn');
    await cluster.setReady(['a-0'], 'True');
    await cluster.until('a-0 has no taint', async () => !(await isShutDown(cluster, 'a-0')));
  });

  let faultMs = SHORTEST_FAULT_MS;

  await t.test('nodes of machines that were destroyed go', async (t) => {
    for (const name of ['a-1', 'b-1']) {
      const { reference, vcenter } = await cluster.machine(name);
      await vcenter.destroy(reference);
    }
    await cluster.setReady(['a-1', 'b-1'], 'Unknown');
    const ms = await cluster.gone('a-1', 'b-1');
    faultMs = Math.max(SHORTEST_FAULT_MS, FAULT_IN_DELETIONS * ms);
    t.diagnostic(`gone after ${ms.toFixed(0)} ms; a fault lasts ${faultMs.toFixed(0)} ms`);
    assert.deepEqual(await cluster.wronglyDeleted(), []);
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

  await t.test('labels stay when a machine moves to another zone, and when tags change; it is told', async () => {
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
    await cluster.setReady(['b-5'], 'Unknown');
    const [stays = '', goes = ''] = before[0] === 'a-dc0-c0' ? ['a-dc0-c0', 'a-dc0-c1'] : ['a-dc0-c1', 'a-dc0-c0'];
    await cluster.until('an Event says that a-5 is in another zone', async () =>
      (await cluster.warnings('a-5', 'LabelsDiffer')).some((note) =>
        note.includes(`topology.kubernetes.io/zone is ${stays}, in the cloud ${goes}`),
      ),
    );
    await cluster.until('a metric says so', async () => {
      const [line] = await cluster.metrics(
        'outrigger_node_label_differences_total{label="topology.kubernetes.io/zone"}',
      );
      return Number(line?.split(' ')[1] ?? 0) >= 1;
    });
    await cluster.setReady(['b-5'], 'True');
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

  // One of them is another machine by now, and one is on another host.
  const placed = await cluster.machines();
  const of = (vcenter: LabVcenter, count: number): readonly PlacedMachine[] =>
    placed.filter((machine) => machine.vcenter === vcenter && cluster.alive.has(machine.name)).slice(20, 20 + count);
  const ten = of(a, 10);
  const [{ host } = assert.fail('no machines')] = ten;
  const onHost = placed.filter(
    (machine) => machine.vcenter === a && machine.host === host && cluster.alive.has(machine.name),
  );
  const all = <T>(items: readonly T[], act: (item: T) => Promise<unknown>): Promise<unknown> =>
    Promise.all(items.map((item) => act(item)));
  const setSilent = (some: readonly PlacedMachine[], status: 'True' | 'Unknown'): Promise<void> =>
    cluster.setReady(
      some.map(({ name }) => name),
      status,
    );

  /** What is asked amid a fault: for its time, and until it was asked often enough that what was not deleted shows something, and for what shows the fault. */
  const callsAmid = async (vcenter: LabVcenter, shownBy?: string): Promise<readonly LabCall[]> => {
    await cluster.callsOf(vcenter);
    await systemClock.sleep(faultMs);
    const calls: LabCall[] = [];
    await cluster.until(
      `it asks ${vcenter.name} what became of nodes, and for ${shownBy ?? 'nothing else'}`,
      async () => {
        calls.push(...(await cluster.callsOf(vcenter)));
        const probes = calls.filter(({ method }) => PROBES.has(method)).length;
        return probes >= 2 && (shownBy === undefined || calls.some(({ method }) => method === shownBy));
      },
    );
    return calls;
  };

  // Each of these is a fault of some machines, of others than the next.
  await t.test(
    'a machine of another name; a host disconnected; machines inaccessible, orphaned, invalid, withheld from the account',
    async (t) => {
      const rest = of(a, 100).filter(({ host: at }) => at !== host);
      const [inaccessible, orphaned, invalid, withheld] = [0, 1, 2, 3].map((at) => rest.slice(8 * at, 8 * at + 8));
      const states = { inaccessible, orphaned, invalid };
      const [renamed] = rest.slice(32);
      assert.ok(renamed && withheld?.length === 8);
      await a.rename(renamed.reference, 'renamed');
      await a.setHost(host, 'notResponding');
      for (const [state, some = []] of Object.entries(states) as ['inaccessible', readonly PlacedMachine[]][])
        await all(some, ({ reference }) => a.setConnection(reference, state));
      await a.hide(withheld.map(({ reference }) => reference));
      const silent = [renamed, ...onHost, ...Object.values(states).flatMap((some = []) => some), ...withheld];
      await setSilent(silent, 'Unknown');
      const probes = (await callsAmid(a)).filter(({ method }) => PROBES.has(method)).length;
      t.diagnostic(`${silent.length} nodes are silent; the program asked ${probes} times what became of them`);
      assert.deepEqual(await cluster.wronglyDeleted(), []);
      await a.setHost(host, 'connected');
      await all(silent, ({ reference }) => a.setConnection(reference, 'connected'));
      await a.hide([]);
      await setSilent(silent, 'True');
    },
  );

  // These are faults of a whole vCenter: no node of the cluster can go meanwhile, and that it was asked shows that one might have.
  const faults: readonly {
    readonly name: string;
    /** Their kubelets fall silent. */
    readonly of: readonly PlacedMachine[];
    readonly begin: () => Promise<unknown>;
    readonly end: () => Promise<unknown>;
    /** Which is asked meanwhile. */
    readonly asked: LabVcenter;
    /** What it is asked for as there is this fault, and not without. */
    readonly shownBy?: string;
  }[] = [
    {
      name: 'sessions end in the middle of each list',
      of: ten,
      begin: () => a.setRules(ENDING_SESSIONS),
      // Another session was needed.
      shownBy: 'Login',
      end: () => a.setRules([]),
      asked: a,
    },
    {
      name: 'one vCenter is down',
      of: of(a, 100),
      begin: () => a.setDown(true),
      end: () => a.setDown(false),
      // What is asked of one that is down nobody counts.
      asked: b,
    },
    {
      name: 'every search fails, by the rules of the simulator',
      of: of(b, 10),
      begin: () => b.addFault({ method: '*', type: 'SearchIndex', fault: 'NoPermission' }),
      end: () => b.setRules([]),
      asked: b,
    },
    {
      name: 'half of all calls fail, by the rules of the simulator',
      of: of(b, 10),
      begin: () => b.addFault({ method: '*', fault: 'Network', probability: 0.5 }),
      end: () => b.setRules([]),
      asked: b,
    },
    {
      name: 'what has gone is said of machines that are there',
      of: of(b, 10),
      begin: () => b.setRules([{ method: 'FindAllByUuid', status: 404 }]),
      end: () => b.setRules([]),
      asked: b,
    },
  ];
  for (const { asked, begin, end, name, of, shownBy } of faults) {
    await t.test(name, async (t) => {
      await begin();
      await setSilent(of, 'Unknown');
      const calls = await callsAmid(asked, shownBy);
      assert.deepEqual(await cluster.wronglyDeleted(), []);
      const probes = calls.filter(({ method }) => PROBES.has(method)).length;
      t.diagnostic(`${of.length} nodes are silent; the program asked ${probes} times what became of them`);
      const shown = calls.filter(({ method }) => method === shownBy).length;
      if (shownBy !== undefined) t.diagnostic(`${shown} ${shownBy}`);
      await end();
      await setSilent(of, 'True');
    });
  }

  await t.test('all of it at once, amid kills of the program', async () => {
    const silent = [...onHost, ...of(b, 40)].map(({ name }) => name);
    const [lost = assert.fail('no machines'), dead = assert.fail('no machines')] = of(b, 42).slice(40);
    await a.setHost(host, 'notResponding');
    await all(ten.slice(0, 5), ({ reference }) => a.setConnection(reference, 'inaccessible'));
    await a.hide(ten.slice(5).map(({ reference }) => reference));
    await b.setRules(ENDING_SESSIONS);
    await b.destroy(dead.reference);
    await cluster.setReady([...silent, dead.name], 'Unknown');
    for (let round = 0; round < 3; round++) {
      await manager.end('SIGKILL');
      manager.start();
      await systemClock.sleep(faultMs);
    }
    await a.setDown(true);
    await manager.end('SIGKILL');
    await b.destroy(lost.reference);
    await all(cluster.vcenters, (vcenter) => cluster.callsOf(vcenter));
    manager.start();
    await cluster.setReady([lost.name], 'Unknown');
    await systemClock.sleep(faultMs);
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

  await t.test('it logs out of every session when it ends', async (t) => {
    const open = (): Promise<readonly { readonly soap: number; readonly rest: number }[]> =>
      Promise.all(cluster.vcenters.map((vcenter) => vcenter.sessions()));
    // Of the last program alone.
    const calls: (readonly LabCall[])[] = cluster.vcenters.map(() => []);
    const ofRest = async (method: 'POST' | 'DELETE'): Promise<readonly number[]> => {
      for (const [index, vcenter] of cluster.vcenters.entries())
        calls[index] = [...(calls[index] ?? []), ...(await cluster.callsOf(vcenter))];
      return calls.map((some) => some.filter((one) => one.method === `${method} ${REST_SESSION}`).length);
    };
    // It asks for tags when it reads a node's zone: up to 20 s after its start, or later, when tests end sooner.
    await cluster.until('the last program has logged in to REST', async () => Math.max(...(await ofRest('POST'))) > 0);
    const before = await open();
    assert.equal(await manager.end('SIGTERM'), 0);
    const logins = await ofRest('POST');
    t.diagnostic(`open before: ${JSON.stringify(before)}; logins to REST: ${logins.join(', ')}`);
    const after = await open();
    // Those of processes that were killed are open until vCenter ends them; the last one has perhaps asked one vCenter for no tags.
    assert.deepEqual(
      after.map(({ soap }) => soap),
      before.map(({ soap }) => soap - 1),
    );
    assert.ok(
      after.every(({ rest }, index) => rest <= Math.min(5, before[index]?.rest ?? 0)),
      JSON.stringify([before, after]),
    );
    assert.deepEqual(
      await ofRest('DELETE'),
      logins.map((count) => Math.min(count, 1)),
    );
  });

  await t.test('it has asked for nothing but what the page of privileges names', async () => {
    const page = await readFile(new URL('../../providers/vsphere/docs/privileges.md', import.meta.url), 'utf8');
    const named = new Set([...page.matchAll(/`([^`]+)`/gu)].map(([, name]) => name));
    for (const vcenter of cluster.vcenters) await cluster.callsOf(vcenter);
    assert.deepEqual(
      [...cluster.methods].filter((method) => !named.has(method)),
      [],
    );
    assert.ok(cluster.methods.has('FindAllByUuid') && cluster.methods.has('Logout'), [...cluster.methods].join());
  });
});
