import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { readFileSync } from 'node:fs';
import { get } from 'node:https';
import { after, test } from 'node:test';
import { systemClock } from '@outrigger/kube';
import { clientOf, freePort, sharedControlPlane, type ControlPlane } from '@outrigger/testing';
import { main } from '../program/main.ts';
import { greenCloud } from '../program/program-bench.suite.ts';
import { upstreamMetrics } from './upstream-metrics.suite.ts';

const shared = sharedControlPlane(after);

const CLUSTER_ROLE = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  metadata: { name: 'reads-metrics' },
  rules: [{ nonResourceURLs: ['/metrics'], verbs: ['get'] }],
};
const BINDING = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRoleBinding',
  metadata: { name: 'reads-metrics' },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'reads-metrics' },
  subjects: [
    { kind: 'ServiceAccount', namespace: 'default', name: 'scraper' },
    { kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'certified' },
  ],
};

async function grant(controlPlane: ControlPlane): Promise<void> {
  await using client = await clientOf(controlPlane.kubeconfig.path);
  const rbac = { group: 'rbac.authorization.k8s.io', version: 'v1', namespaced: false };
  await client.of({ ...rbac, plural: 'clusterroles', kind: 'ClusterRole' }).create(CLUSTER_ROLE);
  await client.of({ ...rbac, plural: 'clusterrolebindings', kind: 'ClusterRoleBinding' }).create(BINDING);
}

/** Name → type and labels of what a page of metrics shows; the labels of the first sample. */
function metricsOf(text: string): ReadonlyMap<string, { readonly type: string; readonly labels: string | undefined }> {
  const metrics = new Map<string, { readonly type: string; readonly labels: string | undefined }>();
  for (const [, name = '', type = ''] of text.matchAll(/^# TYPE (\S+) (\S+)$/gmu)) {
    const sample = new RegExp(`^${name}(?:_bucket|_sum|_count)?(?:\\{(.*)\\})? `, 'mu').exec(text);
    const labels = [...(sample?.[1] ?? '').matchAll(/(?:^|,)(\w+)="/gu)].map(([, label]) => label ?? '');
    const own = labels.filter((label) => label !== 'le').toSorted();
    metrics.set(name, { type, labels: sample === null ? undefined : own.join(',') });
  }
  return metrics;
}

/** What the page of metrics says of each of upstream's. */
function documentedMetrics(): ReadonlyMap<string, string> {
  const page = readFileSync(new URL('../../../../docs/reference/metrics.md', import.meta.url), 'utf8');
  const rows = page.slice(0, page.indexOf('## More')).matchAll(/^\| `(\w+)` \|.*\| ([^|]+) \|$/gmu);
  return new Map([...rows].map(([, name = '', here = '']) => [name, here]));
}

function checkMetrics(text: string): void {
  const [served, documented] = [metricsOf(text), documentedMetrics()];
  assert.deepEqual(
    [...documented.keys()],
    upstreamMetrics.map(([name]) => name),
  );
  for (const [name, type, labels] of upstreamMetrics) {
    const metric = served.get(name);
    const here = documented.get(name) ?? '';
    if (here === 'same') {
      assert.ok(metric, `${name} is not served`);
      assert.equal(metric.type, type, name);
      if (metric.labels !== undefined) assert.equal(metric.labels, labels, name);
    } else if (!/^with |^when /u.test(here)) {
      assert.equal(metric, undefined, `${name} is served, and docs/reference/metrics.md says why it is not`);
    }
  }
}

interface Caller {
  readonly token?: string;
  readonly certificate?: { readonly certificate: string; readonly key: string };
}

async function ask(port: number, path: string, caller: Caller = {}): Promise<number> {
  return (await answerOf(port, path, caller)).status;
}

function answerOf(
  port: number,
  path: string,
  { certificate, token }: Caller,
): Promise<{ readonly status: number; readonly text: string }> {
  return new Promise((resolve, reject) => {
    get(
      `https://127.0.0.1:${port}${path}`,
      {
        rejectUnauthorized: false,
        agent: false,
        ...(token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } }),
        ...(certificate && { cert: certificate.certificate, key: certificate.key }),
      },
      (response) => {
        let text = '';
        response.on('data', (chunk: Buffer) => (text += chunk.toString()));
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
      },
    ).on('error', reject);
  });
}

test('the API server says who callers are and what they may ask for', async (t) => {
  const controlPlane = await shared(t);
  if (!controlPlane) return;
  await grant(controlPlane);
  const port = await freePort();
  const signals = new EventEmitter();
  const { path: kubeconfig } = controlPlane.kubeconfig;
  let log = '';
  const ended = main(
    [
      '--cloud-provider=green',
      `--kubeconfig=${kubeconfig}`,
      `--authentication-kubeconfig=${kubeconfig}`,
      `--authorization-kubeconfig=${kubeconfig}`,
      '--bind-address=127.0.0.1',
      `--secure-port=${port}`,
      // Longer than this test takes anywhere: it counts the questions.
      '--authentication-token-webhook-cache-ttl=1h',
      '-v=2',
    ],
    {
      builtInProviders: { green: () => Promise.resolve({ default: () => greenCloud() }) },
      env: {},
      stdout: { write: () => true },
      stderr: { write: (text) => void (log += text) },
      signals,
      exit: () => assert.fail('must not exit by itself'),
      workingDirectory: controlPlane.directory,
      hostname: 'test',
    },
  );
  for (let i = 0; i < 9_000 && !log.includes('Became leader'); i++) await systemClock.sleep(20);
  try {
    const scraper = await controlPlane.serviceAccountToken('default', 'scraper');
    const other = await controlPlane.serviceAccountToken('default', 'other');
    assert.equal(await ask(port, '/metrics', { token: scraper }), 200, log);
    assert.equal(await ask(port, '/configz', { token: scraper }), 403);
    assert.equal(await ask(port, '/metrics', { token: other }), 403);
    assert.equal(await ask(port, '/metrics', { token: `${scraper.slice(0, -4)}AAAA` }), 401);
    assert.equal(await ask(port, '/metrics'), 403);
    for (const path of ['/healthz', '/livez', '/readyz', '/healthz/leaderElection']) {
      assert.equal(await ask(port, path), 200, path);
    }
    // The authorities come from ConfigMap kube-system/extension-apiserver-authentication.
    const certificate = await controlPlane.certificateFor({ user: 'certified' });
    assert.equal(await ask(port, '/metrics', { certificate }), 200, log);
    assert.equal(await ask(port, '/configz', { certificate }), 403);
    const admin = await controlPlane.certificateFor({ user: 'root', groups: ['system:masters'] });
    assert.equal(await ask(port, '/configz', { certificate: admin }), 200);
    const pages = await Promise.all(
      ['/metrics', '/metrics/slis'].map((path) => answerOf(port, path, { certificate: admin })),
    );
    checkMetrics(pages.map(({ text }) => text).join(''));
    const reviews = await controlPlane.auditLog.requests(({ objectRef }) => objectRef?.resource === 'tokenreviews');
    assert.equal(reviews.length, 3, 'one question for each token');
    assert.ok(!log.includes(scraper.split('.').at(-1) ?? ''), 'the token is in the log');
  } finally {
    signals.emit('SIGTERM', 'SIGTERM');
    assert.equal(await ended, 0, log);
  }
});

test('an identity that may not read whom the cluster trusts ends the start, unless that is tolerated', async (t) => {
  const controlPlane = await shared(t);
  if (!controlPlane) return;
  const weak = await controlPlane.kubeconfigFor({ user: 'weak', groups: [] });
  const start = async (...args: readonly string[]): Promise<{ readonly code: number; readonly log: string }> => {
    let log = '';
    const signals = new EventEmitter();
    const ended = main(
      [
        '--cloud-provider=green',
        `--kubeconfig=${controlPlane.kubeconfig.path}`,
        `--authentication-kubeconfig=${weak.path}`,
        '--bind-address=127.0.0.1',
        `--secure-port=${await freePort()}`,
        '--leader-elect=false',
        ...args,
      ],
      {
        builtInProviders: { green: () => Promise.resolve({ default: () => greenCloud() }) },
        env: {},
        stdout: { write: () => true },
        stderr: {
          write: (text) => {
            log += text;
            if (text.includes('Controller started')) signals.emit('SIGTERM', 'SIGTERM');
          },
        },
        signals,
        exit: () => assert.fail('must not exit by itself'),
        workingDirectory: controlPlane.directory,
        hostname: 'test',
      },
    );
    return { code: await ended, log };
  };
  const refused = await start();
  assert.equal(refused.code, 1, refused.log);
  assert.match(refused.log, /bind this identity to the Role extension-apiserver-authentication-reader/u);
  const tolerated = await start('--authentication-tolerate-lookup-failure');
  assert.equal(tolerated.code, 0, tolerated.log);
  const skipped = await start('--authentication-skip-lookup');
  assert.equal(skipped.code, 0, skipped.log);
});
