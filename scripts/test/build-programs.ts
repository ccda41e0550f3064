/**
 * Builds what tests run beside the program, before the time of any of them runs: one after the other, as each build fills the machine.
 *
 *     node scripts/test/build-programs.ts kubelet-plugin upstream simulator
 *
 * Where there is no Go it says so, as the tests are skipped then; with `CI=true` it fails.
 */
import { buildUpstream } from '../../bench/build-upstream.ts';
import { buildInTree } from '../../e2e/in-tree.ts';
import { kubeletPlugin } from '../../packages/image-credentials/judge/kubelet-plugin.ts';
import { buildOfficial as buildOfficialAws } from '../../providers/aws/lab/official.ts';
import { buildOfficial as buildOfficialVsphere, buildSimulator } from '../../providers/vsphere/lab/build.ts';
import { ci } from './stage.ts';

const PROGRAMS = new Map<string, () => unknown>([
  ['kubelet-plugin', kubeletPlugin],
  ['upstream', buildUpstream],
  ['simulator', buildSimulator],
  ['aws-official', buildOfficialAws],
  ['aws-in-tree', () => buildInTree('aws')],
  ['vsphere-official', buildOfficialVsphere],
  ['vsphere-in-tree', () => buildInTree('vsphere')],
]);

const builds = process.argv.slice(2).map((name) => {
  const build = PROGRAMS.get(name);
  if (!build) throw new Error(`no program ${name}; there are ${[...PROGRAMS.keys()].join(', ')}`);
  return build;
});
try {
  for (const build of builds) await build();
} catch (error) {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || ci) throw error;
  process.stderr.write('there is no Go to build programs with: the tests that run them are skipped\n');
}
