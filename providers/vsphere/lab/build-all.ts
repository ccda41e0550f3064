/** `make e2e-vsphere`: builds what its tests run beside the program, before the time of any test runs. */
import { buildInTree, buildOfficial, buildSimulator } from './build.ts';

try {
  // One after the other: they share most of what is compiled, and a lock.
  for (const build of [buildSimulator, buildOfficial, buildInTree]) await build();
} catch (error) {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  process.stderr.write('there is no Go to build the simulator of vCenter with: the tests on it are skipped\n');
}
