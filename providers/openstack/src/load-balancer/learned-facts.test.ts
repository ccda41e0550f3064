import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { FakeClock } from '@outrigger/testing';
import { LearnedFacts } from './learned-facts.ts';

const unnamed = (address: string) => ({ address, why: 'unnamed' }) as const;

test('what nova does not say of one server holds while the next are asked about', async () => {
  const clock = new FakeClock();
  const facts = new LearnedFacts(clock);
  for (const address of ['10.0.0.1', '10.0.0.2', '10.0.0.3']) {
    facts.noteWithoutGroup('group', [unnamed(address)]);
    await clock.advance(40_000);
  }
  assert.deepEqual(facts.membersWithoutGroup('group').map(addressOf), ['10.0.0.1', '10.0.0.2', '10.0.0.3']);
});

test('what has not been believed any more is not believed again because of another server', async () => {
  const clock = new FakeClock();
  const facts = new LearnedFacts(clock);
  facts.noteWithoutGroup('group', [unnamed('10.0.0.1')]);
  await clock.advance(61_000);
  facts.noteWithoutGroup('group', [unnamed('10.0.0.2')]);
  assert.deepEqual(facts.membersWithoutGroup('group').map(addressOf), ['10.0.0.2']);
});

test('what was found out ten minutes ago is believed for no further minute, however often others are asked about', async () => {
  const clock = new FakeClock();
  const facts = new LearnedFacts(clock);
  facts.noteWithoutGroup('group', [unnamed('10.0.0.1')]);
  for (let i = 0; i < 22; i++) {
    await clock.advance(30_000);
    facts.noteWithoutGroup('group', [unnamed('10.0.0.2')]);
  }
  assert.deepEqual(facts.membersWithoutGroup('group').map(addressOf), ['10.0.0.2']);
});

function addressOf({ address }: { readonly address: string }): string {
  return address;
}
