import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toTransportError } from './transport-error.ts';

/** As Node throws it. */
const failed = (syscall: string, code: string): Error =>
  Object.assign(new Error(`${syscall} ${code}`), { code, syscall });

test('a connection that does not come about has sent nothing', () => {
  for (const [code, meaning] of [
    ['ETIMEDOUT', 'connect-timeout'],
    ['EHOSTUNREACH', 'network-unreachable'],
    ['ENETUNREACH', 'network-unreachable'],
  ] as const) {
    const error = toTransportError(failed('connect', code), 'https://api', true);
    assert.deepEqual([error.code, error.sent], [meaning, false]);
  }
});

test('a connection that stood and died may have sent what was on it', () => {
  for (const syscall of ['read', 'write']) {
    for (const [code, meaning] of [
      ['ETIMEDOUT', 'peer-unresponsive'],
      ['EHOSTUNREACH', 'network-unreachable'],
      ['ENETUNREACH', 'network-unreachable'],
    ] as const) {
      const wrapped = new Error('request failed', { cause: failed(syscall, code) });
      for (const cause of [failed(syscall, code), wrapped]) {
        const error = toTransportError(cause, 'https://api', true);
        assert.deepEqual([error.code, error.sent], [meaning, true]);
        assert.doesNotMatch(error.message, /firewall/);
        assert.equal(toTransportError(cause, 'https://api', false).sent, false);
      }
    }
  }
});
