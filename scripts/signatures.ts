/**
 * A part of `make advisories`: asks whether the packages that are installed are those that their registry has signed. Fails for one that is
 * not. Where nobody can say (a mirror that signs nothing, no network), that is said and no failure: the lock file has the hash of each.
 */
import { npmAudit } from './advisories/npm-audit.ts';
import { readSignatures } from './advisories/read-signatures.ts';

const answer = readSignatures(await npmAudit(['signatures', '--loglevel=silent']));
if (answer.kind === 'unknown') {
  console.warn(`signatures: UNKNOWN. ${answer.reason}; what is installed is held to the hashes of package-lock.json`);
} else {
  const { invalid, missing } = answer;
  for (const one of missing) console.warn(`signatures: ${one} is not signed by its registry, which signs`);
  for (const one of invalid) console.error(`signatures: ${one} is not what its registry has signed: do not run it`);
  console.log(`signatures: ${invalid.length} wrong, ${missing.length} missing`);
  process.exitCode = invalid.length === 0 ? 0 : 1;
}
