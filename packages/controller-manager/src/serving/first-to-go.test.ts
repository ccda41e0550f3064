import assert from 'node:assert/strict';
import { test } from 'node:test';
import { firstToGo, type Claim } from './first-to-go.ts';

const claim = (peer: string, more: Partial<Claim> = {}): Claim => ({
  peer,
  size: 1,
  trusted: false,
  busy: false,
  ...more,
});

test('the caller that holds most loses the oldest that waits', () => {
  const claims = [claim('honest'), claim('flood', { busy: true }), claim('flood'), claim('flood')];
  assert.equal(firstToGo(claims), claims[2]);
});

test('size counts, and not how many there are', () => {
  const claims = [claim('many'), claim('many'), claim('large', { size: 3 })];
  assert.equal(firstToGo(claims), claims[2]);
});

test('of callers that hold the same, and of one, it is the oldest', () => {
  const claims = [claim('a'), claim('b'), claim('c')];
  assert.equal(firstToGo(claims), claims[0]);
});

test('what is answered goes only when the caller holds nothing else', () => {
  const claims = [claim('a', { busy: true }), claim('a', { busy: true }), claim('b')];
  assert.equal(firstToGo(claims), claims[0]);
});

test('who is trusted goes last', () => {
  const trusted = [claim('server', { trusted: true }), claim('server', { trusted: true })];
  const unknown = claim('server', { busy: true });
  assert.equal(firstToGo([...trusted, unknown]), unknown);
  assert.equal(firstToGo(trusted), trusted[0]);
  assert.equal(firstToGo([]), undefined);
});
