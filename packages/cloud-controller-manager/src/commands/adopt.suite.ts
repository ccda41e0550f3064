/** `outrigger adopt` on an API server, whichever: the embedded one and the real one must agree. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { adoptedBy } from '@outrigger/controllers';
import { createClient, createTransport, loadConfig, resources, systemClock } from '@outrigger/kube';
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
    await using transport = createTransport(await loadConfig({ kubeconfig: file }));
    const services = createClient(transport).of(resources.services);
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

    const events = createClient(transport).of(resources.coreEvents);
    const { uid } = (await services.get(ref)).metadata ?? {};
    const involvedObject = { apiVersion: 'v1', kind: 'Service', ...ref, ...(uid && { uid }) };
    const record = (event: string, type: string, reason: string, message: string): Promise<unknown> =>
      events.create({ metadata: { name: event, namespace: 'default' }, involvedObject, type, reason, message });
    await record('web.1', 'Warning', 'SyncLoadBalancerFailed', 'of before');
    const silent = await run(...web, '--yes', '--wait=1ms');
    assert.deepEqual([silent.code, silent.err], [2, '']);
    assert.match(silent.out, /No answer yet\..*outrigger explain service default\/web\n$/);
    for (const [name, reason, message, code, said] of [
      [
        'web.2',
        'SyncLoadBalancerFailed',
        'Error syncing load balancer: address a-1 belongs to b',
        1,
        /Not adopted: .*belongs to b\n$/,
      ],
      ['web.3', 'EnsuredLoadBalancer', 'Ensured load balancer', 0, /Adopted: .*\n$/],
    ] as const) {
      const waiting = run('service', 'default/web', `--part=address/${name}`, '--yes');
      while (!JSON.stringify(await asked()).includes(name)) await systemClock.sleep(10);
      await record(name, code === 0 ? 'Normal' : 'Warning', reason, message);
      const outcome = await waiting;
      assert.deepEqual([outcome.code, outcome.err], [code, '']);
      assert.match(outcome.out, said);
    }

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
