import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { resources, systemClock, type Service } from '@outrigger/kube';
import { createMemoryCloud, serveMemoryCloud, type MemoryPart } from '@outrigger/provider-memory';
import { clientOf, controlPlaneOrSkip, hollowNode, startFaultProxy, type AuditEntry } from '@outrigger/testing';
import { HandOver, migrationConfig, SLOW_MANAGER_MS, toFlags } from './hand-over.ts';
import { Manager } from './manager.ts';
import { addressOf } from './served-services.ts';

const CONTROLLERS = ['node-ipam-controller', 'service-lb-controller'];
const [FORMER, NEXT] = ['outrigger-former', 'outrigger-next'];
/** Long enough that nobody but the frozen one loses a lock, also where the machine has other things to do. */
const LEASE_MS = 12_000;
const ELECTION = {
  'leader-elect-lease-duration': `${LEASE_MS}ms`,
  'leader-elect-renew-deadline': '9s',
  'leader-elect-retry-period': '500ms',
};
/** Parts of which a load balancer of the memory cloud consists. */
const WHOLE = 4;
const BURST = 100;
/** Of each request to the cloud: ten Services at a time are half made for long enough to be seen. */
const LATENCY_MS = 50;
/** While it is frozen amid them: nothing else is left for it to do, and they are over before another one may begin. */
const LONG_LATENCY_MS = 4_000;
/**
 * SIGSTOP may come between a request's last question (does this process lead?) and its first byte, which then follows after
 * SIGCONT. One that asks for nothing for so long, in milliseconds, only waits for answers.
 */
const QUIET_MS = 200;

test('a manager that is frozen amid its work in a leader migration is replaced in time, and once it is thawed begins nothing more', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'outrigger-migration-'));
  t.after(() => rm(directory, { recursive: true }));
  const controlPlane = await controlPlaneOrSkip(t);
  if (!controlPlane) return;
  await using client = await clientOf(controlPlane.kubeconfig.path);
  const [nodes, services] = [client.of(resources.nodes), client.of(resources.services)];
  const cloud = createMemoryCloud({ clock: systemClock, random: () => 0.5 });
  cloud.configure({ latencyMs: LATENCY_MS });
  await using served = await serveMemoryCloud(cloud);
  // What the former one asks the cloud is counted apart.
  await using formerCloud = await startFaultProxy({ target: served.endpoint });

  const config = join(directory, 'migration.yaml');
  await writeFile(config, migrationConfig(...CONTROLLERS));
  const managerOf = async (user: string, endpoint: string): Promise<{ manager: Manager; log: string }> => {
    const { path: kubeconfig } = await controlPlane.kubeconfigFor({ user, groups: ['system:masters'] });
    const cloudConfig = join(directory, `${user}.json`);
    await writeFile(cloudConfig, JSON.stringify({ endpoint }));
    const log = join(directory, `${user}.log`);
    const flags = [
      ...toFlags(ELECTION),
      // Two managers that know nothing of each other but the lock of the migration.
      `--leader-elect-resource-name=${user}`,
      '--enable-leader-migration',
      `--leader-migration-config=${config}`,
      `--controllers=${CONTROLLERS.join(',')}`,
      '--allocate-node-cidrs',
      '--cluster-cidr=10.64.0.0/12',
      '--cloud-provider=memory',
      `--cloud-config=${cloudConfig}`,
      `--kubeconfig=${kubeconfig}`,
      '--secure-port=0',
      '-v=4',
    ];
    return { manager: new Manager(flags, log), log };
  };
  const { manager: former, log: formerLog } = await managerOf(FORMER, formerCloud.url);
  await using _former = former;
  const { manager: next, log } = await managerOf(NEXT, served.endpoint);
  await using _next = next;

  const add = async (name: string): Promise<void> => {
    await Promise.all([
      // Not known to the cloud, and so nobody's back end: no Service changes because of it.
      nodes.create(hollowNode({ name, images: 0 })),
      services.create({
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name, namespace: 'default' },
        spec: { type: 'LoadBalancer', selector: { app: name }, ports: [{ port: 80, protocol: 'TCP' }] },
      }),
    ]);
  };
  const partsOf = ({ metadata }: Service): readonly MemoryPart[] =>
    cloud.parts().filter(({ tags }) => tags['uid'] === metadata?.uid);
  const settled = async (): Promise<ReadonlyMap<string, string>> => {
    const looks = new Map<string, string>();
    for (const { metadata, spec } of (await nodes.list()).items) {
      if (spec?.podCIDR) looks.set(`node ${metadata?.name}`, `${metadata?.resourceVersion} ${spec.podCIDR}`);
    }
    for (const service of (await services.list()).items) {
      if (addressOf(service) === undefined) continue;
      const { metadata } = service;
      looks.set(`service ${metadata?.name}`, `${metadata?.resourceVersion} ${JSON.stringify(partsOf(service))}`);
    }
    return looks;
  };
  const handOver = new HandOver({
    controlPlane,
    deeds: {
      'node-ipam-controller': ({ objectRef, verb }) =>
        verb === 'patch' && objectRef?.resource === 'nodes' && objectRef.subresource === undefined,
      'service-lb-controller': ({ objectRef, verb }) =>
        (verb === 'patch' || verb === 'update') && objectRef?.resource === 'services',
    },
    settled,
    log,
  });
  /** Load balancers that are half made. */
  const halfMade = (): number => {
    const counts = new Map<string, number>();
    for (const { tags } of cloud.parts()) counts.set(tags['uid'] ?? '', (counts.get(tags['uid'] ?? '') ?? 0) + 1);
    return [...counts.values()].filter((count) => count < WHOLE).length;
  };
  const isAsked = ({ objectRef, user }: AuditEntry): boolean =>
    user.username === FORMER && objectRef?.resource !== 'leases';
  const isQuiet = async (): Promise<void> => {
    const begin = await controlPlane.auditLog.mark();
    const askedSoFar = async (): Promise<number> => {
      const { asked = 0 } = await controlPlane.auditLog.count((entry) => (isAsked(entry) ? 'asked' : undefined), begin);
      return asked + formerCloud.calls.calls.length;
    };
    let [before, now] = [-1, await askedSoFar()];
    while (now !== before) {
      await systemClock.sleep(QUIET_MS);
      [before, now] = [now, await askedSoFar()];
    }
  };
  let asked: readonly string[];
  let askedTheCloud: number;
  {
    await using _probe = handOver.probe((index) => add(`probe-${index}`));
    former.start();
    await handOver.works(FORMER);
    await handOver.until('it is at work in the cloud', () => Promise.resolve(formerCloud.calls.calls.length > 0));
    await handOver.stand(NEXT, () => next.start());
    await handOver.handOver(NEXT, LEASE_MS + SLOW_MANAGER_MS, async () => {
      await Promise.all(Array.from({ length: BURST }, (_, index) => add(`burst-${index}`)));
      while (halfMade() < 3) await systemClock.sleep(5);
      cloud.configure({ latencyMs: LONG_LATENCY_MS });
      await isQuiet();
      assert.ok(former.running, 'it has lost a lock before it was frozen: this machine is too busy for a lease');
      former.signal('SIGSTOP');
      handOver.endsNow();
      assert.ok(halfMade() >= 3, 'frozen amid its work');
      cloud.configure({ latencyMs: LATENCY_MS });
    });

    const thawedAt = { now: systemClock.now(), monotonic: systemClock.monotonic() };
    former.signal('SIGCONT');
    await handOver.until('the one that was frozen ends', () => Promise.resolve(!former.running));
    assert.equal(await former.ended, 1, (await readFile(formerLog, 'utf8')).slice(-4_000));
    // A renewal of its locks says nothing: the other's is refused, and its own nobody else wants.
    const entries = await controlPlane.auditLog.requests(
      (entry) => isAsked(entry) && Date.parse(entry.requestReceivedTimestamp) > thawedAt.now,
    );
    asked = entries.map(({ requestURI, verb }) => `${verb} ${requestURI}`);
    askedTheCloud = formerCloud.calls.calls.filter(({ startedAt }) => startedAt > thawedAt.monotonic).length;
  }
  assert.deepEqual(asked, [], 'asked of the API server once it was thawed');
  assert.equal(askedTheCloud, 0, 'asked of the cloud once it was thawed');
  assert.match(await readFile(formerLog, 'utf8'), /Leadership lost/u);
  await handOver.check(FORMER, (line) => t.diagnostic(line));

  // Not as long as more is added: a slow machine would never be done.
  await handOver.until('all that was begun is finished', async () => {
    const { items } = await services.list();
    return items.every((service) => partsOf(service).length === 0 || addressOf(service) !== undefined);
  });
  const podCidrs = (await nodes.list()).items.flatMap(({ spec }) => spec?.podCIDR ?? []);
  assert.equal(new Set(podCidrs).size, podCidrs.length, 'no two nodes have one range');
  for (const service of (await services.list()).items) {
    const kinds = partsOf(service).map(({ kind }) => kind);
    assert.equal(new Set(kinds).size, kinds.length, `${service.metadata?.name} has ${kinds.join()}`);
  }
});
