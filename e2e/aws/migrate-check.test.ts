/** `outrigger migrate check` of Services that cloud-provider-aws v1.37.0 serves: what it foretells is what is done, and nothing is written. */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { systemClock } from '@outrigger/kube';
import { createAwsProvider } from '@outrigger/provider-aws';
import { startEmbeddedApiServer } from '@outrigger/testing';
import { migrateCommand } from '../../packages/cloud-controller-manager/src/commands/migrate.ts';
import type { Environment } from '../../packages/cloud-controller-manager/src/program/environment.ts';
import { fakeLabCloud, fakeReaders } from '../../providers/aws/lab/fake-cloud.suite.ts';
import { goldens } from '../../providers/aws/lab/golden.ts';
import { restoreGolden } from '../../providers/aws/lab/restore-golden.suite.ts';
import { LAB_CLUSTER, LAB_ENV } from '../../providers/aws/lab/seed-account.ts';
import { serviceOf } from './handed-over-account.ts';

const PREFIX = 'service.beta.kubernetes.io/aws-load-balancer-';
const NETWORK = [
  'claim security-group',
  'claim target-group',
  'claim load-balancer',
  'update target-group',
  'update load-balancer',
];
const spec = { type: 'LoadBalancer', ports: [{ port: 80, protocol: 'TCP', nodePort: 30_081 }], ipFamilies: ['IPv4'] };

interface Told {
  readonly checks: readonly { readonly state: string; readonly text: string; readonly objects?: readonly string[] }[];
}

test('Services that are taken over, would be made, or would be refused', async (t) => {
  const cloud = fakeLabCloud(3, systemClock);
  const sdk = fakeReaders(cloud.aws);
  await using server = await startEmbeddedApiServer();
  const directory = await mkdtemp(path.join(tmpdir(), 'migrate-'));
  t.after(() => rm(directory, { recursive: true }));
  const put = (kind: string, object: object): void => void server.store.put({ kind, apiVersion: 'v1', ...object });
  put('Namespace', { metadata: { name: 'kube-system', uid: 'uid-of-kube-system' } });
  for (const { address, id, name, zone } of cloud.account.instances) {
    const addresses = [{ type: 'InternalIP', address }];
    put('Node', { metadata: { name }, spec: { providerID: `aws:///${zone}/${id}` }, status: { addresses } });
  }
  const [plain, managed] = goldens().filter((one) => one.cloud === 'fake');
  const served = [
    managed?.services.find(({ name }) => name === 'network'),
    managed?.services.find(({ name }) => name === 'datagrams'),
    plain?.services.find(({ name }) => name === 'classic'),
  ];
  for (const golden of served) {
    assert.ok(golden);
    await restoreGolden(sdk, cloud.account, golden);
    put('Service', { ...serviceOf(golden), status: { loadBalancer: { ingress: [{ hostname: 'it.is.served' }] } } });
  }
  const add = (name: string, annotations: object, ports: object[] = spec.ports): void =>
    put('Service', {
      metadata: { name, namespace: 'default', uid: `uid-${name}`, annotations },
      spec: { ...spec, ports },
    });
  add('new', { [`${PREFIX}type`]: 'nlb' });
  add('datagrams-by-clb', {}, [{ port: 53, protocol: 'UDP', nodePort: 30_054 }]);
  add('elsewhere', { [`${PREFIX}type`]: 'external' });

  const kubeconfig = path.join(directory, 'kubeconfig');
  await writeFile(kubeconfig, server.kubeconfig('token').yaml);
  const cloudConfig = path.join(directory, 'aws.conf');
  await writeFile(cloudConfig, `[Global]\nKubernetesClusterID = ${LAB_CLUSTER}\nVPC = ${cloud.account.vpcId}\n`);
  server.clearRequests();
  cloud.aws.calls.clear();
  let out = '';
  const environment = {
    builtInProviders: {
      aws: async () => ({
        default: (options: object) => createAwsProvider({ ...options, env: LAB_ENV, fetch: cloud.fetch }),
      }),
    },
    env: {},
    workingDirectory: '/',
    stdout: { write: (text: string) => void (out += text) },
    stderr: { write: (text: string) => void (out += text) },
  } as unknown as Environment;
  const flags = [`--kubeconfig=${kubeconfig}`, '--cloud-provider=aws', `--cloud-config=${cloudConfig}`];
  const code = await migrateCommand.run(['check', '--steps=load-balancers', '--output=json', ...flags], environment);
  const [step] = (JSON.parse(out) as { steps: Told[] }).steps;
  const foretold = (step?.checks ?? []).map(
    ({ objects = [], state, text }) =>
      [state, text, objects.map((line) => line.split(' ', 2).join(' ').replace(/:$/u, ''))] as const,
  );
  assert.deepEqual(foretold, [
    // The AWS Load Balancer Controller's.
    ['ok', '1 of 6 Services keep what they have, 0 of them are taken over', []],
    [
      'ok',
      'default/classic would be changed',
      ['claim security-group', 'claim classic-load-balancer', 'update classic-load-balancer'],
    ],
    ['ok', 'default/datagrams would be changed', NETWORK],
    [
      'missing',
      `default/datagrams-by-clb would be refused: port 53: a Classic Load Balancer has no UDP: set annotation ${PREFIX}type to nlb`,
      [],
    ],
    ['ok', 'default/network would be changed', NETWORK],
    ['ok', 'default/new would be changed', ['create security-group', 'create target-group']],
  ]);
  assert.equal(code, 1, 'one is refused');
  assert.deepEqual(new Set(server.requests.map(({ method }) => method)), new Set(['GET']));
  const writes = Object.keys(cloud.aws.calls.counts()).filter((one) => !/:(?:Describe|Get)/u.test(one));
  assert.deepEqual([writes, cloud.aws.takeProblems()], [[], []]);
});
