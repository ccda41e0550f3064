import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { markedDescription, markOf, neutronTags, ownersIn, ownerTag, sharerTag, unmarked } from './ownership.ts';

const owner = fc.record({ clusterId: fc.uuid(), uid: fc.uuid() }, { noNullPrototype: true });

test('property: what a description is marked with is read back, whatever it said before, in 255 characters', () => {
  fc.assert(
    fc.property(owner, fc.boolean(), fc.string({ maxLength: 300 }), owner, (one, keep, text, other) => {
      const marked = markedDescription(markedDescription(text, { owner: other, keep: !keep }), { owner: one, keep });
      assert.ok(marked.length <= 255);
      assert.deepEqual(markOf(marked, neutronTags(other)), { owner: one, keep });
      assert.deepEqual(markOf(marked, []), { owner: one, keep });
      assert.ok(unmarked(marked).length <= text.length);
    }),
  );
});

test('tags prove it where the description has been edited; half of them do not', () => {
  const one = { clusterId: '5d6f7a10-0000-4000-8000-000000000001', uid: '5d6f7a10-0000-4000-8000-000000000002' };
  assert.deepEqual(markOf('edited', neutronTags(one)), { owner: one, keep: false });
  for (const tag of neutronTags(one)) {
    assert.ok(tag.length <= 60, 'as Neutron takes it');
    assert.equal(markOf('edited', [tag]), undefined);
  }
});

test('two owners are none, and it is not for the taking', () => {
  const [a, b] = [
    { clusterId: 'c', uid: 'a' },
    { clusterId: 'c', uid: 'b' },
  ];
  assert.deepEqual(ownersIn([ownerTag(a), ownerTag(b), sharerTag(b)]), { owner: undefined, sharers: [b], taken: true });
  assert.deepEqual(ownersIn(['outrigger.dev/owner=broken']), { owner: undefined, sharers: [], taken: true });
  assert.deepEqual(ownersIn(['kube_service_a_b_c']), { owner: undefined, sharers: [], taken: false });
});
