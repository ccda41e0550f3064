import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { request as requestPlain, type IncomingHttpHeaders } from 'node:http';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { silentLogger, systemClock } from '@outrigger/kube';
import { textAnswer, withHeaders, type HttpApp } from './http-app.ts';
import { startSecureServer } from './secure-server.ts';

const base = { bindAddress: '127.0.0.1', clock: systemClock, logger: silentLogger, port: 0, tls: 'plain' } as const;

interface Heard {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

function ask(url: string, path: string, method = 'GET'): Promise<Heard> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    requestPlain({ hostname, port, path, method, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => (text += part));
      response.once('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
    })
      .once('error', reject)
      .end();
  });
}

test('an app is asked for the path, decoded, and for what comes after it', async () => {
  const app: HttpApp = async ({ method, path, query }) => textAnswer(`${method} ${path} ${query.get('é') ?? '-'}`);
  await using server = await startSecureServer({ ...base, app });
  for (const [sent, seen] of [
    ['/', '/ -'],
    ['/a%20b?%C3%A9=1%262', '/a b 1&2'],
    ['/%E0%A4%A', '/%E0%A4%A -'],
    ['//a/../b', '//a/../b -'],
    ['http://elsewhere:1/c?x', '/c -'],
  ] as const) {
    assert.equal((await ask(server.url, sent)).text, `GET ${seen}`);
  }
});

test('the length of an answer is that of its bytes; HEAD has it without them, and 304 has neither', async () => {
  const app: HttpApp = async ({ path }) =>
    path === '/same' ? { status: 304, headers: { ETag: '"1"' } } : textAnswer('é');
  await using server = await startSecureServer({ ...base, app });
  const [whole, head, same] = [
    await ask(server.url, '/'),
    await ask(server.url, '/', 'HEAD'),
    await ask(server.url, '/same'),
  ];
  assert.deepEqual([whole.text, whole.headers['content-length']], ['é', '2']);
  assert.deepEqual([head.status, head.text, head.headers['content-length']], [200, '', '2']);
  assert.deepEqual(
    [same.status, same.headers.etag, same.text, same.headers['content-length']],
    [304, '"1"', '', undefined],
  );
});

test('an app that fails ends its connection, and the next caller is served', async () => {
  const app: HttpApp = async ({ path }) => {
    if (path === '/fails') throw new Error('broken');
    return textAnswer('ok');
  };
  await using server = await startSecureServer({ ...base, app });
  await assert.rejects(ask(server.url, '/fails'), { code: 'ECONNRESET' });
  assert.equal((await ask(server.url, '/')).text, 'ok');
});

test('of headers that are said twice the later one counts', () => {
  assert.deepEqual(withHeaders(textAnswer('a'), { 'Content-Type': 'text/css', ETag: '1' }).headers, {
    'Content-Type': 'text/css',
    ETag: '1',
  });
});

test("a listener with TLS that answers does without Node's copy of undici", async () => {
  const script = `
    import { get } from 'node:https';
    import { noMetrics, silentLogger as logger, systemClock as clock } from '@outrigger/kube';
    import { createPages, HealthChecks, startSecureServer } from './src/index.ts';
    const access = { decide: async () => ({ allowed: true }) };
    const metrics = { render: async () => '', contentType: 'text/plain' };
    const app = createPages({ access, health: new HealthChecks(), logger, metrics, configz: () => ({}), version: {} });
    const server = await startSecureServer({ app, bindAddress: '127.0.0.1', clock, logger, metrics: noMetrics, port: 0 });
    const status = await new Promise((resolve) => {
      get(server.url + '/healthz', { rejectUnauthorized: false, agent: false }, (response) => {
        response.resume().once('end', () => resolve(response.statusCode));
      });
    });
    await server[Symbol.asyncDispose]();
    console.log(status, process.moduleLoadList.includes('NativeModule internal/deps/undici/undici'));
  `;
  const cwd = new URL('../..', import.meta.url);
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script], { cwd });
  assert.equal(stdout, '200 false\n');
});
