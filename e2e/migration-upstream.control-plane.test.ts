import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { resources, systemClock } from '@outrigger/kube';
import { createMemoryCloud, serveMemoryCloud } from '@outrigger/provider-memory';
import { clientOf, controlPlaneOrSkip, hollowNode, ProcessGroup, type Program } from '@outrigger/testing';
import { buildUpstream, UPSTREAM } from '../bench/build-upstream.ts';
import { builtOrSkip } from './built-or-skip.ts';
import { ELECTION, HandOver, LEASE_MS, migrationConfig, SLOW_MANAGER_MS, toFlags } from './hand-over.ts';
import { Manager } from './manager.ts';

const CONTROLLERS = ['service-lb-controller', 'node-route-controller', 'cloud-node-lifecycle-controller'];
const OUTRIGGER = 'outrigger';
const UPSTREAM_USER = 'upstream';
const PROBE = 'probe-';
const SHUTDOWN_TAINT = 'node.cloudprovider.kubernetes.io/shutdown';
const NOT_A_BACK_END = 'node.kubernetes.io/exclude-from-external-load-balancers';

test("Services, routes and node lifecycle go from a manager on upstream's framework to Outrigger and back", async (t) => {
  if ((await builtOrSkip(t, 'the manager of upstream', buildUpstream)) === undefined) return;
  const directory = await mkdtemp(join(tmpdir(), 'outrigger-migration-'));
  t.after(() => rm(directory, { recursive: true }));
  const controlPlane = await controlPlaneOrSkip(t);
  if (!controlPlane) return;
  await using client = await clientOf(controlPlane.kubeconfig.path);
  const [nodes, services] = [client.of(resources.nodes), client.of(resources.services)];
  const cloud = createMemoryCloud({ clock: systemClock, random: () => 0.5, region: 'north-1' });
  await using served = await serveMemoryCloud(cloud);

  const [config, cloudConfig] = [join(directory, 'migration.yaml'), join(directory, 'cloud.json')];
  await writeFile(config, migrationConfig(...CONTROLLERS));
  await writeFile(cloudConfig, JSON.stringify({ endpoint: served.endpoint }));
  const flagsOf = async (user: string): Promise<readonly string[]> => {
    const { path: kubeconfig } = await controlPlane.kubeconfigFor({ user, groups: ['system:masters'] });
    return [
      ...toFlags(ELECTION),
      `--kubeconfig=${kubeconfig}`,
      '--cloud-provider=memory',
      `--cloud-config=${cloudConfig}`,
      '--secure-port=0',
      `--controllers=${CONTROLLERS.join(',')}`,
      '--allocate-node-cidrs=true',
      '--cluster-cidr=10.64.0.0/10',
      '--enable-leader-migration',
      `--leader-migration-config=${config}`,
      '-v=4',
    ];
  };
  const log = join(directory, 'outrigger.log');
  // A main lock of its own, as it may be another release, or another distribution, that is being replaced.
  await using outrigger = new Manager(
    [...(await flagsOf(OUTRIGGER)), '--leader-elect-resource-name=outrigger-cloud-controller-manager'],
    log,
  );
  await using group = new ProcessGroup();
  const upstreamFlags = [
    ...(await flagsOf(UPSTREAM_USER)),
    '--route-reconciliation-period=500ms',
    '--node-monitor-period=500ms',
    '--kube-api-qps=1000',
    '--kube-api-burst=2000',
  ];
  let upstream: Program | undefined;
  const startUpstream = async (): Promise<void> => {
    const log = join(directory, 'upstream.log');
    upstream = await group.start({ name: 'upstream', command: UPSTREAM, args: upstreamFlags, log });
  };
  const endUpstream = async (signal: 'SIGTERM' | 'SIGKILL'): Promise<void> => {
    upstream?.signal(signal);
    await upstream?.exited();
  };

  /** A node whose machine is stopped, which needs a route and a taint; and a Service, which needs a load balancer. */
  const addWork = async (index: number): Promise<void> => {
    const name = `${PROBE}${index}`;
    const { providerID } = cloud.createInstance({ name, state: 'shutdown' });
    const node = hollowNode({ name, images: 0, labels: { [NOT_A_BACK_END]: '' } });
    const podCIDR = `10.64.${index}.0/24`;
    await nodes.create({ ...node, spec: { providerID, podCIDR, podCIDRs: [podCIDR] } });
    await services.create({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name, namespace: 'default' },
      spec: { type: 'LoadBalancer', selector: { app: name }, ports: [{ port: 80, protocol: 'TCP', targetPort: 8080 }] },
    });
  };
  const settled = async (): Promise<ReadonlyMap<string, string>> => {
    const looks = new Map<string, string>();
    const routes = new Map(cloud.routes().map((route) => [route.nodeName, JSON.stringify(route)]));
    for (const { metadata, spec, status } of (await nodes.list()).items) {
      const isTainted = spec?.taints?.some(({ key }) => key === SHUTDOWN_TAINT) ?? false;
      const network = status?.conditions?.find(({ type }) => type === 'NetworkUnavailable');
      const route = routes.get(metadata?.name ?? '');
      if (!isTainted || network?.status !== 'False' || route === undefined) continue;
      looks.set(`node ${metadata?.name}`, `${metadata?.resourceVersion} ${route}`);
    }
    for (const { metadata, status } of (await services.list()).items) {
      if (!status?.loadBalancer?.ingress?.length) continue;
      // What Outrigger had begun when it was ended is told as such until Outrigger ends it: upstream knows no such condition.
      const ready = status.conditions?.find(({ type }) => type === 'LoadBalancerReady');
      if (ready && ready.reason !== 'NoNodes') continue;
      const parts = cloud.parts().filter(({ tags }) => tags['uid'] === metadata?.uid);
      looks.set(`service ${metadata?.name}`, `${metadata?.resourceVersion} ${JSON.stringify(parts)}`);
    }
    return looks;
  };
  const isOf = (
    resource: string,
    subresource: string | undefined,
    { objectRef, verb }: { objectRef?: { resource?: string; subresource?: string; name?: string }; verb: string },
  ): boolean =>
    (verb === 'patch' || verb === 'update') &&
    objectRef?.resource === resource &&
    objectRef.subresource === subresource &&
    (objectRef.name ?? '').startsWith(PROBE);
  const handOver = new HandOver({
    controlPlane,
    deeds: {
      'service-lb-controller': (entry) => isOf('services', undefined, entry) || isOf('services', 'status', entry),
      'node-route-controller': (entry) => isOf('nodes', 'status', entry),
      'cloud-node-lifecycle-controller': (entry) => isOf('nodes', undefined, entry),
    },
    settled,
    log,
  });
  {
    await using _probe = handOver.probe(addWork);
    await startUpstream();
    await handOver.works(UPSTREAM_USER);
    await handOver.stand(OUTRIGGER, () => outrigger.start());
    await handOver.handOver(OUTRIGGER, LEASE_MS + SLOW_MANAGER_MS, () => endUpstream('SIGKILL'));

    await handOver.stand(UPSTREAM_USER, startUpstream);
    await handOver.handOver(UPSTREAM_USER, SLOW_MANAGER_MS + 4_000, async () =>
      assert.equal(await outrigger.end('SIGTERM'), 0),
    );

    await handOver.stand(OUTRIGGER, () => outrigger.start());
    await handOver.handOver(OUTRIGGER, LEASE_MS + SLOW_MANAGER_MS, () => endUpstream('SIGTERM'));

    await handOver.stand(UPSTREAM_USER, startUpstream);
    await handOver.handOver(UPSTREAM_USER, LEASE_MS + SLOW_MANAGER_MS + 4_000, () => outrigger.end('SIGKILL'));
  }
  await handOver.check(UPSTREAM_USER, (line) => t.diagnostic(line));
});
