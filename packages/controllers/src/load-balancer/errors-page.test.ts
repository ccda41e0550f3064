/** docs/reference/errors.md, held against what the service controller does when a cloud refuses a part with each code. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { CloudError, type CloudErrorCode } from '@outrigger/cloud-provider';
import { createRig, nodeOf, webSpec } from '../service/rig.suite.ts';

const page = readFileSync(new URL('../../../../docs/reference/errors.md', import.meta.url), 'utf8');
const rows = [...page.matchAll(/^\| `([\w-]+)` \| [^|]* \| ([^|]*) \|/gmu)].map(([, code = '', does = '']) => ({
  code: code as CloudErrorCode,
  does,
}));

interface Seen {
  /** Seconds after the first try, of the others within ten minutes. */
  readonly retries: readonly number[];
  readonly warned: boolean;
}

async function fail(code: CloudErrorCode): Promise<Seen> {
  const rig = await createRig();
  rig.api.nodes.put(nodeOf('n1'));
  const tries: number[] = [];
  // No effect: else the controller also waits for what may have been made.
  const said = { effect: 'none', ...(code === 'retry-after' && { retryAfterMs: 7_000 }) } as const;
  rig.provider.before = () => {
    tries.push(rig.clock.monotonic());
    throw new CloudError(code, 'as asked', said);
  };
  rig.api.apply('web', webSpec);
  await rig.start();
  await rig.clock.advance(600_000);
  const [first = 0, ...others] = tries;
  const warned = rig.events.some(({ type }) => type === 'Warning');
  await rig.stop();
  return { retries: others.map((at) => Math.round((at - first) / 1000)), warned };
}

for (const { code, does } of rows) {
  test(`${code}: ${does}`, async () => {
    const { retries, warned } = await fail(code);
    if (/no Event|silently/u.test(does)) assert.ok(!warned);
    else if (does.includes('Event on the object')) assert.ok(warned);
    const [first = Number.POSITIVE_INFINITY] = retries;
    if (does.includes('Ignored silently')) assert.deepEqual(retries, []);
    else if (does.includes('Looks again then')) assert.equal(first, 7);
    else if (/longest back-off|after 5 to 30 minutes|as `invalid`|Ignored; Event/u.test(does)) assert.equal(first, 300);
    else assert.equal(first, 5);
  });
}

test('all codes are on the page', () => assert.equal(rows.length, 14));
