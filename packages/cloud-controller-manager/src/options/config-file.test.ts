import assert from 'node:assert/strict';
import { test } from 'node:test';
import { renderConfigz } from '../serving/configz.ts';
import { CONFIG_EXAMPLE } from '../pages/flags-page.ts';
import { parseConfigFile } from './config-file.ts';
import { toLowerCamelCase } from './config-keys.ts';
import { programFlags, readProgramOptions } from './program-options.ts';

const HEAD = 'apiVersion: cloudcontrollermanager.config.k8s.io/v1alpha1\nkind: CloudControllerManagerConfiguration\n';

async function read(text: string): ReturnType<typeof parseConfigFile> {
  return parseConfigFile('/etc/config.yaml', text, programFlags);
}

test("Go's names and lowerCamelCase are read, and flags win", async () => {
  const presets = await read(`${HEAD}generic:
  leaderElection: {leaseDuration: 30s, leaderElect: true}
  controllers: ['*', '-route']
kubeCloudShared:
  clusterCIDR: 10.0.0.0/8
  cloudProvider: {name: memory}
NodeController:
  ConcurrentNodeSyncs: 3
`);
  const options = readProgramOptions(['--concurrent-node-syncs=4'], presets);
  assert.equal(options.leaderElection.leaderElectLeaseDuration, 30_000);
  assert.deepEqual(options.cloud.controllers, ['*', '-route']);
  assert.deepEqual([options.cloud.clusterCidr, options.cloud.cloudProvider], ['10.0.0.0/8', 'memory']);
  assert.equal(options.node.concurrentNodeSyncs, 4);
});

test('the example of the page of flags is read', async () => {
  const { cloud, logs } = readProgramOptions([], await read(CONFIG_EXAMPLE));
  assert.deepEqual([cloud.cloudProvider, cloud.clusterName, logs.v], ['openstack', 'production', 2]);
  assert.deepEqual(
    cloud.cloudCallLimits.map(({ limits }) => limits),
    [{ qps: 20 }, { qps: 2, burst: 4 }],
  );
});

test('what /configz prints is read, and gives the same configuration', async () => {
  const args = ['--cloud-provider=memory', '--leader-elect-lease-duration=1m', '--controllers=*,-cloud-node-lifecycle'];
  const configz = renderConfigz(readProgramOptions([...args, '--kube-api-qps=2.5', '--cluster-name=a b']));
  const presets = await read(JSON.stringify(configz, undefined, 2));
  assert.deepEqual(renderConfigz(readProgramOptions([], presets)), configz);
});

test('a key that Kubernetes 1.37 moved is read where it was and where it is', async () => {
  for (const group of ['kubeCloudShared', 'nodeLifecycleController']) {
    const options = readProgramOptions(
      ['--cloud-provider=memory'],
      await read(`${HEAD}${group}: {nodeMonitorPeriod: 7s}`),
    );
    assert.equal(options.nodeLifecycle.nodeMonitorPeriod, 7_000, group);
  }
});

test('anything else is refused, with file, line and key', async () => {
  const wrong: readonly (readonly [string, RegExp])[] = [
    ['', /config\.yaml:1: the file must be a mapping$/u],
    ['- a', /the file must be a mapping$/u],
    ['a: [', /config\.yaml:\d: not YAML: /u],
    ['a: 1\na: 2\n', /config\.yaml:2: not YAML: .*unique/u],
    ['kind: Config\n', /config\.yaml:1: apiVersion must be cloudcontrollermanager\.config\.k8s\.io\/v1alpha1$/u],
    [HEAD.replace('v1alpha1', 'v1'), /config\.yaml:1: apiVersion must be/u],
    [HEAD.replace('kind: Cloud', 'kind: Kube'), /config\.yaml:2: kind must be CloudControllerManagerConfiguration$/u],
    [`${HEAD}generics: {}`, /config\.yaml:3: generics: unknown key$/u],
    [
      `${HEAD}generic:\n  leaderElection:\n    leaderElct: true`,
      /config\.yaml:5: generic\.leaderElection\.leaderElct: unknown key$/u,
    ],
    [`${HEAD}GENERIC: {}`, /GENERIC: unknown key$/u],
    [`${HEAD}constructor: {}`, /constructor: unknown key$/u],
    [`${HEAD}Generic: {}\ngeneric: {}`, /config\.yaml:4: generic: duplicate key$/u],
    [`${HEAD}generic: 3`, /config\.yaml:3: generic must be a mapping$/u],
    [`${HEAD}generic: {leaderElection: {leaderElect: "yes"}}`, /leaderElect: must be true or false$/u],
    [`${HEAD}generic: {leaderElection: {leaseDuration: 15}}`, /leaseDuration: must be a duration such as 10s$/u],
    [`${HEAD}generic: {leaderElection: {leaseDuration: 15}}`, /config\.yaml:3: /u],
    [`${HEAD}generic: {controllers: "*"}`, /controllers: must be a list of strings$/u],
    [`${HEAD}generic: {controllers: [1]}`, /controllers: must be a list of strings$/u],
    [`${HEAD}nodeController: {concurrentNodeSyncs: "3"}`, /concurrentNodeSyncs: must be a number$/u],
    [`${HEAD}x: &x {}\ngeneric: *x`, /unknown key$/u],
    [`${HEAD}generic: &x {debugging: *x}`, /aliases are not read|not YAML/u],
    ['cloudcontrollermanager.config.k8s.io: {}\nother: 1', /must stand alone$/u],
  ];
  for (const [text, message] of wrong) {
    await assert.rejects(read(text), (error: Error) => {
      assert.equal(error.name, 'FlagError', text);
      assert.match(error.message, message, text);
      assert.doesNotMatch(error.message, /\n/u);
      return true;
    });
  }
});

test('a value that its flag refuses is refused with its line', async () => {
  const presets = await read(`${HEAD}generic:\n  leaderElection:\n    leaseDuration: soon\n`);
  assert.throws(
    () => readProgramOptions([], presets),
    /config\.yaml:5: generic\.leaderElection\.leaseDuration: invalid value "soon": not a duration/u,
  );
});

test('names become what versioned types of Kubernetes have', () => {
  for (const [go, json] of [
    ['CIDRAllocatorType', 'cidrAllocatorType'],
    ['ClusterCIDR', 'clusterCIDR'],
    ['AllocateNodeCIDRs', 'allocateNodeCIDRs'],
    ['qps', 'qps'],
  ] as const) {
    assert.equal(toLowerCamelCase(go), json);
  }
});
