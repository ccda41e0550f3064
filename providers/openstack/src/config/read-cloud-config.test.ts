import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isCloudError } from '@outrigger/cloud-provider';
import type { CloudConfig } from './cloud-config.ts';
import { readCloudConfig } from './read-cloud-config.ts';

async function read(
  text: string,
  env: Record<string, string> = {},
): Promise<{ readonly config: CloudConfig; readonly warnings: readonly string[] }> {
  const warnings: string[] = [];
  const environment = { env, workingDirectory: '/nowhere', homeDirectory: '/nowhere' };
  const config = await readCloudConfig({ text, fileName: 'cloud.conf' }, environment, (message) =>
    warnings.push(message),
  );
  return { config, warnings };
}

const refusal = (message: string) => (error: unknown) => {
  assert.ok(isCloudError(error, 'configuration'));
  assert.equal(error.message, message);
  return true;
};

test('an empty file is the defaults of ReadConfig', async () => {
  const { config, warnings } = await read('');
  assert.deepEqual(warnings, []);
  const { enabled, lbProvider, lbMethod, createMonitor, manageSecurityGroups, monitorDelayMs } = config.loadBalancer;
  assert.deepEqual([enabled, lbProvider, lbMethod, createMonitor], [true, 'amphora', 'ROUND_ROBIN', false]);
  assert.deepEqual([manageSecurityGroups, monitorDelayMs], [false, 5000]);
  const { monitorTimeoutMs, monitorMaxRetries, monitorMaxRetriesDown, cascadeDelete, maxSharedLb } =
    config.loadBalancer;
  assert.deepEqual([monitorTimeoutMs, monitorMaxRetries, monitorMaxRetriesDown], [3000, 1, 3]);
  assert.deepEqual([cascadeDelete, maxSharedLb, config.loadBalancer.internalLb], [true, 2, false]);
  const { enableIngressHostname, ingressHostnameSuffix, containerStore, ...rest } = config.loadBalancer;
  assert.deepEqual([enableIngressHostname, ingressHostnameSuffix, containerStore], [false, 'nip.io', 'barbican']);
  assert.deepEqual([rest.providerRequiresSerialApiCalls, rest.defaultTlsContainerRef], [false, undefined]);
  assert.deepEqual(config.metadata, { searchOrder: ['configDrive', 'metadataService'], requestTimeoutMs: 60_000 });
  assert.deepEqual(
    [config.global.osEndpointType, config.regional, config.loadBalancerClasses.size],
    ['public', false, 0],
  );
});

test('without a file', async () => {
  const environment = { env: {}, workingDirectory: '/', homeDirectory: '/' };
  await assert.rejects(
    readCloudConfig(undefined, environment, assert.fail),
    refusal('the openstack provider needs its cloud.conf: name it with --cloud-config'),
  );
});

test("the config of upstream's TestReadConfig", async () => {
  const { config, warnings } = await read(`
 [Global]
 auth-url = http://auth.url
 user-id = user
 password = mypass
 tenant-name = demo
 tenant-domain-name = Default
 region = RegionOne
 [LoadBalancer]
 create-monitor = yes
 monitor-delay = 1m
 monitor-timeout = 30s
 monitor-max-retries = 1
 monitor-max-retries-down = 3
 [Metadata]
 search-order = configDrive, metadataService
 `);
  assert.deepEqual(warnings, []);
  const { global, loadBalancer, metadata } = config;
  assert.deepEqual(
    [global.authUrl, global.userId, global.password, global.tenantName, global.tenantDomainName, global.region],
    ['http://auth.url', 'user', 'mypass', 'demo', 'Default', 'RegionOne'],
  );
  assert.deepEqual(
    [loadBalancer.createMonitor, loadBalancer.monitorDelayMs, loadBalancer.monitorTimeoutMs],
    [true, 60_000, 30_000],
  );
  assert.deepEqual([loadBalancer.monitorMaxRetries, loadBalancer.monitorMaxRetriesDown], [1, 3]);
  assert.deepEqual(metadata.searchOrder, ['configDrive', 'metadataService']);
});

test('sections and keys in any case, repeated keys, the last of the others, classes', async () => {
  const { config, warnings } = await read(`
[NETWORKING]
Public-Network-Name = wrong
public-network-name
public-network-name = a
PUBLIC-NETWORK-NAME = "b c"
ipv6-support-disabled
address-sort-order = 10.0.0.0/8,, 2001:4800::/32, 10.0.0.1, 300.0.0.0/8, 10.0.0.0/33
[loadBalancerClass "gold"]
subnet-id = s1
[Route]
router-id = r1
router-id = r2
[LoadBalancerClass "gold"]
floating-subnet = "~public-.*"
[LoadBalancerClass "bare"]
[Metadata]
search-order = metadataService
request-timeout = 0
`);
  assert.deepEqual(config.networking, {
    ipv6SupportDisabled: true,
    publicNetworkName: ['a', 'b c'],
    internalNetworkName: [],
    addressSortOrder: ['10.0.0.0/8', '2001:4800::/32'],
  });
  assert.deepEqual([...config.loadBalancerClasses.keys()], ['gold', 'bare']);
  const gold = config.loadBalancerClasses.get('gold');
  assert.deepEqual([gold?.subnetId, gold?.floatingSubnet, gold?.networkId], ['s1', '~public-.*', undefined]);
  assert.equal(config.route.routerId, 'r2');
  assert.deepEqual(config.metadata, { searchOrder: ['metadataService'], requestTimeoutMs: 60_000 });
  assert.deepEqual(
    warnings,
    ['10.0.0.1', '300.0.0.0/8', '10.0.0.0/33'].map(
      (cidr) => `cloud.conf:8: [NETWORKING] address-sort-order: "${cidr}" is not a CIDR; it is ignored`,
    ),
  );
});

test('what is unknown is warned of, with its line, and no value', async () => {
  const { warnings } = await read(`[Global]
passwort = hunter2
[BlockStorage]
bs-version = v3
[Route "one"]
router-id = r
[LoadBalancer]
use-octavia = true
lb-version = v2
lb-provider = acme
[LoadBalancerClass]
subnet-id = s
`);
  assert.deepEqual(warnings, [
    'cloud.conf:3: [BlockStorage]: there is no such section; it is ignored',
    'cloud.conf:5: [Route "one"]: there is no such section; it is ignored',
    'cloud.conf:2: [Global] passwort: there is no such key (did you mean password?); it is ignored',
    'cloud.conf:8: [LoadBalancer] use-octavia: there is no such key; it is ignored',
    'cloud.conf:10: [LoadBalancer] lb-provider: "acme" is none of amphora, octavia, ovn, f5, amphorav2; it is used as it is',
    'cloud.conf:11: [LoadBalancerClass] has no name; it is ignored',
  ]);
});

const bad: Readonly<Record<string, string>> = {
  '[Global]\npassword': 'cloud.conf:2: [Global] password needs a value: write key = value',
  '[Global]\npassword = "hunter2': 'cloud.conf:2: the value has no closing quote',
  '[Global]\nuse-clouds = maybe':
    'cloud.conf:2: [Global] use-clouds must be one of true, yes, on, 1, false, no, off, 0, not "maybe"',
  '[Global]\ntls-insecure = yes': 'cloud.conf:2: [Global] tls-insecure must be true or false, not "yes"',
  '[Global]\nos-endpoint-type = private':
    'cloud.conf:2: [Global] os-endpoint-type must be public, internal or admin, not "private"',
  '[Global]\ncafilecontents = x':
    'cloud.conf:2: [Global] cafilecontents is not supported: an option of another program that the file format happens to accept; put the certificates into a file and name it with ca-file',
  '[LoadBalancer]\nforeign-nodes = maybe':
    'cloud.conf:2: [LoadBalancer] foreign-nodes must be one of true, yes, on, 1, false, no, off, 0, at-start, not "maybe"',
  '[LoadBalancer]\n\nmonitor-delay = 5':
    'cloud.conf:3: [LoadBalancer] monitor-delay must be a duration with its unit, such as 5s or 1m30s, not "5"',
  '[LoadBalancer]\nmonitor-max-retries = 11':
    'cloud.conf:2: [LoadBalancer] monitor-max-retries must be a whole number from 1 to 10, not "11"',
  '[LoadBalancer]\nmax-shared-lb = 2.5':
    'cloud.conf:2: [LoadBalancer] max-shared-lb must be a whole number from 1, not "2.5"',
  '[LoadBalancer]\nlb-version = v1':
    'cloud.conf:2: [LoadBalancer] lb-version is not supported: there is no version but v2; remove the line',
  '[Metadata]\nsearch-order = configDrive,elsewhere':
    'cloud.conf:2: [Metadata] search-order must be configDrive, metadataService, or both with a comma between, not "configDrive,elsewhere"',
};

for (const [text, message] of Object.entries(bad)) {
  test(`refuses ${JSON.stringify(text)}`, async () => {
    await assert.rejects(read(text), refusal(message));
  });
}

test('numbers and end points as upstream reads them', async () => {
  const { config } = await read(
    '[LoadBalancer]\nmax-shared-lb=010\nmonitor-max-retries=0xA\n[Global]\nos-endpoint-type=internalURL',
  );
  assert.deepEqual([config.loadBalancer.maxSharedLb, config.loadBalancer.monitorMaxRetries], [10, 10]);
  assert.equal(config.global.osEndpointType, 'internal');
});

test('OS_CCM_REGIONAL is true and nothing else', async () => {
  assert.equal((await read('', { OS_CCM_REGIONAL: 'true' })).config.regional, true);
  for (const other of ['', '1', 'True', 'yes'])
    assert.equal((await read('', { OS_CCM_REGIONAL: other })).config.regional, false);
});
