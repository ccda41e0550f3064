/** Helm itself: installs, tests, upgrades and uninstalls the chart on a real control plane, in a new operator's day. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { systemClock } from '@outrigger/kube';
import { controlPlaneOrSkip, type ControlPlane } from '@outrigger/testing';
import { findHelm } from '../../scripts/find-helm.ts';
import { CERTIFICATES, define } from '../custom-definitions.ts';
import { kubectl, run } from '../granted-program.ts';
import { allObjects, mountPod, NAME, type PodSpec } from '../installed-chart.ts';
import { operatorsDay, type ChartValues } from '../operators-day.ts';
import { KUBERNETES } from './programs.ts';

const CHART = fileURLToPath(new URL('../../deploy/helm/outrigger-cloud-controller-manager', import.meta.url));
const PROGRAM = fileURLToPath(new URL('../../distribution/src/cloud-controller-manager.ts', import.meta.url));
const TEST_POD = `${NAME}-test`;

class Helm {
  readonly #controlPlane: ControlPlane;
  readonly #program: string;

  constructor(controlPlane: ControlPlane, program: string) {
    this.#controlPlane = controlPlane;
    this.#program = program;
  }

  run(...args: readonly string[]): Promise<string> {
    const { directory, kubeconfig } = this.#controlPlane;
    const places = ['content-cache', 'repository-cache'].map((name) => `--${name}=${join(directory, name)}`);
    return run(this.#program, [...args, '--namespace=kube-system', `--kubeconfig=${kubeconfig.path}`, ...places]);
  }

  async apply(verb: 'install' | 'upgrade', { cloudConfig, extraArgs }: ChartValues): Promise<string> {
    const file = join(this.#controlPlane.directory, 'values.json');
    await writeFile(
      file,
      JSON.stringify({ cloudConfig: { inline: cloudConfig }, extraArgs, kind: 'Deployment', replicas: 1 }),
    );
    return this.run(verb, NAME, CHART, `--values=${file}`);
  }
}

/** What a kubelet would do with the pod of `helm test`. Resolves with what its program has printed. */
async function runTestPod(controlPlane: ControlPlane, ended: AbortSignal): Promise<string> {
  const at = ['--namespace=kube-system'];
  for (;;) {
    ended.throwIfAborted();
    const found = await kubectl(controlPlane, ['get', 'pod', TEST_POD, ...at, '--ignore-not-found', '--output=json']);
    if (found === '') {
      await systemClock.sleep(100);
      continue;
    }
    const { spec } = JSON.parse(found) as { readonly spec: PodSpec };
    const { args } = await mountPod(controlPlane, 'test', spec);
    const { code, output } = await programEnded(args);
    const status = JSON.stringify({ status: { phase: code === 0 ? 'Succeeded' : 'Failed' } });
    await kubectl(controlPlane, [
      'patch',
      'pod',
      TEST_POD,
      ...at,
      '--subresource=status',
      '--type=merge',
      '-p',
      status,
    ]);
    return output;
  }
}

function programEnded(args: readonly string[]): Promise<{ readonly code: number | null; readonly output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [PROGRAM, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => (output += text));
    }
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, output }));
  });
}

async function helmTest(
  controlPlane: ControlPlane,
  helm: Helm,
): Promise<{ readonly isPassed: boolean; readonly output: string }> {
  const ended = new AbortController();
  const [tested, output] = await Promise.all([
    helm
      .run('test', NAME, '--timeout=300s')
      .then(
        () => true,
        () => false,
      )
      .finally(() => ended.abort()),
    runTestPod(controlPlane, ended.signal),
  ]);
  return { isPassed: tested, output };
}

test("a new operator's day with Helm: install, test, upgrade, uninstall; nothing is left in the cluster", async (t) => {
  const controlPlane = await controlPlaneOrSkip(t, { kubectl: true, kubernetes: KUBERNETES });
  if (!controlPlane) return;
  const helm = new Helm(controlPlane, await findHelm());
  let upgrades = 0;
  await operatorsDay(controlPlane, {
    install: async (values) => {
      const said = await helm.apply('install', values);
      assert.match(said, /STATUS: deployed/u);
      assert.match(said, /stays in the cloud/u, 'the notes say what an uninstall leaves');
      const { isPassed, output } = await helmTest(controlPlane, helm);
      assert.ok(isPassed, output);
    },
    upgrade: async (values) => {
      assert.match(await helm.apply('upgrade', values), /STATUS: deployed/u);
      upgrades += 1;
      // The first has the wrong credential.
      const { isPassed, output } = await helmTest(controlPlane, helm);
      assert.equal(isPassed, upgrades !== 1, output);
      if (!isPassed) assert.match(output, /unauthenticated|401/u);
    },
    uninstall: async () => assert.match(await helm.run('uninstall', NAME), /uninstalled/u),
  });
});

test('what the chart makes with each of its examples, Helm takes away again', async (t) => {
  const controlPlane = await controlPlaneOrSkip(t, { kubectl: true, kubernetes: KUBERNETES, auditLog: false });
  if (!controlPlane) return;
  const helm = new Helm(controlPlane, await findHelm());
  await define(controlPlane, CERTIFICATES);
  const before = await allObjects(controlPlane);
  for (const example of [
    'deployment',
    'openstack',
    'two-providers',
    'leader-migration',
    'network-policy',
    'own-module',
    'webhooks-own',
    'webhooks-cert-manager',
  ]) {
    await helm.run('install', NAME, CHART, `--values=${join(CHART, 'ci', `${example}-values.yaml`)}`);
    assert.ok((await allObjects(controlPlane)).length > before.length, example);
    await helm.run('uninstall', NAME);
    assert.deepEqual(await allObjects(controlPlane), before, example);
  }
});
