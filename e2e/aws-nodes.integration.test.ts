/** The bundled program with `--cloud-provider=aws`, an API server and an AWS account in memory, all on 127.0.0.1. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock, type Node } from '@outrigger/kube';
import { hollowNode } from '@outrigger/testing';
import { createFakeAws } from '../providers/aws/fake/fake-aws.ts';
import { bundledProgram } from './aws/bundled-program.ts';
import { isInitialised } from './initialised-node.ts';

test('the program finds its cluster by the instance that it runs on, and initialises the nodes of all instances', async (t) => {
  const aws = createFakeAws({ clock: systemClock });
  const { instances } = aws.seedCluster({ nodes: 20, hasPublicNodes: true });
  aws.metadata.instanceId = instances[0]?.id ?? '';
  const overrides = (endpoint: string): readonly string[] =>
    ['EC2', 'STS', 'ec2imds'].map(
      (service) =>
        `[ServiceOverride "${service}"]\nService = ${service}\nRegion = eu-central-1\nURL = ${endpoint}\nSigningRegion = eu-central-1\n`,
    );
  // What the account gives for the role, it asks for: its requests have the signature of that secret.
  const global = '[Global]\nRegion = eu-central-1\nRoleARN = arn:aws:iam::123456789012:role/nodes\n';
  const { manager, readLog, store } = await bundledProgram(t, aws, {
    config: (endpoint) => `${global}${overrides(endpoint).join('')}`,
    env: { AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE', AWS_SECRET_ACCESS_KEY: 'hunter2-hunter2' },
    flags: ['--controllers=cloud-node-controller,cloud-node-lifecycle-controller'],
  });
  for (const { privateDnsName: name } of instances) {
    const ip = /^ip-([\d-]+)/u.exec(name)?.[1]?.replaceAll('-', '.') ?? '';
    store.put(hollowNode({ name, ip }) as Parameters<typeof store.put>[0]);
  }
  manager.start();
  const node = (name: string): Node => store.get({ plural: 'nodes' }, name) as Node;
  const waiting = (): boolean => instances.some(({ privateDnsName }) => !isInitialised(node(privateDnsName)));
  for (let attempt = 0; waiting(); attempt++) {
    assert.ok(attempt < 6_000 && manager.running, await readLog());
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
  // The own instance; the first node; the others together; once more for each part in which a busy machine has them come. One for each would be 21.
  const { 'ec2:DescribeInstances': described = 0, 'sts:AssumeRole': assumed = 0 } = aws.calls.counts();
  assert.equal(assumed, 1);
  assert.ok(described <= 10, `${described} requests`);
  assert.deepEqual(aws.takeProblems(), []);
  assert.equal(await manager.end('SIGTERM'), 0);
  assert.doesNotMatch(await readLog(), /hunter2/u);
});
