/** `make judges`: builds what judges and what is judged with, and runs the judges in a network of their own. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { findBinaries } from '@outrigger/testing';
import { labTests, runLabTests } from '../run-lab-tests.ts';
import { NODE_ADDRESSES } from './hollow-kubelets.ts';
import { buildJudges, KUBERNETES } from './programs.ts';

/** All of them, or those whose names begin so: `make judges TESTS=kubelets`. */
const tests = { folder: fileURLToPath(new URL('.', import.meta.url)), names: process.argv.slice(2) };
const files = labTests(tests);

/** `unshare` gives a network without anything to whoever may have one; `ip` gives it the nodes' addresses. */
const setUp = [
  'ip link set lo up',
  ...Object.values(NODE_ADDRESSES).map((address) => `ip address add ${address} dev lo`),
];
const within = [
  'unshare',
  ...(process.getuid?.() === 0 ? [] : ['--user', '--map-root-user']),
  '--net',
  'sh',
  '-c',
  `${setUp.join(' && ')} && exec "$@"`,
  'sh',
];
const [command = '', ...args] = within;
const tried = spawnSync(command, [...args, 'true'], { encoding: 'utf8' });
if (tried.status !== 0) {
  throw new Error(
    `make judges needs Linux with unshare and ip, and the right to make a network namespace: ${tried.error?.message ?? tried.stderr}`,
  );
}
// There is no way out of that network, so all is built before.
await findBinaries(KUBERNETES, ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kubectl']);
await buildJudges(files);
process.exitCode = await runLabTests({ ...tests, fileLimitMinutes: 60, within });
