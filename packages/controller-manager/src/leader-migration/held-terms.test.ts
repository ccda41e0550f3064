import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { HeldTerms } from './held-terms.ts';

/** A term that ends when told. */
class Term {
  readonly #end = new AbortController();
  inFlight = 0;
  readonly unknown: string[] = [];
  readonly outcomeUnknown = (what: string): void => void this.unknown.push(what);

  readonly guard = (): void => {
    if (this.#end.signal.aborted) throw new Error('not the leader');
  };

  async perform<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    this.guard();
    this.inFlight++;
    try {
      return await work(this.#end.signal);
    } finally {
      this.inFlight--;
    }
  }

  end(): void {
    this.#end.abort(new Error('ended'));
  }
}

test('without a term everything may start', async () => {
  const held = new HeldTerms();
  held.guard();
  assert.equal(await held.perform(async (signal) => signal.aborted), false);
});

test('a write of unknown outcome is told to each term', () => {
  const held = new HeldTerms();
  const terms = [new Term(), new Term()];
  for (const term of terms) held.add(term);
  held.outcomeUnknown('POST /x');
  assert.deepEqual(
    terms.map(({ unknown }) => unknown),
    [['POST /x'], ['POST /x']],
  );
});

test('nothing starts once any term is over, what is in flight is aborted, and each term is told of it', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom('add', 'send', 'end', 'answer'), { maxLength: 30 }),
      fc.infiniteStream(fc.nat()),
      async (steps, picks) => {
        const held = new HeldTerms();
        const terms: Term[] = [];
        const flights: {
          readonly signal: AbortSignal;
          readonly answer: () => void;
          readonly under: readonly Term[];
        }[] = [];
        const ended = new Set<Term>();
        const sending: Promise<unknown>[] = [];
        for (const step of steps) {
          const pick = picks.next().value;
          if (step === 'add') {
            const term = new Term();
            terms.push(term);
            held.add(term);
          } else if (step === 'end') {
            const term = terms[pick % Math.max(1, terms.length)];
            if (!term) continue;
            term.end();
            ended.add(term);
          } else if (step === 'answer') {
            flights.splice(0, 1)[0]?.answer();
            await Promise.allSettled(sending.splice(0, 1));
          } else {
            let started = false;
            const sent = held.perform((signal) => {
              started = true;
              return new Promise<void>((answer) => flights.push({ signal, answer, under: [...terms] }));
            });
            assert.equal(started, ended.size === 0);
            if (started) sending.push(sent);
            else await assert.rejects(sent, /not the leader/u);
          }
          if (ended.size > 0) assert.throws(held.guard, /not the leader/u);
          else held.guard();
          for (const { signal, under } of flights) {
            assert.equal(
              signal.aborted,
              under.some((term) => ended.has(term)),
            );
            for (const term of under) assert.ok(term.inFlight > 0);
          }
        }
        for (const { answer } of flights) answer();
        await Promise.all(sending);
        for (const term of terms) assert.equal(term.inFlight, 0);
      },
    ),
  );
});
