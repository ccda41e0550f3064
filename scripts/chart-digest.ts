/** By which it is known that the snapshots of the Helm chart are of the chart as it is. */
import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** SHA-256, in hex, of all that takes part in a rendering. `chart`: its folder. */
export function chartDigest(chart: string): string {
  const digest = createHash('sha256');
  for (const file of globSync('{Chart.yaml,values.*,templates/*,files/*,ci/*}', { cwd: chart }).sort()) {
    digest.update(`${file}\n`).update(readFileSync(join(chart, file)));
  }
  return digest.digest('hex');
}
