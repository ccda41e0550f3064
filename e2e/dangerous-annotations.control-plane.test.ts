/** The policy that `outrigger admission-policy` prints for each cloud holds back, on a real API server, all that its table of annotations marks as dangerous, and no other annotation. */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { defaultCommands, newCloudControllerManager } from '@outrigger/cloud-controller-manager';
import {
  isForbidden,
  resources,
  systemClock,
  type Client,
  type KubeObject,
  type Resource,
  type Service,
} from '@outrigger/kube';
import { clientOf, sharedControlPlane } from '@outrigger/testing';
import { parseAllDocuments } from 'yaml';
import { testEnvironment } from '../packages/cloud-controller-manager/src/program/test-environment.suite.ts';
import { createAwsProvider } from '../providers/aws/src/aws-provider.ts';
import { annotationRows } from '../providers/aws/src/load-balancer/annotations/annotation-rows.ts';
import { annotationTable } from '../providers/openstack/src/load-balancer/desired/annotation-table.ts';

const shared = sharedControlPlane(after);
/** No cloud is there: the command needs none. */
const aws = createAwsProvider({
  env: { AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE', AWS_SECRET_ACCESS_KEY: 'secret', AWS_REGION: 'eu-central-1' },
  fetch: () => Promise.reject(new TypeError('fetch failed')),
});
const manager = newCloudControllerManager({
  providers: {
    aws: () => Promise.resolve({ default: () => aws }),
    openstack: () => import('@outrigger/provider-openstack'),
  },
  commands: defaultCommands,
});

interface Row {
  readonly name: string;
  readonly dangerous?: string;
}

const CLOUDS: readonly { readonly name: string; readonly config: string; readonly rows: readonly Row[] }[] = [
  { name: 'aws', config: '[Global]\nKubernetesClusterID = test\n', rows: Object.values(annotationRows) },
  {
    name: 'openstack',
    config: '[Global]\nauth-url = http://keystone.test\ntoken = none\n',
    rows: Object.values(annotationTable),
  },
];

const policiesResource = (kind: string, plural: string): Resource => ({
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  plural,
  kind,
  namespaced: false,
});
const RESOURCES: Readonly<Record<string, Resource>> = {
  ValidatingAdmissionPolicy: policiesResource('ValidatingAdmissionPolicy', 'validatingadmissionpolicies'),
  ValidatingAdmissionPolicyBinding: policiesResource(
    'ValidatingAdmissionPolicyBinding',
    'validatingadmissionpolicybindings',
  ),
};

/** What the command prints, as objects. */
async function printed(cloud: string, config: string): Promise<readonly KubeObject[]> {
  const workingDirectory = await mkdtemp(join(tmpdir(), 'outrigger-policy-'));
  try {
    await writeFile(join(workingDirectory, 'cloud.conf'), config);
    let [text, errors] = ['', ''];
    const trusted = '--trusted-service-namespaces=ingress,trusted';
    const code = await manager.main(
      ['admission-policy', `--cloud-provider=${cloud}`, '--cloud-config=cloud.conf', trusted],
      {
        ...testEnvironment(workingDirectory, (more) => void (errors += more)),
        program: 'outrigger',
        stdout: { write: (more) => void (text += more) },
      },
    );
    assert.deepEqual([code, errors], [0, '']);
    return parseAllDocuments(text).map((document) => document.toJS() as KubeObject);
  } finally {
    await rm(workingDirectory, { recursive: true });
  }
}

/** How the API server refuses the Service that has this; nothing is stored. Empty: it takes it. */
async function refusalOf(client: Client, namespace: string, annotations: Readonly<Record<string, string>>) {
  const service: Service = {
    metadata: { name: 'asked', namespace, annotations },
    spec: { type: 'LoadBalancer', ports: [{ port: 80 }], selector: { a: 'b' } },
  };
  try {
    await client.of(resources.services).create(service, { dryRun: true });
    return '';
  } catch (error) {
    assert.ok(isForbidden(error), String(error));
    return error.message;
  }
}

for (const { config, name: cloud, rows } of CLOUDS) {
  test(`${cloud}: each dangerous annotation is for trusted namespaces alone, each other one for all`, async (t) => {
    const controlPlane = await shared(t);
    if (!controlPlane) return;
    await using client = await clientOf(controlPlane.kubeconfig.path);
    for (const name of ['trusted', 'other']) await client.of(resources.namespaces).create({ metadata: { name } });
    for (const object of await printed(cloud, config)) {
      const resource = RESOURCES[object.kind ?? ''] ?? assert.fail(`the command prints a ${object.kind}`);
      await client.of(resource).create(object);
    }
    const dangerous = rows.filter((row) => row.dangerous !== undefined);
    assert.ok(dangerous.length > 5 && dangerous.length < rows.length);
    // The API server takes a moment to learn of a policy.
    const deadline = systemClock.monotonic() + 180_000;
    while ((await refusalOf(client, 'other', { [dangerous[0]!.name]: 'x' })) === '') {
      assert.ok(systemClock.monotonic() < deadline, 'the policy is in force within 180 s');
      await systemClock.sleep(200);
    }
    for (const { dangerous: why, name } of rows) {
      const refusal = await refusalOf(client, 'other', { [name]: 'x' });
      if (why === undefined) assert.equal(refusal, '', name);
      else assert.ok(refusal.includes(`may not have the annotation ${name}, which ${why}`), `${name}: ${refusal}`);
      assert.equal(await refusalOf(client, 'trusted', { [name]: 'x' }), '', name);
    }
  });
}
