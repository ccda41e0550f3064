/**
 * What an API server does, as tests over plain HTTP. The embedded server and the real kube-apiserver are both held to it: what a
 * test here says is so on the real one, and a difference is a defect of the embedded one.
 */
import { after, before, test } from 'node:test';
import { ApiCaller, type ApiServerSubject } from './api-server/contract/api-caller.ts';
import type { ContractTest } from './api-server/contract/contract-test.ts';
import { kindTests } from './api-server/contract/kinds.suite.ts';
import { listTests } from './api-server/contract/lists.suite.ts';
import { objectTests } from './api-server/contract/objects.suite.ts';
import { patchTests } from './api-server/contract/patches.suite.ts';
import { protocolTests } from './api-server/contract/protocol.suite.ts';
import { serviceTests } from './api-server/contract/services.suite.ts';
import { watchTests } from './api-server/contract/watches.suite.ts';

export type { ApiServerSubject } from './api-server/contract/api-caller.ts';

/** Why the subject cannot be had on this machine. */
export interface Unavailable {
  readonly unavailable: string;
}

/**
 * Declares the suite's tests for one server, which `start` brings up before the first and which is disposed of after the last.
 * When `start` says that the server is not to be had, the tests are skipped with that reason.
 */
export function apiServerSuite(name: string, start: () => Promise<ApiServerSubject | Unavailable>): void {
  let api: ApiCaller | undefined;
  let unavailable: string | undefined;
  before(async () => {
    const subject = await start();
    if ('unavailable' in subject) unavailable = subject.unavailable;
    else api = new ApiCaller(subject);
  });
  after(async () => {
    api?.[Symbol.dispose]();
    await api?.subject[Symbol.asyncDispose]();
  });
  const declare: ContractTest = (sentence, body) => {
    test(`${name}: ${sentence}`, async (t) => {
      if (unavailable !== undefined) {
        t.skip(unavailable);
        return;
      }
      if (!api) throw new Error(`${name} did not start`);
      await body(api);
    });
  };
  objectTests(declare);
  listTests(declare);
  watchTests(declare);
  patchTests(declare);
  kindTests(declare);
  serviceTests(declare);
  protocolTests(declare);
}
