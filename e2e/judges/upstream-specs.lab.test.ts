/** Kubernetes' own end-to-end specs that concern a cloud-controller-manager and need no traffic to Pods. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AuditEntry } from '@outrigger/testing';
import { NODE_ADDRESSES } from './hollow-kubelets.ts';
import { JudgedCluster, PROGRAM_USER } from './judged-cluster.ts';
import { judgeProgram } from './programs.ts';
import { runSpecs } from './run-specs.ts';

const NODES = Object.keys(NODE_ADDRESSES);

/** The finalizer comes and goes with the type of the Service, and the Service can be deleted. */
const FINALIZER = 'LoadBalancers should handle load balancer cleanup finalizer for service';
/** A Service of a class that is not ours: its status is somebody else's. */
const OTHER_CLASS = 'Services should complete a service status lifecycle';
/** A node without a machine, which others create, change and delete. */
const OTHER_NODE = 'Node Lifecycle should run through the lifecycle of a node';
/** The machine is deleted in the cloud, and the kubelet is silent. */
const NODE_DELETION = "Nodes should be deleted on API server if it doesn't exist in the cloud provider";

/** Marks (`[sig-network]`, `[Slow]`) stand before, between and after the words, and come and go with the release. */
function focusOn(...specs: readonly string[]): RegExp {
  const words = specs.map((spec) => spec.slice(spec.indexOf(' should ')).replaceAll(/[^\w ]/gu, '.'));
  return new RegExp(words.join('|'), 'u');
}

function withoutMarks(texts: readonly string[]): readonly string[] {
  return texts
    .map((text) =>
      text
        .replaceAll(/\[[^\]]*\]/gu, '')
        .replaceAll(/\s+/gu, ' ')
        .trim(),
    )
    .toSorted();
}

function isWrite({ verb }: AuditEntry): boolean {
  return !['get', 'list', 'watch'].includes(verb);
}

test("upstream's end-to-end specs", async (t) => {
  await using cluster = await JudgedCluster.start();
  const { controlPlane, kubelets, story } = cluster;
  await cluster.startProgram();
  for (const name of NODES) await cluster.boot(name);
  await cluster.isReady(...NODES);

  await t.test('e2e.test, as it is', async () => {
    const specs = [FINALIZER, OTHER_CLASS, OTHER_NODE];
    const program = await judgeProgram('e2e.test');
    const args = ['-provider=skeleton'];
    const passed = await runSpecs({ controlPlane, program, name: 'e2e.test', focus: focusOn(...specs), args });
    assert.deepEqual(withoutMarks(passed), specs.toSorted());
    await story.until('nothing is left in the cloud', () => Promise.resolve(story.cloud.parts().length === 0));
  });

  await t.test('the program wrote to no Service of another class, and deleted nothing', async () => {
    const { auditLog } = controlPlane;
    const services = await auditLog.requests((entry) => isWrite(entry) && entry.objectRef?.resource === 'services');
    const byProgram = services.filter(({ user }) => user.username === PROGRAM_USER);
    assert.deepEqual([...new Set(byProgram.map(({ objectRef }) => objectRef?.name))], ['lb-finalizer']);
    const deletions = await auditLog.requests(
      ({ objectRef, verb }) => objectRef?.resource === 'nodes' && verb === 'delete',
    );
    assert.ok(deletions.every(({ user }) => user.username !== PROGRAM_USER));
    assert.equal(deletions.length, 1, 'of the node of the spec, by itself');
  });

  await t.test('[sig-cloud-provider], with a cloud in which machines can be deleted', async () => {
    const program = await judgeProgram('cloud-specs');
    const pids = [...kubelets.pids].map(([name, pid]) => `${name}=${pid}`).join();
    const args = ['-provider=aws', `-cloud=${story.endpoint}`, `-kubelets=${pids}`];
    const passed = await runSpecs({ controlPlane, program, name: 'cloud-specs', focus: focusOn(NODE_DELETION), args });
    assert.deepEqual(withoutMarks(passed), [NODE_DELETION]);
    assert.equal(kubelets.pids.size, NODES.length - 1, 'it has ended the kubelet of one node');
    assert.equal(story.cloud.instances().length, NODES.length - 1);
  });
});
