import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ResourceEvent, Service } from '@outrigger/kube';
import { AddressSharers } from './address-sharers.ts';

const serviceWith = (...ips: readonly string[]): Service => ({
  status: { loadBalancer: { ingress: ips.map((ip) => ({ ip })) } },
});
const add = (key: string, object: Service): ResourceEvent<Service> => ({ type: 'add', key, object });

test('those are told who have the lost address, in whatever form, and have it still', () => {
  const sharers = new AddressSharers();
  const one = serviceWith('2001:db8::1', '192.0.2.7');
  assert.deepEqual(sharers.note(add('ns/one', one)), { lost: [], others: [] });
  sharers.note(add('ns/two', serviceWith('2001:DB8:0::1')));
  const three = serviceWith('192.0.2.7');
  sharers.note(add('ns/three', three));
  const less = serviceWith('2001:0db8::1');
  const note = (change: ResourceEvent<Service>): readonly string[] => sharers.note(change).others;
  assert.deepEqual(note({ type: 'update', key: 'ns/one', object: less, previous: one }), ['ns/three']);
  assert.deepEqual(note({ type: 'delete', key: 'ns/three', previous: three }), []);
  assert.deepEqual(note({ type: 'delete', key: 'ns/one', previous: less }), ['ns/two']);
});

test('one that goes costs no look at all others', () => {
  let reads = 0;
  const services = Array.from({ length: 500 }, (_, i): Service => {
    const { status = {} } = serviceWith(`10.0.${i >> 8}.${i & 255}`);
    return {
      get status() {
        reads += 1;
        return status;
      },
    };
  });
  const sharers = new AddressSharers();
  for (const [i, service] of services.entries()) sharers.note(add(`ns/s${i}`, service));
  for (const [i, previous] of services.entries()) sharers.note({ type: 'delete', key: `ns/s${i}`, previous });
  assert.equal(reads, 500);
});

test('one that is settled with an address is told of its loss also where its status says another by now', () => {
  const sharers = new AddressSharers();
  const shared = serviceWith('192.0.2.7');
  for (const key of ['ns/one', 'ns/two']) sharers.note(add(key, shared));
  sharers.keep('ns/two', ['192.0.2.7']);
  const theirs = serviceWith('198.51.100.7');
  const written = sharers.note({ type: 'update', key: 'ns/two', object: theirs, previous: shared });
  assert.deepEqual(written, { lost: ['192.0.2.7'], others: ['ns/one'] });
  const gone = sharers.note({ type: 'delete', key: 'ns/one', previous: shared });
  assert.deepEqual(gone, { lost: ['192.0.2.7'], others: ['ns/two'] });
  sharers.keep('ns/two', []);
  sharers.note({ type: 'delete', key: 'ns/two', previous: theirs });
  assert.deepEqual(sharers.note({ type: 'delete', key: 'ns/two', previous: theirs }).lost, []);
});
