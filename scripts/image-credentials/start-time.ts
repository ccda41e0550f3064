/** How long a start of the image credential provider takes, until it has told that an image's registry is not allowed. */
import { spawnSync } from 'node:child_process';

const REQUEST = JSON.stringify({
  apiVersion: 'credentialprovider.kubelet.k8s.io/v1',
  kind: 'CredentialProviderRequest',
  image: 'registry.example.com/app:v1',
});

/** The median of `starts` starts, in milliseconds. Throws when the program ends otherwise. */
export function startTime(command: readonly [string, ...string[]], starts = 20): number {
  const [program, ...args] = command;
  const times = Array.from({ length: starts }, () => {
    const before = performance.now();
    const { status, stderr } = spawnSync(program, [...args, 'ecr'], { input: REQUEST, encoding: 'utf8' });
    const ms = performance.now() - before;
    if (status !== 1 || !stderr.includes('registry-not-allowed')) throw new Error(`${program}: ${stderr}`);
    return ms;
  });
  return times.toSorted((a, b) => a - b)[Math.floor(starts / 2)] ?? Number.NaN;
}
