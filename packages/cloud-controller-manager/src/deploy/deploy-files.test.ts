import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { deployFiles } from './deploy-files.ts';
import { alerts } from './monitoring/alerts.ts';
import { workload } from './manifest.ts';
import { podTemplate } from './pod-template.ts';

const root = new URL('../../../../', import.meta.url);

for (const [path, expected] of await deployFiles()) {
  test(`deploy/${path} is what is generated (else: node scripts/deploy-manifests.ts)`, () => {
    assert.equal(readFileSync(new URL(`deploy/${path}`, root), 'utf8'), expected);
  });
}

test('each alert has a page that says what it means, what to look at and what to do, and no page has no alert', () => {
  const pages = new URL('docs/runbooks/', root);
  for (const { name } of alerts) {
    const page = new URL(`${name}.md`, pages);
    assert.ok(existsSync(page), `docs/runbooks/${name}.md is missing`);
    const text = readFileSync(page, 'utf8');
    assert.equal(text.split('\n')[0], `# ${name}`);
    assert.deepEqual(
      [...text.matchAll(/^## (.*)$/gmu)].map(([, title]) => title),
      ['What it means', 'What to look at', 'What to do'],
      name,
    );
  }
  const listed = readFileSync(new URL('README.md', pages), 'utf8');
  const known = new Set(alerts.map(({ name }) => `${name}.md`));
  for (const file of readdirSync(pages)) {
    if (file === 'README.md') continue;
    assert.ok(known.has(file), `docs/runbooks/${file} is of no alert`);
    assert.ok(listed.includes(`(${file})`), `docs/runbooks/README.md does not list ${file}`);
  }
});

test('the program starts on nodes that wait for their provider ID, those that Cluster API bootstraps among them', () => {
  const { spec } = podTemplate({}) as { readonly spec: { readonly tolerations: readonly { readonly key: string }[] } };
  const tolerated = new Set(spec.tolerations.map(({ key }) => key));
  for (const prefix of ['node.cloudprovider.kubernetes.io', 'node.cluster.x-k8s.io']) {
    assert.ok(tolerated.has(`${prefix}/uninitialized`), prefix);
  }
});

test('the DaemonSet selects control-plane nodes whatever the value of their label: kubeadm leaves it empty, k3s and RKE2 set "true"', () => {
  const [daemonSet] = workload('DaemonSet') as readonly [
    { readonly spec: { readonly template: { readonly spec: object } } },
  ];
  const { affinity, nodeSelector } = daemonSet.spec.template.spec as Readonly<Record<string, unknown>>;
  assert.equal(nodeSelector, undefined);
  const matchExpressions = [{ key: 'node-role.kubernetes.io/control-plane', operator: 'Exists' }];
  assert.deepEqual(affinity, {
    nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions }] } },
  });
});
