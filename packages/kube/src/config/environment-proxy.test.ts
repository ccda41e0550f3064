import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isConfigError } from './config-error.ts';
import { environmentProxy } from './environment-proxy.ts';

test('the scheme of the server chooses the variable; small letters do too, and a scheme may be left out', () => {
  const env = { HTTPS_PROXY: 'http://secure:1', http_proxy: 'plain:2' };
  assert.equal(environmentProxy('https://api:6443/prefix', env), 'http://secure:1/');
  assert.equal(environmentProxy('http://api:8080', env), 'http://plain:2/');
  assert.equal(environmentProxy('https://api', {}), undefined);
  assert.equal(environmentProxy('https://api', { HTTPS_PROXY: '', https_proxy: 'https://p:3' }), 'https://p:3/');
  assert.equal(environmentProxy('https://api', { HTTP_PROXY: 'plain:2' }), undefined);
  assert.equal(environmentProxy('http://api', { HTTP_PROXY: 'header', REQUEST_METHOD: 'GET' }), undefined);
});

test('a server on this machine is reached without', () => {
  const env = { HTTPS_PROXY: 'http://p:1' };
  for (const host of ['localhost', '127.0.0.1', '127.9.9.9', '[::1]', 'LOCALHOST']) {
    assert.equal(environmentProxy(`https://${host}:6443`, env), undefined, host);
  }
  assert.equal(environmentProxy('https://localhost.example:6443', env), 'http://p:1/');
});

test('NO_PROXY excepts names, what is below them, addresses, ranges and ports, as Go reads it', () => {
  for (const [noProxy, server, excepted] of [
    ['*', 'https://api', true],
    [' example.com ,', 'https://example.com', true],
    ['example.com', 'https://api.example.com:6443', true],
    ['example.com', 'https://anexample.com', false],
    ['.example.com', 'https://api.example.com', true],
    ['.example.com', 'https://example.com', false],
    ['*.example.com', 'https://api.EXAMPLE.com', true],
    ['example.com:6443', 'https://example.com:6443', true],
    ['example.com:6443', 'https://example.com', false],
    ['example.com:443', 'https://example.com', true],
    ['10.96.0.1', 'https://10.96.0.1', true],
    ['10.96.0.1:443', 'https://10.96.0.1', true],
    ['10.96.0.1:80', 'https://10.96.0.1', false],
    ['10.96.0.0/12', 'https://10.100.0.1', true],
    ['10.96.0.0/12', 'https://10.112.0.1', false],
    ['10.96.0.0/99', 'https://10.96.0.1', false],
    ['fd00::/8', 'https://[fd00::1]:6443', true],
    ['[fd00::1]:6443', 'https://[fd00::1]:6443', true],
    ['fd00::1', 'https://[fd00::2]', false],
    ['nothing', 'https://api', false],
  ] as const) {
    const env = { HTTPS_PROXY: 'http://p:1', no_proxy: noProxy };
    assert.equal(environmentProxy(server, env) === undefined, excepted, `${noProxy} and ${server}`);
  }
});

test('what is no proxy of a known kind is refused, by the name of the variable and without a password', () => {
  for (const [proxy, code] of [
    ['socks5://me:hunter2@p:1080', 'config-unsupported'],
    ['http://me:hunter2@', 'config-invalid'],
  ] as const) {
    assert.throws(
      () => environmentProxy('https://api', { HTTPS_PROXY: proxy }),
      (error) => {
        assert.ok(isConfigError(error), String(error));
        assert.equal(error.code, code);
        assert.match(error.message, /^\$HTTPS_PROXY/);
        assert.doesNotMatch(error.message, /hunter2/);
        return true;
      },
    );
    assert.equal(environmentProxy('https://api', { HTTPS_PROXY: proxy, NO_PROXY: 'api' }), undefined);
  }
});
