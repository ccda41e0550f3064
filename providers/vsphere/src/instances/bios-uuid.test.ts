import assert from 'node:assert/strict';
import { test } from 'node:test';
import { biosUuid, eitherOrder, providerIDOf, swapped, uuidOf } from './bios-uuid.ts';

const GUEST = '56492e42-22ad-3911-6d72-59cc8f26bc90';
const VCENTER = '422e4956-ad22-1139-6d72-59cc8f26bc90';

test('the two byte orders of a UUID', () => {
  assert.equal(swapped(GUEST), VCENTER);
  assert.equal(swapped(VCENTER), GUEST);
  assert.deepEqual(eitherOrder(GUEST), [GUEST, VCENTER]);
  assert.equal(eitherOrder('11111111-2222-3333-4444-555555555555').length, 1);
});

test('a UUID is taken in any case, and nothing else is one', () => {
  assert.equal(biosUuid(` ${VCENTER.toUpperCase()}\n`), VCENTER);
  for (const text of ['', 'node-1', `${VCENTER}0`, VCENTER.replaceAll('-', ''), `${VCENTER}/x`, undefined]) {
    assert.equal(biosUuid(text), undefined);
  }
});

test('provider IDs', () => {
  assert.equal(providerIDOf(VCENTER, 'vsphere'), `vsphere://${VCENTER}`);
  assert.equal(uuidOf(`vsphere://${VCENTER.toUpperCase()}`, 'vsphere'), VCENTER);
  for (const id of [`other://${VCENTER}`, 'vsphere://', 'vsphere:///../', `vsphere2://${VCENTER}`, undefined]) {
    assert.equal(uuidOf(id, 'vsphere'), undefined);
  }
});
