/** Asks npm, of this repository or of a folder in it that has a lock file of its own. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const repository = fileURLToPath(new URL('../../', import.meta.url));
/** After that, nobody has answered. */
const LIMIT_MS = 60_000;

/** What `npm audit --json` prints, also when it fails: that is how it says that it has found something. */
export function npmAudit(args: readonly string[], folder: string = repository): Promise<string> {
  return new Promise((done) => {
    const all = ['audit', ...args, '--json', '--fetch-retries=0'];
    execFile('npm', all, { cwd: folder, timeout: LIMIT_MS, maxBuffer: 64 << 20 }, (_error, stdout) => done(stdout));
  });
}
