import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { resources } from '@outrigger/kube';
import { clientOf, controlPlaneOrSkip, DEFAULT_KUBERNETES, hollowNode, parseKubernetesMinor } from '@outrigger/testing';
import { ELECTION, HandOver, LEASE_MS, MIGRATION, migrationConfig, SLOW_MANAGER_MS, toFlags } from './hand-over.ts';
import { Manager } from './manager.ts';

const CLUSTER_CIDR = '10.64.0.0/12';
const OUTRIGGER = 'outrigger';
const KUBE = 'system:kube-controller-manager';
/** As kube-controller-manager is known in its node IPAM controller. */
const KUBE_IPAM = 'system:serviceaccount:kube-system:node-controller';

/**
 * How kube-controller-manager takes part. That of 1.36 and 1.37 ends with "informer name is already registered" as soon as it has both
 * locks (`CreateControllerContext` is called once for each): there, one that runs nothing else has the lock of the migration
 * as its own.
 */
const IS_BROKEN = ['1.36', '1.37'].includes(parseKubernetesMinor(process.env['KUBERNETES'] || DEFAULT_KUBERNETES));

test('node IPAM goes from kube-controller-manager to Outrigger and back: never two at work, and nobody for a moment only', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'outrigger-migration-'));
  t.after(() => rm(directory, { recursive: true }));
  const config = join(directory, 'migration.yaml');
  await writeFile(config, migrationConfig('node-ipam-controller'));
  const leaderMigration = { 'enable-leader-migration': 'true', 'leader-migration-config': config };
  const controlPlane = await controlPlaneOrSkip(t, {
    kubeControllerManager: true,
    flags: {
      'kube-controller-manager': {
        ...ELECTION,
        'allocate-node-cidrs': 'true',
        'cluster-cidr': CLUSTER_CIDR,
        controllers: 'serviceaccount-controller,serviceaccount-token-controller,node-ipam-controller',
        ...(IS_BROKEN ? { 'leader-elect-resource-name': MIGRATION } : leaderMigration),
      },
    },
  });
  if (!controlPlane) return;
  await using client = await clientOf(controlPlane.kubeconfig.path);
  const nodes = client.of(resources.nodes);
  const { path: kubeconfig } = await controlPlane.kubeconfigFor({ user: OUTRIGGER, groups: ['system:masters'] });
  const log = join(directory, 'outrigger.log');
  await using outrigger = new Manager(
    [
      '--cloud-provider=memory',
      `--kubeconfig=${kubeconfig}`,
      '--secure-port=0',
      ...toFlags(ELECTION),
      '--controllers=node-ipam-controller',
      '--allocate-node-cidrs',
      `--cluster-cidr=${CLUSTER_CIDR}`,
      ...toFlags(leaderMigration),
      '-v=4',
    ],
    log,
  );
  const settled = async (): Promise<ReadonlyMap<string, string>> => {
    const withRange = (await nodes.list()).items.filter(({ spec }) => spec?.podCIDR !== undefined);
    return new Map(
      withRange.map(({ metadata, spec }) => [metadata?.name ?? '', `${metadata?.resourceVersion} ${spec?.podCIDR}`]),
    );
  };
  const handOver = new HandOver({
    controlPlane,
    deeds: {
      'node-ipam-controller': ({ objectRef, verb }) =>
        verb === 'patch' && objectRef?.resource === 'nodes' && objectRef.subresource === undefined,
    },
    settled,
    log,
  });
  {
    await using _probe = handOver.probe((index) => nodes.create(hollowNode({ name: `probe-${index}`, images: 0 })));
    await handOver.works(KUBE_IPAM);
    await handOver.stand(OUTRIGGER, () => outrigger.start());
    await handOver.handOver(OUTRIGGER, LEASE_MS + SLOW_MANAGER_MS, () => controlPlane.endControllerManager('SIGKILL'));

    await handOver.stand(KUBE, () => controlPlane.startControllerManager());
    await handOver.handOver(KUBE_IPAM, SLOW_MANAGER_MS + 4_000, async () =>
      assert.equal(await outrigger.end('SIGTERM'), 0),
    );

    await handOver.stand(OUTRIGGER, () => outrigger.start());
    await handOver.handOver(OUTRIGGER, LEASE_MS + SLOW_MANAGER_MS, () => controlPlane.endControllerManager('SIGTERM'));

    await handOver.stand(KUBE, () => controlPlane.startControllerManager());
    await handOver.handOver(KUBE_IPAM, LEASE_MS + SLOW_MANAGER_MS + 4_000, () => outrigger.end('SIGKILL'));
  }
  await handOver.check(KUBE_IPAM, (line) => t.diagnostic(line));
  const given = [...(await settled()).values()].map((look) => look.split(' ')[1]);
  assert.equal(new Set(given).size, given.length, 'no two nodes have one range');

  if (!IS_BROKEN) return;
  // Once this fails, the release is mended: `IS_BROKEN` can go, and what the migration guide says of it.
  await controlPlane.endControllerManager('SIGTERM');
  await controlPlane.startControllerManager({ 'leader-elect-resource-name': undefined, ...leaderMigration });
  const kubeLog = join(controlPlane.directory, 'logs', 'kube-controller-manager.log');
  await handOver.until('kube-controller-manager ends once it has both locks', async () =>
    /informer name \S+ is already registered/u.test(await readFile(kubeLog, 'utf8')),
  );
});
