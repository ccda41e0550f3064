import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodeRef } from '@outrigger/cloud-provider';
import golden from './golden/provider-ids.json' with { type: 'json' };
import { askedServer, providerIDOf, serverIn } from './provider-ids.ts';

const node = (providerID?: string): NodeRef => ({ name: 'n1', uid: 'u1', providerID, labels: {}, annotations: {} });

for (const { providerID, region, id, upstream } of golden as readonly {
  providerID: string;
  region?: string;
  id?: string;
  upstream: string;
}[]) {
  test(`golden vector: ${providerID} (${upstream})`, () => {
    const asked = askedServer(node(providerID), { name: 'openstack', region });
    if (id === undefined) {
      assert.ok(asked.by === 'error' && asked.error.code === 'invalid');
      assert.match(asked.error.message, /^node n1: the provider ID .* is neither openstack:\/\/\/<id> nor/);
    } else {
      assert.deepEqual(asked, { by: 'id', id });
    }
  });
}

test("another region's server is an error, whichever region is asked", () => {
  for (const region of ['south', undefined]) {
    const asked = askedServer(node('openstack://north/a'), { name: 'openstack', region });
    assert.ok(asked.by === 'error' && /of region north/.test(asked.error.message));
  }
});

test("another provider's ID is nothing here, and a node without an ID is asked for by name", () => {
  const rules = { name: 'openstack', region: 'north' };
  assert.deepEqual(askedServer(node('memory://north/a'), rules), { by: 'nothing' });
  assert.deepEqual(askedServer(node(), rules), { by: 'name', name: 'n1' });
  assert.deepEqual(askedServer(node(''), rules), { by: 'name', name: 'n1' });
});

test('a provider ID has the region in it where it is asked for and has a name', () => {
  const rules = { name: 'openstack', region: 'north' };
  assert.equal(providerIDOf('a', rules, false), 'openstack:///a');
  assert.equal(providerIDOf('a', rules, true), 'openstack://north/a');
  assert.equal(providerIDOf('a', { ...rules, region: undefined }, true), 'openstack:///a');
});

test('the server of each form of an ID, of any region', () => {
  for (const form of ['openstack:///a', 'openstack://north/a', 'openstack://south/a'])
    assert.equal(serverIn(form, 'openstack'), 'a');
  for (const other of ['aws:///a', 'openstack://a', 'a', '']) assert.equal(serverIn(other, 'openstack'), undefined);
});
