/** `node e2e/build-others.ts aws`: builds what the tests of a provider run beside the program, before the time of any test runs. */
import { buildInTree as buildInTreeAws, buildOfficial as buildOfficialAws } from '../providers/aws/lab/official.ts';
import { buildInTree, buildOfficial, buildSimulator } from '../providers/vsphere/lab/build.ts';

const BUILDS: Readonly<Record<string, readonly (() => Promise<string>)[]>> = {
  aws: [buildOfficialAws, buildInTreeAws],
  vsphere: [buildSimulator, buildOfficial, buildInTree],
};

const [provider = ''] = process.argv.slice(2);
const builds = BUILDS[provider];
if (!builds) throw new Error(`nothing to build for "${provider}"; there are ${Object.keys(BUILDS).join(', ')}`);
try {
  // One after the other: they share most of what is compiled, and a lock.
  for (const build of builds) await build();
} catch (error) {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  process.stderr.write('there is no Go to build what the tests run beside the program: those are skipped or fail\n');
}
