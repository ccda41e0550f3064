import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { newCloudControllerManager } from '@outrigger/cloud-controller-manager';
import { hollowNode, startEmbeddedApiServer } from '@outrigger/testing';
import type { ClusterStatus } from './cluster-status.ts';
import { doctorCommand, statusCommand } from './status-command.ts';

interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const ESCAPE = '\u001B';
const program = newCloudControllerManager({ providers: {}, commands: [doctorCommand, statusCommand] });

/** `columns`: of a terminal; default: none. */
async function run(
  args: readonly string[],
  { columns, env = {} }: { readonly columns?: number; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<Outcome> {
  let [stdout, stderr] = ['', ''];
  const code = await program.main(args, {
    program: 'outrigger',
    env: { HOME: '/nonexistent', ...env },
    stdout: { write: (text) => void (stdout += text), ...(columns !== undefined && { columns }) },
    stderr: { write: (text) => void (stderr += text) },
    signals: new EventEmitter(),
    exit: () => assert.fail('must not exit by itself'),
    workingDirectory: import.meta.dirname,
    hostname: 'test',
  });
  return { code, stdout, stderr };
}

test('without a leader it says so with the remedy and the runbook, as text and as JSON; colours are for terminals', async (t) => {
  await using server = await startEmbeddedApiServer();
  const directory = await mkdtemp(join(tmpdir(), 'outrigger-status-'));
  t.after(() => rm(directory, { recursive: true }));
  const kubeconfig = join(directory, 'kubeconfig');
  await writeFile(kubeconfig, server.kubeconfig().yaml);
  const node = hollowNode({ name: 'worker-1' });
  const metadata = { ...node.metadata, name: 'worker-1', uid: 'uid-1', creationTimestamp: '2026-01-01T00:00:00Z' };
  server.store.put({ ...node, metadata });
  const flag = `--kubeconfig=${kubeconfig}`;

  const text = await run(['status', flag]);
  assert.deepEqual([text.code, text.stderr], [2, '']);
  for (const line of [
    /^Problems: 2 problems; 7 of the checks could not be made \(https:\/\/127\.0\.0\.1:\d+, \S+Z\)$/mu,
    /^1\. ERROR There is no leader: the Lease kube-system\/cloud-controller-manager does not exist\.$/mu,
    /^ {3}Remedy: {2}Start the cloud-controller-manager, or name its Lease/mu,
    /^ {3}Run: {5}kubectl --namespace=kube-system get pods /mu,
    /^ {3}Runbook: OutriggerNoLeader$/mu,
    /^2\. ERROR Node worker-1: It has not been initialized for \d+d: no Event says why$/mu,
    /^ {3}Run: {5}outrigger explain node worker-1\n {12}kubectl describe node worker-1\n {3}Runbook: OutriggerNodesUninitialized$/mu,
    /^UNKNOWN\n {2}HEALTH, PROCESS, CLOUDS, NODE DELETIONS, ROUTES, ORPHANS, BUDGET: there is no leader$/mu,
    /^NODES\n {2}TOTAL {3}INITIALIZED {3}WAITING\n {2}1 {7}0 {13}1\n {4}worker-1 {3}\d+d$/mu,
    /^WEBHOOKS\n {2}<none>$/mu,
  ]) {
    assert.match(text.stdout, line);
  }
  const plain = await run(['status', flag], { columns: 80, env: { NO_COLOR: '1' } });
  const coloured = await run(['doctor', flag], { columns: 80 });
  assert.deepEqual(
    [text, plain].filter(({ stdout }) => stdout.includes(ESCAPE)),
    [],
  );
  assert.ok(coloured.stdout.startsWith(`${ESCAPE}[31mProblems${ESCAPE}[0m: 2 problems`), coloured.stdout);

  const json = await run(['status', flag, '-o', 'json']);
  assert.equal(json.code, 2);
  const status = JSON.parse(json.stdout) as ClusterStatus;
  assert.deepEqual([status.apiVersion, status.kind], ['status.outrigger.dev/v1alpha1', 'ClusterStatus']);
  assert.deepEqual(
    status.problems.map(({ section }) => section),
    ['leader', 'nodes'],
  );
  assert.equal(server.requests.filter(({ method }) => method !== 'GET').length, 0, 'nothing is written');
});

test('a leader that is frozen, or not there, leaves what the cluster says to be told; what all lack is said once', async (t) => {
  await using server = await startEmbeddedApiServer();
  const directory = await mkdtemp(join(tmpdir(), 'outrigger-status-'));
  t.after(() => rm(directory, { recursive: true }));
  const kubeconfig = join(directory, 'kubeconfig');
  await writeFile(kubeconfig, server.kubeconfig().yaml);
  const frozen = createServer(() => {});
  frozen.listen(0, '127.0.0.1');
  await once(frozen, 'listening');
  const { port } = frozen.address() as AddressInfo;
  const args = ['status', `--kubeconfig=${kubeconfig}`, `--server=https://127.0.0.1:${port}`, '--request-timeout=15s'];
  const silent = await run(args);
  frozen.close();
  const refused = await run(args);
  for (const [{ code, stderr, stdout }, why] of [
    [silent, 'no answer within 5000 ms'],
    [refused, 'connection refused; is the manager running there, with this --secure-port\\?'],
  ] as const) {
    assert.deepEqual([code, stderr], [2, '']);
    assert.match(stdout, /^1\. ERROR There is no leader: /mu);
    assert.match(stdout, /^NODES\n {2}TOTAL .*\n {2}0 /mu);
    const lines = [...stdout.matchAll(/^ {2}([A-Z, ]+): .*$/gmu)].filter(([line]) => line.includes(`:${port}: `));
    assert.deepEqual(
      lines.map(([, sections]) => sections),
      ['HEALTH, PROCESS, CLOUDS, NODE DELETIONS, ROUTES, ORPHANS, BUDGET'],
      stdout,
    );
    assert.match(lines[0]?.[0] ?? '', new RegExp(why, 'u'));
  }
});

test('who cannot ask is told why in one line, with exit code 1', async (t) => {
  await using server = await startEmbeddedApiServer();
  const directory = await mkdtemp(join(tmpdir(), 'outrigger-status-'));
  t.after(() => rm(directory, { recursive: true }));
  const { yaml } = server.kubeconfig('token');
  const files = {
    stranger: yaml.replace(/token: .*/u, 'token: somebody'),
    nowhere: yaml.replace(/server: .*/u, 'server: https://127.0.0.1:1'),
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(directory, name), text);
  for (const [args, message] of [
    [[`--kubeconfig=${join(directory, 'stranger')}`], /401/u],
    [[`--kubeconfig=${join(directory, 'nowhere')}`, '--request-timeout=2s'], /127\.0\.0\.1:1/u],
    [['--kubeconfig=none'], /--kubeconfig=none: there is no such file/u],
    [['now'], /unexpected argument "now"/u],
  ] as const) {
    const { code, stderr, stdout } = await run(['status', ...args]);
    assert.deepEqual([code, stdout], [1, '']);
    assert.match(stderr, /^outrigger status: [^\n]+\n$/u);
    assert.match(stderr, message);
  }
});
