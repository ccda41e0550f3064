import assert from 'node:assert/strict';
import { exec } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { systemClock } from '@outrigger/kube';
import type { ExplanationList } from './explanation.ts';
import { Bench, greenCloud, page, until } from '../program/program-bench.suite.ts';
import { runMain, type Outcome } from '../program/run-main.suite.ts';

function outrigger({ directory }: Bench, ...args: string[]): Promise<Outcome> {
  return runMain(args, { env: { HOME: directory }, workingDirectory: directory });
}

test('the leader says of a node what it saw, what it plans, what it did and what the cloud was asked', async () => {
  await using bench = await Bench.start();
  bench.addNode('node-1');
  const program = await bench.run(greenCloud());
  await until('initialised', () => bench.isInitialised('node-1'), program.log);
  const asked = ['explain', 'node', 'node-1', `--server=${program.url}`, '--insecure-skip-tls-verify'];
  let told = await outrigger(bench, ...asked);
  const lines = [
    /^node node-1, at \d{4}-/u,
    /^cloud-node-controller$/mu,
    /^ {2}The node was registered\./mu,
    /^ {2}It is initialized; its provider ID is green:\/\/node-1\.$/mu,
    /^ {2}Look-up: its machine is green:\/\/node-1, running: type leaf, zone z1, InternalIP 10\.0\.0\.1\. \(.+ ago\)$/mu,
    /^ {4}- Nothing: it is initialized and matches the cloud/mu,
    /^cloud-node-lifecycle-controller$/mu,
    /^ {2}\S+Z {2}cloud-node-controller: set its provider ID to green:\/\/node-1;.*remove the uninitialized taint.*\(done\)$/mu,
    /^ {2}\S+Z {2}GET \/machines: ok after \d+ ms$/mu,
  ];
  // The watch may show the last write before its answer comes, and its answer may come before the watch shows it.
  const deadline = systemClock.monotonic() + 60_000;
  while (!lines.every((line) => line.test(told.stdout)) && systemClock.monotonic() < deadline) {
    told = await outrigger(bench, ...asked);
  }
  assert.deepEqual([told.code, told.stderr], [0, '']);
  for (const line of lines) assert.match(told.stdout, line);
  const json = await outrigger(bench, ...asked, '--output=json');
  assert.equal((JSON.parse(json.stdout) as { name: string }).name, 'node-1');

  const nobody = await outrigger(
    bench,
    'explain',
    'node',
    'nobody',
    `--server=${program.url}`,
    '--insecure-skip-tls-verify',
  );
  assert.equal(nobody.code, 1);
  assert.match(nobody.stderr, /^outrigger explain: https:\S+: no running controller knows a node nobody \(404\)\n$/u);
  const untrusted = await outrigger(bench, 'explain', 'node', 'node-1', `--server=${program.url}`);
  assert.equal(untrusted.code, 1);
  assert.match(untrusted.stderr, /^outrigger explain: [^\n]*certificate[^\n]*\n$/u);
});

test('the leader lists nodes that wait for something, and no others', async () => {
  await using bench = await Bench.start();
  for (const name of ['node-1', 'node-2']) bench.addNode(name);
  const program = await bench.run(greenCloud());
  await until('initialised', () => ['node-1', 'node-2'].every((name) => bench.isInitialised(name)), program.log);
  const list = async (kind: string): Promise<ExplanationList> =>
    JSON.parse(await page(`${program.url}/explain/${kind}/`)) as ExplanationList;
  assert.deepEqual(await list('service'), { kind: 'service', dryRun: false, items: [] });
  for (const [name, status] of [
    ['node-1', 'True'],
    ['node-2', 'False'],
  ] as const) {
    const node = bench.node(name);
    const conditions = [{ type: 'Ready', status }];
    bench.server.store.put({ ...node, kind: 'Node', apiVersion: 'v1', status: { ...node.status, conditions } });
  }
  let { items } = await list('node');
  const isThere = (): boolean =>
    items.length === 1 && items[0]?.planned[0]?.text === 'Nothing: the node is not Ready, but its machine runs.';
  const deadline = systemClock.monotonic() + 60_000;
  while (!isThere() && systemClock.monotonic() < deadline) {
    await systemClock.sleep(100);
    ({ items } = await list('node'));
  }
  assert.deepEqual(
    items.map(({ controller, name, state }) => [controller, name, state]),
    [['cloud-node-lifecycle-controller', 'node-2', 'wait']],
  );
});

test('a Service is of --namespace, else of the namespace of the context', async () => {
  await using bench = await Bench.start();
  const paths: string[] = [];
  const manager = createServer(({ url = '' }, response) => {
    paths.push(url);
    response.writeHead(404).end('no such thing');
  }).listen(0, '127.0.0.1');
  await once(manager, 'listening');
  try {
    const server = `--server=http://127.0.0.1:${(manager.address() as AddressInfo).port}`;
    const yaml = bench.server.kubeconfig('certificate').yaml;
    await writeFile(join(bench.directory, 'team'), yaml.replace(/^( *)(user: .*)$/mu, '$1$2\n$1namespace: team-a'));
    for (const args of [
      ['web', server],
      ['web', server, `--kubeconfig=${join(bench.directory, 'team')}`],
      ['web', server, `--kubeconfig=${join(bench.directory, 'team')}`, '-n', 'team-b'],
      ['team-c/web', server, '--namespace=team-b'],
    ]) {
      await outrigger(bench, 'explain', 'service', ...args);
    }
    assert.deepEqual(
      paths,
      ['default', 'team-a', 'team-b', 'team-c'].map((namespace) => `/explain/service/${namespace}/web`),
    );
  } finally {
    manager.close();
  }
});

test('through a forwarded port a manager is known by its certificate and the name in it', async () => {
  await using bench = await Bench.start();
  bench.addNode('node-1');
  const program = await bench.run(greenCloud());
  await until('initialised', () => bench.isInitialised('node-1'), program.log);
  const guide = await readFile(new URL('../../../../docs/guides/explain.md', import.meta.url), 'utf8');
  const fetching = /^\$ (openssl s_client .*)$/mu
    .exec(guide)?.[1]
    ?.replace('127.0.0.1:10258', new URL(program.url).host);
  assert.ok(fetching, 'the guide says how to fetch the certificate');
  await promisify(exec)(fetching, { cwd: bench.directory });
  const asked = ['explain', 'node', 'node-1', `--server=${program.url}`, '--certificate-authority=ca.crt'];
  const byAddress = await outrigger(bench, ...asked);
  assert.deepEqual([byAddress.code, byAddress.stderr], [0, '']);
  const { code, stderr } = await outrigger(bench, ...asked, '--tls-server-name=localhost');
  assert.deepEqual([code, stderr], [0, '']);
  const other = await outrigger(bench, ...asked, '--tls-server-name=somebody.example');
  assert.equal(other.code, 1);
  assert.match(other.stderr, /somebody\.example/u);
});

test('explanations go by --profiling, in a dry run too, and the plan goes by --dry-run', async () => {
  await using bench = await Bench.start();
  bench.addNode('node-1');
  for (const [args, served] of [
    [[], ['/debug/flags/v', '/explain/']],
    [['--profiling=false'], []],
    [['--dry-run'], ['/debug/flags/v', '/debug/plan', '/explain/']],
    [['--dry-run', '--profiling=false'], ['/debug/plan']],
  ] as const) {
    const program = await bench.run(greenCloud(), ...args);
    await until('it serves', () => program.log().includes('"Serving"'), program.log);
    const answers = {
      '/debug/explain/': await page(`${program.url}/debug/explain/node/node-1`),
      '/debug/flags/v': await page(`${program.url}/debug/flags/v`),
      '/debug/plan': await page(`${program.url}/debug/plan`),
      '/explain/': await page(`${program.url}/explain/node/node-1`),
    };
    const answered = Object.entries(answers).filter(([, text]) => text !== '404 page not found\n');
    assert.deepEqual(
      answered.map(([path]) => path),
      served,
      `with ${args.join(' ')}`,
    );
    const { paths } = JSON.parse(await page(`${program.url}/`)) as { readonly paths: readonly string[] };
    const listed = paths.filter((path) => path in answers);
    assert.deepEqual(
      listed,
      served.filter((path) => path !== '/debug/flags/v'),
    );
    if (args.some((arg) => arg === '--dry-run'))
      assert.match(answers['/debug/plan'], /^\{"at":"\d{4}-\d\d-\d\dT[\d:.]+Z","planned":\[/u);
  }
});

test('a loopback address alone opens neither explanations nor the plan', async () => {
  await using bench = await Bench.start();
  const program = await bench.run(greenCloud(), '--dry-run', '--insecure-loopback=false');
  await until('it serves', () => program.log().includes('"Serving"'), program.log);
  for (const path of ['/explain/node/node-1', '/debug/plan'])
    assert.match(await page(program.url + path), /is not served to callers without authentication/u);
  assert.match(await page(`${program.url}/version`), /"gitVersion"/u);
});

test('the leader is found by its Lease, at the address of its Pod; who does not lead says who does', async () => {
  await using bench = await Bench.start();
  bench.addNode('node-1');
  bench.server.store.put({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: 'kube-system', name: 'test', uid: 'uid-test' },
    spec: { containers: [] },
    status: { phase: 'Running', podIP: '127.0.0.1' },
  });
  const leader = await bench.run(greenCloud());
  await until('initialised', () => bench.isInitialised('node-1'), leader.log);
  const { port } = new URL(leader.url);
  const kubeconfig = `--kubeconfig=${join(bench.directory, 'kubeconfig')}`;
  const found = await outrigger(
    bench,
    'explain',
    'node',
    'node-1',
    kubeconfig,
    `--manager-port=${port}`,
    '--insecure-skip-tls-verify',
  );
  assert.deepEqual([found.code, found.stderr], [0, '']);
  assert.match(found.stdout, /^node node-1, at/u);

  const second = await bench.run(greenCloud());
  const holder = bench.lease()?.spec?.holderIdentity ?? '';
  const ask = (): Promise<Outcome> =>
    outrigger(bench, 'explain', 'node', 'node-1', `--server=${second.url}`, '--insecure-skip-tls-verify');
  let refused = await ask();
  const deadline = systemClock.monotonic() + 60_000;
  while (!refused.stderr.includes(holder) && systemClock.monotonic() < deadline) refused = await ask();
  assert.equal(refused.code, 1);
  assert.match(
    refused.stderr,
    /no controller runs in this process; send the request to the leader, test_\S+ \(503\)\n$/u,
  );
});

test('a command line that is wrong is one line; without a Lease it says what to name', async () => {
  await using bench = await Bench.start();
  await writeFile(join(bench.directory, 'token'), 'secret\n');
  const kubeconfig = `--kubeconfig=${join(bench.directory, 'kubeconfig')}`;
  for (const [args, message] of [
    [['pod', 'a'], /expected node\|service\|route\|persistentvolume\|certificatesigningrequest and one name/u],
    [
      ['node', 'a', kubeconfig],
      /Lease kube-system\/cloud-controller-manager not found: set --leader-elect-resource-name, or --server/u,
    ],
    [['node', 'a', '--server=https://127.0.0.1:1', '--token-file=token'], /127\.0\.0\.1:1/u],
    [
      ['node', 'a', '--server=https://127.0.0.1:1', '--token-file=none'],
      /: --token-file=none: there is no such file$/mu,
    ],
    [
      ['node', 'a', '--server=https://127.0.0.1:1', '--certificate-authority=none'],
      /: --certificate-authority=none: there is no such file$/mu,
    ],
    [['node', 'a', '--kubeconfig=none'], /--kubeconfig=none: there is no such file$/mu],
  ] as const) {
    const { code, stderr, stdout } = await outrigger(bench, 'explain', ...args);
    assert.deepEqual([code, stdout], [1, '']);
    assert.match(stderr, message);
    assert.match(stderr, /^outrigger explain: [^\n]+\n$/u);
    assert.doesNotMatch(stderr, /secret/u);
  }
});
