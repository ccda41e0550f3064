import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * Below the range that Linux (32768) and macOS (49152) take for outgoing connections: a port found here stays free
 * while the program that will listen on it starts, and while an API server is down between two starts.
 */
const FIRST_PORT = 20_000;
const LAST_PORT = 32_000;
const ATTEMPTS = 100;

/** A TCP port on 127.0.0.1 that nobody listens on now. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const port = randomInt(FIRST_PORT, LAST_PORT);
    if (await isFree(port)) return port;
  }
  throw new Error(`no free port on 127.0.0.1 between ${FIRST_PORT} and ${LAST_PORT}`);
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.on('error', () => resolve(false));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => resolve(true)));
  });
}
