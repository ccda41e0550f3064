/** `outrigger adopt` on an API server, whichever: the embedded one and the real one must agree. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { adoptedBy } from '@outrigger/controllers';
import { resources, systemClock } from '@outrigger/kube';
import { clientOf } from '@outrigger/testing';
import type { Environment } from '../program/environment.ts';
import { adoptCommand } from './adopt.ts';

/** Gives the path of a kubeconfig; `undefined` when there is no API server here (the test is skipped then). */
export type StartApiServer = (t: TestContext, directory: string) => Promise<string | undefined>;

/** Runs the suite. */
export function testAdopt(subject: string, start: StartApiServer): void {
  test(`${subject}: adopt shows first, writes with --yes, and refuses what cannot be`, async (t) => {
    const directory = await mkdtemp(path.join(tmpdir(), 'adopt-'));
    t.after(() => rm(directory, { recursive: true }));
    const file = await start(t, directory);
    if (file === undefined) return;
    await using client = await clientOf(file);
    const services = client.of(resources.services);
    const ref = { namespace: 'default', name: 'web' };
    await services.create({ metadata: ref, spec: { type: 'ClusterIP', ports: [{ port: 80 }] } });

    const run = async (...args: readonly string[]): Promise<{ code: number; out: string; err: string }> => {
      let out = '';
      let err = '';
      const environment = {
        env: {},
        stdout: { write: (text: string) => void (out += text) },
        stderr: { write: (text: string) => void (err += text) },
      } as unknown as Environment;
      const code = await adoptCommand.run([...args, `--kubeconfig=${file}`], environment);
      return { code, out, err };
    };
    const web = ['service', 'default/web', '--part=address/a-1'];
    const asked = async (): Promise<unknown> => adoptedBy(await services.get(ref));

    assert.match((await run(...web, '--yes', '--wait=0')).out, /adopted once the Service is of type LoadBalancer/);
    assert.deepEqual(await asked(), []);
    await services.patch(ref, { type: 'merge', body: { spec: { type: 'LoadBalancer' } } });

    assert.deepEqual(await asked(), [{ kind: 'address', id: 'a-1' }]);
    await services.patch(ref, { type: 'merge', body: { status: { conditions: [] } } }, { subresource: 'status' });

    const shown = await run(...web);
    assert.equal(shown.code, 0);
    assert.match(shown.out, /Would be requested to be adopted.*\n {2}address\/a-1\n[^]*Nothing was changed; add --yes/);
    assert.deepEqual(await asked(), []);

    const done = await run(...web, '--part=load-balancer/lb/7', '--yes', '--wait=0');
    assert.deepEqual([done.code, done.err], [0, '']);
    assert.deepEqual(await asked(), [
      { kind: 'address', id: 'a-1' },
      { kind: 'load-balancer', id: 'lb/7' },
    ]);
    assert.match(
      (await run(...web)).out,
      /replaces an earlier request to adopt:\n {2}address\/a-1\n {2}load-balancer\/lb\/7/,
    );

    const events = client.of(resources.coreEvents);
    const { uid } = (await services.get(ref)).metadata ?? {};
    const involvedObject = { apiVersion: 'v1', kind: 'Service', ...ref, ...(uid && { uid }) };
    const record = (event: string, type: string, reason: string, message: string): Promise<unknown> =>
      events.create({ metadata: { name: event, namespace: 'default' }, involvedObject, type, reason, message });
    const patched = (...conditions: readonly object[]): Promise<unknown> =>
      services.patch(ref, { type: 'strategic', body: { status: { conditions } } }, { subresource: 'status' });
    const type = 'outrigger.dev/AdoptLoadBalancer';
    const isRequested = async (id: string): Promise<boolean> => {
      const { conditions = [] } = (await services.get(ref)).status ?? {};
      return conditions.some(({ message, reason }) => reason === 'AdoptionRequested' && message === `address/${id}`);
    };
    const silent = await run(...web, '--yes', '--wait=1ms');
    assert.deepEqual([silent.code, silent.err], [2, '']);
    assert.match(silent.out, /No answer yet\. Is a manager leading.*outrigger explain service default\/web\n$/);

    // What else becomes of the Service meanwhile says nothing about the request.
    for (const [id, reason, answer, code, said] of [
      [
        'a-2',
        'NotFound',
        ' - not adopted: it was not found in the cloud',
        1,
        /\nNot adopted: it was not found in the cloud\n$/,
      ],
      ['a-3', 'Adopted', '', 0, /\nAdopted: the parts belong to the Service\.\n$/],
      ['a-3', 'Adopted', '', 0, /\nAdopted: /],
      ['a-4', 'AdoptionRequested', ' load-balancer/7', 2, /\nNo answer: another request /],
    ] as const) {
      const waiting = run('service', 'default/web', `--part=address/${id}`, '--yes');
      while (!(await isRequested(id))) await systemClock.sleep(10);
      await record(`done.${systemClock.now()}`, 'Normal', 'EnsuredLoadBalancer', 'Ensured load balancer');
      await record(`failed.${systemClock.now()}`, 'Warning', 'SyncLoadBalancerFailed', 'Error syncing: quota');
      await patched({ type, reason, message: `address/${id}${answer}` });
      const outcome = await waiting;
      assert.deepEqual([outcome.code, outcome.err], [code, '']);
      assert.match(outcome.out, said);
    }

    const times = { lastTransitionTime: '2026-01-01T00:00:00Z', observedGeneration: 1 };
    const not = { type: 'LoadBalancerReady', status: 'False', reason: 'QuotaExceeded', message: 'too many (quota)' };
    await patched({ ...not, ...times });
    const held = await run(...web, '--yes', '--wait=1ms');
    assert.deepEqual([held.code, held.err], [2, '']);
    assert.match(held.out, /\nNo answer yet\. The load balancer is not ready: too many \(quota\)\..*explain/);

    // Whoever may write the status may write anything there.
    const hostile = 'address/a\u001B]0;owned\u0007\u009B2J\u202E';
    const tells = (text: string): boolean => /[^\P{Cc}\n]|\p{Bidi_Control}/u.test(text);
    await patched({ type, reason: 'AdoptionRequested', message: hostile });
    const replacing = await run(...web);
    assert.match(replacing.out, /\n {2}address\/a \]0;owned 2J *\n/u);
    assert.ok(!tells(replacing.out), replacing.out);
    await patched({ ...not, ...times, message: hostile });
    const waits = await run(...web, '--yes', '--wait=1ms');
    assert.match(waits.out, /is not ready: address\/a \]0;owned 2J/u);
    assert.ok(!tells(waits.out), waits.out);

    for (const [args, words] of [
      [['service', 'default/none', '--part=a/b'], /there is no Service default\/none/],
      [['service', 'web', '--part=a/b'], /service default\/web; usage/],
      [['node', 'default/web', '--part=a/b'], /usage/],
      [['service', 'default/web'], /--part is missing/],
      [['service', 'default/web', '--part=nonsense'], /--part=nonsense: expected KIND\/ID/],
    ] as const) {
      const { code, err } = await run(...args);
      assert.equal(code, 1);
      assert.match(err, words);
    }
  });
}
