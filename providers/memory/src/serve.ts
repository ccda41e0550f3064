/** `node providers/memory/src/serve.ts [--port=N]`: a memory cloud over HTTP, until it is told to stop. */
// oxlint-disable-next-line no-restricted-imports -- A program of its own, with no host to give it a clock.
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createMemoryCloud } from './memory-cloud.ts';
import { serveMemoryCloud } from './serve-memory-cloud.ts';

const { values } = parseArgs({ options: { port: { type: 'string', default: '0' } } });
const port = Number(values.port);
if (!Number.isInteger(port) || port < 0 || port > 65_535) {
  process.stderr.write(`--port=${values.port}: must be a port number\n`);
  process.exit(1);
}
const cloud = createMemoryCloud({
  clock: {
    now: () => performance.timeOrigin + process.uptime() * 1000,
    monotonic: () => process.uptime() * 1000,
    sleep: (delayMs, signal) => sleep(delayMs, undefined, signal ? { signal } : {}),
  },
  random: () => (process.hrtime()[1] % 1000) / 1000,
});
const served = await serveMemoryCloud(cloud, { port });
process.stdout.write(`${served.endpoint}\n`);
const stop = (): void => void served[Symbol.asyncDispose]();
process.once('SIGTERM', stop);
process.once('SIGINT', stop);
