import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import { test } from 'node:test';
import { isCloudError } from '@outrigger/cloud-provider';
import { silentLogger, type Logger } from '@outrigger/kube';
import { FakeClock } from '@outrigger/testing';
import type { GlobalConfig } from '../config/cloud-config.ts';
import { openClient, passwordOf, startScriptedCloud, type ScriptedAnswer } from './scripted-cloud.suite.ts';

const CANARY = 'canary-5c1b7e';
const TOKEN = 'canary-token-9d2f';

const credentials: Readonly<Record<string, Partial<GlobalConfig>>> = {
  password: { password: CANARY },
  token: { password: '', token: CANARY },
  'application credential': { password: '', applicationCredentialId: 'a', applicationCredentialSecret: CANARY },
  trustee: { password: '', trustId: 't', trusteeId: 'u', trusteePassword: CANARY },
};

/** What a service that is carelessly made says of the request: all of it. */
const talkative = (secret: string): readonly ScriptedAnswer[] => [
  { status: 401, body: { error: { code: 401, message: `no such password: ${secret}` } } },
  { status: 400, body: { error: { code: 400, message: `in body: ${secret}` } } },
  { status: 500, body: `<title>Traceback ${secret}</title>` },
  { status: 201, body: secret },
  { status: 201, headers: { 'x-subject-token': secret }, body: { token: {} } },
  { status: -1 },
];

for (const [kind, set] of Object.entries(credentials)) {
  test(`a ${kind} reaches no error, no log line and no text of an object`, { timeout: 120_000 }, async () => {
    const clock = new FakeClock();
    const shown: string[] = [];
    const write = (...args: unknown[]): void =>
      void shown.push(args.map((arg) => inspect(arg, { depth: 9 })).join(' '));
    const verbose: Logger['verbose'] = (_level, ...rest) => write(...rest);
    const logger: Logger = { ...silentLogger, error: write, warn: write, info: write, verbose, enabled: () => true };
    await using cloud = await startScriptedCloud(clock);
    const note = async (work: Promise<unknown>): Promise<void> => {
      const error: unknown = await work.then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      assert.ok(error === undefined || isCloudError(error), String(error));
      shown.push(inspect(error, { depth: 9, showHidden: true }), String(error), JSON.stringify([error]));
    };
    for (const answer of talkative(CANARY)) {
      await using rig = await openClient({ ...passwordOf(cloud), ...set }, clock, { logger });
      cloud.keystone = () => answer;
      await note(rig.client.connect(rig.call()));
      shown.push(JSON.stringify([rig.client]), inspect(rig.client, { depth: 9 }));
      shown.push(JSON.stringify(rig.opened.recentCalls()));
    }
    cloud.keystone = () => undefined;
    cloud.nextToken = TOKEN;
    await using rig = await openClient({ ...passwordOf(cloud), ...set }, clock, { logger });
    for (const answer of talkative(`${TOKEN} ${CANARY}`)) {
      cloud.script = () => answer;
      const request = {
        service: 'compute',
        operation: 'POST /servers',
        method: 'POST',
        path: '/servers',
        body: {},
      } as const;
      await note(rig.client.request(rig.call(), request));
    }
    shown.push(inspect(rig.client, { depth: 9 }));
    assert.ok(
      shown.some((text) => text.includes('[redacted]')),
      'the canaries were sung',
    );
    for (const text of shown) assert.doesNotMatch(text, /canary-/u);
  });
}
