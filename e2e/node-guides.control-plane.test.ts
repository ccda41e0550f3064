/** The guides to maintenance and to nodes without a machine as scripts: each of their commands prints what the page says. */
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { resources } from '@outrigger/kube';
import { controlPlaneOrSkip, hollowNode } from '@outrigger/testing';
import { CloudStory, STORY_FLAGS } from './cloud-story.ts';
import type { GrantedProgram } from './granted-program.ts';
import { runGuide } from './run-guide.ts';

test('the guides to maintenance and to virtual and foreign nodes', async (t) => {
  const controlPlane = await controlPlaneOrSkip(t, { kubectl: true });
  if (!controlPlane) return;
  const directory = await mkdtemp(path.join(tmpdir(), 'outrigger-nodes-'));
  t.after(() => rm(directory, { recursive: true }));
  await using story = await CloudStory.open(controlPlane);
  const nodes = story.client.of(resources.nodes);
  for (const page of ['maintenance', 'virtual-and-foreign-nodes']) {
    let program: GrantedProgram | undefined;
    const act = async (action: string, who: string, flags: readonly string[]): Promise<void> => {
      switch (action) {
        case 'start':
          program = await story.run(page, [...STORY_FLAGS, '--node-status-update-frequency=1s', ...flags]);
          return undefined;
        case 'join':
          await story.join(who);
          return await story.isInitialised(who);
        case 'announce':
          story.cloud.updateInstance(who, { maintenance: { state: 'planned', reason: 'new firmware' } });
          return undefined;
        case 'register': {
          // By a kubelet without --cloud-provider=external.
          const node = hollowNode({ name: who, images: 0 });
          await nodes.create({ ...node, spec: {} });
          return undefined;
        }
        default:
          return assert.fail(`the page says: ${action} ${who}`);
      }
    };
    const { commands } = await runGuide({
      page: new URL(`../docs/guides/${page}.md`, import.meta.url),
      controlPlane,
      directory,
      act,
      log: () => readFile(program?.log ?? '', 'utf8'),
    });
    assert.equal(commands, 2, page);
    assert.equal(await program?.manager.end('SIGTERM'), 0);
    for (const { metadata: { name = '' } = {} } of (await nodes.list()).items) {
      await nodes.delete({ name });
      story.cloud.deleteInstance(name);
    }
  }
});
