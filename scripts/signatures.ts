/**
 * A part of `make advisories`: asks whether the packages that are installed are those that their registry has signed. Fails for one that is
 * not. Where nobody can say (a mirror that signs nothing, no network), that is said and no failure: the lock file has the hash of each.
 */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { readSignatures } from './advisories/read-signatures.ts';

const repository = fileURLToPath(new URL('../', import.meta.url));
/** After that, nobody has answered. */
const LIMIT_MS = 60_000;

const answer = readSignatures(await audit());
if (answer.kind === 'unknown') {
  console.warn(`signatures: UNKNOWN. ${answer.reason}; what is installed is held to the hashes of package-lock.json`);
} else {
  const { invalid, missing } = answer;
  for (const one of missing) console.warn(`signatures: ${one} is not signed by its registry, which signs`);
  for (const one of invalid) console.error(`signatures: ${one} is not what its registry has signed: do not run it`);
  console.log(`signatures: ${invalid.length} wrong, ${missing.length} missing`);
  process.exitCode = invalid.length === 0 ? 0 : 1;
}

/** What npm prints, also when it fails: that is how it says that it has found something. */
function audit(): Promise<string> {
  return new Promise((done) => {
    const args = ['audit', 'signatures', '--json', '--loglevel=silent', '--fetch-retries=0'];
    execFile('npm', args, { cwd: repository, timeout: LIMIT_MS, maxBuffer: 64 << 20 }, (_error, stdout) =>
      done(stdout),
    );
  });
}
