import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { compareAccess, sharedControlPlane, type ControlPlane } from '@outrigger/testing';
import { CloudStory } from './cloud-story.ts';
import { grantedTo, kubectl, startGrantedProgram, untilGranted } from './granted-program.ts';

const shared = sharedControlPlane(after, { kubectl: true });
const NAME = 'outrigger-cloud-controller-manager';
const FILES = ['cloud-controller-manager.yml', 'cloud-controller-manager-deployment.yml'].map((file) =>
  fileURLToPath(new URL(`../deploy/${file}`, import.meta.url)),
);

interface Workload {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly template: {
      readonly metadata: object;
      readonly spec: { readonly containers: readonly { readonly args: readonly string[] }[] };
    };
  };
}

/** Everything of ours that the cluster has, as `kind/name`. */
async function ours(controlPlane: ControlPlane): Promise<readonly string[]> {
  const kinds =
    'serviceaccounts,secrets,daemonsets,deployments,poddisruptionbudgets,clusterroles,clusterrolebindings,roles,rolebindings';
  const lines = await kubectl(controlPlane, ['get', kinds, '--all-namespaces', '-o', 'name']);
  return lines.split('\n').filter((line) => line.includes('outrigger'));
}

for (const file of FILES) {
  const short = file.replace(/^.*\//u, '');
  test(`one apply of ${short} brings all that the program needs, one delete takes it away`, async (t) => {
    const controlPlane = await shared(t);
    if (!controlPlane) return;
    await using story = await CloudStory.open(controlPlane);
    // The server's own judgement of every field; warnings are errors.
    const checked = ['apply', '--dry-run=server', '--warnings-as-errors', '--validate=strict', '-f', file];
    await kubectl(controlPlane, checked);
    assert.deepEqual(await ours(controlPlane), []);
    await kubectl(controlPlane, ['apply', '-f', file]);
    assert.match(await kubectl(controlPlane, ['apply', '-f', file]), /unchanged/u);

    const found = await kubectl(controlPlane, ['get', 'daemonsets,deployments', '-n', 'kube-system', '-o', 'json']);
    const [workload] = (JSON.parse(found) as { readonly items: readonly Workload[] }).items;
    assert.ok(workload, found);
    await checkPod(controlPlane, workload);
    await runAsDeployed(controlPlane, story, workload);

    await kubectl(controlPlane, ['delete', '-f', file]);
    assert.deepEqual(await ours(controlPlane), []);
  });
}

/** Nobody here makes pods of a workload: what the server would say of one is asked directly. */
async function checkPod(controlPlane: ControlPlane, { spec }: Workload): Promise<void> {
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { ...spec.template.metadata, name: 'one', namespace: 'kube-system' },
    spec: spec.template.spec,
  };
  const create = ['create', '--dry-run=server', '-o', 'json', '-f', '-'];
  const made = JSON.parse(await kubectl(controlPlane, create, JSON.stringify(pod))) as {
    readonly spec: { readonly priority: number };
  };
  assert.ok(made.spec.priority >= 2_000_000_000, 'the priority class is one of the system');
}

/** With the flags and the rules of the file. The mounted Secret, the address and the kubeconfig are the kubelet's part. */
async function runAsDeployed(controlPlane: ControlPlane, story: CloudStory, { spec }: Workload): Promise<void> {
  const mounted = join(controlPlane.directory, 'cloud.conf');
  await writeFile(mounted, await readFile(story.cloudConfig));
  const args = spec.template.spec.containers.flatMap((container) => container.args);
  const localArgs = args.map((arg) => arg.replace('/etc/outrigger/cloud.conf', mounted));
  assert.notDeepEqual(localArgs, args);
  await untilGranted(controlPlane, NAME);
  const program = await startGrantedProgram({ controlPlane, account: NAME, args: localArgs });
  await using manager = program.manager;
  story.programs.push(program);
  await story.join('n1');
  await story.isInitialised('n1');
  await story.serve('web');
  assert.equal(await manager.end('SIGTERM'), 0, await readFile(program.log, 'utf8'));
  const { forbidden } = compareAccess({
    objects: await grantedTo(controlPlane, NAME),
    entries: await controlPlane.auditLog.requests(),
    account: { namespace: 'kube-system', name: NAME },
  });
  assert.deepEqual(forbidden, []);
}
