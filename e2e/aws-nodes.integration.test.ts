/** The bundled program with `--cloud-provider=aws`, an API server and an AWS account in memory, all on 127.0.0.1. */
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemClock, type Node } from '@outrigger/kube';
import { hollowNode, startEmbeddedApiServer } from '@outrigger/testing';
import { createFakeAws } from '../providers/aws/fake/fake-aws.ts';
import { buildProgram } from '../scripts/build-program.ts';
import { isInitialised } from './initialised-node.ts';
import { Manager } from './manager.ts';
import { setEnv } from './set-env.ts';

const ENV = {
  AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE',
  AWS_SECRET_ACCESS_KEY: 'hunter2-hunter2',
  AWS_CONFIG_FILE: '/nowhere',
  AWS_SHARED_CREDENTIALS_FILE: '/nowhere',
};

test('the program finds its cluster by the instance that it runs on, and initialises the nodes of all instances', async (t) => {
  const aws = createFakeAws({ clock: systemClock });
  const { instances } = aws.seedCluster({ nodes: 20, hasPublicNodes: true });
  aws.metadata.instanceId = instances[0]?.id ?? '';
  await using cloud = await aws.listen();
  const directory = await mkdtemp(join(tmpdir(), 'aws-nodes-'));
  t.after(() => rm(directory, { recursive: true }));
  const [config, kubeconfig, log] = ['aws.conf', 'kubeconfig', 'log'].map((file) => join(directory, file)) as [
    string,
    string,
    string,
  ];
  const overrides = ['EC2', 'STS', 'ec2imds'].map(
    (service) =>
      `[ServiceOverride "${service}"]\nService = ${service}\nRegion = eu-central-1\nURL = ${cloud.endpoint}\nSigningRegion = eu-central-1\n`,
  );
  // What the account gives for the role, it asks for: its requests have the signature of that secret.
  const global = '[Global]\nRegion = eu-central-1\nRoleARN = arn:aws:iam::123456789012:role/nodes\n';
  await writeFile(config, `${global}${overrides.join('')}`, { mode: 0o600 });
  await using server = await startEmbeddedApiServer();
  await writeFile(kubeconfig, server.kubeconfig().yaml, { mode: 0o600 });
  for (const { privateDnsName: name } of instances) {
    const ip = /^ip-([\d-]+)/u.exec(name)?.[1]?.replaceAll('-', '.') ?? '';
    server.store.put(hollowNode({ name, ip }) as Parameters<typeof server.store.put>[0]);
  }
  setEnv(t, ENV);
  await using manager = new Manager(
    [
      '--cloud-provider=aws',
      `--cloud-config=${config}`,
      `--kubeconfig=${kubeconfig}`,
      '--leader-elect=false',
      '--secure-port=0',
      '--controllers=cloud-node-controller,cloud-node-lifecycle-controller',
    ],
    log,
    1,
    (await buildProgram(directory, false)).bundle,
  );
  manager.start();
  const node = (name: string): Node => server.store.get({ plural: 'nodes' }, name) as Node;
  const waiting = (): boolean => instances.some(({ privateDnsName }) => !isInitialised(node(privateDnsName)));
  for (let attempt = 0; waiting(); attempt++) {
    assert.ok(attempt < 1_200 && manager.running, await readFile(log, 'utf8'));
    await systemClock.sleep(50);
  }
  for (const { id, privateDnsName, subnetId, type } of instances) {
    const { metadata, spec } = node(privateDnsName);
    const zone = aws.account.subnets.get(subnetId)?.zone;
    assert.equal(spec?.providerID, `aws:///${zone}/${id}`);
    assert.equal(metadata?.labels?.['topology.kubernetes.io/zone'], zone);
    assert.equal(metadata?.labels?.['node.kubernetes.io/instance-type'], type);
    assert.match(metadata?.labels?.['topology.k8s.aws/zone-id'] ?? '', /^euc1-az/u);
  }
  // The own instance; the first node; the others together; once more where one of them came later.
  const { 'ec2:DescribeInstances': described = 0, 'sts:AssumeRole': assumed = 0 } = aws.calls.counts();
  assert.equal(assumed, 1);
  assert.ok(described <= 4, `${described} requests`);
  assert.deepEqual(aws.takeProblems(), []);
  assert.equal(await manager.end('SIGTERM'), 0);
  assert.doesNotMatch(await readFile(log, 'utf8'), /hunter2/u);
});
