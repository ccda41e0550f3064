/** `make e2e-openstack`: brings the lab up if it is not, runs the tests against it one after the other, and ends it. */
import { fileURLToPath } from 'node:url';
import { labTests, runLabTests } from '../run-lab-tests.ts';
import { holdLab } from './lab.ts';

/** All of them, or those whose names begin so: `make e2e-openstack TESTS=nodes`. */
const tests = { folder: fileURLToPath(new URL('.', import.meta.url)), names: process.argv.slice(2) };
// Before minutes go by.
labTests(tests);
await using _lab = await holdLab((line) => process.stdout.write(`${line}\n`));
process.exitCode = await runLabTests({ ...tests, fileLimitMinutes: 180 });
