/** There is no Cluster API here: its own definitions judge what the page tells a person to write. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { controlPlaneOrSkip } from '@outrigger/testing';
import { parse } from 'yaml';
import { CLUSTER_API, define, downloadDefinitions } from './custom-definitions.ts';
import { kubectl } from './granted-program.ts';

const PAGE = new URL('../docs/guides/deploy/cluster-api.md', import.meta.url);

interface Shown {
  readonly kind: string;
  readonly spec: object;
}

/** What a person has besides, of whatever infrastructure. */
const BESIDES: Readonly<Record<string, object>> = {
  KubeadmControlPlane: {
    version: 'v1.36.0',
    machineTemplate: {
      spec: { infrastructureRef: { apiGroup: 'infrastructure.cluster.x-k8s.io', kind: 'AnyTemplate', name: 'any' } },
    },
  },
  KubeadmConfigTemplate: {},
};

test("an API server that has Cluster API's definitions takes the page's objects as they are", async (t) => {
  try {
    await downloadDefinitions(CLUSTER_API);
  } catch (error) {
    if (process.env['CI']) throw error;
    t.skip(`the definitions of Cluster API cannot be had: ${(error as Error).message}`);
    return;
  }
  const controlPlane = await controlPlaneOrSkip(t, { kubectl: true, auditLog: false });
  if (!controlPlane) return;
  await define(controlPlane, CLUSTER_API);
  const apply = (object: object): Promise<string> => {
    const args = ['apply', '--dry-run=server', '--warnings-as-errors', '--validate=strict', '--output=name', '-f', '-'];
    return kubectl(controlPlane, args, JSON.stringify(object));
  };
  const blocks = [...(await readFile(PAGE, 'utf8')).matchAll(/^```yaml\n([\s\S]*?)^```$/gmu)];
  const objects = blocks.map(([, text = '']) => parse(text) as Shown);
  assert.deepEqual(objects.map(({ kind }) => kind).toSorted(), Object.keys(BESIDES).toSorted());
  for (const { kind, spec, ...rest } of objects) {
    const whole = { ...rest, kind, metadata: { name: 'page' }, spec: { ...BESIDES[kind], ...spec } };
    assert.match(await apply(whole), new RegExp(`^${kind.toLowerCase()}\\..*/page\n$`, 'u'));
    // What the definitions do not know, they refuse: the maps of v1beta1 too.
    const misspelt = JSON.parse(JSON.stringify(whole).replaceAll('"kubeletExtraArgs"', '"kubeletExtraArg"')) as object;
    await assert.rejects(apply(misspelt), /unknown field/u);
  }
});
