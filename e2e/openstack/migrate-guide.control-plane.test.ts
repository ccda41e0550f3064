import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { resources, silentLogger, systemClock, type Resource } from '@outrigger/kube';
import { clientOf, controlPlaneOrSkip, hollowNode } from '@outrigger/testing';
import { connectionOf } from '../../providers/openstack/src/client/connection.ts';
import { OpenStackClient } from '../../providers/openstack/src/client/openstack-client.ts';
import { readCloudConfig } from '../../providers/openstack/src/config/read-cloud-config.ts';
import { fakeCloudConf, NOWHERE } from '../../providers/openstack/fake/fake-cloud-conf.ts';
import { createFakeOpenStack } from '../../providers/openstack/fake/fake-openstack.ts';
import { inProcessFetch } from '../../providers/openstack/fake/in-process-fetch.ts';
import { seededRandom } from '../../providers/openstack/fake/seeded-random.ts';
import { seedProject } from '../../providers/openstack/fake/seed-project.ts';
import { serveFakeOpenStack } from '../../providers/openstack/fake/serve-fake-openstack.ts';
import { callContext } from '../../providers/openstack/src/load-balancer/rig.suite.ts';
import { ELECTION, LEASE_MS, toFlags } from '../hand-over.ts';
import { Manager } from '../manager.ts';
import { runGuide } from '../run-guide.ts';
import { ScriptedCpo } from './scripted-cpo.ts';

const GUIDE = new URL('../../providers/openstack/docs/migrate-from-cpo.md', import.meta.url);

const daemonSets: Resource<DaemonSet> = {
  group: 'apps',
  version: 'v1',
  plural: 'daemonsets',
  kind: 'DaemonSet',
  namespaced: true,
};

interface DaemonSet {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace: string };
  readonly spec: object;
}

/** As in CPO's own manifest, as far as the page looks at it. Nothing runs it here. */
const cpoDaemonSet: DaemonSet = {
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: { name: 'openstack-cloud-controller-manager', namespace: 'kube-system' },
  spec: {
    selector: { matchLabels: { 'k8s-app': 'openstack-cloud-controller-manager' } },
    template: {
      metadata: { labels: { 'k8s-app': 'openstack-cloud-controller-manager' } },
      spec: {
        nodeSelector: { 'node-role.kubernetes.io/control-plane': '' },
        containers: [
          {
            name: 'openstack-cloud-controller-manager',
            image: 'registry.k8s.io/provider-os/openstack-cloud-controller-manager:v1.36.0',
            args: [
              '/bin/openstack-cloud-controller-manager',
              '--cluster-name=kubernetes',
              '--cloud-config=/etc/config/cloud.conf',
              '--cloud-provider=openstack',
              '--use-service-account-credentials=false',
            ],
          },
        ],
      },
    },
  },
};

const PATIENCE_MS = 240_000;

async function untilLogged(log: string, words: string): Promise<void> {
  const deadline = systemClock.monotonic() + PATIENCE_MS;
  for (;;) {
    const text = await readFile(log, 'utf8');
    if (text.includes(words)) return;
    if (systemClock.monotonic() > deadline) assert.fail(`the log never says ${words}:\n${text.slice(-4_000)}`);
    await systemClock.sleep(100);
  }
}

test('the guide from cloud-provider-openstack does what it says, step by step, there and back', async (t) => {
  const directory = await mkdtemp(path.join(tmpdir(), 'outrigger-from-cpo-'));
  t.after(() => rm(directory, { recursive: true }));
  const controlPlane = await controlPlaneOrSkip(t, { kubectl: true });
  if (!controlPlane) return;
  await using client = await clientOf(controlPlane.kubeconfig.path);
  const cloud = createFakeOpenStack({ clock: systemClock, random: seededRandom(1) });
  const seeded = seedProject(cloud);
  await using served = await serveFakeOpenStack(cloud);
  const more = `[LoadBalancer]\nfloating-network-id = ${seeded.publicNetwork.id}\nsubnet-id = ${seeded.subnet.id}\nmanage-security-groups = true`;
  await writeFile(path.join(directory, 'cloud.conf'), fakeCloudConf({ authUrl: served.authUrl, more }));

  // The cluster as CPO keeps it.
  const { server, port } = seeded.addNode({ name: 'worker-1' });
  const addresses = port.fixed_ips.map(({ ip_address: address }) => ({ type: 'InternalIP' as const, address }));
  const providerID = `openstack:///${server.id}`;
  const node = hollowNode({ name: 'worker-1', images: 0 });
  const ready = { type: 'Ready', status: 'True', reason: 'KubeletReady' } as const;
  const created = { ...node, spec: { providerID }, status: { ...node.status, addresses, conditions: [ready] } };
  const { metadata } = await client.of(resources.nodes).create(created);
  await client.of(daemonSets).create(cpoDaemonSet);
  await client.of(resources.services).create({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'web', namespace: 'default' },
    spec: { type: 'LoadBalancer', selector: { app: 'web' }, ports: [{ port: 80, protocol: 'TCP', targetPort: 8080 }] },
  });
  const backEnd = { name: 'worker-1', uid: metadata?.uid ?? '', providerID, labels: {}, annotations: {} };
  const config = await readCloudConfig({ fileName: 'cloud.conf', text: fakeCloudConf() }, NOWHERE, () => {});
  const world = {
    client: new OpenStackClient({
      connection: await connectionOf(config, 'cloud.conf', {}),
      host: { clock: systemClock, logger: silentLogger, redact: () => {}, callContext: () => callContext() },
      userAgent: 'cpo',
      fetch: inProcessFetch(cloud),
    }),
    seeded,
    backEnds: [{ node: backEnd, addresses: addresses.slice(0, 1) }],
  };
  await using cpo = new ScriptedCpo(client, world);
  cpo.start(LEASE_MS);
  await cpo.serving();
  const ids = (): readonly string[] => [
    ...[...cloud.octavia.store.loadBalancers.keys()].map((id) => `load balancer ${id}`),
    ...[...cloud.octavia.store.listeners.keys()].map((id) => `listener ${id}`),
    ...[...cloud.octavia.store.pools.keys()].map((id) => `pool ${id}`),
    ...[...cloud.octavia.store.members.keys()].map((id) => `member ${id}`),
  ];
  const made = ids();
  assert.ok(made.length >= 4);

  const log = path.join(directory, 'managers.log');
  await writeFile(log, '');
  const common = [...toFlags(ELECTION), `--kubeconfig=${controlPlane.kubeconfig.path}`, '--secure-port=0', '-v=4'];
  await using owned = new AsyncDisposableStack();
  let outrigger: Manager | undefined;
  const act = async (action: string, who: string, flags: readonly string[]): Promise<void> => {
    switch (`${action} ${who}`) {
      case 'start old':
        cpo.start(LEASE_MS);
        return;
      case 'stop old':
        await cpo.stop();
        return;
      case 'start outrigger':
        outrigger = owned.use(new Manager([...common, ...flags], log));
        outrigger.start();
        // Whoever reads the page has seen its pods run before they go on.
        await untilLogged(log, '"Started"');
        return;
      case 'stop outrigger':
        assert.equal(await outrigger?.end('SIGTERM'), 0, (await readFile(log, 'utf8')).slice(-4_000));
        return;
      default:
        assert.fail(`the page says: ${action} ${who}`);
    }
  };
  const { commands } = await runGuide({
    page: GUIDE,
    controlPlane,
    directory,
    act,
    log: () => readFile(log, 'utf8'),
  });
  assert.ok(commands > 10, `the page has ${commands} commands only`);
  await cpo.serving();
  assert.deepEqual(ids(), made, 'nothing was made, and nothing deleted');
  assert.deepEqual(await cpo.wouldChange(), [], 'CPO takes it back as it is');
});
