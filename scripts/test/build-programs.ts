/** Builds what the tests of CI run beside the program, before the time of any of them runs: one after the other, as each build fills the machine. */
import { buildUpstream } from '../../bench/build-upstream.ts';
import { kubeletPlugin } from '../../packages/image-credentials/judge/kubelet-plugin.ts';
import { buildSimulator } from '../../providers/vsphere/lab/build.ts';

await kubeletPlugin();
buildUpstream();
await buildSimulator();
