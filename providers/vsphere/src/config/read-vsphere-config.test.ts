import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { isCloudError } from '@outrigger/cloud-provider';
import { readVsphereConfig } from './read-vsphere-config.ts';
import type { VcenterSettings, VsphereConfig } from './vsphere-config.ts';

interface Read {
  readonly config: VsphereConfig;
  readonly first: VcenterSettings;
  readonly warnings: readonly string[];
  readonly secrets: readonly string[];
}

async function read(text: string, env: Readonly<Record<string, string>> = {}): Promise<Read> {
  const warnings: string[] = [];
  const secrets: string[] = [];
  const config = await readVsphereConfig(
    { text, fileName: 'vsphere.conf' },
    {
      env,
      workingDirectory: '/nowhere',
      warn: (line) => void warnings.push(line),
      host: { redact: (one) => void secrets.push(one) },
    },
  );
  const [first] = config.vcenters;
  assert.ok(first);
  return { config, first, warnings, secrets };
}

async function refusalOf(text: string, env: Readonly<Record<string, string>> = {}): Promise<string> {
  const error = await read(text, env).then(
    () => assert.fail('it was taken'),
    (thrown: unknown) => thrown,
  );
  assert.ok(isCloudError(error, 'configuration'), String(error));
  return error.message;
}

async function mounted(files: Readonly<Record<string, string>>): Promise<{ readonly at: string } & AsyncDisposable> {
  const at = await mkdtemp(path.join(tmpdir(), 'outrigger-secrets-'));
  for (const [name, text] of Object.entries(files)) await writeFile(path.join(at, name), text);
  return { at, [Symbol.asyncDispose]: () => rm(at, { recursive: true }) };
}

const INI = `# a comment
[Global]
user = admin
password = "hunter 2"
port = 8443
insecure-flag = true
soap-roundtrip-count = 3
[VirtualCenter "10.0.0.1"]
datacenters = dc1, dc2
ip-family = IPv6,ipv4
[VirtualCenter "tenant"]
server = vc.example
user = other
password = 0123
port = 443
thumbprint = aabbccddeeff00112233445566778899aabbccdd
ca-file = ca.pem
[Labels]
zone = k8s-zone
region = k8s-region
[Nodes]
internal-network-subnet-cidr = 10.0.0.0/8, fd00::/8
external-vm-network-name = Dmz
exclude-external-network-subnet-cidr = 172.16.0.0/12
`;

const YAML = `
global:
  user: admin
  password: hunter 2
  port: 8443
  insecureFlag: true
  soapRoundtripCount: 3
vcenter:
  10.0.0.1:
    server: 10.0.0.1
    datacenters: [dc1, dc2]
    ipFamily: [ipv6, ipv4]
  tenant:
    server: vc.example
    user: other
    password: 0123
    port: 443
    thumbprint: AA:BB:CC:DD:EE:FF:00:11:22:33:44:55:66:77:88:99:AA:BB:CC:DD
    caFile: ca.pem
labels: { zone: k8s-zone, region: k8s-region }
nodes:
  internalNetworkSubnetCidr: 10.0.0.0/8,fd00::/8
  externalVmNetworkName: Dmz
  excludeExternalNetworkSubnetCidr: 172.16.0.0/12
`;

test('INI and YAML of cloud-provider-vsphere say the same', async () => {
  const [ini, yaml] = [await read(INI), await read(YAML)];
  assert.deepEqual(ini.config, yaml.config);
  assert.deepEqual(ini.config.vcenters, [
    {
      name: '10.0.0.1',
      server: '10.0.0.1',
      port: 8443,
      credentials: { kind: 'user', user: 'admin', password: 'hunter 2' },
      insecure: true,
      caFile: undefined,
      thumbprint: undefined,
      datacenters: ['dc1', 'dc2'],
      families: ['ipv6', 'ipv4'],
    },
    {
      name: 'tenant',
      server: 'vc.example',
      port: 443,
      credentials: { kind: 'user', user: 'other', password: '0123' },
      insecure: true,
      caFile: '/nowhere/ca.pem',
      thumbprint: 'AA:BB:CC:DD:EE:FF:00:11:22:33:44:55:66:77:88:99:AA:BB:CC:DD',
      datacenters: [],
      families: ['ipv4'],
    },
  ]);
  assert.deepEqual(ini.config.zones, { zone: 'k8s-zone', region: 'k8s-region' });
  const { externalNetwork, internalSubnets } = ini.config.addresses;
  assert.deepEqual([internalSubnets.map(({ text }) => text), externalNetwork], [['10.0.0.0/8', 'fd00::/8'], 'Dmz']);
  assert.deepEqual(ini.config.files, ['/nowhere/ca.pem']);
  for (const { secrets } of [ini, yaml]) assert.ok(secrets.includes('hunter 2') && secrets.includes('0123'));
  for (const { warnings } of [ini, yaml]) {
    assert.deepEqual(warnings, [
      'vsphere.conf: without effect here: global.soapRoundtripCount',
      'vsphere.conf: insecure-flag is set: the certificate of the vCenter 10.0.0.1 (10.0.0.1) is not verified',
      'vsphere.conf: insecure-flag is set: the certificate of the vCenter tenant (vc.example) is not verified',
    ]);
  }
});

test("the in-tree provider's file, whose other keys are told once", async () => {
  const { config, first, warnings } = await read(`[Global]
user = u
password = p
server = 10.0.0.9
datacenter = dc1
datastore = ds
working-dir = kubernetes
vm-uuid = 1
[Workspace]
server = 10.0.0.9
folder = k8s
[Disk]
scsicontrollertype = pvscsi
[Network]
public-network = "VM Network"
`);
  assert.deepEqual(
    [config.vcenters.length, first.server, first.port, first.datacenters],
    [1, '10.0.0.9', 443, ['dc1']],
  );
  assert.deepEqual(warnings, [
    'vsphere.conf: without effect here: global.datastore, global.workingDir, global.vmUuid, workspace, network, disk',
  ]);
});

test('what is unknown is told with its line, and what it may mean', async () => {
  const ini = await read('[Global]\nuser=u\npassword=p\nserver=a\nca-fiel=x\n[Lables]\nzone=z\n');
  assert.deepEqual(ini.warnings, [
    'vsphere.conf:6: Lables: there is no such key (did you mean labels?); it is ignored',
    'vsphere.conf:5: global.ca-fiel: there is no such key (did you mean ca-file?); it is ignored',
  ]);
  const yaml = await read('global: {user: u, password: p}\nvcenter:\n  a:\n    server: a\n    datacentres: [x]\n');
  assert.deepEqual(yaml.warnings, [
    'vsphere.conf:5: vcenter.a.datacentres: there is no such key (did you mean datacenters?); it is ignored',
  ]);
});

test('sections of NSX-T, half of the labels, and variables that are not read are told', async () => {
  const text =
    'global: {user: u, password: p, server: a}\nlabels: {zone: z}\nloadBalancer: {size: SMALL, tags: {a: b}}\nnsxt: {host: h}\n';
  const { config, warnings } = await read(text, { VSPHERE_USER: 'x', SKIP_NODE_DELETION: '1', HOME: '/' });
  assert.equal(config.zones, undefined);
  assert.deepEqual(warnings, [
    'vsphere.conf: without effect here: loadBalancer, nsxt',
    'the environment variable VSPHERE_USER is not read: set it in vsphere.conf',
    'the environment variable SKIP_NODE_DELETION is not read: set it in vsphere.conf',
    'vsphere.conf: labels has to name both zone and region: nodes get neither',
  ]);
});

test('variables by which Kubernetes names a Service beside the pod are no settings', async () => {
  const { warnings } = await read('global: {user: u, password: p, server: a}', {
    VSPHERE_CPI_SERVICE_HOST: '10.96.0.7',
    VSPHERE_CPI_SERVICE_PORT: '43001',
    VSPHERE_CPI_PORT: 'tcp://10.96.0.7:43001',
    VSPHERE_CPI_PORT_43001_TCP_ADDR: '10.96.0.7',
    VSPHERE_PORT: '443',
  });
  assert.deepEqual(warnings, ['the environment variable VSPHERE_PORT is not read: set it in vsphere.conf']);
});

test('the environment takes precedence where it does upstream', async () => {
  const { config } = await read('global: {user: u, password: p, server: a}\nlabels: {zone: z, region: r}', {
    VSPHERE_LABEL_ZONE: 'other',
    VSPHERE_NODES_INTERNAL_NETWORK_SUBNET_CIDR: '10.0.0.0/8, 192.168.0.0/16',
    VSPHERE_NODES_EXTERNAL_VM_NETWORK_NAME: 'dmz',
  });
  assert.deepEqual(config.zones, { zone: 'other', region: 'r' });
  assert.deepEqual(
    [config.addresses.internalSubnets.map(({ text }) => text), config.addresses.externalNetwork],
    [['10.0.0.0/8', '192.168.0.0/16'], 'dmz'],
  );
});

test('credentials of a mounted Secret', async () => {
  await using folder = await mounted({
    '10.0.0.1.username': 'u\n',
    '10.0.0.1.password': 'p\n',
    server_six: 'fd01::1',
    username_six: 'u6',
    password_six: 'p6',
    'vc.example.vc-session-manager-url': 'https://sessions/',
    'vc.example.vc-session-manager-token': 'token',
    other: 'ignored',
  });
  const { config, secrets } = await read(
    `global: {secretsDirectory: ${folder.at}, secretName: s, secretNamespace: n}
vcenter: {a: {server: 10.0.0.1}, b: {server: 'fd01::1'}, c: {server: vc.example}}`,
  );
  assert.deepEqual(
    config.vcenters.map(({ credentials }) => credentials),
    [
      { kind: 'user', user: 'u', password: 'p' },
      { kind: 'user', user: 'u6', password: 'p6' },
      { kind: 'session-manager', url: 'https://sessions/', token: 'token' },
    ],
  );
  for (const secret of ['p', 'p6', 'token']) assert.ok(secrets.includes(secret));
  // Those that are not there are watched too: they may come.
  assert.deepEqual(
    config.files.slice(0, 5).map((file) => path.relative(folder.at, file)),
    [
      '10.0.0.1.username',
      '10.0.0.1.password',
      '10.0.0.1.vc-session-manager-url',
      '10.0.0.1.vc-session-manager-token',
      'server_six',
    ],
  );
});

test('a user that is a certificate', async () => {
  const pem = '-----BEGIN CERTIFICATE-----\nMII\n-----END CERTIFICATE-----\n';
  await using folder = await mounted({ 'a.username': pem, 'a.password': 'KEY' });
  const { first } = await read('global: {server: a}', { VSPHERE_SECRETS_DIRECTORY: folder.at });
  assert.deepEqual(first.credentials, { kind: 'certificate', certificate: pem.trimEnd(), privateKey: 'KEY' });
});

test('a server is a host, and the URL of a session manager a URL', async () => {
  for (const server of ['https://vc.example', 'vc.example:8443', 'vc.example/sdk', 'vc example', 'u@vc']) {
    const text = await refusalOf(`vcenter: {a: {server: '${server}', user: u, password: p}}`);
    assert.equal(
      text,
      `vsphere.conf: the server ${server} of the vCenter a is no host name or IP address: without https://, and its port as port`,
    );
  }
  for (const server of ['vc-1.example', 'vc_1', '10.0.0.1', 'fd00::1', '[fd00::1]'])
    assert.equal((await read(`vcenter: {a: {server: '${server}', user: u, password: p}}`)).first.server, server);
  for (const url of [
    'sessions.example',
    'file:///etc/passwd',
    'user:pass@x',
    'http://sessions.example/',
    'http://127.0.0.1.example',
  ]) {
    await using folder = await mounted({ 'a.vc-session-manager-url': url, 'a.vc-session-manager-token': 't' });
    assert.equal(
      await refusalOf('global: {server: a}', { VSPHERE_SECRETS_DIRECTORY: folder.at }),
      'vsphere.conf: a.vc-session-manager-url is no URL of the form https://…',
    );
  }
  // On the machine itself nobody listens in.
  for (const url of ['http://127.0.0.1:8080/', 'http://localhost/', 'http://[::1]/']) {
    await using folder = await mounted({ 'a.vc-session-manager-url': url, 'a.vc-session-manager-token': 't' });
    const { first } = await read('global: {server: a}', { VSPHERE_SECRETS_DIRECTORY: folder.at });
    assert.deepEqual(first.credentials, { kind: 'session-manager', url, token: 't' });
  }
});

for (const [text, expected] of [
  ['', 'vsphere.conf: no vCenter is named: add a section vcenter, or [VirtualCenter "<server>"]'],
  ['vcenter: {a: {user: u}}', 'vsphere.conf: vcenter.a.server is needed'],
  [
    'global: {server: a, user: u}',
    'vsphere.conf: the vCenter a has no credentials: set user and password, or mount a Secret with a.username and a.password at /etc/cloud/secrets, or where secrets-directory says',
  ],
  [
    '[Global]\nserver = a\nsecret-name = creds\nsecret-namespace = kube-system',
    'vsphere.conf: secret-name is not read through the API of Kubernetes: mount the Secret creds, which has to have a.username and a.password, as a volume at /etc/cloud/secrets, or where secrets-directory says',
  ],
  ['[Global]\nport = 99999', 'vsphere.conf:2: global.port must be a whole number from 1 to 65535, not "99999"'],
  ['[Global]\nip-family = ipv5', 'vsphere.conf:2: global.ipFamily must be a list: ipv4 or ipv6, not "ipv5"'],
  ['[Global]\nsecrets-directory = gone', 'vsphere.conf: secrets-directory /nowhere/gone does not exist'],
  [
    '[Nodes]\ninternal-network-subnet-cidr = 10.0.0.0',
    'vsphere.conf:2: nodes.internalNetworkSubnetCidr must be a list: a CIDR, such as 10.0.0.0/8, not "10.0.0.0"',
  ],
] as const) {
  test(`refused: ${expected}`, async () => assert.equal(await refusalOf(text), expected));
}
