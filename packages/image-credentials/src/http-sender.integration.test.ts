import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { FakeClock } from '@outrigger/testing';
import { askProgram, startFakeServices, whileTimePasses } from './fake-services.suite.ts';
import { HttpSender } from './http-sender.ts';
import { systemClock } from './system-clock.ts';
import { temporaryFiles } from './temporary-files.suite.ts';

const signal = new AbortController().signal;

/** A proxy that lets nobody through. */
async function startProxy(): Promise<AsyncDisposable & { readonly host: string; readonly asked: readonly string[] }> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    response.writeHead(403).end();
  });
  server.on('connect', ({ headers, url }, socket) => {
    asked.push(`CONNECT ${url} ${headers['proxy-authorization'] ?? ''}`.trim());
    socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  return {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => void server.close(resolve));
    },
  };
}

test('through the proxy of the environment, but not to the metadata service, nor where NO_PROXY says', async () => {
  await using proxy = await startProxy();
  const url = 'https://127.0.0.1:1/';
  const reached = async (env: Readonly<Record<string, string>>, isMetadata?: true): Promise<readonly string[]> => {
    const [clock, before] = [new FakeClock(), proxy.asked.length];
    const asked = new HttpSender({ clock, env, signal }).text({ service: 'a', url, ...(isMetadata && { isMetadata }) });
    await assert.rejects(whileTimePasses(clock, 250, asked), (error: Error) => !error.message.includes('sekret'));
    return [...new Set(proxy.asked.slice(before))];
  };
  assert.deepEqual(await reached({ HTTPS_PROXY: `http://${proxy.host}` }), ['CONNECT 127.0.0.1:1']);
  assert.deepEqual(await reached({ https_proxy: proxy.host }), ['CONNECT 127.0.0.1:1']);
  assert.deepEqual(await reached({ HTTPS_PROXY: `http://user:sekret@${proxy.host}` }), [
    `CONNECT 127.0.0.1:1 Basic ${Buffer.from('user:sekret').toString('base64')}`,
  ]);
  assert.deepEqual(await reached({ HTTPS_PROXY: `http://${proxy.host}` }, true), []);
  assert.deepEqual(await reached({ HTTPS_PROXY: `http://${proxy.host}`, NO_PROXY: '127.0.0.1' }), []);
});

test('what is asked without TLS, on the machine itself, never goes to a proxy, which would read the token', async () => {
  await using proxy = await startProxy();
  await using target = await startFakeServices({ 'POST /a': () => ({ json: { by: 'itself' } }) });
  const env = { HTTP_PROXY: `http://${proxy.host}`, http_proxy: `http://${proxy.host}` };
  const sender = new HttpSender({ clock: systemClock, env, signal });
  assert.deepEqual(await sender.form('a', `${target.url}/a`, { token: 'sekret' }), { by: 'itself' });
  assert.deepEqual(proxy.asked, []);
});

test('a proxy that is no URL is told by the name of its variable, as there may be a password in it', async () => {
  for (const proxy of ['http://user:sekret@bad host:1', 'socks5://user:sekret@proxy:1']) {
    const sender = new HttpSender({ clock: new FakeClock(), env: { HTTPS_PROXY: proxy }, signal });
    await assert.rejects(sender.text({ service: 'a', url: 'https://127.0.0.1:1/' }), {
      code: 'configuration',
      message: "the environment's HTTPS_PROXY is no http:// or https:// URL of a proxy",
    });
  }
});

test('a service that never answers ends with the time of one request, three times; the end of the whole ends it at once', async () => {
  const server = createServer(() => {});
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  try {
    const clock = new FakeClock();
    const asked = new HttpSender({ clock, env: {}, signal }).text({ service: 'a', url, isMetadata: true });
    await assert.rejects(whileTimePasses(clock, 500, asked), {
      code: 'timeout',
      message: `a at ${new URL(url).origin} did not answer within 2 s`,
    });
    const whole = new AbortController();
    const other = new HttpSender({ clock: systemClock, env: {}, signal: whole.signal }).text({ service: 'a', url });
    setTimeout(() => whole.abort(new Error('the end')), 20);
    await assert.rejects(other, { message: 'the end' });
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => void server.close(resolve));
  }
});

test('the whole call ends in its time, before the kubelet ends it', async () => {
  const server = createServer(() => {});
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  using files = temporaryFiles();
  try {
    const clock = new FakeClock();
    const asked = new Promise((resolve) => void server.once('request', resolve));
    const file = files.write('c.yaml', `timeout: 5s\ngcr:\n  audience: a\n  stsUrl: ${url}\n`);
    const answer = askProgram(['gcr', `--config=${file}`], { image: 'gcr.io/a/b', token: 'pod-token', clock });
    await asked;
    await clock.advance(5_000);
    assert.equal((await answer).stderr, 'outrigger-image-credentials gcr: timeout: no credentials within 5 s\n');
    assert.equal(clock.pendingTimers, 0);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => void server.close(resolve));
  }
});

test('an answer is read up to 1 MiB', async () => {
  await using target = await startFakeServices({ 'GET /a': () => ({ text: 'x'.repeat((1 << 20) + 1) }) });
  const sender = new HttpSender({ clock: systemClock, env: {}, signal });
  await assert.rejects(sender.text({ service: 'a', url: `${target.url}/a` }), { code: 'bad-answer' });
  assert.equal(target.asked.length, 1);
});

test('nobody there is told with what a person can look up', async () => {
  const clock = new FakeClock();
  const asked = new HttpSender({ clock, env: {}, signal }).text({ service: 'STS', url: 'http://127.0.0.1:1/' });
  await assert.rejects(whileTimePasses(clock, 250, asked), {
    code: 'unavailable',
    message: /^STS at http:\/\/127\.0\.0\.1:1 cannot be reached: .*ECONNREFUSED/u,
  });
});
