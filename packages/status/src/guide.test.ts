/** What docs/guides/status.md says is what the code does. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { ClusterFacts } from './cluster-facts.ts';
import { judgeCluster } from './judge-cluster.ts';
import { renderStatus } from './render-status.ts';

const guide = readFileSync(new URL('../../../docs/guides/status.md', import.meta.url), 'utf8');
const at = Date.parse('2026-11-23T10:00:00Z');
const seconds = (ago: number): string => new Date(at - ago * 1000).toISOString();

/** As the page's sample has it. */
const facts: ClusterFacts = {
  at,
  server: 'https://10.0.0.10:6443',
  namespace: 'kube-system',
  leaseName: 'cloud-controller-manager',
  lease: {
    value: {
      spec: {
        holderIdentity: 'control-1_0b6f',
        renewTime: seconds(2),
        acquireTime: seconds(3 * 86_400),
        leaseTransitions: 0,
      },
    },
  },
  workloads: { value: [] },
  pods: { value: [] },
  nodes: { value: [] },
  services: {
    value: [
      {
        metadata: { namespace: 'default', name: 'web', uid: 'uid', creationTimestamp: seconds(95) },
        spec: { type: 'LoadBalancer' },
        status: {
          conditions: [
            {
              type: 'LoadBalancerReady',
              status: 'False',
              reason: 'QuotaExceeded',
              message: 'the cloud has no address left (quota)',
              lastTransitionTime: seconds(9),
            },
          ],
        },
      },
    ],
  },
  events: { value: [] },
  webhooks: { value: [] },
  readyz: {
    value: {
      status: 200,
      text: '[+]cloud-memory ok (failing: default: unauthenticated since 2026-11-23T09:58:12.431Z)\n',
    },
  },
  metrics: { value: { status: 200, text: 'outrigger_node_deletions_held 0\n' } },
  certificates: new Map(),
  plans: new Map(),
};

test('the sample of the page is what is printed', () => {
  const [, sample = ''] = /^```console\n\$ outrigger status\n([\s\S]*?)…\n```$/mu.exec(guide) ?? [];
  assert.ok(sample.length > 500);
  const printed = renderStatus(judgeCluster(facts), { colour: false });
  assert.equal(printed.slice(0, sample.length), sample);
});

test('its tables have every section and every member', () => {
  const status = judgeCluster(facts);
  const titles = [...renderStatus(status, { colour: false }).matchAll(/^[A-Z][A-Z ]+$/gmu)].map(([title]) => title);
  assert.equal(titles.length, 13);
  for (const title of titles) assert.match(guide, new RegExp(`^\\|[^|]*\`${title}\``, 'mu'));
  const [, members = ''] = /^\| (`leader`.*) \| exactly one of/mu.exec(guide) ?? [];
  const { apiVersion, at: _, kind: __, problems, server, state, ...sections } = status;
  assert.ok(guide.includes(apiVersion) && problems.length > 0 && server !== '' && state === 'problems');
  assert.deepEqual(
    members
      .split(', ')
      .map((name) => name.replaceAll('`', ''))
      .toSorted(),
    Object.keys(sections).toSorted(),
  );
});
