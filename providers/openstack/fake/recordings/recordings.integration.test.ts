/** The session that was recorded, held with the fake: the same requests, and answers of the same shape. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FakeClock } from '@outrigger/testing';
import { FAKE_ORIGIN, inProcessFetch } from '../in-process-fetch.ts';
import { lengthsOf, shapeOf, wordsOf } from './answer-shape.ts';
import { readRecordings, type Recording } from './recording.ts';
import { isByHand, ReplayedWorld } from './replayed-world.suite.ts';

const ROOTS: Readonly<Record<string, string>> = {
  identity: '/identity',
  compute: '/compute/v2.1',
  network: '/network',
  'load-balancer': '/load-balancer',
};

/** Asked while the step before it was still under way. */
const AMID = /pending|immutable|deleting|again/;

const STALE = 'revision_number=1';

const recordings = await readRecordings();
const clock = new FakeClock();
const world = new ReplayedWorld(clock, recordings);
const send = inProcessFetch(world.cloud);
let token = '';

/** The revision that the fake has now, where the recorded one was the lab's then. */
async function revision(path: string, headers: Recording['headers']): Promise<Record<string, string>> {
  if (headers?.['if-match'] === undefined) return {};
  if (headers['if-match'] === STALE) return { 'if-match': 'revision_number=0' };
  const response = await send(`${FAKE_ORIGIN}/network${world.translate(path)}`, { headers: { 'x-auth-token': token } });
  const [item] = Object.values((await response.json()) as Record<string, { revision_number: number }>);
  return { 'if-match': `revision_number=${item?.revision_number}` };
}

async function replay({ service, method, path, headers, body, name }: Recording) {
  if (!AMID.test(name)) await clock.advance(10_000);
  const text = body === undefined ? undefined : world.translate(JSON.stringify(body)).replace('TOKEN', token);
  const response = await send(`${FAKE_ORIGIN}${ROOTS[service]}${world.translate(path)}`, {
    method,
    headers: {
      'x-auth-token': name.includes('garbage') ? 'garbage' : token,
      ...headers,
      ...(await revision(path, headers)),
    },
    ...(text === undefined ? {} : { body: text }),
  });
  const answer = await response.text();
  token = response.headers.get('x-subject-token') ?? token;
  return { status: response.status, answer: answer === '' ? undefined : (JSON.parse(answer) as unknown) };
}

describe('the fake answers as the real services did', () => {
  const before: Recording[] = [];
  for (const recording of recordings) {
    before.push(recording);
    if (isByHand(recording)) continue;
    const prepared = before.splice(0);
    test(`${recording.step} ${recording.name}`, async () => {
      for (const each of prepared) world.prepare(each);
      const { status, answer } = await replay(recording);
      assert.equal(status, recording.status, JSON.stringify(answer));
      if (status >= 400) {
        assert.equal(wordsOf(answer), wordsOf(recording.answer));
        return;
      }
      world.compare(recording.answer, answer);
      assert.deepEqual(shapeOf(answer), shapeOf(recording.answer));
      if (recording.isCut !== true) assert.deepEqual(lengthsOf(answer), lengthsOf(recording.answer));
    });
  }
});
