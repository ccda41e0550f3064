import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { resources, systemClock } from '@outrigger/kube';
import { createMemoryCloud, serveMemoryCloud } from '@outrigger/provider-memory';
import { clientOf, controlPlaneOrSkip, hollowNode, ProcessGroup, type Program } from '@outrigger/testing';
import { buildUpstream, UPSTREAM } from '../bench/build-upstream.ts';
import { builtOrSkip } from './built-or-skip.ts';
import { ELECTION, toFlags } from './hand-over.ts';
import { Manager } from './manager.ts';
import { runGuide } from './run-guide.ts';
import { waitUntil } from './wait-until.ts';

const GUIDE = new URL('../docs/guides/migrate/README.md', import.meta.url);
const PATIENCE_MS = 180_000;

test('the migration guide does what it says, step by step, there and back', async (t) => {
  if ((await builtOrSkip(t, 'the manager of upstream', buildUpstream)) === undefined) return;
  const directory = await mkdtemp(path.join(tmpdir(), 'outrigger-guide-'));
  t.after(() => rm(directory, { recursive: true }));
  const controlPlane = await controlPlaneOrSkip(t, { kubectl: true });
  if (!controlPlane) return;
  await using client = await clientOf(controlPlane.kubeconfig.path);
  const cloud = createMemoryCloud({ clock: systemClock, random: () => 0.5, region: 'north-1' });
  await using served = await serveMemoryCloud(cloud);
  await writeFile(path.join(directory, 'cloud.json'), JSON.stringify({ endpoint: served.endpoint }));

  // What every manager of this cluster has, and what the one that is there has besides.
  const { path: kubeconfig } = controlPlane.kubeconfig;
  const common = [...toFlags(ELECTION), `--kubeconfig=${kubeconfig}`, '--secure-port=0', '-v=4'];
  const cloudFlags = ['--cloud-provider=memory', `--cloud-config=${directory}/cloud.json`];
  const own = [...cloudFlags, '--cluster-cidr=10.64.0.0/10', '--allocate-node-cidrs=true'];
  await using group = new ProcessGroup();
  await using owned = new AsyncDisposableStack();
  let old: Program | undefined;
  let outrigger: Manager | undefined;
  const log = path.join(directory, 'managers.log');
  const startOld = async (flags: readonly string[]): Promise<void> => {
    old = await group.start({ name: 'old', command: UPSTREAM, args: [...common, ...own, ...flags], log });
  };
  const stopOld = async (): Promise<void> => {
    old?.signal('SIGTERM');
    await old?.exited();
  };
  const holder = async (): Promise<string> => {
    const leases = client.of(resources.leases);
    const name = 'cloud-controller-manager';
    const { spec } = await leases.get({ namespace: 'kube-system', name });
    return spec?.holderIdentity ?? '';
  };
  const until = (what: string, holds: () => Promise<boolean>): Promise<number> =>
    waitUntil(what, () => holds().catch(() => false), { patienceMs: PATIENCE_MS, pollMs: 100, logs: [log] });
  const act = async (action: string, who: string, flags: readonly string[]): Promise<void> => {
    switch (`${action} ${who}`) {
      case 'start old':
        await startOld(flags);
        return;
      case 'stop old':
        await stopOld();
        return;
      case 'restart old': {
        const before = await holder();
        await stopOld();
        await startOld(flags);
        await until('the other manager leads again', async () => !['', before].includes(await holder()));
        return;
      }
      case 'start outrigger':
        outrigger = owned.use(new Manager([...common, ...flags], log));
        outrigger.start();
        return;
      case 'stop outrigger':
        assert.equal(await outrigger?.end('SIGTERM'), 0);
        return;
      default:
        assert.fail(`the page says: ${action} ${who}`);
    }
  };
  // The cluster as it is before anybody migrates.
  cloud.createInstance({ name: 'worker-1' });
  await client.of(resources.nodes).create({
    ...hollowNode({ name: 'worker-1', images: 0 }),
    spec: {
      taints: [{ key: 'node.cloudprovider.kubernetes.io/uninitialized', value: 'true', effect: 'NoSchedule' }],
      podCIDR: '10.64.1.0/24',
      podCIDRs: ['10.64.1.0/24'],
    },
  });
  await startOld([]);
  await until('the manager that is there initialises the node', async () => {
    const node = await client.of(resources.nodes).get({ name: 'worker-1' });
    return node.spec?.providerID !== undefined && cloud.routes().length === 1;
  });
  // The Service comes when the node has its provider ID: one that comes with it lets upstream's ensure and its update
  // of the back ends run side by side, and the older list of nodes may be the one that stays.
  await client.of(resources.services).create({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'web', namespace: 'default' },
    spec: { type: 'LoadBalancer', selector: { app: 'web' }, ports: [{ port: 80, protocol: 'TCP', targetPort: 8080 }] },
  });
  await until('the manager that is there serves the Service', async () => {
    const web = await client.of(resources.services).get({ namespace: 'default', name: 'web' });
    const backEnds = cloud.parts().flatMap(({ attributes }) => attributes['backEnds'] ?? []);
    return (web.status?.loadBalancer?.ingress?.length ?? 0) > 0 && backEnds.length === 1 && backEnds[0] !== '';
  });
  const made = JSON.stringify([cloud.routes(), cloud.parts()]);

  const logs = (): Promise<string> => readFile(log, 'utf8');
  const { commands, print } = await runGuide({ page: GUIDE, controlPlane, directory, act, log: logs });
  assert.ok(commands > 10, `the page has ${commands} commands only`);
  // Whoever came last has had the time to spoil something.
  await systemClock.sleep(2_000);
  assert.equal(await print('sh look.sh | diff before - && echo same'), 'same\n');
  assert.equal(JSON.stringify([cloud.routes(), cloud.parts()]), made, 'nothing in the cloud was changed');
  await stopOld();
});
