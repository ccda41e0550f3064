/** The executable and the script, as they run beside a kubelet: no signal opens Node's inspector. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { listening } from '../listening-sockets.suite.ts';
import { buildExecutable, buildScript } from './build-executable.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'outrigger-inspector-'));
after(() => rmSync(folder, { recursive: true }));
const config = path.join(folder, 'config.yaml');
const options = { skip: process.platform === 'linux' ? false : 'reads the tables of Linux' };

for (const [name, build, before] of [
  ['executable', buildExecutable, []],
  ['script', buildScript, [process.execPath]],
] as const) {
  test(
    `the ${name} opens no inspector on SIGUSR1 while it holds a token, and gives the credentials`,
    options,
    async () => {
      const { file } = await build(folder);
      const service = createServer().listen(0, '127.0.0.1');
      await once(service, 'listening');
      const exchangeUrl = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
      const registries = { 'registry.example.com': { exchangeUrl } };
      writeFileSync(config, JSON.stringify({ timeout: '50s', generic: { registries } }));
      const asked = async (): Promise<ServerResponse> => {
        const [, response] = (await once(service, 'request')) as [IncomingMessage, ServerResponse];
        return response;
      };
      const [program = '', ...args] = [...before, file, 'generic', `--config=${config}`];
      const child = spawn(program, args);
      const ended = once(child, 'close');
      const hangs = setTimeout(() => child.kill('SIGKILL'), 300_000);
      let said = '';
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (chunk: Buffer) => (said += chunk.toString()));
      try {
        child.stdin.write(
          JSON.stringify({
            kind: 'CredentialProviderRequest',
            apiVersion: 'credentialprovider.kubelet.k8s.io/v1',
            image: 'registry.example.com/app',
            serviceAccountToken: 'pod-sekret',
          }),
        );
        child.stdin.end();
        const first = await Promise.race([asked(), ended]);
        assert.ok('writeHead' in first, said);
        child.kill('SIGUSR1');
        // It asks again after a time, twice: by then the signal has done what it does.
        first.writeHead(503).end();
        const second = await Promise.race([asked(), ended]);
        assert.ok('writeHead' in second, `SIGUSR1 has ended it: ${said}`);
        second.writeHead(503).end();
        const third = await asked();
        assert.deepEqual(await listening(child.pid ?? 0), []);
        third.end('{"access_token":"exchanged","expires_in":600}');
        assert.deepEqual(await ended, [0, null], said);
        assert.match(said, /^\{.*"password":"exchanged".*\}\n?$/u);
      } finally {
        clearTimeout(hangs);
        child.kill('SIGKILL');
        await ended;
        service.closeAllConnections();
        service.close();
      }
    },
  );
}
