/** Debian's Chromium, where one is or can be had. By itself: what only looks for it does not load what drives it. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const SCRIPT = fileURLToPath(new URL('chromium.sh', import.meta.url));
/** Of chromium.sh: none is here, and none can be had. */
const NONE = 3;

export interface FoundBrowser {
  readonly path?: string;
  /** Why there is none. */
  readonly why?: string;
}

/** Unpacks one into the cache where it can be had: some 20 s. Throws an `Error` where that goes wrong. */
export function findBrowser(): FoundBrowser {
  const { status, stderr, stdout } = spawnSync('bash', [SCRIPT], { encoding: 'utf8' });
  if (status === 0) return { path: stdout.trim() };
  if (status === NONE) return { why: stderr.trim() };
  throw new Error(`${SCRIPT}: ${stderr.trim()}`);
}
