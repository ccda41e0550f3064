/**
 * Builds what tests run beside the program, before the time of any of them runs: one after the other, as each build fills the machine.
 *
 *     node scripts/test/build-programs.ts kubelet-plugin upstream simulator
 */
import { buildUpstream } from '../../bench/build-upstream.ts';
import { kubeletPlugin } from '../../packages/image-credentials/judge/kubelet-plugin.ts';
import { buildSimulator } from '../../providers/vsphere/lab/build.ts';

const PROGRAMS = new Map<string, () => unknown>([
  ['kubelet-plugin', kubeletPlugin],
  ['upstream', buildUpstream],
  ['simulator', buildSimulator],
]);

for (const name of process.argv.slice(2)) {
  const build = PROGRAMS.get(name);
  if (!build) throw new Error(`no program ${name}; there are ${[...PROGRAMS.keys()].join(', ')}`);
  await build();
}
