import assert from 'node:assert/strict';
import { test } from 'node:test';
import { programFlags, readProgramOptions } from './program-options.ts';

const provider = '--cloud-provider=memory';
const ipam = ['--controllers=*,nodeipam', '--allocate-node-cidrs'];

test('the defaults are those of upstream, but for what is faster or safer', () => {
  const { client, cloud, leaderElection, node, serving, warnings } = readProgramOptions([provider]);
  assert.deepEqual([client.kubeApiQps, client.kubeApiBurst], [0, 0]);
  assert.deepEqual([cloud.clusterName, cloud.configureCloudRoutes, cloud.controllers], ['kubernetes', true, ['*']]);
  assert.deepEqual(leaderElection, {
    leaderElect: true,
    leaderElectLeaseDuration: 15_000,
    leaderElectRenewDeadline: 10_000,
    leaderElectRetryPeriod: 2_000,
    leaderElectResourceLock: 'leases',
    leaderElectResourceName: 'cloud-controller-manager',
    leaderElectResourceNamespace: 'kube-system',
  });
  assert.deepEqual([node.concurrentNodeSyncs, node.nodeStatusUpdateFrequency], [32, 300_000]);
  assert.deepEqual([serving.bindAddress, serving.securePort], ['0.0.0.0', 10_258]);
  assert.deepEqual(warnings, []);
});

test('what a manifest of upstream passes is understood', () => {
  const { cloud, leaderElection, logs, node } = readProgramOptions([
    '--v=2',
    provider,
    '--cloud-config=/etc/cloud.conf',
    '--leader-elect=false',
    '--cluster-cidr=10.0.0.0/8',
    '--allocate-node-cidrs=true',
    '--configure-cloud-routes=false',
    '--controllers=*,-route',
    '--concurrent-node-syncs=30',
    '--concurrent_node_status_updates=4',
    '--kube-api-content-type=application/vnd.kubernetes.protobuf',
    '--leader-elect-resource-lock=leases',
  ]);
  assert.equal(leaderElection.leaderElect, false);
  assert.deepEqual([cloud.allocateNodeCidrs, cloud.configureCloudRoutes], [true, false]);
  assert.equal(node.concurrentNodeSyncs, 30);
  assert.equal(logs.v, 2);
});

test('what does not go together is refused with the flags that are concerned', () => {
  const wrong: readonly (readonly [readonly string[], RegExp])[] = [
    [[], /--cloud-provider is not set/u],
    [['--cloud-provider=external'], /is for the kubelet/u],
    [[provider, '--cluster-name='], /--cluster-name must not be empty/u],
    [
      [provider, '--leader-elect-lease-duration=10s'],
      /lease-duration \(10s\) must be longer than --leader-elect-renew-/u,
    ],
    [
      [provider, '--leader-elect-renew-deadline=2s'],
      /renew-deadline \(2s\) must be longer than 1\.2 × --leader-elect-retry/u,
    ],
    [[provider, '--leader-elect-resource-name='], /must not be empty/u],
    [[provider, '--tls-cert-file=x'], /--tls-cert-file is set without --tls-private-key-file/u],
    [[provider, '--tls-private-key-file=x'], /--tls-private-key-file is set without --tls-cert-file/u],
    [[provider, '--leader-elect-resource-lock=endpoints'], /must be "leases"/u],
    [
      [provider, '--cluster-cidr=10.0.0.0'],
      /^FlagError: --cluster-cidr: "10\.0\.0\.0" is not a CIDR range: write it as/u,
    ],
    [[provider, '--cluster-cidr=10.0.0.0/16,10.1.0.0/16'], /one of IPv4 and one of IPv6/u],
    [[provider, '--route-reconciliation-period=10ms'], /must be at least 1s/u],
    [[provider, ...ipam], /--cluster-cidr is not set: there is nothing to allocate/u],
    [[provider, ...ipam, '--cluster-cidr=10.0.0.0/24', '--node-cidr-mask-size=16'], /16 does not fit 10\.0\.0\.0\/24/u],
    [[provider, '--cidr-allocator-type=Mine'], /must be "RangeAllocator" or "CloudAllocator"/u],
  ];
  for (const [args, message] of wrong) assert.throws(() => readProgramOptions(args), message);
});

test('what this version does not have is refused where silence would do harm, and warned of elsewhere', () => {
  const wrong: readonly (readonly [string, RegExp])[] = [
    ['--enable-leader-migration --leader-elect=false', /--enable-leader-migration needs --leader-elect=true/u],
    ['--webhook-tls-cert-file=a', /--webhook-tls-cert-file is set without --webhook-tls-private-key-file/u],
    ['--feature-gates=CloudControllerManagerWebhok=true', /did you mean CloudControllerManagerWebhook\?/u],
    ['--requestheader-client-ca-file=x --requestheader-username-headers=', /without --requestheader-username-headers/u],
    [
      '--requestheader-uid-headers=x --feature-gates=RemoteRequestHeaderUID=false',
      /--requestheader-uid-headers needs --feature-gates=RemoteRequestHeaderUID=true/u,
    ],
  ];
  for (const [args, message] of wrong) {
    assert.throws(() => readProgramOptions([provider, ...args.split(' ')]), { name: 'FlagError', message }, args);
  }
  assert.ok(readProgramOptions([provider, '--feature-gates=AllAlpha=true', '--requestheader-uid-headers=x']));
  const { warnings } = readProgramOptions([provider, '--feature-gates=APIServerIdentity=false,ComponentFlagz=false']);
  assert.equal(warnings.length, 1);
  assert.equal(warnings[0], 'feature gates without a meaning here, accepted: APIServerIdentity');
});

test('a file of leader migration that is not read is told, not passed over in silence', () => {
  const config = '--leader-migration-config=migration.yml';
  assert.deepEqual(readProgramOptions([provider, config]).warnings, [
    '--leader-migration-config is ignored without --enable-leader-migration: no controller is migrated',
  ]);
  assert.deepEqual(readProgramOptions([provider, config, '--enable-leader-migration']).warnings, []);
});

test('timings are not checked when no leader is elected, and nothing is for --help', () => {
  assert.ok(readProgramOptions([provider, '--leader-elect=false', '--leader-elect-lease-duration=1s']));
  assert.equal(readProgramOptions(['--help']).global.help, true);
});

test('each flag has a usage that is a sentence', () => {
  for (const { flags } of programFlags.groups) {
    for (const [key, { usage }] of Object.entries(flags)) assert.match(usage, /^[A-Z].*[.]$/su, key);
  }
});
