/**
 * `make chart`: lints the Helm chart, renders it once for each file in its `ci/`, and compares that with its `snapshots/`;
 * `UPDATE=1` writes them. Helm is taken from PATH or the cache, or built from its Go module.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chartDigest } from './chart-digest.ts';
import { findHelm } from './find-helm.ts';

const NAME = 'outrigger-cloud-controller-manager';
const CHART = fileURLToPath(new URL(`../deploy/helm/${NAME}/`, import.meta.url));

/** What the chart has to refuse, and by which words that is known. */
const REFUSED: readonly (readonly [args: readonly string[], words: string])[] = [
  [['--namespace=default'], '--namespace=kube-system'],
  [['--set=kind=StatefulSet'], "at '/kind'"],
  [['--set=unknown=1'], "'unknown' not allowed"],
  [['--set=providers[0].name=a,providers[0].provider=b=c'], "at '/providers/0/provider'"],
  [
    ['--set=providers[0].name=a,providers[0].provider=b,providers[1].name=a,providers[1].provider=c'],
    'two of them are named a',
  ],
  [['--set=providerModule.image=a,providerModule.existingConfigMap=b'], 'set one of'],
  [['--set=cloudCredentials.mountPath=secrets'], "at '/cloudCredentials/mountPath'"],
  [['--set=leaderMigration.enabled=true'], 'controllerLeaders is empty'],
  [
    [
      '--set=leaderMigration.enabled=true,leaderMigration.leaderName=cloud-controller-manager',
      '--set-json=leaderMigration.controllerLeaders=[{"name":"service","component":"*"}]',
    ],
    'use another name',
  ],
  [['--set=networkPolicy.enabled=true'], 'hostNetwork=false'],
  [['--set=networkPolicy.egressPorts={0}'], "at '/networkPolicy/egressPorts/0'"],
  [['--set=webhooks.pvLabel=true'], 'need a certificate'],
  [['--set=webhooks.pvLabel=true,webhooks.existingSecret=a'], 'need a certificate'],
  [['--set=webhooks.pvLabel=true,webhooks.existingSecret=a,webhooks.issuerRef.name=b'], 'not both'],
  [
    ['--set=webhooks.pvLabel=true,webhooks.issuerRef.name=b,extraArgs={--feature-gates=A=true}'],
    'leave it out of extraArgs',
  ],
  [['--set=env[0].name=A'], "'env' not allowed"],
  [['--set=extraVolumes[0].emptyDir.medium=Memory'], "at '/extraVolumes/0': missing property 'name'"],
  [['--set=extraVolumeMounts[0].name=a'], "at '/extraVolumeMounts/0': missing property 'mountPath'"],
  [['--set=extraObjects[0].kind=Secret'], "at '/extraObjects/0': missing properties 'apiVersion', 'metadata'"],
  [['--set=topologySpreadConstraints[0].maxSkew=1'], "at '/topologySpreadConstraints/0': missing properties"],
  [['--set=extraArgs={--leader-elect-resource-name=x}'], 'rbac.create=false'],
  [['--set=extraArgs={--use_service_account_credentials=true}'], 'rbac.create=false'],
];

interface Run {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function run(command: string, args: readonly string[]): Run {
  return spawnSync(command, args, { encoding: 'utf8', timeout: 60_000 });
}

const helm = await findHelm();
const problems: string[] = [];
const lint = run(helm, ['lint', '--strict', '--namespace=kube-system', CHART]);
if (lint.status !== 0) problems.push(`helm lint:\n${lint.stdout}${lint.stderr}`);

/** The last of several `--namespace` counts. */
function template(...args: readonly string[]): Run {
  return run(helm, ['template', NAME, CHART, '--namespace=kube-system', ...args]);
}

/** `values`: a path in the chart. */
function render(file: string, values: string, ...more: readonly string[]): void {
  const { status, stdout, stderr } = template(`--values=${join(CHART, values)}`, ...more);
  if (status === 0) rendered.set(file, stdout);
  else problems.push(`helm template with ${values}:\n${stderr}`);
}

const rendered = new Map<string, string>();
for (const values of globSync('ci/*-values.yaml', { cwd: CHART }).sort()) {
  const name = basename(values, '-values.yaml');
  render(`${name}.yaml`, values, '--skip-tests');
}
// What `helm test` starts.
render('test.yaml', 'ci/deployment-values.yaml', '--show-only=templates/test-config.yaml');
rendered.set('rendered-from.sha256', `${chartDigest(CHART)}\n`);
for (const [file, text] of rendered) {
  const path = join(CHART, 'snapshots', file);
  if (process.env['UPDATE'] === '1') {
    mkdirSync(join(CHART, 'snapshots'), { recursive: true });
    writeFileSync(path, text);
  } else if (!existsSync(path) || readFileSync(path, 'utf8') !== text) {
    problems.push(`snapshots/${file} is not what the chart renders: look at it with make chart UPDATE=1 and git diff`);
  }
}
for (const [args, words] of REFUSED) {
  const { status, stderr } = template(...args);
  if (status === 0 || !stderr.includes(words))
    problems.push(`helm template ${args.join(' ')} is not refused: ${stderr}`);
}
for (const problem of problems) console.error(problem);
console.log(`chart: ${rendered.size - 1} renderings and ${REFUSED.length} refusals, ${problems.length} problems`);
process.exitCode = problems.length === 0 ? 0 : 1;
