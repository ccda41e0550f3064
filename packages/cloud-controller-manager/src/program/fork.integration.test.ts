/** The fork of docs/guides/build-your-own.md, as the program that it is. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { systemClock } from '@outrigger/kube';
import { freePort } from '@outrigger/testing';
import { parseAllDocuments } from 'yaml';
import { planZoneLabel, zoneLabelController } from '../../examples/fork/zone-label-controller.ts';
import { defaultCommands } from '../commands/commands.ts';
import { newCloudControllerManager } from './cloud-controller-manager.ts';
import type { CloudController } from '../controllers/cloud-controller.ts';
import { defaultControllers } from '../controllers/controllers.ts';
import { nodeFlags } from '../options/node-flags.ts';
import { Bench } from './program-bench.suite.ts';

const examples = new URL('../../examples/fork/', import.meta.url);
const ZONE = 'topology.kubernetes.io/zone';
const LABEL = 'example.com/zone';

/** The fork as a process. `stop` asks it to end. */
function startFork(...args: string[]): {
  readonly ended: Promise<number | null>;
  readonly log: () => string;
  readonly stop: () => void;
} {
  const child = spawn(process.execPath, [fileURLToPath(new URL('fork.ts', examples)), ...args], {
    stdio: ['ignore', 'inherit', 'pipe'],
  });
  let log = '';
  child.stderr.on('data', (chunk: Buffer) => (log += chunk.toString()));
  return {
    ended: once(child, 'close').then(([code]) => code as number | null),
    log: () => log,
    stop: () => void child.kill('SIGTERM'),
  };
}

/** What comes of arguments that run no controller, for a program with the fork's own one alone. */
async function run(...args: string[]): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
  let [out, err] = ['', ''];
  const manager = newCloudControllerManager({
    providers: {},
    controllers: [zoneLabelController],
    commands: defaultCommands,
  });
  const code = await manager.main(args, {
    env: {},
    stdout: { write: (text) => void (out += text) },
    stderr: { write: (text) => void (err += text) },
    signals: new EventEmitter(),
    exit: () => assert.fail('must not exit by itself'),
    workingDirectory: import.meta.dirname,
    hostname: 'test',
  });
  return { code, out, err };
}

test('the guide shows the files of the example as they are', () => {
  const guide = readFileSync(new URL('../../../../docs/guides/build-your-own.md', import.meta.url), 'utf8');
  const shown = [...guide.matchAll(/```ts\n([\s\S]*?)```/gu)].map(([, text]) => text);
  const files = ['fork.ts', 'zone-label-controller.ts'].map((name) => readFileSync(new URL(name, examples), 'utf8'));
  assert.deepEqual(shown, files);
});

test('the controller of the fork runs beside those of Outrigger, and the one that it left out does not', async () => {
  await using bench = await Bench.start();
  const cloudConfig = join(bench.directory, 'cloud.json');
  const addresses = [{ type: 'InternalIP', address: '10.0.0.1' }];
  await writeFile(cloudConfig, JSON.stringify({ instances: [{ name: 'node-1', addresses }] }));
  bench.addNode('node-1');
  const program = startFork(
    '--cloud-provider=memory',
    `--cloud-config=${cloudConfig}`,
    `--kubeconfig=${join(bench.directory, 'kubeconfig')}`,
    '--bind-address=127.0.0.1',
    `--secure-port=${await freePort()}`,
    '--cluster-cidr=10.200.0.0/16',
    `--zone-label=${LABEL}`,
  );
  try {
    const labelled = (): boolean => bench.node('node-1').metadata?.labels?.[LABEL] !== undefined;
    // The label may come first: the zone is written before the taint is removed.
    const done = (): boolean => labelled() && bench.isInitialised('node-1');
    for (let i = 0; i < 3_000 && !done(); i++) await systemClock.sleep(20);
  } finally {
    program.stop();
  }
  assert.equal(await program.ended, 0, program.log());
  const { labels = {} } = bench.node('node-1').metadata ?? {};
  assert.ok(labels[LABEL], program.log());
  assert.equal(labels[LABEL], labels[ZONE]);
  assert.ok(bench.isInitialised('node-1'));
  assert.match(program.log(), /"Controller started" controller="zone-label-controller"/u);
  assert.doesNotMatch(program.log(), /node-route-controller/u);
});

test('flags, names, and what has to be granted follow from the controllers of the program', async () => {
  const { code, err, out } = await run('rbac', `--zone-label=${LABEL}`);
  assert.deepEqual([code, err], [0, '']);
  const rules = parseAllDocuments(out)
    .map((document) => document.toJS() as { kind: string; rules?: { resources: string[]; verbs: string[] }[] })
    .filter(({ kind }) => kind === 'ClusterRole')
    .flatMap(({ rules = [] }) => rules);
  assert.deepEqual(rules, [{ apiGroups: [''], resources: ['nodes'], verbs: ['list', 'watch', 'patch'] }]);
  const withoutFlag = await run('rbac');
  assert.doesNotMatch(withoutFlag.out, /nodes/u, 'a controller that does not start asks for nothing');
  const refused = await run('--cloud-provider=memory', '--controllers=*,route');
  assert.equal(refused.code, 1);
  assert.equal(
    refused.err,
    'cloud-controller-manager: --controllers: no controller "route"; there are zone-label-controller\n',
  );
  assert.match((await run('--help')).out, /^Zone label flags:$/mu);
});

test('only a node that has a zone and not yet its label is written to', () => {
  const node = (labels: Record<string, string>) => ({ metadata: { name: 'node-1', labels } });
  assert.deepEqual(planZoneLabel(node({ [ZONE]: 'z1' }), LABEL), { [LABEL]: 'z1' });
  assert.deepEqual(planZoneLabel(node({ [ZONE]: 'z2', [LABEL]: 'z1' }), LABEL), { [LABEL]: 'z2' });
  assert.equal(planZoneLabel(node({ [ZONE]: 'z1', [LABEL]: 'z1' }), LABEL), undefined);
  assert.equal(planZoneLabel(node({ [LABEL]: 'z1' }), LABEL), undefined);
});

test('two controllers, two commands or two flags of one name are refused when the program is made', () => {
  const mine: CloudController = { name: 'mine', rules: [], build: () => ({ run: () => Promise.resolve() }) };
  const make = (...controllers: CloudController[]) => newCloudControllerManager({ providers: {}, controllers });
  assert.throws(
    () => make(...defaultControllers, { ...mine, aliases: ['route'] }),
    /two controllers have the name route/u,
  );
  assert.throws(() => make({ ...mine, flags: nodeFlags }), TypeError);
  assert.ok(make(...defaultControllers, mine));
  assert.throws(
    () => newCloudControllerManager({ providers: {}, commands: [...defaultCommands, ...defaultCommands.slice(0, 1)] }),
    /two commands have the name admission-policy/u,
  );
});
